"""R13: time fields that no clock shows: rows that end before they begin, limits of 64 bits, zero, the year 2500, µs for ns. Whatever
stands there, the row is used or counted and its neighbour is measured. In full under UndefinedBehaviorSanitizer, 100,000 cases of
each format, shared among the cores."""
import concurrent.futures
import os
import pathlib
import subprocess

from stress import Failed, check

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = "property_time_fields"
SEED = 20261130


def sanitized(stress) -> pathlib.Path:
    """The program of the build with sanitizers."""
    stress.say("building with sanitizers")
    for command in (["cmake", "--preset", "asan"], ["ninja", "-C", "build/asan", PROGRAM]):
        built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if built.returncode != 0:
            raise Failed(f"no build with sanitizers: {built.stdout[-300:]} {built.stderr[-300:]}")
    return ROOT / "build/asan" / PROGRAM


def share(program: pathlib.Path, seed: int, cases: int):
    settings = os.environ | {"RC_PARAMS": f"seed={seed} max_success={cases}"}
    done = subprocess.run([program], env=settings, cwd=ROOT, capture_output=True, text=True)
    passed = (done.stdout + done.stderr).count(f"OK, passed {cases} tests")
    check(done.returncode == 0 and passed == 2, f"{passed} of 2 properties hold: {done.stdout[-600:]} {done.stderr[-600:]}")


def run(stress) -> str:
    cases, shares = stress.count(100_000, 1_000), os.cpu_count() or 1
    program = stress.bin / PROGRAM if stress.quick else sanitized(stress)
    each = -(-cases // shares)
    with concurrent.futures.ThreadPoolExecutor(shares) as pool:
        list(pool.map(lambda number: share(program, SEED + number, each), range(shares)))
    return f"{shares * each} cases of each of 2 formats, 0 failed" + ("" if stress.quick else ", 0 sanitizer reports")
