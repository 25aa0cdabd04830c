"""JSON is analysed while it arrives: the same report, sooner; whoever is slow or goes away holds no child."""
import gzip
import hashlib
import http.client
import json
import pathlib
import subprocess
import tempfile
import time
import unittest
import urllib.parse

import replicas
from service import BIN, Service, sha, trace


def children_of(pid: int) -> list:
    """The analyses that it has started and that are left."""
    return [str(child) for child in replicas.children_of(pid)]


def until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


class Sending:
    """An upload whose bytes are sent by hand."""

    def __init__(self, service, token, commit, size, **query):
        query = {"commit": commit, "branch": "main", "workload": "early"} | query
        self.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        self.connection.putrequest("POST", "/api/v1/projects/demo/runs?" + urllib.parse.urlencode(query))
        self.connection.putheader("Authorization", f"Bearer {token}")
        self.connection.putheader("Content-Length", str(size))
        self.connection.endheaders()

    def send(self, data: bytes):
        self.connection.send(data)

    def answer(self):
        answer = self.connection.getresponse()
        status, body = answer.status, json.loads(answer.read())
        self.connection.close()
        return status, body

    def cut(self):
        self.connection.close()


class Early(unittest.TestCase):
    def setUp(self):
        self.service = Service(analysis_workers=1).__enter__()
        self.addCleanup(self.service.__exit__)
        self.token = self.service.token()
        self.trace = trace("--steps", 60)

    def children(self):
        return children_of(self.service.process.pid)

    def begin(self, commit, body, **query):
        """Sends all but the last bytes, and sees the child at work on them."""
        sending = Sending(self.service, self.token, commit, len(body), **query)
        sending.send(body[:-10])
        self.assertTrue(until(self.children), "a child reads while the upload arrives")
        return sending

    def local(self, body, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            path.write_bytes(body)
            done = subprocess.run([BIN / "traceweir", "analyze", "--json", "--hash", *options, path], capture_output=True,
                                  check=True)
            return json.loads(done.stdout)

    def test_the_report_is_the_same(self):
        packed = {"plain": self.trace, "gzip": gzip.compress(self.trace),
                  "zstd": subprocess.run(["zstd", "-qc"], input=self.trace, capture_output=True, check=True).stdout}
        for number, (name, body) in enumerate(packed.items(), 1):
            with self.subTest(name):
                sending = self.begin(sha(number), body, name="trace.json")
                sending.send(body[-10:])
                status, run = sending.answer()
                self.assertEqual(status, 201, run)
                self.assertEqual(json.dumps(run["report"]), json.dumps(self.local(body)))
                self.assertEqual(run["report"]["ranks"][0]["trace"]["sha256"], hashlib.sha256(body).hexdigest())

    def test_the_reading_of_the_query_is_used(self):
        sending = self.begin(sha(1), self.trace, window="span", name="trace.json")
        sending.send(self.trace[-10:])
        status, run = sending.answer()
        self.assertEqual(status, 201, run)
        self.assertEqual(run["report"], self.local(self.trace, "--window=span"))

    def test_a_refusal_is_the_answer_to_the_whole_upload(self):
        body = b'{"traceEvents": [' + b"[" * 100_000 + b" " * (4 << 20)
        status, problem = self.refused(sha(1), body)
        self.assertEqual((status, problem["type"]), (422, "malformed_trace"))
        self.assertIn("nested", problem["detail"])
        self.assertEqual(self.service.upload(self.token, self.trace, sha(2)).status, 201)

    def refused(self, commit, body):
        sending = Sending(self.service, self.token, commit, len(body))
        sending.send(body)
        return sending.answer()

    def test_who_goes_away_or_lies_leaves_nothing(self):
        self.begin(sha(1), self.trace).cut()
        self.assertTrue(until(lambda: not self.children()), "the child is ended")
        wrong = Sending(self.service, self.token, sha(3), len(self.trace))
        wrong.send(self.trace[:-10] + b"x" * 10)
        self.assertEqual(wrong.answer()[0], 201, "read as far as it goes")
        self.assertEqual(list((self.service.data_dir / "spool" / "incoming").iterdir()), [])
        listed = self.service.call("GET", "/api/v1/projects/demo/runs", self.token).json["runs"]
        self.assertEqual([run["commit"] for run in listed], [sha(3)])

    def test_a_hash_that_does_not_match_stores_nothing(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
        connection.request("POST", f"/api/v1/projects/demo/runs?commit={sha(1)}&workload=early", self.trace,
                           {"Authorization": f"Bearer {self.token}", "X-Content-SHA256": "0" * 64})
        answer = connection.getresponse()
        self.assertEqual((answer.status, json.loads(answer.read())["type"]), (422, "hash_mismatch"))
        connection.close()
        self.assertTrue(until(lambda: not self.children()))
        self.assertEqual(self.service.call("GET", "/api/v1/projects/demo/runs", self.token).json["runs"], [])

    def test_a_slow_upload_holds_no_child(self):
        sending = self.begin(sha(1), self.trace)
        deadline = time.monotonic() + 20
        rest, sent = self.trace[-10:], 0
        while self.children() and sent < 8 and time.monotonic() < deadline:
            time.sleep(0.5)  # the sender is what is slow here
            sending.send(rest[sent:sent + 1])
            sent += 1
        self.assertTrue(until(lambda: not self.children(), 5), "given back after the grace")
        other = self.service.upload(self.token, trace("--steps", 5), sha(2))
        self.assertEqual(other.status, 201, "the only worker is free for others")
        sending.send(rest[sent:])
        status, run = sending.answer()
        self.assertEqual(status, 201, "and it is analysed from its file")
        self.assertEqual(run["report"]["ranks"][0]["trace"]["sha256"], hashlib.sha256(self.trace).hexdigest())

    def test_when_no_child_is_free_the_file_is_read_afterwards(self):
        first = self.begin(sha(1), self.trace)
        second = Sending(self.service, self.token, sha(2), len(self.trace), wait=60)
        second.send(self.trace)
        first.send(self.trace[-10:])
        self.assertEqual(first.answer()[0], 201)
        self.assertEqual(second.answer()[0], 201)

    def test_an_export_of_nsys_is_not_read_early(self):
        export = trace("--steps", 6, "--format", "nsys", name="report.sqlite")
        sending = Sending(self.service, self.token, sha(1), len(export))
        sending.send(export[:-10])
        self.assertFalse(until(self.children, 1))
        sending.send(export[-10:])
        self.assertEqual(sending.answer()[0], 201)


if __name__ == "__main__":
    unittest.main()
