"""Several processes on one Postgres: services that answer, and workers that only analyse.

They share a database and a data folder, as replicas do, and each has a log of its own.
"""
import http.client
import json
import pathlib
import signal
import subprocess
import time

from service import BIN, Answer, Service


class Replica(Service):
    """One more service on the store and the data of another one."""

    def __init__(self, first: Service, name: str, **settings):
        super().__init__(**(first.settings | settings))
        self.first, self.name = first, name
        self.share(first)

    def share(self, first: Service):
        self.store = first.store
        self.data_dir = first.data_dir
        self.log_path = pathlib.Path(self.folder) / f"{self.name}.log"


class Worker:
    """`traceweird worker` beside services. Use as a context manager."""

    def __init__(self, first: Service, number=1, **settings):
        self.first, self.settings = first, first.settings | {"analysis_workers": 1} | settings
        self.log_path = pathlib.Path(first.folder) / f"worker{number}.log"
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGKILL)

    def start(self):
        flags = [f"--{key.replace('_', '-')}={value}" for key, value in self.settings.items()]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([BIN / "traceweird", "worker", *flags], env=self.first.environment(),
                                            stdout=log, stderr=log)
        deadline = time.monotonic() + 20
        while "worker_started" not in self.log_path.read_text():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the worker did not start: {self.log_path.read_text()}")
            time.sleep(0.02)

    def watched_at(self) -> str:
        """Where it answers those who watch it, as its log says; empty: nowhere."""
        started = [json.loads(line) for line in self.log_path.read_text().splitlines() if "worker_started" in line]
        return started[-1]["worker_listen"]

    def call(self, method: str, path: str, body=b"") -> Answer:
        """Asks it there."""
        connection = http.client.HTTPConnection(self.watched_at(), timeout=30)
        try:
            connection.request(method, path, body=body if method in ("POST", "PUT") else None)
            answer = connection.getresponse()
            return Answer(answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def stop(self, how=signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(timeout=40)


def children_of(process: int) -> list:
    """The process ids of its analyses: its children, without the one that they are forked from."""
    found = []
    for task in pathlib.Path(f"/proc/{process}/task").glob("*"):
        try:
            found += [int(word) for word in (task / "children").read_text().split() if not is_fork_server(word)]
        except OSError:
            pass
    return found


def is_fork_server(process: str) -> bool:
    try:
        return pathlib.Path(f"/proc/{process}/comm").read_text() == "fork-server\n"
    except OSError:
        return False


def seconds_until(holds, seconds_max: float) -> float:
    """How long until `holds()`; an AssertionError where it does not in time."""
    started = time.monotonic()
    while not holds():
        if time.monotonic() - started > seconds_max:
            raise AssertionError(f"not within {seconds_max} s")
        time.sleep(0.02)
    return time.monotonic() - started
