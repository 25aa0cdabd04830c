"""How the benchmark measures: programs in alternation, processor time from the kernel, medians with their spread.

Processor time of a program is what wait4 says of it and of the children that it waited for; that of a running service is
read from /proc, its living children included. Wall time is only used where a row is about waiting.
"""
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """What was measured did not do its work, so that its time says nothing."""


@dataclasses.dataclass
class Cost:
    cpu: float
    wall: float
    rss: int = 0
    out: str = ""

    @property
    def said(self) -> dict:
        """The line of JSON that a reference program prints."""
        return json.loads(self.out.splitlines()[-1])


@dataclasses.dataclass(frozen=True)
class Figure:
    """A row's result: the median, the lowest and the highest of the runs, and what went into it."""
    value: float
    low: float
    high: float
    note: str = ""


def cost_of(command, env=None, cores=None) -> Cost:
    """Runs a program to its end. Raises Failed where it does not end well."""
    command = [str(word) for word in command]
    if cores is not None:
        command = ["taskset", "-c", cores, *command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            raise Failed(f"{' '.join(command[:3])} …: exit {child.returncode}: {err.read().decode(errors='replace')[-500:]}")
        return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024, out.read().decode())


def own_cost_of(command, env=None) -> Cost:
    """The same of a program that times its own work, without its preparations."""
    cost = cost_of(command, env)
    return Cost(cost.said["cpu_s"], cost.said["wall_s"], cost.rss, cost.out)


def alternately(runs: int, **actions) -> dict:
    """Calls the actions one after the other, again and again, so that a busy moment of the machine meets all of them."""
    costs = {name: [] for name in actions}
    for _ in range(runs):
        for name, action in actions.items():
            costs[name].append(action())
    return costs


def ratio(ours, theirs, of="cpu", note="") -> Figure:
    """Of medians; the spread is that of the pairs that ran side by side. Both may be lists of costs or of numbers."""
    ours, theirs = ([getattr(cost, of) if isinstance(cost, Cost) else cost for cost in costs] for costs in (ours, theirs))
    pairs = [mine / other for mine, other in zip(ours, theirs)]
    figures = f"{statistics.median(ours):.3g} s against {statistics.median(theirs):.3g} s"
    return Figure(statistics.median(ours) / statistics.median(theirs), min(pairs), max(pairs), note or figures)


def median(costs, of="cpu") -> float:
    return statistics.median(getattr(cost, of) for cost in costs)


def warm(*files):
    """Into the page cache."""
    for file in files:
        with open(file, "rb", buffering=0) as stream:
            while stream.read(1 << 20):
                pass


def processes_under(root: int) -> list:
    """A process and all that descend from it."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, ahead = [], [root]
    while ahead:
        found.append(ahead.pop())
        ahead += children.get(found[-1], [])
    return found


def cpu_under(root: int) -> float:
    """Seconds that a running process, its descendants, and those that they waited for have used."""
    ticks = 0
    for process in processes_under(root):
        try:
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS
