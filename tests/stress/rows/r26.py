"""R26: what an analysing process could do to get out, tried under its own sandbox: files outside, sockets, processes, programs,
memory. All is denied; each attempt is shown to succeed without the sandbox; and a service whose analyzer skips it does not believe
its report. Without seccomp and Landlock in the kernel the row fails: nothing was proved."""
import os
import re
import subprocess
import sys
import pathlib

from stress import check

ROOT = pathlib.Path(__file__).resolve().parents[3]


def run(stress) -> str:
    tried = subprocess.run([stress.bin / "unit_sandbox", "--no-colors"], capture_output=True, text=True)
    check(tried.returncode == 0, f"a way out is open: {tried.stdout[-1500:]}")
    checks = re.search(r"assertions: +(\d+) \| +(\d+) passed \| +0 failed", tried.stdout)
    check(checks is not None, f"nothing was tried: {tried.stdout[-300:]}")
    served = subprocess.run([sys.executable, ROOT / "tests/http/sandbox_test.py"], env=os.environ, capture_output=True, text=True)
    check(served.returncode == 0, f"the service: {served.stderr[-1500:]}")
    tests = re.search(r"^Ran (\d+) tests", served.stderr, re.MULTILINE)
    check(tests and int(tests[1]) >= 3, f"too few tests of the service: {served.stderr[-300:]}")
    return f"{checks[1]} checks of {count_of_attempts()} ways out, all denied; an analyzer that skips its sandbox is refused"


def count_of_attempts() -> int:
    """The rows of the table of attempts in the program that tries them."""
    text = (ROOT / "tests/unit/sandbox/escape_test.cpp").read_text()
    table = text[text.index("constexpr Attempt attempts[]"):]
    return len(re.findall(r'^ {4}\{"', table[:table.index("\n};")], re.MULTILINE))
