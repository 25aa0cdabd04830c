#!/usr/bin/env python3
"""Runs the rows of the stress table and prints a line for each on stdout, in their order: `R1 pass 100 cycles, …` or
`R1 fail …`. Talk goes to stderr. The exit code is 1 when a row failed; a row that is not there fails.

usage: run.py [--quick] [R1 R8 ...]

Every row is a process of its own, in a session of its own: what it leaves running is ended with it. Rows run side by side,
except those that say `alone = True`, or `alone_in_full = True` where they are run in full.
"""
import argparse
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ALL = range(1, 31)
QUICK_SECONDS_MAX = 240
TIDY_SECONDS_MAX = 10


def row_path(folder: pathlib.Path, number: int) -> pathlib.Path:
    return folder / f"r{number:02d}.py"


def is_alone(path: pathlib.Path, quick: bool) -> bool:
    said = r"^alone = True$" if quick else r"^alone(_in_full)? = True$"
    return path.exists() and re.search(said, path.read_text(), re.MULTILINE) is not None


def one_line(text) -> str:
    return " ".join(str(text).split()) or "no figures"


# ---- one row, in this process -------------------------------------------------------------------------------------


def verdict_of(path: pathlib.Path, quick: bool) -> str:
    from stress import Failed, Stress
    if not path.exists():
        return f"fail there is no row {path.name}"
    with tempfile.TemporaryDirectory(prefix="traceweir-stress-") as folder:
        try:
            spec = importlib.util.spec_from_file_location(path.stem, path)
            row = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(row)
            return "pass " + one_line(row.run(Stress(quick, pathlib.Path(folder))))
        except Failed as broken:
            return "fail " + one_line(broken)
        except BaseException as broken:  # a row that breaks is a row that fails
            traceback.print_exc()
            return f"fail broke: {type(broken).__name__}: {one_line(broken)[:300]}"


def run_here(number: int, arguments) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"R{number} {verdict_of(row_path(arguments.rows, number), arguments.quick)}", flush=True)
    return 0


# ---- all rows, each in a process of its own -----------------------------------------------------------------------


class Rows:
    def __init__(self, arguments):
        self.arguments, self.lines, self.printed = arguments, {}, 0
        self.lock, self.running = threading.Lock(), {}

    def command(self, number: int) -> list:
        words = [sys.executable, __file__, "--in-this-process", f"--rows={self.arguments.rows}", f"R{number}"]
        return words + (["--quick"] if self.arguments.quick else [])

    def run(self, number: int):
        limit = QUICK_SECONDS_MAX if self.arguments.quick else None
        # A file, not a pipe: a process that is left behind would hold a pipe open.
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(self.command(number), stdout=said, start_new_session=True)
            self.running[number] = process
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                give_up(process)
                print(f"R{number} fail it took more than {limit} s", file=said)
            finally:
                end_session(process)
            said.seek(0)
            self.note(number, said.read().strip().splitlines())

    def note(self, number: int, output: list):
        """A row's line is the last one that it printed; the lines come out in the order that was asked for."""
        line = output[-1] if output and output[-1].startswith(f"R{number} ") else f"R{number} fail it died without a word"
        with self.lock:
            self.lines[number] = line
            while self.printed < len(self.arguments.numbers) and self.arguments.numbers[self.printed] in self.lines:
                print(self.lines[self.arguments.numbers[self.printed]], flush=True)
                self.printed += 1

    def run_all(self) -> int:
        alone = [n for n in self.arguments.numbers if is_alone(row_path(self.arguments.rows, n), self.arguments.quick)]
        beside = [n for n in self.arguments.numbers if n not in alone]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            list(pool.map(self.run, beside))
        for number in alone:
            self.run(number)
        return 0 if all(line.split()[1] == "pass" for line in self.lines.values()) else 1


    def end(self, *_):
        """On a signal: nothing goes on behind our back."""
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            give_up(process)
            end_session(process)
        os._exit(1)


def give_up(process: subprocess.Popen):
    """Time for a row to tidy up, and no more."""
    process.terminate()
    try:
        process.wait(TIDY_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        pass


def end_session(process: subprocess.Popen):
    """What the row started and did not end goes with it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def row_number(text: str) -> int:
    match = re.fullmatch(r"[Rr]([1-9][0-9]?)", text)
    if not match or int(match[1]) not in ALL:
        raise argparse.ArgumentTypeError(f"'{text}' is no row: R1 to R{ALL[-1]}")
    return int(match[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("numbers", metavar="R1", nargs="*", type=row_number, help="only these rows")
    parser.add_argument("--quick", action="store_true", help="short counts")
    parser.add_argument("--rows", type=pathlib.Path, default=HERE / "rows", help=argparse.SUPPRESS)
    parser.add_argument("--in-this-process", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.numbers = arguments.numbers or list(ALL)
    sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
    if arguments.in_this_process:
        return run_here(arguments.numbers[0], arguments)
    rows = Rows(arguments)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, rows.end)
    return rows.run_all()


if __name__ == "__main__":
    sys.exit(main())
