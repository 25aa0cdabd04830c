"""Several services and workers on one Postgres: they share the work, nobody waits in vain, and whoever dies loses nothing.

About Postgres alone: the embedded store is for one process.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

from pgbouncer import PgBouncer
from replicas import Replica, Worker, children_of, seconds_until
from service import BIN, Service, cluster, sha, trace

RUNS = "/api/v1/projects/demo/runs"
LEASE_SECONDS = 2
QUICK = dict(job_lease=f"{LEASE_SECONDS} s", resume_pause="200 ms")


class Replicas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trace = trace("--steps", 5)
        cls.export = trace("--steps", 5, "--format", "nsys", name="report.sqlite")

    def start(self, thing):
        thing.__enter__()
        self.addCleanup(thing.__exit__)
        return thing

    def status(self, service, token, place):
        return service.call("GET", place, token).json["status"]

    def slow_analyzer(self):
        """An analyzer that waits until it is told to go on, and how to tell it. Only what is read from a file waits, and
        that is an export of nsys: the service's probe and what arrives as JSON come through a pipe."""
        keeper = tempfile.TemporaryDirectory()
        self.addCleanup(keeper.cleanup)
        program, gate = pathlib.Path(keeper.name) / "analyzer", pathlib.Path(keeper.name) / "open"
        program.write_text(f'#!/bin/sh\nwhile [ -f /dev/stdin ] && [ ! -e {gate} ]; do sleep 0.05; done\n'
                           f'exec {BIN / "traceweir"} "$@"\n')
        program.chmod(0o755)
        return program, gate.touch

    def test_five_that_start_at_once_on_an_empty_database_make_one_schema_and_one_administrator(self):
        first = Service()
        self.addCleanup(first.__exit__)
        services = [first] + [Replica(first, f"replica{n}") for n in range(4)]
        for service in services[1:]:
            self.addCleanup(service.__exit__)
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            for done in [pool.submit(service.start) for service in services]:
                done.result()
        admin = (first.data_dir / "admin-token").read_text().strip()
        self.assertEqual([path.name for path in first.data_dir.glob("admin-token*")], ["admin-token"])
        name = first.store["TRACEWEIR_STORE"].split("/")[3].split("?")[0]
        self.assertEqual(cluster().psql("SELECT count(*) FROM token WHERE can_admin", database=name), "1")
        self.assertEqual(cluster().psql("SELECT count(*) = max(version) FROM schema_version", database=name), "t")
        for service in services:
            self.assertEqual(service.call("GET", "/api/v1/projects", admin).status, 200)

    def test_a_client_of_one_gets_the_verdict_that_another_one_made(self):
        serves = self.start(Service(analysis_workers="none", **QUICK))
        token = serves.token()
        waiting = serves.upload(token, self.trace, sha(1), wait=0)
        self.assertEqual(waiting.status, 202)
        self.start(Worker(serves))
        seconds_until(lambda: self.status(serves, token, waiting.headers["location"]) == "judged", 20)
        started = time.monotonic()
        answer = serves.upload(token, self.trace, sha(2))
        self.assertEqual(answer.status, 201, answer)
        self.assertLess(time.monotonic() - started, 10)
        whole = {"run_key": "k", "ranks": 2}
        of_rank = [trace("--steps", 6, "--ranks", 2, "--rank", rank) for rank in range(2)]
        self.assertEqual(serves.upload(token, of_rank[0], sha(3), rank=0, **whole).status, 202, "waits for the other rank")
        done = serves.upload(token, of_rank[1], sha(3), rank=1, **whole)
        self.assertEqual(done.status, 201, done)
        bad = serves.upload(token, b"no trace at all", sha(4), rank=0, run_key="b", ranks=2)
        self.assertEqual((bad.status, bad.json["type"]), (415, "unknown_format"), bad)

    def test_the_jobs_of_one_that_is_killed_are_done_by_another_one(self):
        analyzer, open_gate = self.slow_analyzer()
        first = self.start(Service(analysis_workers=2, analysis_program=analyzer, **QUICK))
        token = first.token()
        places = [first.upload(token, self.export, sha(n), wait=0).headers["location"] for n in range(4)]
        seconds_until(lambda: len(children_of(first.process.pid)) == 2, 10)
        second = self.start(Replica(first, "second", analysis_program=BIN / "traceweir"))
        answers = []
        waiter = threading.Thread(target=lambda: answers.append(
            second.upload(token, self.export, sha(0), headers={"Idempotency-Key": "again"})))
        seconds_until(lambda: self.status(second, token, places[3]) == "judged", 10)
        first.stop(signal.SIGKILL)
        killed = time.monotonic()
        waiter.start()
        seconds_until(lambda: all(self.status(second, token, place) == "judged" for place in places), LEASE_SECONDS + 5)
        print(f"two jobs of a killed service were done {time.monotonic() - killed:.1f} s after, at a lease of {LEASE_SECONDS} s")
        waiter.join()
        self.assertEqual([answer.status for answer in answers], [201])
        open_gate()

    def test_one_that_is_killed_and_started_again_waits_for_no_lease(self):
        analyzer, open_gate = self.slow_analyzer()
        service = self.start(Service(analysis_workers=1, analysis_program=analyzer, job_lease="10 min"))
        token = service.token()
        place = service.upload(token, self.export, sha(1), wait=0).headers["location"]
        seconds_until(lambda: len(children_of(service.process.pid)) == 1, 10)
        service.stop(signal.SIGKILL)
        open_gate()
        service.start()
        seconds_until(lambda: self.status(service, token, place) == "judged", 10)
        self.assertEqual(len(list((service.data_dir / "processes").iterdir())), 1, "of the one that lives")
        service.stop(signal.SIGTERM)
        self.assertEqual(list((service.data_dir / "processes").iterdir()), [])

    def test_sigterm_hands_back_at_once_and_counts_nothing(self):
        analyzer, open_gate = self.slow_analyzer()
        serves = self.start(Service(analysis_workers="none", job_lease="60 s"))
        token = serves.token()
        place = serves.upload(token, self.export, sha(1), wait=0).headers["location"]
        for number in range(5):
            worker = self.start(Worker(serves, number, analysis_workers=1, analysis_program=analyzer))
            seconds_until(lambda: len(children_of(worker.process.pid)) == 1, 10)
            started = time.monotonic()
            self.assertEqual(worker.stop(signal.SIGTERM), 0)
            self.assertLess(time.monotonic() - started, 5)
        open_gate()
        self.start(Worker(serves, 9, analysis_workers=1, analysis_program=analyzer))
        seconds_until(lambda: self.status(serves, token, place) != "analysing", 10)
        self.assertEqual(self.status(serves, token, place), "judged")

    def kill_a_worker_of(self, serves, number, analyzer):
        worker = self.start(Worker(serves, number, analysis_program=analyzer))
        seconds_until(lambda: len(children_of(worker.process.pid)) == 1, 10)
        worker.stop(signal.SIGKILL)

    def test_what_ends_one_worker_after_the_other_is_rejected_and_kept(self):
        analyzer, open_gate = self.slow_analyzer()
        serves = self.start(Service(analysis_workers="none", **QUICK))
        token = serves.token()
        place = serves.upload(token, self.export, sha(1), wait=0).headers["location"]
        for number in range(3):
            self.kill_a_worker_of(serves, number, analyzer)
        name = serves.store["TRACEWEIR_STORE"].split("/")[3].split("?")[0]
        self.assertEqual(cluster().psql("SELECT attempts FROM analysis_job", database=name), "1", "young: only the last claim")
        cluster().psql("UPDATE analysis_job SET attempts = 22", database=name)  # as if so many had ended over it
        self.start(Worker(serves, 9, analysis_program=analyzer))
        seconds_until(lambda: self.status(serves, token, place) == "rejected", LEASE_SECONDS + 5)
        run = serves.call("GET", place, token).json
        self.assertEqual(run["error"]["type"], "analysis_failed", run)
        self.assertIn("too many processes ended", run["error"]["detail"])
        commit = serves.call("GET", f"/api/v1/projects/demo/commits/{sha(1)}", token).json
        self.assertEqual(commit["outcome"], "inconclusive", "an answer that is missing is never a pass")
        self.assertEqual(serves.call("GET", place + "/traces/0", token).body, self.export, "the file is kept")
        open_gate()
        other = serves.upload(token, self.export, sha(2), wait=0).headers["location"]
        seconds_until(lambda: self.status(serves, token, other) == "judged", 10)

    def test_three_workers_that_are_killed_are_no_fault_of_the_upload(self):
        analyzer, open_gate = self.slow_analyzer()
        serves = self.start(Service(analysis_workers="none", **QUICK))
        token = serves.token()
        place = serves.upload(token, self.export, sha(1), wait=0).headers["location"]
        for number in range(4):
            self.kill_a_worker_of(serves, number, analyzer)
        open_gate()
        self.start(Worker(serves, 9, analysis_program=analyzer))
        seconds_until(lambda: self.status(serves, token, place) != "analysing", LEASE_SECONDS + 5)
        self.assertEqual(self.status(serves, token, place), "judged")

    def test_an_analysis_that_is_killed_three_times_is_rejected_and_the_service_lives(self):
        analyzer, _ = self.slow_analyzer()
        service = self.start(Service(analysis_workers=1, analysis_program=analyzer, **QUICK))
        token = service.token()
        place = service.upload(token, self.export, sha(1), wait=0).headers["location"]
        kills, pid = 0, service.process.pid
        while self.status(service, token, place) == "analysing" and kills < 10:
            for child in children_of(pid):
                try:
                    os.kill(child, signal.SIGKILL)
                    kills += 1
                except ProcessLookupError:
                    pass
            time.sleep(0.05)
        run = service.call("GET", place, token).json
        self.assertEqual((run["status"], run["error"]["type"]), ("rejected", "analysis_failed"), run)
        self.assertIn("given up", run["error"]["detail"])
        self.assertIsNone(service.process.poll())

    def test_who_is_only_there_to_serve_or_to_work_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            variables = os.environ | {"TRACEWEIR_DATA_DIR": folder}
            for arguments, words in ((["serve", "--analysis-workers", "none"], "postgresql://"),
                                     (["worker"], "postgresql://"),
                                     (["worker", "--analysis-workers", "none", "--store", "postgresql://u@h/d"], "only analyses")):
                done = subprocess.run([BIN / "traceweird", *arguments], env=variables, capture_output=True, text=True, timeout=30)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn("bad_config", done.stderr)
                self.assertIn(words, done.stderr)

    def watched(self, serves, number=1, **settings):
        return self.start(Worker(serves, number, worker_listen="127.0.0.1:0", **settings))

    def figures(self, process) -> dict:
        """Series without labels, and sums of those of one name that have some."""
        sums = {}
        for name, value in re.findall(r"^(\w+)(?:\{.*\})? (\S+)$", process.call("GET", "/metrics").body.decode(), re.MULTILINE):
            sums[name] = sums.get(name, 0) + float(value)
        return sums

    def test_what_a_worker_does_is_counted_where_it_is_watched(self):
        serves = self.start(Service(analysis_workers="none", **QUICK))
        worker = self.watched(serves)
        token = serves.token()
        for number in range(3):
            self.assertEqual(serves.upload(token, self.trace, sha(number)).status, 201)
        ours, theirs = self.figures(serves), self.figures(worker)
        self.assertEqual((theirs["traceweir_runs_total"], theirs["traceweir_run_duration_seconds_count"]), (3, 3))
        self.assertEqual((ours["traceweir_runs_total"], ours["traceweir_run_duration_seconds_count"]), (0, 0))
        seconds_until(lambda: self.figures(worker).keys() == self.figures(serves).keys(), 5)  # one dashboard for both
        self.assertEqual(theirs["traceweir_store_ready"], 1)
        lost = serves.upload(token, self.trace, sha(4), rank=0, ranks=2, run_key="k").json
        for blob in (serves.data_dir / "blobs").glob("*/*"):
            blob.unlink()
        self.assertEqual(serves.call("POST", lost["links"]["self"] + "/finish", token).status, 404)
        self.assertIn('traceweir_run_errors_total{code="blob_lost"} 1\n', worker.call("GET", "/metrics").body.decode())
        self.assertEqual((self.figures(worker)["traceweir_run_errors_total"], self.figures(serves)["traceweir_run_errors_total"]), (1, 0))

    def test_a_worker_answers_those_who_watch_it_and_nobody_else(self):
        serves = self.start(Service(analysis_workers="none", **QUICK))
        worker = self.watched(serves)
        self.assertEqual(worker.call("GET", "/healthz").json["status"], "ok")
        ready = worker.call("GET", "/readyz")
        self.assertEqual((ready.status, ready.json["status"]), (200, "ready"), ready)
        self.assertEqual(ready.json.keys(), serves.call("GET", "/readyz").json.keys())
        for path in ("/", "/openapi.json", "/api/v1/projects", RUNS, "/api/v1/analyze"):
            self.assertEqual(worker.call("GET", path).status, 404, path)
        self.assertEqual(worker.call("POST", RUNS + "?commit=" + sha(1), b"{}").status, 404)
        self.assertEqual(worker.call("POST", "/metrics", b"{}").status, 405)
        address = worker.watched_at()
        self.assertEqual(self.start(Worker(serves, 2)).watched_at(), "", "without the key it listens to nobody")
        taken = subprocess.run([BIN / "traceweird", "worker", "--worker-listen", address], env=serves.environment(),
                               capture_output=True, text=True, timeout=30)
        self.assertEqual(taken.returncode, 2, taken)
        self.assertIn("bad_config: worker_listen: 127.0.0.1, port", taken.stderr)
        started = time.monotonic()
        self.assertEqual(worker.stop(signal.SIGTERM), 0)
        self.assertLess(time.monotonic() - started, 5)
        with self.assertRaises(OSError):
            worker.call("GET", "/healthz")

    def test_a_claim_that_is_lost_is_counted_and_said_once(self):
        analyzer, open_gate = self.slow_analyzer()
        serves = self.start(Service(analysis_workers="none", **QUICK))
        token = serves.token()
        place = serves.upload(token, self.export, sha(1), wait=0).headers["location"]
        hangs = self.watched(serves, analysis_program=analyzer)
        seconds_until(lambda: len(children_of(hangs.process.pid)) == 1, 10)
        hangs.process.send_signal(signal.SIGSTOP)
        try:
            self.start(Worker(serves, 2))
            seconds_until(lambda: self.status(serves, token, place) == "judged", LEASE_SECONDS + 10)
        finally:
            hangs.process.send_signal(signal.SIGCONT)
        open_gate()
        failures = lambda: [json.loads(line)["error"] for line in hangs.log_path.read_text().splitlines() if '"run_failed"' in line]
        seconds_until(failures, 10)
        self.assertIn('traceweir_run_errors_total{code="claim_lost"} 1\n', hangs.call("GET", "/metrics").body.decode())
        self.assertEqual((failures(), self.figures(hangs)["traceweir_run_errors_total"]), (["claim_lost"], 1))

    def test_a_worker_says_that_it_cannot_work(self):
        serves = self.start(Service(analysis_workers="none", **QUICK))
        worker = self.watched(serves, disk_headroom_bytes="100000 GiB")
        ready = worker.call("GET", "/readyz")
        self.assertEqual((ready.status, ready.json["status"]), (503, "not_ready"), ready)
        self.assertIn("disk", ready.json["disk"])
        self.assertEqual(worker.call("GET", "/healthz").status, 200)

    def test_a_worker_is_watched_by_tls_where_services_are_asked_by_it(self):
        keeper = tempfile.TemporaryDirectory()
        self.addCleanup(keeper.cleanup)
        folder = pathlib.Path(keeper.name)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=worker", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key", "-out", folder / "certificate"],
                       check=True, capture_output=True)
        serves = self.start(Service(analysis_workers="none", **QUICK))
        worker = self.watched(serves, tls_certificate=folder / "certificate", tls_key=folder / "key")
        trusting = ssl.create_default_context(cafile=str(folder / "certificate"))
        with urllib.request.urlopen(f"https://{worker.watched_at()}/metrics", context=trusting, timeout=30) as answer:
            self.assertIn(b"traceweir_build_info", answer.read())

    def test_one_limit_of_the_queue_for_all(self):
        analyzer, open_gate = self.slow_analyzer()
        first = self.start(Service(analysis_workers=1, queue_depth_max=2, analysis_program=analyzer))
        second = self.start(Replica(first, "second"))
        token = first.token()
        self.assertEqual(first.upload(token, self.export, sha(1), wait=0).status, 202)
        self.assertEqual(second.upload(token, self.export, sha(2), wait=0).status, 202)
        for service in (first, second):
            refused = service.upload(token, self.export, sha(3), wait=0)
            self.assertEqual((refused.status, refused.json["type"]), (503, "queue_full"), refused)
            self.assertIn("\ntraceweir_queue_depth 2\n", service.call("GET", "/metrics").body.decode())
        open_gate()


class ThroughPgBouncer(unittest.TestCase):
    def test_three_processes_work_through_a_pooler_in_transaction_mode(self):
        body = trace("--steps", 5)
        with PgBouncer(cluster()) as pooler:
            direct = cluster().new_database()
            first = Service(analysis_workers="none", **QUICK)
            self.addCleanup(first.__exit__)
            first.store = {"TRACEWEIR_STORE": pooler.url(direct)}
            first.start()
            second = Replica(first, "second", analysis_workers=1)
            self.addCleanup(second.__exit__)
            second.start()
            with Worker(first, analysis_workers=1):
                token = first.token()
                with concurrent.futures.ThreadPoolExecutor(6) as pool:
                    answers = list(pool.map(
                        lambda n: (first, second)[n % 2].upload(token, body, sha(n)), range(24)))
                self.assertEqual({answer.status for answer in answers}, {201})
                listed = second.call("GET", RUNS + "?limit=200", token).json["runs"]
                self.assertEqual(len({run["commit"] for run in listed}), 24)
                self.assertEqual({run["status"] for run in listed}, {"judged"})
                self.assertEqual(self.channels_listened_to(pooler.url(direct)), {"0"})

    @staticmethod
    def channels_listened_to(url: str) -> set:
        """Of the server's sessions behind the pooler: what one leaves on a session is its next user's."""
        ask = lambda _: cluster().run("psql", "-XAt", "-d", url, "-c", "SELECT count(*) FROM pg_sleep(0.3), pg_listening_channels()").strip()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return set(pool.map(ask, range(12)))


if __name__ == "__main__":
    unittest.main()
