"""The verb that runs the rows, on rows made up for it: what passes, what fails, what breaks, what is missing."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

RUN = pathlib.Path(__file__).resolve().parent / "run.py"
ROWS = {
    1: "def run(stress): return f'{stress.count(100, 2)} cycles,\\n 0 lost in {stress.folder.name[:10]}'",
    2: "from stress import Failed\ndef run(stress): raise Failed('3 lost of 9')",
    3: "def run(stress): return 1 / 0",
    4: "import subprocess, pathlib\n"
       "def run(stress):\n"
       "    child = subprocess.Popen(['sleep', '600'])\n"
       "    (pathlib.Path(__file__).parent / 'child').write_text(str(child.pid))\n"
       "    return 'a child is left'",
    5: "alone = True\ndef run(stress): return 'alone'",
    6: "import os\ndef run(stress): os._exit(0)",
    7: "this is no python",
}
LINES = ["R1 pass 2 cycles, 0 lost in traceweir-", "R2 fail 3 lost of 9", "R3 fail broke: ZeroDivisionError: division by zero",
         "R4 pass a child is left", "R5 pass alone", "R6 fail it died without a word"]


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.rows = pathlib.Path(folder.name)
        for number, text in ROWS.items():
            (self.rows / f"r{number:02d}.py").write_text(text)

    def run_rows(self, *arguments):
        done = subprocess.run([sys.executable, RUN, f"--rows={self.rows}", *arguments], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout.splitlines()

    def test_every_row_has_its_line_in_order(self):
        code, lines = self.run_rows("--quick", *[f"R{n}" for n in ROWS], "R8")
        self.assertEqual(lines[:6], LINES)
        self.assertRegex(lines[6], "^R7 fail broke: SyntaxError")
        self.assertEqual((code, lines[7:]), (1, ["R8 fail there is no row r08.py"]))

    def test_all_thirty_are_asked_for_by_default(self):
        code, lines = self.run_rows("--quick")
        self.assertEqual((code, [line.split()[0] for line in lines]), (1, [f"R{n}" for n in range(1, 31)]))

    def test_full_counts_and_success(self):
        self.assertEqual(self.run_rows("R5", "R1"), (0, ["R5 pass alone", "R1 pass 100 cycles, 0 lost in traceweir-"]))

    def test_who_is_run_alone(self):
        sys.path.insert(0, str(RUN.parent))
        self.addCleanup(sys.path.remove, str(RUN.parent))
        from run import is_alone
        path = self.rows / "r09.py"
        for text, quick, full in (("", False, False), ("alone = True\n", True, True), ("alone_in_full = True\n", False, True)):
            path.write_text(text)
            self.assertEqual((is_alone(path, quick=True), is_alone(path, quick=False)), (quick, full), text)

    def test_what_a_row_leaves_running_is_ended(self):
        self.assertEqual(self.run_rows("--quick", "R4")[0], 0)
        child = int((self.rows / "child").read_text())
        deadline = time.monotonic() + 10
        while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(os.path.exists(f"/proc/{child}") and "sleep" in pathlib.Path(f"/proc/{child}/cmdline").read_text())

    def test_rows_that_do_not_exist_are_refused(self):
        for word in ("R0", "R31", "x"):
            self.assertEqual(self.run_rows(word)[0], 2)


if __name__ == "__main__":
    unittest.main()
