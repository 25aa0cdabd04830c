"""R13: time fields that no clock shows: rows that end before they begin, limits of 64 bits, zero, the year 2500, µs for ns. Whatever
stands there, the row is used or counted and its neighbour is measured. In full under UndefinedBehaviorSanitizer, 100,000 cases of
each format."""
import os
import pathlib
import subprocess

from stress import Failed

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = "property_time_fields"


def sanitized(stress) -> pathlib.Path:
    """The program of the build with sanitizers."""
    stress.say("building with sanitizers")
    for command in (["cmake", "--preset", "asan"], ["ninja", "-C", "build/asan", PROGRAM]):
        built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if built.returncode != 0:
            raise Failed(f"no build with sanitizers: {built.stdout[-300:]} {built.stderr[-300:]}")
    return ROOT / "build/asan" / PROGRAM


def run(stress) -> str:
    cases = stress.count(100_000, 1_000)
    program = stress.bin / PROGRAM if stress.quick else sanitized(stress)
    settings = os.environ | {"RC_PARAMS": f"seed=20261130 max_success={cases}"}
    done = subprocess.run([program], env=settings, cwd=ROOT, capture_output=True, text=True)
    passed = done.stdout.count(f"OK, passed {cases} tests") + done.stderr.count(f"OK, passed {cases} tests")
    if done.returncode != 0 or passed != 2:
        raise Failed(f"{passed} of 2 properties hold: {done.stdout[-600:]} {done.stderr[-600:]}")
    return f"{cases} cases of each of 2 formats, 0 failed" + ("" if stress.quick else ", 0 sanitizer reports")
