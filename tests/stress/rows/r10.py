"""R10: libFuzzer's targets. In short every target replays its seeds; in full each is fuzzed for 60 s under AddressSanitizer and
UndefinedBehaviorSanitizer (`./dev fuzz --time 60`). No finding."""
import pathlib
import re
import subprocess

from stress import Failed, check

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGETS_MIN = 18
SECONDS = 60


def replayed(stress) -> str:
    inputs = targets = 0
    for folder in sorted((stress.bin / "fuzz_seeds").iterdir()):
        done = subprocess.run([stress.bin / f"fuzz_{folder.name}", folder], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{folder.name}: exit code {done.returncode}: {done.stderr[-300:]}")
        inputs += int(re.match(r"(\d+) inputs", done.stdout)[1])
        targets += 1
    check(targets >= TARGETS_MIN, f"{targets} targets")
    return f"{targets} targets, {inputs} inputs replayed, 0 findings"


def fuzzed(stress) -> str:
    done = subprocess.run(["./dev", "fuzz", "--time", str(SECONDS)], cwd=ROOT, capture_output=True, text=True)
    lines = re.findall(r"^\S+ +(\d+) execs.* (\d+) findings$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not lines:
        raise Failed(f"exit code {done.returncode}: {done.stdout[-600:]} {done.stderr[-300:]}")
    check(len(lines) >= TARGETS_MIN, f"{len(lines)} targets")
    executions = sum(int(execs) for execs, _ in lines)
    return f"{len(lines)} targets, {SECONDS} s each, {executions} executions, 0 findings"


def run(stress) -> str:
    return replayed(stress) if stress.quick else fuzzed(stress)
