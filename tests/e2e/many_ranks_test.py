"""A job of many ranks: read side by side, in bounded memory, to a report that stays small and that any order gives."""
import json
import pathlib
import resource
import shutil
import tempfile
import unittest

from service import run, trace

RANKS = 64
MIB = 1 << 20


class ManyRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.files = []
        for rank in range(RANKS):
            file = cls.folder / f"rank{rank}.json"
            file.write_bytes(trace("--steps", 6, "--ranks", RANKS, "--rank", rank, name=file.name))
            cls.files.append(file)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_every_rank_is_measured_and_matched(self):
        done = run("traceweir", "analyze", "--json", *self.files)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual([rank["rank"] for rank in report["ranks"]], list(range(RANKS)))
        by_id = {row["metric"]: row for row in report["run"]["measurements"]}
        self.assertGreater(by_id["allreduce.matched_calls"]["value"], 0)
        self.assertGreater(by_id["allreduce.transfer_mean"]["value"], 0)
        for rank in report["ranks"]:
            self.assertGreater(len(rank["measurements"]), 130, "lists are cut, measurements never")
        self.assertLessEqual(len(done.stdout), MIB + (RANKS - 8) * 24 * 1024 + 1, "the report's size rule")
        peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(peak_kib, 512 * 1024, "memory follows the cores, not the ranks")

    def test_the_order_of_the_files_does_not_matter(self):
        here = run("traceweir", "analyze", "--json", *self.files[:12]).stdout
        there = run("traceweir", "analyze", "--json", *reversed(self.files[:12])).stdout
        self.assertEqual(here, there)

    def test_the_first_file_that_is_wrong_is_named(self):
        broken = self.folder / "broken.json"
        broken.write_text('{"traceEvents": 5}')
        done = run("traceweir", "analyze", *self.files[:9], broken, *self.files[9:20])
        self.assertEqual(done.returncode, 3)
        self.assertIn("broken.json", done.stderr)


if __name__ == "__main__":
    unittest.main()
