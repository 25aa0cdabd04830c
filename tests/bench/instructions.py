#!/usr/bin/env python3
"""How many instructions the analysis of two small fixed inputs needs, by callgrind, against what is recorded.

  instructions.py [--record]

A count does not swing as times do: one that rises by more than 5 % is a change of the code. It is taken on one core and
with one choice of instruction sets, so that machines agree: callgrind hides AVX-512, simdjson is told to use AVX2, and
glibc to use what every x86-64 has. Exit 1: a count is above its bound.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ.get("TRACEWEIR_BIN_DIR", "build/release")).resolve()
MAKE_TRACE = os.environ.get("TRACEWEIR_MAKE_TRACE", str(BIN / "make_trace"))
RECORDED = pathlib.Path(__file__).resolve().with_name("instructions.json")
BOUND = 1.05
INPUTS = {"kineto": ["--as-profiler", "--kernels-per-step", 200, "--size", "4MB"],
          "nsys": ["--as-profiler", "--kernels-per-step", 200, "--format", "nsys", "--all-ranks", "--steps", 20]}
BASELINE = {"SIMDJSON_FORCE_IMPLEMENTATION": "haswell", "LC_ALL": "C.UTF-8",
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX_Usable,-AVX2_Usable,-AVX2,-ERMS,-FSRM,-AVX_Fast_Unaligned_Load:"
                              "glibc.cpu.x86_non_temporal_threshold=0xc0000:glibc.malloc.arena_max=1"}


def has_avx2() -> bool:
    return re.search(r"^flags\s*:.*\bavx2\b", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE) is not None


def instructions_of(file: pathlib.Path) -> int:
    core = str(min(os.sched_getaffinity(0)))
    done = subprocess.run(["taskset", "-c", core, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", BIN / "traceweir",
                           "analyze", "--json", file], env={"PATH": os.environ["PATH"]} | BASELINE, capture_output=True, text=True)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None:
        raise SystemExit(f"callgrind: exit {done.returncode}: {done.stderr[-2000:]}")
    return int(collected[1])


def counts() -> dict:
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, options in INPUTS.items():
            file = pathlib.Path(folder) / name
            subprocess.run([MAKE_TRACE, *map(str, options), file], check=True, stdout=subprocess.DEVNULL)
            found[name] = instructions_of(file)
        return found


def verdict(name: str, count: int, recorded: int) -> tuple:
    """A line, and whether the count is within its bound."""
    change = f"{name}: {count:,} instructions, {100 * (count / recorded - 1):+.1f} % to the {recorded:,} recorded"
    if count > recorded * BOUND:
        return change + "; if that is wanted: ./dev bench --record", False
    return change + ("; recording it keeps the gain: ./dev bench --record" if count * BOUND < recorded else ""), True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--record", action="store_true", help="today's counts are the new ones")
    if not has_avx2():
        print("the recorded counts are those of AVX2, which this machine lacks: nothing to compare with")
        return 0
    options = parser.parse_args()
    found = counts()
    if options.record:
        RECORDED.write_text(json.dumps(found, indent=1) + "\n")
        print(f"recorded {found}")
        return 0
    recorded = json.loads(RECORDED.read_text())
    verdicts = [verdict(name, count, recorded[name]) for name, count in found.items()]
    print("\n".join(line for line, _ in verdicts))
    return 0 if all(within for _, within in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
