"""One analyzer, two ways in: the file on the command line and the upload give the same report to the byte."""
import json
import pathlib
import re
import shutil
import tempfile
import unittest

from service import Service, run, sha, trace


class OneAnalyzer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_the_service_measures_what_the_command_line_measures(self):
        rows = [("kineto.json", []), ("kineto.json.gz", ["--gzip"]), ("nsys.sqlite", ["--format", "nsys"]),
                ("ranks.sqlite", ["--format", "nsys", "--ranks", "2", "--all-ranks"])]
        with Service() as service:
            token = service.token()
            for number, (name, flags) in enumerate(rows):
                with self.subTest(name):
                    file = self.folder / name
                    file.write_bytes(trace("--steps", 6, *flags, name=name))
                    here = run("traceweir", "analyze", "--json", "--hash", file)
                    self.assertEqual(here.returncode, 0, here.stderr)
                    there = service.upload(token, file.read_bytes(), sha(number), name=name)
                    self.assertEqual(there.status, 201, there)
                    self.assertIn(here.stdout.strip().encode(), there.body, "byte for byte")

    def test_the_worked_example_from_both_formats(self):
        for flags, name in (([], "example.json"), (["--format", "nsys"], "example.sqlite")):
            with self.subTest(name):
                file = self.folder / name
                file.write_bytes(trace("--worked-example", *flags, name=name))
                report = json.loads(run("traceweir", "analyze", "--json", file).stdout)
                rank = report["ranks"][0]
                values = {m["metric"]: m["value"] for m in rank["measurements"]}
                self.assertEqual(values["gpu.utilization"], 5 / 22)
                self.assertEqual(values["gpu.exposed_memory"], 2 / 22)
                self.assertEqual(values["gpu.idle"], 15 / 22)
                device = rank["devices"][0]
                self.assertEqual(sum(device["idle_causes_ns"].values()), device["idle_ns"])
                self.assertEqual(device["idle_causes_ns"]["unknown"], 0)
                total = sum(term["ns"] for term in rank["breakdown"])
                self.assertEqual(total, rank["window"]["length_ns"] * len(rank["devices"]))

    def test_refusals_have_a_word_and_exit_3(self):
        file = self.folder / "not.json"
        file.write_text("[1, 2, 3]")
        done = run("traceweir", "analyze", "--json", file)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(json.loads(done.stdout)["error"]["code"], "not_a_trace")
        self.assertIn("not.json", done.stderr)

    def test_the_table_is_for_people(self):
        file = self.folder / "table.json"
        file.write_bytes(trace("--steps", 12))
        done = run("traceweir", "analyze", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 110)
        self.assertIn("%", done.stdout)

    def test_the_catalogue_is_the_page(self):
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/metrics.md").read_text()
        rows = [[cell.replace("\\|", "|").replace("`", "").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                for line in page.splitlines() if re.match(r"\| `[\w.]+` \| (ratio|ns|count|bytes|GB/s) \|", line)]
        self.assertGreater(len(rows), 50)
        listed = run("traceweir", "metrics").stdout
        for name, unit, better, formula, not_meant in rows:
            self.assertRegex(listed, rf"(?m)^  {re.escape(name)} +{re.escape(unit)} +{better} +{re.escape(formula)}$")
            if not_meant != "–":
                self.assertIn(f"does not mean: {not_meant}\n", listed)
        for metric in json.loads(run("traceweir", "metrics", "--json").stdout):
            self.assertTrue(metric["formula"] and metric["inputs"], metric)


if __name__ == "__main__":
    unittest.main()
