"""Uploads: what is taken, what is refused and by which word, and that nothing is taken twice."""
import base64
import concurrent.futures
import gzip
import hashlib
import json
import subprocess
import unittest

from service import Service, sha, trace


class Uploads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.token = cls.service.token()
        cls.trace = trace("--steps", 6)

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def upload(self, number, body=None, headers=None, **query):
        return self.service.upload(self.token, self.trace if body is None else body, sha(number), headers=headers, **query)

    def assert_problem(self, answer, status, word, part=""):
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers["content-type"], "application/problem+json")
        problem = answer.json
        self.assertEqual(problem["type"], word)
        self.assertEqual(problem["status"], status)
        self.assertIn(part, problem["detail"])
        self.assertEqual(problem["request_id"], answer.headers["x-request-id"])

    def test_a_trace_gives_a_run_with_its_verdict(self):
        answer = self.upload(1, name="rank0.json", job="train", **{"env.node": "a"})
        self.assertEqual(answer.status, 201, answer)
        run = answer.json
        self.assertEqual(run["status"], "judged")
        self.assertEqual(run["commit"], sha(1))
        self.assertEqual(run["verdict"]["outcome"], "inconclusive")
        self.assertTrue(run["verdict"]["learning"])
        self.assertEqual(run["report"]["schema"], "traceweir.report/1")
        self.assertEqual(run["report"]["ranks"][0]["trace"]["sha256"], hashlib.sha256(self.trace).hexdigest())
        self.assertEqual(run["report"]["ranks"][0]["trace"]["name"], "rank0.json")
        self.assertEqual(answer.headers["location"], run["links"]["self"])
        again = self.service.call("GET", run["links"]["self"], self.token)
        self.assertEqual(again.json["verdict"], run["verdict"])

    def test_gzip_and_zstd_are_told_by_content(self):
        packed = subprocess.run(["zstd", "-q", "-c"], input=self.trace, capture_output=True, check=True).stdout
        answer = self.upload(14, packed, {"Content-Encoding": "zstd"})
        self.assertEqual(answer.status, 201, answer)
        self.assertEqual(answer.json["report"]["ranks"][0]["trace"]["compression"], "zstd")
        answer = self.upload(2, gzip.compress(self.trace), {"Content-Type": "text/plain", "Content-Encoding": "gzip"})
        self.assertEqual(answer.status, 201, answer)
        self.assertEqual(answer.json["report"]["ranks"][0]["trace"]["compression"], "gzip")

    def test_an_nsys_export(self):
        answer = self.upload(3, trace("--steps", 6, "--format", "nsys", name="report.sqlite"), workload="nsys")
        self.assertEqual(answer.status, 201, answer)
        self.assertEqual(answer.json["report"]["ranks"][0]["trace"]["format"], "nsys_sqlite")

    def test_a_gzipped_nsys_export(self):
        export = gzip.compress(trace("--steps", 6, "--format", "nsys", name="report.sqlite"))
        answer = self.upload(13, export, workload="nsys")
        self.assertEqual(answer.status, 201, answer)
        facts = answer.json["report"]["ranks"][0]["trace"]
        self.assertEqual((facts["format"], facts["compression"]), ("nsys_sqlite", "gzip"))
        self.assertEqual(list((self.service.data_dir / "spool" / "scratch").iterdir()), [], "nothing is left behind")

    def test_a_report_made_elsewhere(self):
        report = self.upload(4).json["report"]
        answer = self.upload(5, json.dumps(report).encode())
        self.assertEqual(answer.status, 201, answer)
        self.assertEqual(answer.json["report"]["run"], report["run"])

    def test_bodies_that_are_refused(self):
        rows = [
            ("nothing", b"", 400, "empty_upload"),
            ("noise", bytes(range(256)) * 40, 415, "unknown_format"),
            ("other JSON", b'{"a": [1, 2, 3]}', 422, "not_a_trace"),
            ("a trace cut in its first event", b'{"traceEvents": [{"ph": "X", "cat": "ker', 422, "malformed_trace"),
            ("gzip cut in its first block", gzip.compress(self.trace)[:40], 422, "malformed_trace"),
            ("half a report", b'{"schema": "traceweir.report/1"}', 400, "bad_body"),
            ("SQLite that is none", b"SQLite format 3\0" + bytes(4096), 422, "malformed_trace"),
            ("deep JSON", b"[" * 1_000_000, 422, None),
        ]
        for name, body, status, word in rows:
            with self.subTest(name):
                answer = self.upload(100, body)
                self.assertEqual(answer.status, status, answer)
                if word:
                    self.assert_problem(answer, status, word)
        self.assertEqual(self.upload(101).status, 201, "the next upload works")

    def test_parameters_that_are_refused(self):
        rows = [
            ({"commit": "abc"}, "commit: expected a full commit id"),
            ({"commit": ""}, "commit: missing"),
            ({"workload": "a b"}, "workload:"),
            ({"attempt": "0"}, "attempt: expected a whole number from 1"),
            ({"wait": "soon"}, "wait:"),
            ({"pr": "-1"}, "pr:"),
            ({"fork": "maybe"}, "fork:"),
            ({"typo": "1"}, "typo"),
            ({"parents": "xyz"}, "parents:"),
            ({"fail_status": "500"}, "fail_status:"),
            ({"branch": "b" * 300}, "branch: longer than 255 bytes"),
            ({"ranks": "0"}, "ranks:"),
            ({"ranks": "65"}, "ranks:"),
            ({"rank": "-1"}, "rank:"),
            ({"rank": "2", "ranks": "2"}, "rank: 2 is none of 2 ranks"),
            ({"run_key": "k" * 1100}, "run_key: longer than 1024 bytes"),
        ]
        for query, part in rows:
            with self.subTest(str(query)[:40]):
                self.assert_problem(self.service.upload(self.token, self.trace, **({"commit": sha(1)} | query)), 400,
                                    "bad_query", part)

    def test_a_window_that_the_trace_lacks(self):
        answer = self.upload(6, trace("--worked-example"), window="steps", steps="no_such_step*")
        self.assertEqual(answer.status, 400, answer)

    def test_the_hash_is_checked(self):
        good = hashlib.sha256(self.trace)
        digest = "sha-256=" + base64.b64encode(good.digest()).decode()
        self.assertEqual(self.upload(7, headers={"X-Content-SHA256": good.hexdigest()}).status, 201)
        self.assertEqual(self.upload(7, headers={"Digest": digest}).status, 201)
        self.assert_problem(self.upload(7, headers={"X-Content-SHA256": "0" * 64}), 422, "hash_mismatch", good.hexdigest())
        self.assert_problem(self.upload(7, headers={"X-Content-SHA256": "ABC"}), 400, "bad_query")
        self.assertEqual(self.upload(7, headers={"X-Content-SHA256": good.hexdigest().upper()}).status, 201)

    def test_a_key_is_text_and_belongs_to_one_commit_and_workload(self):
        for key in ("a\tb", "\xff\xfe", "x" * 256):
            self.assert_problem(self.upload(30, headers={"Idempotency-Key": key}), 400, "bad_query", "Idempotency-Key")
        self.assertEqual(self.upload(30, headers={"Idempotency-Key": "key-30"}).status, 201)
        self.assert_problem(self.upload(31, headers={"Idempotency-Key": "key-30"}), 409, "key_reused", sha(30))
        self.assert_problem(self.upload(30, headers={"Idempotency-Key": "key-30"}, workload="other"), 409, "key_reused",
                            "another workload")

    def test_one_key_makes_one_run(self):
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda _: self.upload(8, headers={"Idempotency-Key": "key-8"}), range(50)))
        self.assertEqual({a.status for a in answers}, {201}, answers[0])
        self.assertEqual(len({a.json["id"] for a in answers}), 1)
        runs = self.service.call("GET", f"/api/v1/projects/demo/runs?commit={sha(8)}", self.token).json["runs"]
        self.assertEqual(len(runs), 1)
        self.assert_problem(self.upload(8, self.trace + b" ", {"Idempotency-Key": "key-8"}), 409, "key_reused")

    def test_no_wait_gives_a_place_to_look(self):
        for workload in (f"at-once-{number}" for number in range(20)):  # however soon it is judged
            answer = self.upload(9, wait=0, workload=workload)
            self.assertEqual(answer.status, 202, answer)
        place = answer.headers["location"]
        self.assertEqual(answer.json["links"]["self"], place)
        for _ in range(2000):
            run = self.service.call("GET", place, self.token).json
            if run["status"] != "analysing":
                break
        self.assertEqual(run["status"], "judged")

    def test_a_rejected_run_says_why_for_good(self):
        answer = self.upload(10, b'{"a": 1}', {"Idempotency-Key": "key-10"})
        self.assert_problem(answer, 422, "not_a_trace")
        runs = self.service.call("GET", f"/api/v1/projects/demo/runs?commit={sha(10)}", self.token).json["runs"]
        self.assertEqual([r["status"] for r in runs], ["rejected"])
        self.assertEqual(runs[0]["error"]["type"], "not_a_trace")
        again = self.upload(10, b'{"a": 1}', {"Idempotency-Key": "key-10"})
        self.assert_problem(again, 422, "not_a_trace")

    def test_hostile_texts_are_stored_and_come_out_inert(self):
        branch = "a\x1b[31m\n::error::x\u202e<script>`|@"
        answer = self.upload(11, branch=branch, job="'; DROP TABLE run; --")
        self.assertEqual(answer.status, 201, answer)
        shown = answer.json["branch"]
        self.assertNotIn("\x1b", shown)
        self.assertNotIn("\n", shown)
        self.assertNotIn("\u202e", shown)
        self.assertEqual(answer.json["job"], "'; DROP TABLE run; --")
        self.assertTrue(self.service.log(), "every line of the log is JSON")

    def test_the_raw_trace_comes_back(self):
        run = self.upload(12, name='we"ird\r\nname.json').json
        raw = self.service.call("GET", run["links"]["self"] + "/traces/0", self.token)
        self.assertEqual(raw.status, 200)
        self.assertEqual(raw.body, self.trace)
        self.assertTrue(raw.headers["content-disposition"].startswith("attachment"))
        self.assertEqual(self.service.call("GET", run["links"]["self"] + "/traces/7", self.token).status, 404)

    def test_a_form_is_told_how_to_do_better(self):
        answer = self.upload(15, headers={"Content-Type": "multipart/form-data; boundary=x"})
        self.assert_problem(answer, 400, "bad_body", "--data-binary")

    def test_too_large_is_said_before_it_is_sent(self):
        with Service(upload_bytes_max=1000) as small:
            answer = small.upload(small.token(), b" " * 2000, sha(1))
            self.assert_problem(answer, 413, "upload_too_large", "1000")


if __name__ == "__main__":
    unittest.main()
