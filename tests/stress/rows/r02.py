"""R2: whoever analyses is killed (-9), over and over: the analysing child by its id, and every fifth time the worker that
holds its job. The service never ends; every job is done or taken again within its lease and 5 s; what is ended three times is
rejected with its reason, never passed, and its file is kept; everything else gets its verdict."""
import os
import pathlib
import signal
import time

from replicas import Worker, children_of
from service import BIN, sha, trace
from stress import ServiceOn, check

LEASE_SECONDS = 2
STUCK_SECONDS_MAX = LEASE_SECONDS + 5
RUNS = "/api/v1/projects/demo/runs"


def slow_analyzer(folder: pathlib.Path) -> pathlib.Path:
    """Sleeps before it reads, so that it can be met. An export of nsys is read from its file; the probe is a pipe."""
    program = folder / "analyzer"
    program.write_text(f'#!/bin/sh\n[ -f /dev/stdin ] && sleep 0.4\nexec {BIN / "traceweir"} "$@"\n')
    program.chmod(0o755)
    return program


class Killing:
    """Uploads that are analysed by two workers, some of them in trouble."""

    def __init__(self, service, workers, export: bytes):
        self.service, self.workers, self.export = service, workers, export
        self.token, self.places, self.kills, self.exits = service.token(), [], 0, 0

    def upload(self):
        answer = self.service.upload(self.token, self.export, sha(len(self.places)), wait=0)
        check(answer.status == 202, f"an upload was answered {answer.status} {answer.body[:200]}")
        self.places.append(answer.headers["location"])

    def open_places(self) -> list:
        return [place for place in self.places if self.run(place)["status"] == "analysing"]

    def run(self, place) -> dict:
        return self.service.call("GET", place, self.token).json

    def kill_one(self) -> bool:
        """Whether there was something to kill."""
        for worker in self.workers:
            for child in children_of(worker.process.pid):
                if self.kills % 5 == 4:
                    worker.stop(signal.SIGKILL)
                    worker.start()
                else:
                    try:
                        os.kill(child, signal.SIGKILL)
                    except ProcessLookupError:
                        continue
                self.kills += 1
                return True
        return False

    def count_exits(self):
        self.exits += self.service.process.poll() is not None
        self.exits += sum(worker.process.poll() is not None for worker in self.workers)


def kill_for_a_while(killing: Killing, kills: int):
    deadline = time.monotonic() + 10 * kills
    while killing.kills < kills and time.monotonic() < deadline:
        if not killing.kill_one():
            if not killing.open_places():
                killing.upload()
        killing.count_exits()
        time.sleep(0.05)


def run(stress) -> str:
    kills = stress.count(200, 8)
    export = trace("--steps", 4, "--format", "nsys", name="report.sqlite")
    settings = dict(job_lease=f"{LEASE_SECONDS} s", resume_pause="100 ms")
    with ServiceOn("postgres", analysis_workers="none", **settings) as service:
        analyzer = slow_analyzer(stress.folder)
        with Worker(service, 1, analysis_workers=1, analysis_program=analyzer) as one, \
                Worker(service, 2, analysis_workers=1, analysis_program=analyzer) as other:
            killing = Killing(service, (one, other), export)
            kill_for_a_while(killing, kills)
            for _ in range(3):
                killing.upload()  # of these nobody is killed
            ended = time.monotonic()
            while killing.open_places() and time.monotonic() - ended < 3 * STUCK_SECONDS_MAX:
                time.sleep(0.05)
            waited, stuck = time.monotonic() - ended, len(killing.open_places())
            runs = [killing.run(place) for place in killing.places]
            poisoned = [run for run in runs if run["status"] == "rejected"]
            reasons = [run["error"]["detail"] for run in poisoned]
            kept = all(service.call("GET", f"{run['links']['self']}/traces/0", killing.token).body == export for run in poisoned)
            figures = (f"{killing.kills} kills, {killing.exits} exits, {len(runs)} uploads, {len(poisoned)} given up, "
                       f"{stuck} stuck; the last were done {waited:.1f} s after the last kill, at a lease of {LEASE_SECONDS} s")
            check(killing.kills >= kills and killing.exits == 0 and stuck == 0, figures)
            check(waited < STUCK_SECONDS_MAX, figures)
            check(len(poisoned) > 0 and kept, f"{figures}; their files are{'' if kept else ' not'} kept")
            check(all("given up" in reason for reason in reasons), f"{figures}; {reasons}")
            check(all(run["status"] == "judged" for run in runs[-3:]), f"{figures}; others were given up, too")
            return figures
