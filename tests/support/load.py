"""Work for a service under a fault: uploads with keys, each repeated until it is acknowledged, and a ledger that knows
what was; reads beside them. Every answer is counted, and what must not happen is kept in `odd`."""
import collections
import concurrent.futures
import contextlib
import hashlib
import http.client
import itertools
import threading
import time

from service import Service, sha

RUNS = "/api/v1/projects/demo/runs"
CUT = (OSError, http.client.HTTPException)


def seconds_until(ready, seconds_max: float) -> float:
    """How long until `ready()` holds; an AssertionError where it does not in time."""
    started = time.monotonic()
    while not ready():
        if time.monotonic() - started > seconds_max:
            raise AssertionError(f"not within {seconds_max} s")
        time.sleep(0.01)
    return time.monotonic() - started


def runs_of(service: Service, token: str) -> dict:
    """The ids of the runs of each commit."""
    found, path = collections.defaultdict(list), RUNS + "?limit=200"
    while path:
        page = service.call("GET", path, token).json
        for run in page["runs"]:
            found[run["commit"]].append(run["id"])
        path = page["next"]
    return found


def numbered(body: bytes, number: int) -> bytes:
    """The same JSON trace with other bytes, and so another hash, for each number."""
    end = body.rindex(b"}")
    return body[:end] + b',"number":%d' % number + body[end:]


class Pace:
    """So many a second, together; not faster after a delay."""

    def __init__(self, per_second: float):
        self.gap, self.next, self.lock = 1 / per_second, time.monotonic(), threading.Lock()

    def wait(self, ended: threading.Event):
        with self.lock:
            now = time.monotonic()
            mine = max(self.next, now)
            self.next = mine + self.gap
        ended.wait(max(0.0, mine - now))


class Load:
    """`forgives`: exceptions of a connection that the fault may cut. The first trace is `body`; every upload differs."""

    def __init__(self, service: Service, token: str, body: bytes, per_second=15.0, forgives=()):
        self.service, self.token, self.body, self.forgives = service, token, body, tuple(forgives)
        self.ended, self.numbers, self.pace = threading.Event(), itertools.count(1), Pace(per_second)
        self.statuses, self.odd, self.lock = collections.Counter(), [], threading.Lock()
        self.acknowledged, self.begun = {}, set()

    @contextlib.contextmanager
    def running(self, writers: int, readers: int = 0):
        """Threads that work until the block ends; what one of them stumbled over is raised then."""
        with concurrent.futures.ThreadPoolExecutor(writers + readers) as pool:
            parts = [pool.submit(self.write) for _ in range(writers)] + [pool.submit(self.read) for _ in range(readers)]
            try:
                yield self
            finally:
                self.ended.set()
            for part in parts:
                part.result()

    def note(self, answer, fine) -> bool:
        """Whether the answer is a success. A 503 has to say when to ask again; everything else is odd."""
        with self.lock:
            self.statuses[answer.status] += 1
            if answer.status == 503 and "retry-after" in answer.headers:
                return False
            if answer.status not in fine:
                self.odd.append(answer)
        return answer.status in fine

    def ask(self, call, fine):
        """The answer, where it is a success."""
        try:
            answer = call()
        except self.forgives:
            with self.lock:
                self.statuses["cut"] += 1
            return None
        return answer if self.note(answer, fine) else None

    def send(self, number: int) -> bool:
        """Whether the upload of this number has its verdict. An acknowledged one keeps its id for ever."""
        headers = {"Idempotency-Key": f"key-{number}"}
        body = numbered(self.body, number)
        answer = self.ask(lambda: self.service.upload(self.token, body, sha(number), headers=headers), (201, 202))
        if answer is None:
            return False
        with self.lock:
            if self.acknowledged.setdefault(number, answer.json["id"]) != answer.json["id"]:
                self.odd.append(answer)
        return answer.status == 201

    def write(self):
        while not self.ended.is_set():
            number = next(self.numbers)
            with self.lock:
                self.begun.add(number)
            self.pace.wait(self.ended)
            while not self.send(number) and not self.ended.wait(0.1):
                pass

    def wait_for_more(self, seconds_max: float):
        """Until one more upload is acknowledged, so that a fault has something to lose; a slow machine may have none in time."""
        before, end = len(self.acknowledged), time.monotonic() + seconds_max
        while len(self.acknowledged) == before and time.monotonic() < end:
            time.sleep(0.005)

    def read(self):
        while not self.ended.is_set():
            self.pace.wait(self.ended)
            self.ask(lambda: self.service.call("GET", RUNS + "?limit=5", self.token), (200,))
            for number, run in list(self.acknowledged.items())[-1:]:
                answer = self.ask(lambda run=run: self.service.call("GET", f"{RUNS}/{run}", self.token), (200,))
                if answer is not None and answer.json["commit"] != sha(number):
                    self.odd.append(answer)

    def settle(self, seconds_max: float):
        """What was begun and not acknowledged is repeated with its key until it is judged."""
        for number in sorted(self.begun):
            seconds_until(lambda number=number: self.send(number), seconds_max)

    def faults(self) -> list:
        """What is wrong with what the service has now, in words: lost, twice, changed, unasked for, not judged, misjudged."""
        listed, found = runs_of(self.service, self.token), [f"odd answer {answer}" for answer in self.odd]
        for number, run in self.acknowledged.items():
            if run not in listed.get(sha(number), []):
                found.append(f"lost: {run} of upload {number}")
            else:
                found += [f"{fault}: {run} of upload {number}" for fault in self.faults_of(number, run)]
        found += [f"duplicate: {runs} of commit {commit}" for commit, runs in listed.items() if len(runs) != 1]
        return found + [f"unasked for: {commit}" for commit in set(listed) - {sha(number) for number in self.begun}]

    def faults_of(self, number: int, run: str):
        shown = self.service.call("GET", f"{RUNS}/{run}", self.token)
        if shown.status != 200 or shown.json["status"] != "judged":
            yield f"not judged: {shown}"
            return
        again = self.service.call("GET", f"{RUNS}/{run}/replay", self.token)
        # All uploads are the same job: none is worse than the others.
        if again.status != 200 or not again.json["same"] or shown.json["verdict"]["outcome"] == "fail":
            yield f"misjudged: {again}"
        if self.hash_of(run) != hashlib.sha256(numbered(self.body, number)).hexdigest():
            yield "changed"

    def hash_of(self, run: str) -> str:
        return hashlib.sha256(self.service.call("GET", f"{RUNS}/{run}/traces/0", self.token).body).hexdigest()
