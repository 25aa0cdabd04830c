"""Commands over plain series: no service, any numbers."""
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from service import BIN, run


class Series(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def series(self, values, head=""):
        file = self.folder / "series.csv"
        file.write_text(head + "".join(f"{value}\n" for value in values))
        return file


class ChangePoints(Series):
    def test_json_names_the_first_value_of_the_new_level(self):
        file = self.series([100 + i % 3 for i in range(15)] + [110 + i % 3 for i in range(15)])
        done = run("traceweir", "changepoints", file, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        [point] = json.loads(done.stdout)["points"]
        self.assertEqual(point["index"], 15)
        self.assertEqual((point["before"], point["after"]), (101, 111))
        self.assertAlmostEqual(point["magnitude"], 111 / 101 - 1)
        self.assertLess(point["p"], 1e-12)
        self.assertEqual(list(point), ["index", "before", "after", "p", "magnitude"])

    def test_the_table_names_the_line(self):
        done = run("traceweir", "changepoints", self.series([f"c{i},{7 if i < 9 else 8}" for i in range(20)], "# made\ncommit,value\n"))
        self.assertIn("20 values, 1 change of level", done.stdout)
        self.assertRegex(done.stdout, r"\n +9 +12 +7 +8 +\+14\.3 %")

    def test_stdin(self):
        done = subprocess.run([BIN / "traceweir", "changepoints", "-", "--json"], input=b"1\n" * 8 + b"2\n" * 8,
                              capture_output=True, check=True)
        self.assertEqual([p["index"] for p in json.loads(done.stdout)["points"]], [8])

    def test_nothing_found_is_no_error(self):
        done = run("traceweir", "changepoints", self.series([5] * 100), "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)), (0, {"points": []}))

    def test_exit_2(self):
        good = self.series([1, 2, 3])
        rows = [([self.folder / "absent"], "cannot be opened"), ([good, "--window", "1"], "--window"),
                ([good, "--window", "6"], "--min-side"), ([good, "--p", "0"], "--p"), ([], "FILE")]
        for arguments, why in rows:
            with self.subTest(why):
                done = run("traceweir", "changepoints", *arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(why, done.stderr)
                self.assertEqual(done.stdout, "")
        done = run("traceweir", "changepoints", self.series([1, "inf"]))
        self.assertEqual(done.returncode, 2)
        self.assertIn('series.csv: line 2: "inf" is beyond 1e+150', done.stderr)


class Backtest(Series):
    def test_json_names_the_first_value_of_the_new_level(self):
        values = [100 + i % 2 for i in range(20)] + [130] + [100 + i % 2 for i in range(10)]
        done = run("traceweir", "backtest", "--series", self.series(values), "--worse-by", "5%", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(len(document["points"]), len(values))
        [bad] = [point for point in document["points"] if point["outcome"] == "fail"]
        self.assertEqual((bad["index"], bad["value"], bad["reason"]), (20, 130, "worse"))
        self.assertEqual((bad["baseline"]["runs"], bad["baseline"]["median"]), (20, 100.5))
        self.assertEqual(document["points"][0]["baseline"], None)
        self.assertEqual(document["points"][3]["reason"], "short_baseline")
        self.assertEqual(document["change_points"], [])
        self.assertEqual(document["summary"]["recovered"], 1)

    def test_the_table_names_the_line(self):
        done = run("traceweir", "backtest", "--series", self.series([7, 7, 7, 7, 7, 7, 8]))
        self.assertEqual(done.returncode, 1)
        self.assertIn("7 values: 2 judged, 1 failed in 1 alarm, 0 warned, 5 not judged (learning)", done.stdout)

    def test_stdin(self):
        done = subprocess.run([BIN / "traceweir", "backtest", "--series", "-", "--better", "higher"],
                              input=b"7\n" * 8 + b"9\n", capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_nothing_found_is_no_error(self):
        file = self.series([100] * 12 + [120] * 12)
        self.assertEqual(run("traceweir", "backtest", "--series", file).returncode, 1)
        self.assertEqual(run("traceweir", "backtest", "--series", file, "--accept", "12").returncode, 0)

    def test_a_policy_s_own_rule(self):
        policy = self.folder / "policy.toml"
        policy.write_text('[baseline]\nmin_runs = 3\n[rules."gpu.utilization"]\nmin = "85%"\nworse_by = "3pp"\n')
        arguments = ["backtest", "--policy", policy, "--metric", "gpu.utilization", "--series"]
        self.assertEqual(run("traceweir", *arguments, self.series([0.9, 0.9, 0.9, 0.88])).returncode, 0)
        self.assertEqual(run("traceweir", *arguments, self.series([0.9, 0.9, 0.9, 0.86])).returncode, 1)
        done = run("traceweir", *arguments, self.series([0.9, 0.8]), "--json")
        self.assertEqual(json.loads(done.stdout)["points"][1]["reason"], "over_limit")

    def test_a_metric_of_the_job_s_own_needs_a_side(self):
        policy = self.folder / "policy.toml"
        file = self.series([10] * 8 + [12])
        arguments = ["backtest", "--series", file, "--policy", policy, "--metric", "custom.foo"]
        policy.write_text('[rules."custom.foo"]\nworse_by = "5%"\n')
        done = run("traceweir", *arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("Give --better lower or higher, or add a direction to its rule.", done.stderr)
        self.assertEqual(run("traceweir", *arguments, "--better", "lower").returncode, 1)
        self.assertEqual(run("traceweir", *arguments, "--better", "higher").returncode, 0)
        policy.write_text('[rules."custom.foo"]\nworse_by = "5%"\ndirection = "lower"\n')
        self.assertEqual(run("traceweir", *arguments).returncode, 1)
        done = run("traceweir", *arguments, "--better", "higher")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the better side of custom.foo is known", done.stderr)
        policy.write_text('[rules."custom.foo"]\nmax = "11 ns"\n')
        self.assertEqual(run("traceweir", *arguments).returncode, 1)
        policy.write_text('[rules."custom.foo"]\nmax = "11 ns"\nat_least = "1 GiB"\n')
        self.assertEqual(run("traceweir", *arguments, "--better", "lower").returncode, 2)

    def test_exit_2(self):
        good = self.series([1, 2, 3])
        rows = [(["--series", good, "--metric", "gpu.idel"], "no metric"), (["--series", good, "--metric", "gpu.compute"], "no rule"),
                (["--series", good, "--policy", good], "--metric"), (["--series", good, "--accept", "3"], "--accept 3"),
                (["--series", good, "--worse-by", "5 ms"], "5 ms"), ([], "--series")]
        for arguments, why in rows:
            with self.subTest(why):
                done = run("traceweir", "backtest", *arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(why, done.stderr)
                self.assertEqual(done.stdout, "")


class PolicyCheck(unittest.TestCase):
    def test_in_words_and_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "policy.toml"
            file.write_text('[rules."gpu.utilization"]\nmin = "85%"\n[baseline]\npinned = "v1"\n')
            done = run("traceweir", "policy", "check", file)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("gpu.utilization fails below 85 %.", done.stdout)
            self.assertIn("also judged against v1", done.stdout)
            self.assertEqual(json.loads(run("traceweir", "policy", "check", file, "--json").stdout)["rules"][0]["level"], "fail")
            file.write_text('[rules."gpu.utilisation"]\nmin = "85%"\n')
            done = run("traceweir", "policy", "check", file)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("line 1", done.stderr)

    def test_a_file_that_was_named_has_to_be_there(self):
        with tempfile.TemporaryDirectory() as folder:
            series = pathlib.Path(folder) / "series.csv"
            series.write_text("1\n2\n3\n")
            service = ["--project", "llama", "--url", "http://127.0.0.1:9"]
            verbs = [["policy", "check"], ["policy", "check", *service], ["backtest", *service, "--policy"],
                     ["backtest", "--series", series, "--metric", "gpu.utilization", "--policy"], ["gate", series, *service, "--policy"],
                     ["gate", series, "--dry-run", "--policy"]]
            for verb in verbs:
                for name in (pathlib.Path(folder) / "none.toml", folder, ""):
                    with self.subTest(verb=verb[:2], name=name):
                        done = run("traceweir", *verb, name)
                        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                        self.assertIn(str(name), done.stderr)


if __name__ == "__main__":
    unittest.main()
