"""Blobs in an S3-compatible store: acknowledged means durable there; away means 503, and nothing is lost."""
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import unittest.mock

from s3 import SECRET, StandIn
from service import Service, free_port, sha, trace


class Elsewhere(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="traceweir-s3-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.trace = trace("--steps", 5)

    def service(self, stand_in, **settings):
        return Service(**stand_in.settings() | settings)

    def forget_copies(self, service):
        for copy in (service.data_dir / "spool" / "fetched").glob("*"):
            copy.unlink()

    def test_a_trace_is_kept_there_and_given_back(self):
        with StandIn(self.folder) as s3, self.service(s3) as service:
            token = service.token()
            run = service.upload(token, self.trace, sha(1))
            self.assertEqual(run.status, 201, run)
            self.assertEqual([o.read_bytes() for o in s3.objects()], [self.trace])
            self.assertFalse((service.data_dir / "blobs").exists())
            self.assertEqual(list((service.data_dir / "spool" / "incoming").glob("*")), [])
            self.forget_copies(service)
            place = run.json["links"]["self"] + "/traces/0"
            for _ in range(2):
                given = service.call("GET", place, token)
                self.assertEqual((given.status, given.body), (200, self.trace))
            s3.fail("!* 500")
            self.assertEqual(service.call("GET", place, token).body, self.trace, "a copy is read without the store")
            self.assertEqual(list((service.data_dir / "spool" / "fetched").glob("*.use")), [])

    def test_what_is_analysed_after_a_restart_is_fetched(self):
        """An nsys export is read from a file; this one is several parts, and its copies are gone."""
        export = trace("--format", "nsys", "--steps", 300, "--ranks", 4, "--all-ranks", name="job.sqlite")
        self.assertGreater(len(export), 6 << 20)
        with StandIn(self.folder) as s3, self.service(s3, s3_part_bytes="5 MiB", blob_cache_bytes_max="0 B") as service:
            token = service.token()
            place = service.upload(token, export, sha(1), wait=0).headers["location"]
            service.stop(signal.SIGKILL)
            service.start()
            deadline, status = time.monotonic() + 60, ""
            while status != "judged" and time.monotonic() < deadline:
                status = service.call("GET", place, token).json["status"]
                time.sleep(0.05)
            self.assertEqual(status, "judged")
            self.assertEqual(list((self.folder / "parts").iterdir()), [])

    def test_errors_in_the_middle_of_an_upload(self):
        """Some are outlasted; more are 503, nothing is acknowledged, and the same upload again is taken."""
        with StandIn(self.folder) as s3, self.service(s3) as service:
            token = service.token()
            s3.fail("PUT 500", "PUT 503 SlowDown", "PUT cut")
            self.assertEqual(service.upload(token, self.trace, sha(1)).status, 201)
            s3.fail("!PUT 503 SlowDown")
            key = {"Idempotency-Key": "k"}
            refused = service.upload(token, self.trace, sha(2), headers=key)
            self.assertEqual((refused.status, refused.json["type"]), (503, "store_unavailable"), refused)
            self.assertIn("retry-after", refused.headers)
            self.assertIn("blob store", refused.json["detail"])
            listed = service.call("GET", "/api/v1/projects/demo/runs", token).json["runs"]
            self.assertEqual([run["commit"] for run in listed], [sha(1)])
            s3.fail()
            self.assertEqual(service.upload(token, self.trace, sha(2), headers=key).status, 201)
            self.assertNotIn(SECRET, service.log_path.read_text())

    def test_a_store_that_is_away_at_the_start(self):
        """The service starts, says so, reads what it has, and takes uploads as soon as the store is there."""
        port = free_port()
        service = Service(blobs="s3://traces/x", s3_endpoint=f"http://127.0.0.1:{port}")
        with StandIn(self.folder) as other:
            service.settings |= other.settings() | {"s3_endpoint": f"http://127.0.0.1:{port}"}
        try:
            service.start(until="/healthz")
            token = service.token()
            ready = service.call("GET", "/readyz")
            self.assertEqual((ready.status, ready.json["store"]), (503, "ok"), ready)
            self.assertEqual(ready.json["blobs"], "blob store: cannot be used now")
            self.assertEqual(service.upload(token, self.trace, sha(1)).status, 503)
            self.assertEqual(service.call("GET", "/api/v1/projects/demo/runs", token).json["runs"], [])
            with StandIn(self.folder, port):
                self.assertEqual(service.call("GET", "/readyz").json["blobs"], "ok")
                self.assertEqual(service.upload(token, self.trace, sha(1)).status, 201)
            self.assertEqual(service.stop(), 0)
        finally:
            service.__exit__()

    def test_a_silent_store_does_not_keep_the_service_from_stopping(self):
        with StandIn(self.folder) as s3, self.service(s3, stop_time_max="2 s") as service:
            token = service.token()
            s3.fail("!* hang")
            begun, answers = time.monotonic(), []

            def upload():
                with contextlib.suppress(OSError):  # cut off where it is not answered in time
                    answers.append(service.upload(token, self.trace, sha(1)).status)
            waiting = threading.Thread(target=upload)
            waiting.start()
            while not (self.folder / "requests").exists() and time.monotonic() < begun + 10:
                time.sleep(0.01)
            self.assertEqual(service.stop(), 0)
            self.assertLess(time.monotonic() - begun, 15)
            waiting.join()
            self.assertIn(answers, ([], [503]))

    def test_a_silent_store_holds_up_nobody_who_only_asks(self):
        """More uploads wait for it than there are threads of any kind; runs, histories and liveness are answered."""
        with StandIn(self.folder) as s3, self.service(s3, s3_time_max="5 s", s3_tries_max=1) as service:
            token = service.token()
            self.assertEqual(service.upload(token, self.trace, sha(1)).status, 201)
            s3.fail("!PUT hang")
            with concurrent.futures.ThreadPoolExecutor(20) as pool:
                uploads = [pool.submit(service.upload, token, self.trace, sha(10 + n)) for n in range(12)]
                deadline = time.monotonic() + 10
                while (self.folder / "requests").read_text().count("PUT ") < 9 and time.monotonic() < deadline:
                    time.sleep(0.01)
                begun = time.monotonic()
                for path in ("/healthz", "/api/v1/projects/demo/runs", "/api/v1/projects/demo/history?metric=gpu.utilization", "/readyz"):
                    self.assertEqual(service.call("GET", path, token).status, 200)
                self.assertLess(time.monotonic() - begun, 4, "they waited for the store")
                self.assertEqual({upload.result().status for upload in uploads}, {503})

    def test_a_deletion_ends_in_time_where_each_trace_costs_a_second(self):
        with StandIn(self.folder) as s3, self.service(s3) as service:
            if "TRACEWEIR_STORE" in service.store:
                return  # nothing of it is the database's
            token, admin = service.token(), (service.data_dir / "admin-token").read_text().strip()
            for number in range(14):
                value = json.dumps({"metrics": {"custom.x": {"value": number, "unit": "s", "better": "lower"}}}).encode()
                self.assertEqual(service.upload(token, value, sha(number)).status, 201)
            for one in s3.objects():
                os.utime(one, (time.time() - 7200,) * 2)  # what came within the last hour goes with a sweep
            s3.fail("!DELETE late")
            begun = time.monotonic()
            first = service.call("DELETE", "/api/v1/projects/demo", admin)
            self.assertLess(time.monotonic() - begun, 12.5)
            self.assertIn(first.status, (202, 204))
            self.assertIn(len(s3.objects()), range(1, 10))
            s3.fail()
            self.assertEqual(service.call("DELETE", "/api/v1/projects/demo", admin).status, 204)
            self.assertEqual(service.call("GET", "/api/v1/projects/demo/runs", admin).status, 404)

    def test_a_death_while_traces_are_removed_leaves_the_levels_settled(self):
        """The run is gone, and a repeated request finds nothing to settle by: so that comes first."""
        with StandIn(self.folder) as s3, self.service(s3) as service:
            token, admin = service.token(), service.token("demo", "admin")
            runs = [service.upload(token, self.trace, sha(n)).json["links"]["self"] for n in range(6)]
            history = "/api/v1/projects/demo/history?metric=gpu.utilization&branch=main"
            last = service.upload(token, trace("--steps", 7), sha(6)).json["links"]["self"]
            before = service.call("GET", history, token).json["segments"]
            self.assertIn(last.rsplit("/", 1)[1], json.dumps(before))
            for one in s3.objects():
                os.utime(one, (time.time() - 7200,) * 2)  # what came within the last hour goes with a sweep
            s3.fail("!DELETE hang")

            def delete():
                with contextlib.suppress(OSError, http.client.HTTPException):  # nobody is left to answer
                    service.call("DELETE", last, admin)
            deleting = threading.Thread(target=delete)
            deleting.start()
            deadline = time.monotonic() + 20
            while "DELETE " not in (self.folder / "requests").read_text() and time.monotonic() < deadline:
                time.sleep(0.01)
            service.stop(signal.SIGKILL)
            deleting.join()
            s3.fail()
            service.start()
            self.assertEqual(service.call("DELETE", last, admin).status, 204)
            self.assertEqual(service.call("GET", last, token).status, 404)
            after = service.call("GET", history, token).json["segments"]
            self.assertEqual(len(after), len(before), "the level is told without the run that is gone")
            self.assertNotIn(last.rsplit("/", 1)[1], json.dumps(after))
            self.assertEqual(service.call("GET", runs[0], token).status, 200)

    def test_probes_ask_the_store_once_a_second(self):
        with StandIn(self.folder) as s3, self.service(s3) as service:
            asked = lambda: len((self.folder / "requests").read_text().splitlines())
            before, begun = asked(), time.monotonic()
            statuses = {service.call("GET", "/readyz").status for _ in range(100)}
            self.assertEqual(statuses, {200})
            self.assertLessEqual(asked() - before, 2 + int(time.monotonic() - begun))

    def test_a_certificate_must_be_one_that_the_system_trusts(self):
        certificate, key = self.folder / "certificate", self.folder / "key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=stand-in", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                       check=True, capture_output=True)
        with StandIn(self.folder, tls=(certificate, key)) as s3:
            for endpoint, trusted, status in (("127.0.0.1", certificate, 201), ("127.0.0.1", "/dev/null", 503), ("localhost", certificate, 503)):
                with self.subTest(endpoint=endpoint, trusted=trusted), unittest.mock.patch.dict("os.environ", SSL_CERT_FILE=str(trusted)):
                    service = self.service(s3, s3_endpoint=f"https://{endpoint}:{s3.port}", s3_tries_max=1)
                    try:
                        service.start(until="/healthz")
                        self.assertEqual(service.upload(service.token(), self.trace, sha(1)).status, status)
                    finally:
                        service.__exit__()

    def test_an_object_that_is_gone_is_a_lost_blob(self):
        with StandIn(self.folder) as s3, self.service(s3) as service:
            token = service.token()
            first = service.upload(token, self.trace, sha(1), rank=0, ranks=2, run_key="k").json
            for one in s3.objects():
                one.unlink()
            self.forget_copies(service)
            done = service.call("POST", first["links"]["self"] + "/finish", token)
            self.assertEqual(done.status, 404, done)
            self.assertIn("blob lost", done.json["detail"])
            self.assertEqual(service.run_errors(), {"blob_lost": 1}, "one loss is one, by one name")
            self.assertEqual([line["error"] for line in service.logged(event="run_failed")], ["blob_lost"])

    def test_a_store_that_is_away_costs_no_run(self):
        """A run whose file cannot be fetched now waits, and is judged when the store is back."""
        with StandIn(self.folder) as s3, self.service(s3, blob_cache_bytes_max="0 B", s3_tries_max=1, resume_pause="1 s") as service:
            token = service.token()
            first = service.upload(token, self.trace, sha(1), rank=0, ranks=2, run_key="k").json
            s3.fail("!GET 500")
            waiting = service.call("POST", first["links"]["self"] + "/finish", token)
            self.assertEqual(waiting.status, 202, waiting)
            s3.fail()
            deadline, status = time.monotonic() + 30, ""
            while status != "judged" and time.monotonic() < deadline:
                status = service.call("GET", first["links"]["self"], token).json["status"]
                time.sleep(0.05)
            self.assertEqual(status, "judged")


if __name__ == "__main__":
    unittest.main()
