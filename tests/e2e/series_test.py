"""Commands over plain series: no service, any numbers."""
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from service import BIN, run


class ChangePoints(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()
