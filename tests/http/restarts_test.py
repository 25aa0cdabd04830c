"""Nothing that was acknowledged is lost: kill -9, restarts, a service that stops while it works."""
import concurrent.futures
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from service import BIN, STORE, Service, sha, stand_in, trace

KILLS = 20


class Restarts(unittest.TestCase):
    def setUp(self):
        self.trace = trace("--steps", 5)

    def test_kill_minus_nine_keeps_what_was_acknowledged(self):
        with Service() as service:
            token, acknowledged = service.token(), {}
            slowest = 0.0
            for cycle in range(KILLS):
                for number in range(2):
                    key = f"{cycle}/{number}"
                    answer = service.upload(token, self.trace, sha(cycle * 10 + number), headers={"Idempotency-Key": key})
                    self.assertEqual(answer.status, 201, answer)
                    acknowledged[key] = answer.json
                service.stop(signal.SIGKILL)
                started = time.monotonic()
                service.start()
                slowest = max(slowest, time.monotonic() - started)
                again = service.upload(token, self.trace, sha(cycle * 10 + 1), headers={"Idempotency-Key": key})
                self.assertEqual((again.status, again.json["id"]), (201, acknowledged[key]["id"]), again)
            for run in acknowledged.values():
                again = service.call("GET", run["links"]["self"], token)
                self.assertEqual(again.json["verdict"], run["verdict"])
            listed = service.call("GET", "/api/v1/projects/demo/runs?limit=200", token).json["runs"]
            self.assertEqual(len(listed), len(acknowledged), "nothing twice")
            print(f"{STORE}: {KILLS} x kill -9: {len(acknowledged)} runs acknowledged, {len(listed)} there, each once; "
                  f"slowest start {slowest:.2f} s")

    def test_an_upload_without_a_result_is_taken_up_again(self):
        with Service(analysis_workers=1) as service:
            token = service.token()
            places = [service.upload(token, self.trace, sha(n), wait=0).headers["location"] for n in range(6)]
            service.stop(signal.SIGKILL)
            service.start()
            self.assertEqual(self.statuses(service, token, places), ["judged"] * 6)

    def test_more_runs_than_the_queue_holds_are_taken_up_after_a_restart(self):
        with tempfile.TemporaryDirectory() as folder:
            analyzer = stand_in(folder, "exec sleep 600")
            with Service(queue_depth_max=2, analysis_workers=1, analysis_program=analyzer) as service:
                token = service.token()
                with concurrent.futures.ThreadPoolExecutor(8) as pool:
                    answers = list(pool.map(lambda n: service.upload(token, self.trace, sha(n), wait=0), range(8)))
                accepted = [a.headers["location"] for a in answers if a.status == 202]
                self.assertTrue({a.status for a in answers} <= {202, 503}, answers)
                service.stop(signal.SIGKILL)
                service.settings["queue_depth_max"] = 1
                analyzer.write_text(f'#!/bin/sh\nexec {BIN / "traceweir"} "$@"\n')
                service.start()
                self.assertEqual(set(self.statuses(service, token, accepted)), {"judged"})
                listed = service.call("GET", "/api/v1/projects/demo/runs", token).json["runs"]
                self.assertEqual(len(listed), len(accepted), "what was refused left nothing behind")

    def statuses(self, service, token, places):
        """Those of the runs when none is analysed any more, or after a minute."""
        deadline, statuses = time.monotonic() + 60, ["analysing"]
        while "analysing" in statuses and time.monotonic() < deadline:
            statuses = [service.call("GET", place, token).json["status"] for place in places]
        return statuses

    def test_a_run_whose_blob_is_gone_is_rejected_and_not_polled_for_ever(self):
        with Service(analysis_workers=1) as service:
            token = service.token()
            place = service.upload(token, trace("--steps", 300), sha(1), wait=0).headers["location"]
            service.stop(signal.SIGKILL)
            for blob in (service.data_dir / "blobs").glob("*/*"):
                blob.unlink()
            service.start()
            self.assertIn(self.statuses(service, token, [place])[0], ("rejected", "judged"))

    def test_a_lost_blob_is_said_and_counted(self):
        with Service() as service:
            token = service.token()
            query = dict(rank=0, ranks=2, run_key="k")
            first = service.upload(token, self.trace, sha(1), **query).json
            for blob in (service.data_dir / "blobs").glob("*/*"):
                blob.unlink()
            done = service.call("POST", first["links"]["self"] + "/finish", token)
            self.assertEqual(done.status, 404, done)
            self.assertIn("blob lost", done.json["detail"])
            self.assertEqual(service.run_errors(), {"blob_lost": 1}, "one loss is one, by one name")
            self.assertEqual([line["error"] for line in service.logged(event="run_failed")], ["blob_lost"])

    def test_a_start_that_fails_ends_in_order(self):
        with Service() as service:
            elsewhere = service.environment() | service.new_store()
            taken = subprocess.run([BIN / "traceweird", "--listen", f"127.0.0.1:{service.port}", "--data-dir",
                                    service.folder / "second"], env=elsewhere, capture_output=True, text=True, timeout=30)
            self.assertEqual(taken.returncode, 2, taken.stderr)
            self.assertIn("bad_config", taken.stderr)
            no_program = subprocess.run([BIN / "traceweird", "--listen", "127.0.0.1:0", "--analysis-program", "/nothing",
                                         "--data-dir", service.folder / "third"], env=elsewhere,
                                        capture_output=True, text=True, timeout=30)
            self.assertEqual(no_program.returncode, 2, no_program.stderr)

    def test_sigterm_answers_those_who_wait(self):
        with tempfile.TemporaryDirectory() as folder:
            for_ever = stand_in(folder, "exec sleep 600")
            with Service(stop_time_max="2 s", analysis_program=for_ever) as service:
                token, answers = service.token(), []
                upload = threading.Thread(target=lambda: answers.append(service.upload(token, self.trace, sha(1))))
                upload.start()
                deadline = time.monotonic() + 30
                while not list((service.data_dir / "blobs").glob("*/*")) and time.monotonic() < deadline:
                    pass
                self.assertEqual(service.stop(signal.SIGTERM), 0)
                upload.join()
                self.assertEqual([a.status for a in answers], [202], "safe, and to be looked for later")

    def test_sigterm_finishes_what_is_in_flight(self):
        with Service() as service:
            token, answers = service.token(), []
            big = trace("--steps", 400)
            upload = threading.Thread(target=lambda: answers.append(service.upload(token, big, sha(1))))
            upload.start()
            deadline = time.monotonic() + 30
            while not list((service.data_dir / "blobs").glob("*/*")) and time.monotonic() < deadline:
                pass
            self.assertEqual(service.stop(signal.SIGTERM), 0)
            upload.join()
            self.assertEqual([a.status for a in answers], [201])
            self.assertEqual(service.log()[-1]["event"], "stopped")

    def test_two_services_on_one_store_are_refused(self):
        if STORE == "postgres":
            self.skipTest("any number of services work on one Postgres: postgres_replicas_test.py")
        with Service() as service:
            second = subprocess.run([BIN / "traceweird", "--listen", "127.0.0.1:0"], env=service.environment(),
                                    capture_output=True, text=True, timeout=30)
            self.assertEqual(second.returncode, 3, second.stderr)
            self.assertIn("store_unavailable", second.stderr)

    def test_a_full_queue_is_said_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            for_ever = stand_in(folder, "exec sleep 600")
            with Service(queue_depth_max=1, analysis_workers=1, analysis_program=for_ever) as service:
                token = service.token()
                self.assertEqual(service.upload(token, self.trace, sha(1), wait=0).status, 202)
                refused = service.upload(token, self.trace, sha(2), wait=0)
                self.assertEqual((refused.status, refused.json["type"]), (503, "queue_full"))
                self.assertIn("retry-after", refused.headers)
                listed = service.call("GET", "/api/v1/projects/demo/runs", token).json["runs"]
                self.assertEqual([run["commit"] for run in listed], [sha(1)], "what was refused is not half there")


if __name__ == "__main__":
    unittest.main()
