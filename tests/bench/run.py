#!/usr/bin/env python3
"""The benchmark: ratios against reference programs that run in alternation on the same inputs (docs/performance.md).

  run.py [--quick] [--runs N] [--send] [row...]

A row may be named by its beginning (`json`, `service.`). Standard output: the table. Exit 1: a row missed its `must`, or
could not be measured.
"""
import argparse
import datetime
import os
import pathlib
import platform
import subprocess
import sys

import inputs
import table
from analyzer_rows import Analyses
from measuring import Failed
from service_rows import Services

FOLDER = pathlib.Path("build/bench")


def tell(text: str):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def cpu_model() -> str:
    for entry in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if entry.startswith("model name"):
            return entry.partition(":")[2].strip()
    return platform.machine()


def about(options, programs: pathlib.Path) -> dict:
    build = subprocess.run([programs / "traceweir", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return {"build": build, "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "quick": options.quick, "runs": options.runs, "cores": os.cpu_count(), "cpu": cpu_model()}


def chosen(rows: list, names: list) -> list:
    unknown = [name for name in names if not any(row.name.startswith(name) for row in rows)]
    if unknown:
        raise SystemExit(f"bench: no row begins with '{unknown[0]}'; rows: {' '.join(row.name for row in rows)}")
    return [row for row in rows if not names or any(row.name.startswith(name) for name in names)]


def measured(rows: list) -> tuple:
    """The rows that could be measured, and how many could not."""
    done, failed = [], 0
    print(table.HEAD)
    for row in rows:
        try:
            done.append(table.Measured(row, row.measure()))
            print(table.line(done[-1]), flush=True)
        except (Failed, OSError) as error:
            failed += 1
            print(f"{row.name:<22} FAILED: {error}", flush=True)
    return done, failed


def send(programs: pathlib.Path, rows: list, metrics: pathlib.Path):
    """To the gate that TRACEWEIR_URL, TRACEWEIR_TOKEN and TRACEWEIR_PROJECT name, as any job's metrics."""
    metrics.write_text(table.metrics(rows))
    subprocess.run([programs / "traceweir", "gate", "--workload", "bench", metrics], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__.partition("\n\n")[0])
    parser.add_argument("rows", nargs="*", metavar="row", help="only rows that begin like this")
    parser.add_argument("--quick", action="store_true", help="small inputs and few runs: minutes instead of half an hour")
    parser.add_argument("--runs", type=int, help="of each program (default: 5; quick: 3)")
    parser.add_argument("--list", action="store_true", help="the rows and their bounds")
    parser.add_argument("--send", action="store_true", help="send the ratios to our own gate (TRACEWEIR_URL, _TOKEN, _PROJECT)")
    options = parser.parse_args()
    options.runs = options.runs or (3 if options.quick else 5)
    programs = pathlib.Path(os.environ.get("TRACEWEIR_BIN_DIR", "build/release")).resolve()
    sizes = inputs.QUICK if options.quick else inputs.FULL
    made = inputs.Inputs(FOLDER / "inputs", programs / "make_trace", tell)
    rows = Analyses(made, sizes, programs, options.runs).rows()
    with Services(made, sizes, programs, options.runs) as services:
        rows = chosen(rows + services.rows(), options.rows)
        if options.list:
            for row in rows:
                print(f"{row.name:<22} must {table.number(row.must):>6}  should {table.number(row.should):>6}  {row.what}")
            return 0
        done, failed = measured(rows)
    (FOLDER / "bench.json").write_text(table.document(done, about(options, programs)))
    tell(f"wrote {FOLDER / 'bench.json'}")
    if options.send:
        send(programs, done, FOLDER / "metrics.json")
    return 1 if failed or any(m.verdict == "MISSED" for m in done) else 0


if __name__ == "__main__":
    sys.exit(main())
