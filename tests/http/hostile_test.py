"""Hostile uploads: each is answered with its reason, soon, and costs the service nothing; the next upload works."""
import json
import pathlib
import re
import tempfile
import time
import unittest
import urllib.parse

from hostile_files import CASES, MIB
from hostile_uploads import analysed, resident, send
from service import SANITIZED, Service, run, sha, trace

SECONDS_MAX = 10
SERVICE_GROWTH_MAX = 32 * MIB
WORKER_RSS_MAX = 512 * MIB
BOMB_SECONDS_MAX = 3
BOMB_GROWTH_MAX = 64 * MIB
ANSWER_BYTES_MAX = 4096


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.token = cls.service.token()
        cls.trace = trace("--steps", 6)

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def check_answer(self, case, answer):
        if answer.status == 201:
            self.assertIn("judged", case.words, answer)
            return
        self.assertTrue(400 <= answer.status < 500, answer)
        self.assertEqual(answer.headers["content-type"], "application/problem+json")
        self.assertLess(len(answer.body), ANSWER_BYTES_MAX)
        self.assertIn(answer.json["type"], case.words, answer)
        self.assertIn(case.part, answer.json["detail"])

    def test_each_is_answered_and_costs_nothing(self):
        self.assertEqual(self.service.upload(self.token, self.trace, sha(1)).status, 201)
        before = resident(self.service.process.pid)
        with tempfile.TemporaryDirectory() as folder:
            for number, case in enumerate(CASES, 100):
                with self.subTest(case.name):
                    path = pathlib.Path(folder) / "upload"
                    path.unlink(missing_ok=True)
                    case.make(path)
                    begun = time.monotonic()
                    answer = send(self.service, self.token, path, sha(number))
                    self.assertLess(time.monotonic() - begun, SECONDS_MAX)
                    self.check_answer(case, answer)
                    peak = analysed(path).peak
                    if not SANITIZED:  # sanitizers have a memory of their own
                        self.assertLess(peak, WORKER_RSS_MAX)
        if not SANITIZED:
            self.assertLess(resident(self.service.process.pid) - before, SERVICE_GROWTH_MAX)
        self.assertEqual(self.service.upload(self.token, self.trace, sha(2)).status, 201, "the next upload works")
        scratch = self.service.data_dir / "spool" / "scratch"
        self.assertEqual(list(scratch.iterdir()), [], "nothing is left behind")

    def test_the_limits_of_unpacking_are_keys(self):
        packed = trace("--steps", 400, "--gzip", name="trace.json.gz")
        for key, value in (("inflate_ratio_max", 2), ("inflated_bytes_max", "1 MiB")):
            with self.subTest(key=key), Service(**{key: value}) as service:
                answer = service.upload(service.token(), packed, sha(1))
                self.assertEqual((answer.status, answer.json["type"]), (413, "trace_too_large"))
                self.assertIn(key, answer.json["detail"])

    def test_bombs_are_stopped_early_and_small(self):
        with tempfile.TemporaryDirectory() as folder:
            small = pathlib.Path(folder) / "small"
            small.write_bytes(self.trace)
            base = analysed(small).peak
            for case in CASES:
                if "trace_too_large" not in case.words or "judged" in case.words:
                    continue
                with self.subTest(case.name):
                    path = pathlib.Path(folder) / "bomb"
                    case.make(path)
                    child = analysed(path)
                    self.assertEqual(child.code, 3)
                    self.assertLess(child.seconds, BOMB_SECONDS_MAX)
                    if not SANITIZED:
                        self.assertLess(child.peak - base, BOMB_GROWTH_MAX)


# Control characters, an escape sequence, a text that runs backwards, markup, a workflow command, a mention, a formula.
EVIL = ("\x1b[31mred\x07", "a\r\nb", "x\u202egnp.exe", "\x9b2J", "<img src=x onerror=alert(1)>", "::error::gotcha",
        "@everyone #1", "=cmd|'/c calc'!A1", "'; DROP TABLE runs; --", "../../etc/passwd", "`|`\"quoted\"\\", "\u2028line")
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def evil_trace() -> bytes:
    """A good trace whose kernels have the names of an enemy, one after the other."""
    document = json.loads(trace("--steps", 6))
    names = iter(EVIL * 1000)
    for event in document["traceEvents"]:
        if event.get("cat") == "kernel":
            event["name"] = next(names)
    return json.dumps(document).encode()


class Names(unittest.TestCase):
    """Stored as they are meant, and inert wherever they come out."""

    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.token = cls.service.token()
        cls.body = evil_trace()
        cls.answers = [
            cls.service.upload(cls.token, cls.body, sha(n), branch=name, name=name, job=name, matrix=name,
                               **{"env.node": name, "workload": "evil"})
            for n, name in enumerate(EVIL, 1)]

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def assert_inert(self, text: str):
        self.assertIsNone(RAW.search(text), repr(RAW.search(text)))
        for line in text.splitlines():
            self.assertFalse(line.startswith("::"), line)

    def client(self, *arguments):
        done = run("traceweir", *arguments, "--project", "demo",
                   env=self.service.environment() | {"TRACEWEIR_TOKEN": self.token})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_json_holds_them_and_no_control_character(self):
        self.assertEqual({a.status for a in self.answers}, {201}, self.answers)
        for name, answer in zip(EVIL, self.answers):
            self.assert_inert(answer.body.decode())
            if not RAW.search(name) and "\n" not in name:
                self.assertEqual(answer.json["branch"], name)
        kernels = {row["name"] for row in self.answers[0].json["report"]["ranks"][0]["kernels"]}
        self.assertIn("<img src=x onerror=alert(1)>", kernels)
        self.assertIn("\\x1b[31mred\\x07", kernels)

    def test_the_terminal_and_markdown(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            path.write_bytes(self.body)
            table = run("traceweir", "analyze", path)
            markdown = run("traceweir", "analyze", "--markdown", path)
        self.assert_inert(table.stdout)
        self.assert_inert(markdown.stdout)
        self.assertNotIn("<img", markdown.stdout)
        self.assertNotIn(" @everyone", markdown.stdout.replace("\\@", "&"))
        self.assertIn("onerror", markdown.stdout)
        self.assert_inert(self.client("runs"))
        for answer in self.answers:
            self.assert_inert(self.client("show", answer.json["id"]))

    def test_lists_csv_and_the_log(self):
        self.assert_inert(self.service.call("GET", "/api/v1/projects/demo/runs", self.token).body.decode())
        for name in EVIL:
            query = urllib.parse.urlencode({"metric": "gpu.utilization", "branch": name, "workload": "evil"})
            path = f"/api/v1/projects/demo/history?{query}"
            self.assert_inert(self.service.call("GET", path, self.token).body.decode())
            csv = self.service.call("GET", path, self.token, headers={"Accept": "text/csv"})
            self.assert_inert(csv.body.decode().replace("\r\n", "\n"))
            for line in csv.body.decode().splitlines():
                self.assertFalse(line.startswith(("=", "+", "@")), line)
        self.service.call("GET", "/%1b[31m/%0a::error::", self.token)
        for line in self.service.log_path.read_text().splitlines():
            json.loads(line)
            self.assert_inert(line)


if __name__ == "__main__":
    unittest.main()
