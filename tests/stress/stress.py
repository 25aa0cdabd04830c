"""What a row of the stress table is given (Stress), how it says that a bound is broken (Failed), and what several rows
measure: memory, descriptors, percentiles.

A row is a file rows/rNN.py: a docstring that says what it proves, and `def run(stress) -> str`, which returns the figures
of its line. `alone = True` beside it: its figures are times that others would spoil, so nothing runs beside it; `alone_in_full = True`:
the same, but the bounds of its quick form are wide enough for company.
"""
import json
import os
import pathlib
import sys

from service import BIN, Service, cluster

STORES = ("sqlite", "postgres")


class Failed(Exception):
    """A bound is broken; the text is the figures."""


class Stress:
    """`quick`: the short form; `folder`: scratch of the row's own; `bin`: where the programs are, those of tests too."""

    def __init__(self, quick: bool, folder: pathlib.Path):
        self.quick, self.folder, self.bin = quick, folder, BIN

    def count(self, full, quick):
        return quick if self.quick else full

    def say(self, text: str):
        """Talk, on stderr: stdout has the lines."""
        print(text, file=sys.stderr, flush=True)


class ServiceOn(Service):
    """A service on one kind of store, whatever the tests' default is; `databases` are those of a cluster of one's own."""

    def __init__(self, kind: str, databases=None, **settings):
        self.kind, self.databases = kind, databases
        super().__init__(**settings)

    def new_store(self) -> dict:
        if self.kind == "sqlite":
            return {}
        return {"TRACEWEIR_STORE": (self.databases or cluster()).new_database()}


def check(holds, figures: str):
    if not holds:
        raise Failed(figures)


def percentile(values, part: float) -> float:
    """The smallest value that at least this part of them does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def status_of(pid: int) -> dict:
    """Fields of /proc/PID/status; empty where the process is gone."""
    try:
        lines = pathlib.Path("/proc", str(pid), "status").read_text().splitlines()
    except OSError:
        return {}
    return dict(line.split(":", 1) for line in lines)


def resident_bytes(pid: int) -> int:
    return int(status_of(pid).get("VmRSS", "0 kB").split()[0]) * 1024


def descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def children(pid: int) -> list:
    """Those of any thread, and theirs."""
    found = []
    for path in pathlib.Path("/proc", str(pid), "task").glob("*/children"):
        try:
            found += [int(word) for word in path.read_text().split()]
        except OSError:
            pass  # the thread ended
    return found + [grandchild for child in found for grandchild in children(child)]


def slope(points) -> float:
    """Of the line of least squares through (x, y) points."""
    middle_x, middle_y = (sum(values) / len(points) for values in zip(*points))
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / spread if spread else 0.0


def broken_log_lines(path: pathlib.Path) -> list:
    """Lines of a log that are no JSON object."""
    def is_fine(line):
        try:
            return isinstance(json.loads(line), dict)
        except ValueError:
            return False
    return [line for line in path.read_text(errors="replace").splitlines() if not is_fine(line)]
