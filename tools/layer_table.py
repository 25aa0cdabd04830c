#!/usr/bin/env python3
"""Prints how many tests of each layer passed, failed and were skipped, and the output of those that failed.

usage: layer_table.py CTEST_LOG CTEST_JSON
  CTEST_LOG   what `ctest --output-on-failure` printed
  CTEST_JSON  what `ctest --show-only=json-v1` printed for the same selection (tests and their labels)
"""
import json
import re
import sys

LAYERS = ["unit", "golden", "property", "simulation", "differential", "corpus", "fuzz", "contract", "http", "e2e", "web", "stress", "compile_fail"]
# `  3/45 Test  #3: unit: error: TRY binds ....   Passed    0.01 sec`
RESULT = re.compile(r"^ *\d+/\d+ Test +#\d+: (?P<name>.*?) ?\.{2,} *(?P<outcome>Passed|\*\*\*[A-Za-z]+)")
SUMMARY = re.compile(r"^\d+% tests passed")


def labels_of(listing: dict) -> dict:
    """The layer of each test: its first label."""
    layers = {}
    for test in listing["tests"]:
        labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
        layers[test["name"]] = labels[0][0] if labels and labels[0] else "unlabelled"
    return layers


def outcomes(log: str) -> dict:
    found = {}
    for line in log.splitlines():
        match = RESULT.match(line)
        if not match:
            continue
        word = match["outcome"]
        found[match["name"]] = {"Passed": "passed", "***Skipped": "skipped"}.get(word, "failed")
    return found


def failed_output(log: str) -> str:
    """The blocks of tests that did not pass: from one result line to the next."""
    blocks, keep = [], False
    for line in log.splitlines():
        match = RESULT.match(line)
        if match:
            keep = match["outcome"] not in ("Passed", "***Skipped")
        elif SUMMARY.match(line) or re.match(r"^ *Start +\d+: ", line):
            keep = False
        if keep:
            blocks.append(line)
    return "\n".join(blocks)


def table(layers: dict, results: dict) -> tuple[str, int]:
    counts = {}
    for name, layer in layers.items():
        row = counts.setdefault(layer, {"passed": 0, "failed": 0, "skipped": 0})
        row[results.get(name, "failed")] += 1
    order = [layer for layer in LAYERS if layer in counts] + sorted(set(counts) - set(LAYERS))
    lines = [f"{'layer':<14}{'passed':>8}{'failed':>8}{'skipped':>9}"]
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for layer in order:
        row = counts[layer]
        lines.append(f"{layer:<14}{row['passed']:>8}{row['failed']:>8}{row['skipped']:>9}")
        for key in total:
            total[key] += row[key]
    lines.append(f"{'all':<14}{total['passed']:>8}{total['failed']:>8}{total['skipped']:>9}")
    return "\n".join(lines), total["failed"]


def main() -> int:
    log = open(sys.argv[1], encoding="utf-8", errors="replace").read()
    listing = json.load(open(sys.argv[2], encoding="utf-8"))
    broken = failed_output(log)
    if broken:
        print(broken)
    text, failed = table(labels_of(listing), outcomes(log))
    print(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
