"""Postgres goes away and comes back while the service works: no wrong answer, nothing lost, healed by itself.

About Postgres alone: the embedded store has no server that could go away.
"""
import collections
import concurrent.futures
import itertools
import signal
import subprocess
import threading
import time
import unittest

from postgres import Cluster
from service import BIN, Service, sha, trace

RESTARTS = 20
RECOVERY_SECONDS_MAX = 5
RUNS = "/api/v1/projects/demo/runs"


class ServiceOn(Service):
    """A service on a cluster that only this test uses, since it is stopped."""

    def __init__(self, cluster: Cluster, **settings):
        self.cluster = cluster
        super().__init__(**settings)

    def new_store(self):
        return {"TRACEWEIR_STORE": self.cluster.new_database()}


def seconds_until(ready, seconds_max: float) -> float:
    """How long until `ready()` holds; an AssertionError where it does not in time."""
    started = time.monotonic()
    while not ready():
        if time.monotonic() - started > seconds_max:
            raise AssertionError(f"not within {seconds_max} s")
        time.sleep(0.01)
    return time.monotonic() - started


class Load:
    """Uploads with keys, repeated until they are acknowledged, and reads; every answer's status is counted."""

    def __init__(self, service: Service, token: str, body: bytes):
        self.service, self.token, self.body = service, token, body
        self.ended, self.numbers = threading.Event(), itertools.count(1)
        self.statuses, self.acknowledged, self.odd = collections.Counter(), {}, []

    def note(self, answer, fine) -> bool:
        """Whether the answer is a success. A 503 has to say when to ask again; everything else is odd."""
        self.statuses[answer.status] += 1
        if answer.status == 503 and "retry-after" in answer.headers:
            return False
        if answer.status not in fine:
            self.odd.append(answer)
        return answer.status in fine

    def write(self):
        while not self.ended.is_set():
            number = next(self.numbers)
            headers = {"Idempotency-Key": f"key-{number}"}
            while True:
                answer = self.service.upload(self.token, self.body, sha(number), headers=headers)
                if self.note(answer, (201, 202)):
                    self.acknowledged.setdefault(number, answer.json["id"])
                if answer.status == 201 or self.ended.is_set():
                    break
                self.ended.wait(0.2)
            self.ended.wait(0.2)

    def read(self):
        while not self.ended.is_set():
            if not self.note(self.service.call("GET", RUNS + "?limit=5", self.token), (200,)):
                self.ended.wait(0.2)
            for number, run in list(self.acknowledged.items())[-1:]:
                answer = self.service.call("GET", f"{RUNS}/{run}", self.token)
                if self.note(answer, (200,)) and answer.json["commit"] != sha(number):
                    self.odd.append(answer)
            self.ended.wait(0.05)


class PostgresRestarts(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster().__enter__()
        self.addCleanup(self.cluster.__exit__)
        self.trace = trace("--steps", 3)

    def start(self, **settings) -> Service:
        service = ServiceOn(self.cluster, **settings).__enter__()
        self.addCleanup(service.__exit__)
        return service

    def is_back(self, service, token) -> bool:
        return service.call("GET", "/readyz").status == 200 and service.call("GET", RUNS, token).status == 200

    def test_restarts_under_load(self):
        service = self.start()
        token = service.token()
        load, recoveries = Load(service, token, self.trace), []
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            parts = [pool.submit(load.write) for _ in range(3)] + [pool.submit(load.read) for _ in range(2)]
            try:
                for number in range(RESTARTS):
                    load.ended.wait(0.4)
                    self.cluster.stop(signal.SIGKILL if number % 5 == 4 else signal.SIGQUIT)
                    self.cluster.start()
                    recoveries.append(seconds_until(lambda: self.is_back(service, token), RECOVERY_SECONDS_MAX))
                load.ended.wait(0.5)
            finally:
                load.ended.set()
            for part in parts:
                part.result()
        self.assertEqual(load.odd, [])
        listed = self.runs_of(service, token)
        for number, run in load.acknowledged.items():
            self.assertEqual(listed[sha(number)], [run], "there, once, and the one that was acknowledged")
        self.assertEqual([runs for runs in listed.values() if len(runs) != 1], [], "nothing twice")
        places = [f"{RUNS}/{run}" for runs in listed.values() for run in runs]
        pause = seconds_until(lambda: self.open_runs(service, token, places) == 0, 60)
        print(f"postgres: {RESTARTS} restarts under load: {len(load.acknowledged)} runs acknowledged, all there once; "
              f"answers {dict(load.statuses)}; slowest recovery {max(recoveries):.2f} s; all judged {pause:.2f} s after")

    def runs_of(self, service, token) -> dict:
        """The ids of the runs of each commit."""
        found, path = collections.defaultdict(list), RUNS + "?limit=200"
        while path:
            page = service.call("GET", path, token).json
            for run in page["runs"]:
                found[run["commit"]].append(run["id"])
            path = page["next"]
        return found

    def open_runs(self, service, token, places) -> int:
        return sum(service.call("GET", place, token).json["status"] == "analysing" for place in places)

    def test_a_database_that_is_away_is_said_and_runs_go_on_when_it_is_back(self):
        service = self.start(analysis_workers=1)
        token = service.token()
        places = [service.upload(token, self.trace, sha(n), wait=0).headers["location"] for n in range(4)]
        self.cluster.stop()
        for answer in (service.call("GET", RUNS, token), service.upload(token, self.trace, sha(9)),
                       service.call("GET", places[0], token)):
            self.assertEqual((answer.status, answer.json["type"]), (503, "store_unavailable"), answer)
            self.assertIn("retry-after", answer.headers)
        ready = service.call("GET", "/readyz")
        self.assertEqual(ready.status, 503)
        self.assertEqual(ready.json["store"], "store: the database cannot be reached")
        self.assertEqual(service.call("GET", RUNS, token).json["detail"], "store: the database cannot be reached")
        self.assertIn("connection to server", service.log_path.read_text(), "the operator is told the rest")
        self.assertEqual(service.call("GET", "/healthz").status, 200, "a restart of the service would not help")
        self.cluster.start()
        seconds_until(lambda: self.is_back(service, token), RECOVERY_SECONDS_MAX)
        seconds_until(lambda: self.open_runs(service, token, places) == 0, 20)
        for place in places:
            self.assertEqual(service.call("GET", place, token).json["status"], "judged")

    def test_sessions_that_end_one_by_one_are_not_noticed(self):
        service = self.start()
        token = service.token()
        for number in range(10):
            self.cluster.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'traceweird'")
            self.assertEqual(service.call("GET", RUNS, token).status, 200)
            self.assertEqual(service.upload(token, self.trace, sha(number)).status, 201)

    def test_a_lock_that_is_not_given_in_time_is_a_503(self):
        service = self.start()
        token = service.token()
        holder = subprocess.Popen(["psql", "-X", "-q", "-h", self.cluster.folder, "-U", "postgres",
                                   service.store["TRACEWEIR_STORE"].split("/")[3].split("?")[0]],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        holder.stdin.write("BEGIN; LOCK TABLE run; SELECT 'locked';\n")
        holder.stdin.flush()
        while "locked" not in holder.stdout.readline():
            pass
        refused = service.upload(token, self.trace, sha(1), headers={"Idempotency-Key": "k"})
        self.assertEqual((refused.status, refused.json["type"]), (503, "store_unavailable"), refused)
        holder.communicate()
        self.assertEqual(service.upload(token, self.trace, sha(1), headers={"Idempotency-Key": "k"}).status, 201)

    def test_a_start_without_the_database_says_where_and_why(self):
        with Service() as other:
            for url, words in (("postgresql://traceweir:hunter2@127.0.0.1:1/runs", ("127.0.0.1", "refused")),
                               (self.cluster.url("nowhere") + "&password=hunter2", ("nowhere", "does not exist")),
                               ("postgresql://traceweir:hun@ter2@db/runs", ("percent-encoded",))):
                started = time.monotonic()
                done = subprocess.run([BIN / "traceweird", "--listen", "127.0.0.1:0", "--store", url],
                                      env=other.environment(), capture_output=True, text=True, timeout=30)
                self.assertLess(time.monotonic() - started, 10)
                self.assertIn(done.returncode, (2, 3))
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertNotIn("ter2", done.stderr + done.stdout)
            shown = subprocess.run([BIN / "traceweird", "config", "check", "--store", "postgresql://u:hunter2@db/runs"],
                                   env=other.environment(), capture_output=True, text=True, timeout=30)
            self.assertIn("postgresql://u:***@db/runs", shown.stdout)
            self.assertNotIn("hunter2", shown.stdout)


if __name__ == "__main__":
    unittest.main()
