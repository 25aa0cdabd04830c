"""R1: the service is killed (-9) at random points of upload → rename → commit, on both stores. After the restarts every
acknowledged upload is there once, judged, with the bytes that were sent; nothing is there by halves; after a sweep no file is
left that no run refers to; and a restart takes less than a second."""
import hashlib
import os
import random
import signal
import time

from load import CUT, Load, numbered, runs_of, sha
from service import trace
from stress import STORES, ServiceOn, check

alone = True
RESTART_SECONDS_MAX = 1.0
TWO_DAYS = 2 * 86400
SWEEP_SECONDS_MAX = 10


def files(service, folder: str) -> list:
    """All but the lock of the blobs and the name of their store."""
    return [path for path in (service.data_dir / folder).rglob("*") if path.is_file() and not path.name.startswith(".")]


def orphans_after_sweep(service, load: Load, listed: dict) -> int:
    """The files are made old, as if two days had passed, and the service is started, which sweeps. An upload that was cut off
    before its answer may be there, with its run: its file is no orphan."""
    for path in files(service, "blobs") + files(service, "spool/incoming"):
        os.utime(path, (time.time() - TWO_DAYS,) * 2)
    service.stop(signal.SIGTERM)
    service.start()
    wanted = {hashlib.sha256(numbered(load.body, number)).hexdigest() for number in load.begun if sha(number) in listed}

    def left() -> int:
        return len({path.name for path in files(service, "blobs")} - wanted) + len(files(service, "spool/incoming"))

    end = time.monotonic() + SWEEP_SECONDS_MAX  # the service answers before it has swept
    while left() and time.monotonic() < end:
        time.sleep(0.02)
    return left()


def kill_and_restart(kind: str, cycles: int, body: bytes):
    random.seed(1)
    with ServiceOn(kind) as service:
        token = service.token()
        load, starts = Load(service, token, body, per_second=100, forgives=CUT), []
        with load.running(writers=3):
            for cycle in range(cycles):
                if cycle % 2:
                    load.wait_for_more(2)
                time.sleep(random.uniform(0, 0.2))
                service.stop(signal.SIGKILL)
                begun = time.monotonic()
                service.start()
                starts.append(time.monotonic() - begun)
        load.settle(60)
        faults = load.faults()
        listed = runs_of(service, token)
        orphans = orphans_after_sweep(service, load, listed)
        lost = sum(number_faults.startswith("lost") for number_faults in faults)
        twice = sum(len(runs) - 1 for runs in listed.values())
        figures = (f"{kind}: {cycles} cycles, {len(load.acknowledged)} acknowledged, {lost} lost, {twice} duplicates, "
                   f"{orphans} orphans, slowest restart {max(starts):.2f} s")
        check(not faults and twice == 0 and orphans == 0, f"{figures}; {'; '.join(faults[:3])}")
        check(load.statuses["cut"] > 0, f"{figures}; no request was ever cut")
        check(max(starts) < RESTART_SECONDS_MAX, figures)
        return figures


def run(stress) -> str:
    body = trace("--steps", 3)
    return "; ".join(kill_and_restart(kind, stress.count(100, 6), body) for kind in STORES)
