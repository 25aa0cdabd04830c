"""`traceweir compare`, and docs/explain.md: every command of the page prints what the page says."""
import json
import math
import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile
import unittest

from service import Service, run, sha, trace

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs/examples"


def compare(*arguments, **more):
    return run("traceweir", "compare", *arguments, cwd=ROOT, **more)


class Page(unittest.TestCase):
    def test_every_command_prints_what_the_page_says(self):
        page = (ROOT / "docs/explain.md").read_text()
        blocks = re.findall(r"```console\n\$ (.*?)\n(.*?)```", page, re.S)
        self.assertGreaterEqual(len(blocks), 3)
        for command, output in blocks:
            with self.subTest(command):
                program = pathlib.Path(os.environ.get("TRACEWEIR_BIN_DIR", ROOT / "build/release"))
                done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True,
                                      env={**os.environ, "PATH": f"{program}:{os.environ['PATH']}"}, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout, output)

    def test_the_table_by_hand_is_the_breakdown(self):
        for name, terms in (("before", (8, 16, 60, 16)), ("after", (28, 16, 65, 16))):
            rank = json.loads(run("traceweir", "analyze", "--json", EXAMPLES / f"{name}.json").stdout)["ranks"][0]
            found = {(t["term"], t.get("cause")): t["ns"] / rank["window"]["steps"] / 1000 for t in rank["breakdown"]}
            self.assertEqual(found, dict(zip((("idle", "input"), ("idle", "launch"), ("compute", None), ("exposed_comm", None)), terms)))


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)
        cls.folder = pathlib.Path(cls.kept.name)
        for side, flags in (("base", ()), ("head", ("--slow-rank", "1", "--slow-rank-factor", "1.3"))):
            (cls.folder / side).mkdir()
            for rank in (0, 1):
                text = trace("--noise", "1", "--seed", side == "base" and "3" or "4", "--rank", str(rank), *flags)
                (cls.folder / side / f"rank{rank}.json").write_bytes(text)

    def diff(self, *arguments):
        done = compare(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_folders_patterns_and_reports_are_the_same(self):
        first = self.diff(self.folder / "base", self.folder / "head")
        self.assertIn("waiting for rank 1", first["summary"])
        pattern = self.diff(f"{self.folder}/base/rank*.json", f"{self.folder}/head/rank[01].json")
        for side in ("base", "head"):
            done = run("traceweir", "analyze", "--json", self.folder / side)
            (self.folder / f"{side}.report").write_text(done.stdout)
        reports = self.diff(self.folder / "base.report", self.folder / "head.report")
        for other in (pattern, reports):
            self.assertEqual({**other, "base": None, "head": None}, {**first, "base": None, "head": None})
        for explanation in first["explanations"]:
            limit = 1e-12 if explanation["unit"] == "ratio" else 1
            self.assertLessEqual(abs(math.fsum(r["delta"] for r in explanation["contributions"]) - explanation["delta"]), limit)

    def test_runs_of_the_service_and_a_file_beside_a_run(self):
        with Service() as service:
            token = service.token("llama")
            ids = []
            for number, name in enumerate(("before", "after")):
                answer = service.upload(token, (EXAMPLES / f"{name}.json").read_bytes(), sha(number), project="llama")
                ids.append(answer.json["id"])
            env = {"TRACEWEIR_URL": service.url, "TRACEWEIR_TOKEN": token, "TRACEWEIR_PROJECT": "llama"}
            here = self.diff(EXAMPLES / "before.json", EXAMPLES / "after.json")
            for base, head in ((ids[0], ids[1]), (ids[0], EXAMPLES / "after.json"), (EXAMPLES / "before.json", ids[1])):
                done = compare(base, head, "--json", env=env)
                self.assertEqual(done.returncode, 0, done.stderr)
                there = json.loads(done.stdout)
                self.assertEqual({**there, "base": None, "head": None}, {**here, "base": None, "head": None})
            done = compare(*ids, env=env)
            self.assertIn(f"base  run {ids[0]}, commit {sha(0)[:12]}", done.stdout)
            done = compare(ids[0], "01970000-0000-7000-8000-000000000000", env=env)
            self.assertEqual(done.returncode, 2)
            self.assertIn("not_found", done.stderr)

    def test_the_same_file_does_not_differ(self):
        done = compare(EXAMPLES / "before.json", EXAMPLES / "before.json", "--gpu-hour", "2")
        self.assertIn("step.time_p50 did not change (100 µs)", done.stdout)
        self.assertIn("no metric differs", done.stdout)
        diff = self.diff(EXAMPLES / "before.json", EXAMPLES / "before.json", "--gpu-hour", "2")
        self.assertEqual([e["contributions"] for e in diff["explanations"] if e["contributions"]], [])
        self.assertEqual(diff["cost"]["delta_per_hour"], 0)

    def test_markdown(self):
        done = compare(EXAMPLES / "before.json", EXAMPLES / "after.json", "--markdown")
        self.assertIn("| +20 µs | 80 % | idle, waiting for input, in data_loading |", done.stdout)
        self.assertNotIn("gemm<", done.stdout)

    def test_errors(self):
        rows = [(["only-one"], 2, ""), (["missing.json", EXAMPLES / "after.json"], 2, "missing.json: there is no such file"),
                (["nothing*.json", EXAMPLES / "after.json"], 2, "no file has such a name"),
                ([ROOT / "README.md", EXAMPLES / "after.json"], 3, "README.md"),
                ([EXAMPLES / "before.json", EXAMPLES / "after.json", "--gpu-hour", "-1"], 2, "gpu-hour")]
        for arguments, code, message in rows:
            with self.subTest(arguments):
                done = compare(*arguments)
                self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
                self.assertIn(message, done.stderr)

    def test_it_costs_less_than_ten_percent_more_than_analysing_both(self):
        files = []
        for seed in ("1", "2"):
            files.append(self.folder / f"{seed}.json")
            files[-1].write_bytes(trace("--steps", "300", "--seed", seed))

        def cpu(*command):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.assertEqual(run("traceweir", *command).returncode, 0)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        ratios = [cpu("compare", *files) / sum(cpu("analyze", "--json", file) for file in files) for _ in range(5)]
        self.assertLess(statistics.median(ratios), 1.1)


if __name__ == "__main__":
    unittest.main()
