#!/usr/bin/env python3
"""metric_docs.py docs/metrics.md TARGET.cpp: the page's tables of metrics as a C++ source, so that `traceweir metrics` prints what the
page says and nothing is written twice. A table counts where its columns are id, unit, better, formula, does not mean; the paragraph of
its section that begins with "Inputs:" belongs to each of its rows.
"""
import json
import pathlib
import re
import sys

COLUMNS = ["id", "unit", "better", "formula", "does not mean"]


def plain(text: str) -> str:
    return text.replace("\\|", "|").replace("`", "").strip()


def cells(line: str) -> list:
    return [plain(cell) for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def rows_of(page: str):
    """(section, inputs, id, unit, better, formula, does not mean) of every row."""
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        found = re.search(r"^Inputs: (.*?)(?:\n\n|(?<=\.)\n)", body, flags=re.M | re.S)
        inputs = plain(" ".join(found.group(1).split())) if found else ""
        inside = False
        for line in body.splitlines():
            if not line.startswith("|"):
                inside = False
            elif cells(line) == COLUMNS:
                inside = True
            elif inside and not line.startswith("| ---"):
                yield [title.strip(), inputs, *cells(line)]


def main():
    page, target = map(pathlib.Path, sys.argv[1:3])
    rows = list(rows_of(page.read_text(encoding="utf-8")))
    for row in rows:
        if not row[1]:
            sys.exit(f"{page}: section '{row[0]}' has metrics and no paragraph that begins with 'Inputs:'")
    literals = "".join("    {" + ", ".join(json.dumps(cell, ensure_ascii=False) for cell in row) + "},\n" for row in rows)
    target.write_text("// Made from docs/metrics.md by tools/metric_docs.py.\n#include \"cli/metric_docs.hpp\"\n\n"
                      "namespace traceweir::cli {\nnamespace {\nconstexpr MetricDoc rows[] = {\n" + literals +
                      "};\n}  // namespace\nstd::span<const MetricDoc> metric_docs() { return rows; }\n"
                      "}  // namespace traceweir::cli\n", encoding="utf-8")


if __name__ == "__main__":
    main()
