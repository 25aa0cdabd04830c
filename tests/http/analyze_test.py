"""Looking at a trace without storing it: the same door, limits and child as an upload, and nothing is left of it."""
import hashlib
import json
import unittest

from service import Service, sha, stand_in, trace

PATH = "/api/v1/analyze"


class Analyze(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service(upload_bytes_max=50_000_000).__enter__()
        cls.uploader = cls.service.token("demo", "upload")
        cls.reader = cls.service.token("demo", "read")
        cls.trace = trace("--steps", 6)

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def look(self, body, query="", token=None, service=None):
        return (service or self.service).call("POST", PATH + query, token or self.reader, body)

    def files(self) -> set:
        return {path for part in ("spool", "blobs") for path in (self.service.data_dir / part).rglob("*") if path.is_file()}

    def test_the_report_is_that_of_an_upload_and_nothing_stays(self):
        before = self.files()
        answer = self.look(self.trace, "?name=mine.json")
        self.assertEqual(answer.status, 200, answer)
        report = answer.json
        self.assertEqual(report["ranks"][0]["trace"]["name"], "mine.json")
        self.assertEqual(report["ranks"][0]["trace"]["sha256"], hashlib.sha256(self.trace).hexdigest())
        self.assertEqual(self.files(), before)
        self.assertEqual(self.service.call("GET", "/api/v1/projects/demo/runs", self.reader).json["runs"], [])
        stored = self.service.upload(self.uploader, self.trace, sha(1), name="mine.json", project="demo")
        self.assertEqual(stored.json["report"], report)

    def test_an_nsys_export(self):
        self.assertEqual(self.look(trace("--format", "nsys", "--steps", 6, name="t.sqlite")).json["ranks"][0]["trace"]["format"], "nsys_sqlite")

    def test_who_may(self):
        self.assertEqual(self.look(self.trace, token=self.uploader).status, 200)
        self.assertEqual(self.service.call("POST", PATH, None, self.trace).status, 401)
        self.assertEqual(self.look(self.trace, token=self.reader[:-4] + "0000").status, 401)

    def test_it_is_read_as_asked(self):
        span = self.look(self.trace, "?window=span").json
        self.assertEqual(span["ranks"][0]["window"]["kind"], "span")
        for query, part in (("?window=never", "window"), ("?skip_steps=-1", "skip_steps"), ("?typo=1", "typo"), ("?steps=" + "x" * 300, "steps")):
            with self.subTest(query):
                answer = self.look(self.trace, query)
                self.assertEqual(answer.status, 400, answer)
                self.assertIn(part, answer.json["detail"])

    def test_what_is_no_trace_leaves_nothing_either(self):
        before = self.files()
        for body, status, word in ((b"", 400, "empty_upload"), (b'{"a": 1}', 422, "not_a_trace"), (bytes(range(256)) * 40, 415, "unknown_format")):
            answer = self.look(body)
            self.assertEqual((answer.status, answer.json["type"]), (status, word))
        self.assertEqual(self.files(), before)

    def test_limits_are_those_of_uploads(self):
        with Service(upload_bytes_max=1000) as small:
            answer = self.look(b" " * 2000, token=small.token(), service=small)
            self.assertEqual((answer.status, answer.json["type"]), (413, "upload_too_large"))
        with Service() as mute:
            mute.stop()
            mute.settings["analysis_program"] = stand_in(mute.folder, "exec tail -f /dev/null")
            mute.settings["analysis_time_max"] = "1s"
            mute.start()
            answer = self.look(self.trace, token=mute.token(), service=mute)
            self.assertEqual((answer.status, answer.json["type"]), (422, "analysis_timeout"), json.dumps(answer.json))


if __name__ == "__main__":
    unittest.main()
