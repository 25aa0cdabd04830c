"""R29: the gate on simulated commits. Five metrics with a noise of 1 to 8 % and no change: at most one commit in a hundred fails. A
change is found at least 0.95 times as often as the t prediction test finds it on the same data; with one confirming run four of five
changes of 10 % at a noise of 3 % are. The bounds are those of tests/simulation; the figures here are the worst cell of each table.
The quick form leaves the table without a change to the layer `simulation`, which every test run has: it takes the longest."""
import os
import re
import subprocess

from stress import Failed, check

SHOWN = re.compile(r"^\| times \| log-normal \| 3 % \| \d+ % \| \d+ \| ([\d.]+) % \| ([\d.]+) % \|$", re.MULTILINE)
FAILS_MAX, POWER_MIN, FOUND_MIN = 1.0, 0.95, 78.0


def table_of(stress, case: str) -> str:
    environment = os.environ | ({} if stress.quick else {"TRACEWEIR_SIMULATION": "full"})
    done = subprocess.run([stress.bin / "simulation", f"--test-case=simulation: {case}*", "--no-skip"], env=environment,
                          capture_output=True, text=True)
    if done.returncode != 0 or " 1 passed" not in done.stdout:
        raise Failed(f"{case}: {done.stdout[-800:]}")
    return done.stdout


def run(stress) -> str:
    table = "" if stress.quick else table_of(stress, "false alarms")
    alarms = [float(cell) for cell in re.findall(r"\| ([\d.]+) ± [\d.]+ %,", table)]
    confirmed = table_of(stress, "confirm = 2")
    found = [float(cell) for cell in re.findall(r"% \| ([\d.]+) ± [\d.]+ % \|", confirmed)]
    power = [float(ours) / float(t) for ours, t in SHOWN.findall(table_of(stress, "power against")) if float(t) > 1]
    check((alarms or stress.quick) and found and power, "the tables were not understood")
    quiet = "" if stress.quick else f"{len(alarms)} cells without a change: at most {max(alarms):.2f} % fail; "
    figures = (f"{quiet}{len(power)} cells with one: at least {min(power):.3f} of the t test's power; "
               f"+10 % at CV 3 % with a confirming run: at least {min(found):.1f} %, "
               f"{sum(found) / len(found):.1f} % on average")
    check(max(alarms, default=0.0) <= FAILS_MAX and min(power) >= POWER_MIN and sum(found) / len(found) >= FOUND_MIN, figures)
    return figures
