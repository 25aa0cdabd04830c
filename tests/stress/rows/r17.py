"""R17: a history of 10 000 commits and a million points, on both stores: judging a run takes less than 50 ms and a history page less
than 200 ms, each at its 95th percentile. The quick form has a tenth of the commits and only the wide bounds of the program itself (1 s
and 3 s): in a test run the machine may be anybody's."""
import os
import re
import subprocess

from stress import Failed, check

alone_in_full = True
LINE = re.compile(r"^ +(?P<what>\S.*?) \((?:promised: )?(?P<max>\d+) ms\) +p50 +\S+ ms +p95 +(?P<p95>[\d.]+) ms$", re.MULTILINE)
FIGURES_PER_STORE = 4


def run(stress) -> str:
    commits = stress.count(10_000, 1_000)
    environment = os.environ | {"TRACEWEIR_LATENCY_RUNS": str(commits)}
    done = subprocess.run(stress.bin / "latency", env=environment, capture_output=True, text=True)
    stress.say(done.stdout[-4000:] if done.returncode != 0 else "")
    figures = [(match["what"], float(match["p95"]), float(match["max"])) for match in LINE.finditer(done.stdout)]
    if done.returncode != 0 or len(figures) < 2 * FIGURES_PER_STORE:
        raise Failed(f"the program of tests/latency exits with {done.returncode} after {len(figures)} figures")
    worst = {}
    for what, p95, limit in figures:
        worst[what] = max(worst.get(what, (0.0, limit)), (p95, limit))
    text = f"{commits} commits, both stores, p95 at most: " + ", ".join(f"{what} {p95:.0f} ms" for what, (p95, _) in worst.items())
    check(stress.quick or all(p95 < limit for p95, limit in worst.values()), text)
    return text
