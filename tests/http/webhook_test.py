"""Notices to a receiver: signed, tried again, never followed elsewhere, and never in the way of a verdict."""
import hashlib
import hmac
import http.server
import json
import pathlib
import queue
import subprocess
import threading
import time
import unittest

from service import BIN, Service, sha, trace

SECRET = "a secret of this test, long enough"
FAILING = '[rules."gpu.utilization"]\nmin = "99.9%"\n'
SECONDS_MAX = 30


class Receiver:
    """A server that keeps what it gets and answers as `answers` say, then 204. Use as a context manager."""

    def __init__(self, *answers):
        self.got, self.answers = queue.Queue(), list(answers)
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.put((self.path, dict(self.headers), body, time.monotonic()))
                answer = receiver.answers.pop(0) if receiver.answers else 204
                if callable(answer):
                    return answer(self)
                self.send_response(answer if isinstance(answer, int) else answer[0])
                if not isinstance(answer, int):
                    self.send_header("Location", answer[1])
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}/hooks/path-is-secret?key=query-is-secret"

    def next(self):
        return self.got.get(timeout=SECONDS_MAX)


class Webhook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.body = trace("--seed", 1)

    def service(self, url, **settings) -> Service:
        service = Service(webhook_url=url, webhook_pause="20 ms", **settings)
        self.addCleanup(service.__exit__)
        secret = service.folder / "secret"
        secret.write_text(SECRET + "\n")
        service.settings["webhook_secret_file"] = str(secret)
        service.start()
        self.upload_token = service.token()
        self.admin = service.token(None, "admin")
        answer = service.call("PUT", "/api/v1/projects/demo/policy", self.admin, FAILING.encode())
        self.assertEqual(answer.status, 204, answer)
        return service

    def fail_a_run(self, service, number=1, **query) -> dict:
        answer = service.upload(self.upload_token, self.body, sha(number), **query)
        self.assertEqual(answer.json["verdict"]["outcome"], "fail", answer)
        return answer.json

    def counter(self, service, result) -> float:
        for line in service.call("GET", "/metrics").body.decode().splitlines():
            if line.startswith(f'traceweir_notices_total{{result="{result}"}}'):
                return float(line.rpartition(" ")[2])
        return 0

    def wait_for(self, service, result, count):
        end = time.monotonic() + SECONDS_MAX
        while self.counter(service, result) < count:
            self.assertLess(time.monotonic(), end, f"{result}: {service.log_path.read_text()}")
            threading.Event().wait(0.02)

    def signed(self, headers, body) -> bool:
        text = headers["X-Traceweir-Timestamp"].encode() + b"." + body
        return hmac.compare_digest(headers["X-Traceweir-Signature"], "sha256=" + hmac.new(SECRET.encode(), text, hashlib.sha256).hexdigest())

    def test_a_failing_run_of_the_baseline_branch_is_told_and_signed(self):
        with Receiver() as receiver:
            service = self.service(receiver.url, public_url="https://gate.example.com/tw/")
            run = self.fail_a_run(service)
            path, headers, body, _ = receiver.next()
            self.assertEqual(path, "/hooks/path-is-secret?key=query-is-secret")
            self.assertTrue(self.signed(headers, body))
            self.assertFalse(self.signed(headers, body + b" "))
            self.assertLess(abs(time.time() - int(headers["X-Traceweir-Timestamp"])), 60)
            self.assertEqual((headers["X-Traceweir-Event"], headers["Content-Type"]), ("failed_run", "application/json"))
            self.assertRegex(headers["X-Traceweir-Delivery"], "^[0-9a-f-]{36}$")
            notice = json.loads(body)
            self.assertRegex(notice.pop("at"), r"^\d{4}-\d\d-\d\dT[\d:.]+Z$")
            self.assertEqual(notice, {
                "schema": "traceweir.notice/1", "kind": "failed_run", "project": "demo", "workload": "default", "branch": "main",
                "run": run["id"], "commit": sha(1), "metric": "gpu.utilization", "summary": run["verdict"]["summary"],
                "link": f"https://gate.example.com/tw/projects/demo/runs/{run['id']}", "observe": False})
            self.wait_for(service, "sent", 1)
            # Others are not told of: a pull request that fails is its author's business.
            self.fail_a_run(service, 2, branch="topic", pr=7)
            self.fail_a_run(service, 3)
            self.assertEqual(json.loads(receiver.next()[2])["commit"], sha(3))

    def test_a_project_that_observes_says_so(self):
        with Receiver() as receiver:
            service = self.service(receiver.url)
            service.call("PUT", "/api/v1/projects/demo", self.admin, b'{"mode": "observe"}')
            run = self.fail_a_run(service)
            notice = json.loads(receiver.next()[2])
            self.assertEqual((notice["observe"], notice["link"]), (True, f"/projects/demo/runs/{run['id']}"))

    def test_a_receiver_that_fails_is_tried_again_with_pauses_that_grow(self):
        with Receiver(500, 503, 429) as receiver:
            service = self.service(receiver.url)
            self.fail_a_run(service)
            tries = [receiver.next() for _ in range(4)]
            self.assertEqual(len({headers["X-Traceweir-Delivery"] for _, headers, _, _ in tries}), 1)
            self.assertEqual(len({body for _, _, body, _ in tries}), 1)
            self.assertTrue(all(self.signed(headers, body) for _, headers, body, _ in tries))
            self.wait_for(service, "sent", 1)
            self.assertEqual(self.counter(service, "retried"), 3)
            self.assertGreater(tries[3][3] - tries[2][3], 0.04 - 0.005)  # the third pause: at least half of 80 ms

    def test_after_five_tries_it_is_given_up(self):
        with Receiver(*[500] * 5) as receiver:
            service = self.service(receiver.url)
            self.fail_a_run(service)
            self.wait_for(service, "failed", 1)
            self.assertEqual(receiver.got.qsize(), 5)
            self.fail_a_run(service, 2)
            self.wait_for(service, "sent", 1)

    def test_no_redirect_is_followed_and_a_refusal_is_final(self):
        with Receiver() as elsewhere, Receiver((302, elsewhere.url), (307, elsewhere.url), 404) as receiver:
            service = self.service(receiver.url)
            for number in range(1, 4):
                self.fail_a_run(service, number)
            self.wait_for(service, "failed", 3)
            self.assertEqual((receiver.got.qsize(), elsewhere.got.qsize()), (3, 0))

    def test_a_receiver_that_is_away_or_silent_harms_nobody(self):
        held = threading.Event()
        with Receiver(*[lambda handler: held.wait(SECONDS_MAX)] * 40) as receiver:
            # Longer than a slow machine takes for an upload, so that the queue fills.
            service = self.service(receiver.url, webhook_time_max="1 s", webhook_queue_max=2, stop_time_max="4 s")
            begun = time.monotonic()
            for number in range(1, 9):
                self.fail_a_run(service, number)
            self.wait_for(service, "dropped", 4)
            self.assertLess(time.monotonic() - begun, 20)
            self.assertEqual(service.call("GET", "/readyz").status, 200)
            begun = time.monotonic()
            self.assertEqual(service.stop(), 0)
            self.assertLess(time.monotonic() - begun, 12)
            held.set()

    def test_what_waits_is_still_sent_when_the_service_stops(self):
        with Receiver(500, 500) as receiver:
            service = self.service(receiver.url)
            service.stop()
            service.settings["webhook_pause"] = "10 min"
            service.start()
            for number in range(1, 4):
                self.fail_a_run(service, number)
            first = receiver.next()
            begun = time.monotonic()
            self.assertEqual(service.stop(), 0)
            self.assertLess(time.monotonic() - begun, 15)
            told = [json.loads(got[2])["commit"] for got in [first, *receiver.got.queue]]
            self.assertEqual(told, [sha(1), sha(1), sha(2), sha(3)])  # the one that waited for its next try is tried once more

    def test_secrets_are_in_no_log_and_in_no_answer(self):
        with Receiver(500, 404) as receiver:
            service = self.service(receiver.url)
            self.fail_a_run(service)
            self.wait_for(service, "failed", 1)
            environment = service.environment() | {"TRACEWEIR_WEBHOOK_URL": receiver.url,
                                                   "TRACEWEIR_WEBHOOK_SECRET_FILE": service.settings["webhook_secret_file"]}
            shown = subprocess.run([BIN / "traceweird", "config", "check"], env=environment, capture_output=True, text=True)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn("/***", shown.stdout)
            failed = service.logged(event="notice_failed")
            self.assertEqual(len(failed), 1)
            text = shown.stdout + shown.stderr + service.log_path.read_text() + service.call("GET", "/metrics").body.decode()
            for secret in (SECRET, "path-is-secret", "query-is-secret"):
                self.assertNotIn(secret, text)

    def test_a_wrong_configuration_is_refused_without_showing_it(self):
        folder = pathlib.Path(Service().folder)
        good, short, absent = folder / "good", folder / "short", folder / "absent"
        good.write_text(SECRET)
        short.write_text("short\n")
        for url, secret, want in [
            ("ftp://hooks.example.com/secret", good, "http://HOST/PATH or https://HOST/PATH was expected"),
            ("https://user:secret@hooks.example.com/", good, "http://HOST/PATH"),
            ("secret", good, "http://HOST/PATH"),
            ("https://hooks.example.com/secret", "", "webhook_secret_file"),
            ("https://hooks.example.com/secret", absent, "cannot be read"),
            ("https://hooks.example.com/secret", short, "at least 16 bytes"),
        ]:
            with self.subTest(url=url, secret=secret):
                environment = {"TRACEWEIR_DATA_DIR": str(folder), "TRACEWEIR_WEBHOOK_URL": url, "TRACEWEIR_WEBHOOK_SECRET_FILE": str(secret)}
                done = subprocess.run([BIN / "traceweird", "config", "check"], env=environment, capture_output=True, text=True)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(want, done.stderr)
                self.assertNotIn("secret@", done.stderr)
                self.assertNotIn("com/secret", done.stderr)


if __name__ == "__main__":
    unittest.main()
