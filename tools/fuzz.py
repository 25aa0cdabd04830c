#!/usr/bin/env python3
"""Runs libFuzzer's targets of build/fuzz side by side and prints a line for each: `./dev fuzz` calls it.

usage: fuzz.py [--time SECONDS] [target...]

Seeds come from build/fuzz/fuzz_seeds/TARGET; what is found on the way is kept in build/fuzz_corpus/TARGET and is where the next
run begins. An input that breaks something lies in build/fuzz_findings/TARGET. The exit code is 1 when there is one.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "build/fuzz"
CORPUS = ROOT / "build/fuzz_corpus"
FINDINGS = ROOT / "build/fuzz_findings"
SEEDS = ROOT / "tests/fuzz/corpus"  # what the repository has of them, by target
DICTIONARIES = ROOT / "tests/fuzz/dictionaries"
SLOW_SECONDS = 10  # of the processor, for one input; sanitizers are slow
TIMEOUT_SECONDS = 60  # of the clock
MEMORY_MIB = 1500
BYTES_MAX = 64 << 10
SETTINGS = os.environ | {"UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "allocator_may_return_null=1"}
SLOWNESS = ("slow-unit-", "timeout-")  # by the clock, which says little on a busy machine


@dataclasses.dataclass
class Outcome:
    target: str
    executions: int
    seconds: float
    inputs: int
    findings: list
    log: pathlib.Path

    def line(self) -> str:
        return (f"{self.target:<14} {self.executions:>10} execs {self.seconds:>6.0f} s {self.inputs:>6} inputs "
                f"{len(self.findings):>3} findings")


def command_of(target: str, seconds: int) -> list:
    corpus, findings = CORPUS / target, FINDINGS / target
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    dictionary = DICTIONARIES / f"{target}.dict"
    return [PROGRAMS / f"fuzz_{target}", f"-max_total_time={seconds}", f"-timeout={TIMEOUT_SECONDS}",
            f"-report_slow_units={SLOW_SECONDS}", "-print_final_stats=1",
            f"-rss_limit_mb={MEMORY_MIB}", f"-max_len={BYTES_MAX}", f"-artifact_prefix={findings}/", "-reload=0",
            *([f"-dict={dictionary}"] if dictionary.exists() else []), corpus, PROGRAMS / "fuzz_seeds" / target]


def is_finding(target: str, artifact: pathlib.Path) -> bool:
    """What was slow by the clock is read again, by itself, and is a finding where it takes the processor that long."""
    if not artifact.name.startswith(SLOWNESS):
        return True
    child = subprocess.Popen([PROGRAMS / f"fuzz_{target}", f"-timeout={TIMEOUT_SECONDS}", artifact], env=SETTINGS,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode != 0 or usage.ru_utime + usage.ru_stime >= SLOW_SECONDS


def fuzz(target: str, seconds: int) -> Outcome:
    log = FINDINGS / f"{target}.log"
    FINDINGS.mkdir(parents=True, exist_ok=True)
    begin, started = time.monotonic(), time.time()
    with open(log, "wb") as out:
        code = subprocess.run(command_of(target, seconds), stdout=out, stderr=out, env=SETTINGS).returncode
    text = log.read_text(errors="replace")
    artifacts = [path for path in sorted((FINDINGS / target).iterdir()) if path.stat().st_mtime >= started - 1]
    found = [path for path in artifacts if is_finding(target, path)]
    if code != 0 and not artifacts:
        found = [log]  # it ended without an input: a leak at the end, or it did not start
    counted = re.search(r"stat::number_of_executed_units:\s*(\d+)", text) or re.search(r"^#(\d+)\s+(?!.*#\d)", text, re.MULTILINE)
    return Outcome(target, int(counted[1]) if counted else 0, time.monotonic() - begin,
                   len(list((CORPUS / target).iterdir())), found, log)


def explain(outcome: Outcome) -> str:
    text = outcome.log.read_text(errors="replace")
    reason = re.search(r"^.*(?:ERROR: |runtime error: |SUMMARY: ).*$", text, re.MULTILINE)
    lines = [f"{outcome.target}: {reason[0].strip() if reason else 'see its log'} (log: {outcome.log.relative_to(ROOT)})"]
    for path in outcome.findings:
        if path != outcome.log:
            lines.append(f"  again: build/fuzz/fuzz_{outcome.target} {path.relative_to(ROOT)}")
    return "\n".join(lines + [f"  a fix takes it along as tests/fuzz/corpus/{outcome.target}/WHAT_IT_IS"])


def main() -> int:
    known = sorted(path.name for path in SEEDS.iterdir())
    parser = argparse.ArgumentParser(prog="./dev fuzz", description="Fuzzes the readers of everything that strangers send.")
    parser.add_argument("--time", type=int, default=1800, metavar="SECONDS", help="per target (default 1800)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at a time (default: one per core)")
    parser.add_argument("target", nargs="*", help=f"only these of: {', '.join(known)}")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.target if name not in known]
    if unknown:
        parser.error(f"no such target: {', '.join(unknown)}")
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for outcome in pool.map(lambda name: fuzz(name, arguments.time), arguments.target or known):
            print(outcome.line(), flush=True)
            outcomes.append(outcome)
    for outcome in outcomes:
        if outcome.findings:
            print(explain(outcome), file=sys.stderr)
    return 1 if any(outcome.findings for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
