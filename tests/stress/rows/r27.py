"""R27: the sanitizers report nothing. In full that is `./dev sanitize` (every test under AddressSanitizer, with its leak check, and
UndefinedBehaviorSanitizer) and `./dev sanitize --thread` (the tests of the service under ThreadSanitizer): both compile the project
once more. The quick form runs two small programs that are built so in every build: the core under the first two, the worker threads
and completions under the third."""
import os
import pathlib
import re
import subprocess

from stress import Failed, check

ROOT = pathlib.Path(__file__).resolve().parents[3]
REPORT = re.compile(r"(?:WARNING|ERROR): \w+Sanitizer|runtime error:")


def verb(stress, *arguments) -> str:
    """Returns how many tests passed."""
    done = subprocess.run([ROOT / "dev", "sanitize", *arguments], cwd=ROOT, capture_output=True, text=True)
    stress.say(done.stdout[-4000:] + done.stderr[-4000:])
    passed = re.search(r"^100% tests passed, 0 tests failed out of (\d+)$", done.stdout, re.MULTILINE)
    check(done.returncode == 0 and passed, f"./dev sanitize {' '.join(arguments)}: exit {done.returncode}: {done.stdout[-600:]}")
    return passed[1]


def program(stress, name: str) -> str:
    """Returns how many of its checks passed."""
    done = subprocess.run([stress.bin / name, "--no-colors"], env=os.environ | {"TSAN_OPTIONS": "exitcode=66"}, capture_output=True, text=True)
    text = done.stdout + done.stderr
    passed = re.search(r"assertions: +(\d+) \| +\d+ passed \| +0 failed", text)
    if done.returncode != 0 or REPORT.search(text) or not passed or int(passed[1]) == 0:
        raise Failed(f"{name}: exit {done.returncode}: {text[-1200:]}")
    return passed[1]


def run(stress) -> str:
    if stress.quick:
        memory, threads = program(stress, "sanitized_memory"), program(stress, "sanitized_threads")
        return f"0 reports: the core under ASan and UBSan ({memory} checks), workers and completions under TSan ({threads} checks)"
    return f"0 reports: {verb(stress)} tests under ASan and UBSan, {verb(stress, '--thread')} of the service under TSan"
