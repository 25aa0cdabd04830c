"""Postgres goes away and comes back while the service works: no wrong answer, nothing lost, healed by itself.

About Postgres alone: the embedded store has no server that could go away.
"""
import signal
import subprocess
import time
import unittest

from load import RUNS, Load, runs_of, seconds_until
from postgres import Cluster
from service import BIN, Service, sha, trace

RESTARTS = 20
RECOVERY_SECONDS_MAX = 5


class ServiceOn(Service):
    """A service on a cluster that only this test uses, since it is stopped."""

    def __init__(self, cluster: Cluster, **settings):
        self.cluster = cluster
        super().__init__(**settings)

    def new_store(self):
        return {"TRACEWEIR_STORE": self.cluster.new_database()}


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
        with load.running(writers=3, readers=2):
            for number in range(RESTARTS):
                load.ended.wait(0.4)
                self.cluster.stop(signal.SIGKILL if number % 5 == 4 else signal.SIGQUIT)
                self.cluster.start()
                recoveries.append(seconds_until(lambda: self.is_back(service, token), RECOVERY_SECONDS_MAX))
            load.ended.wait(0.5)
        load.settle(RECOVERY_SECONDS_MAX)
        places = [f"{RUNS}/{run}" for runs in runs_of(service, token).values() for run in runs]
        pause = seconds_until(lambda: self.open_runs(service, token, places) == 0, 60)
        self.assertEqual(load.faults(), [])
        print(f"postgres: {RESTARTS} restarts under load: {len(load.acknowledged)} runs acknowledged, all there once; "
              f"answers {dict(load.statuses)}; slowest recovery {max(recoveries):.2f} s; all judged {pause:.2f} s after")

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
