"""The analysing child is locked in, the service says so, and does not believe one that is not."""
import pathlib
import subprocess
import tempfile
import unittest

from service import BIN, Service, free_port, sha, stand_in, trace


class Sandbox(unittest.TestCase):
    def test_what_is_active_is_said(self):
        with Service(sandbox="required") as service:
            active = service.call("GET", "/readyz").json["sandbox"]
            self.assertIs(active["seccomp"], True)
            self.assertRegex(active["landlock"], r"^abi [1-9][0-9]*$")
            started = [line for line in service.log() if line["event"] == "started"][0]
            self.assertRegex(started["sandbox"], r"^seccomp, landlock abi [0-9]+$")
            self.assertEqual([line for line in service.log() if line["level"] == "warning"], [])
            self.assertEqual(service.upload(service.token(), trace("--steps", 3), sha(1)).status, 201)

    def test_an_analyzer_without_a_sandbox_is_a_warning_or_no_start(self):
        with tempfile.TemporaryDirectory() as folder:
            bare = stand_in(folder, "exit 9")
            with Service(analysis_program=bare) as service:
                self.assertEqual(service.call("GET", "/readyz").json["sandbox"], {"seccomp": False, "landlock": False})
                loud = service.logged(event="sandbox_incomplete")
                self.assertEqual([(line["level"], line["active"]) for line in loud], [("warning", "nothing")])
                refused = subprocess.run(
                    [BIN / "traceweird", f"--listen=127.0.0.1:{free_port()}", f"--analysis-program={bare}",
                     "--sandbox=required", f"--data-dir={service.folder / 'second'}"],
                    env=service.environment() | service.new_store(), capture_output=True, text=True, timeout=30)
                self.assertEqual(refused.returncode, 2, refused.stderr)
                self.assertIn("sandbox = required", refused.stderr)

    def test_a_child_that_skips_its_sandbox_is_not_believed(self):
        """The program is exchanged under a running service for one that gives a perfect report, unguarded."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "analyzer"
            program.write_text(f'#!/bin/sh\nexec {BIN / "traceweir"} "$@"\n')
            program.chmod(0o755)
            with Service(analysis_program=program) as service:
                token = service.token()
                self.assertEqual(service.upload(token, trace("--steps", 3), sha(1)).status, 201)
                program.write_text(f'#!/bin/sh\nexec {BIN / "traceweir"} analyze --json -\n')
                answer = service.upload(token, trace("--steps", 4), sha(2), wait=2)
                self.assertEqual(answer.status, 202, "ours to repair: the upload waits")
                failed = service.logged(event="run_failed")
                self.assertIn("did not lock itself in", failed[0]["detail"])


    def test_where_memory_runs_out_a_child_goes_and_the_service_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            program, scores = pathlib.Path(folder) / "analyzer", pathlib.Path(folder) / "scores"
            program.write_text(f'#!/bin/sh\nread -r score </proc/self/oom_score_adj\necho "$score" >>{scores}\nexec {BIN / "traceweir"} "$@"\n')
            program.chmod(0o755)
            with Service(analysis_program=program) as service:
                self.assertEqual(service.upload(service.token(), trace("--steps", 3), sha(1)).status, 201)
                own = pathlib.Path(f"/proc/{service.process.pid}/oom_score_adj").read_text().strip()
                self.assertEqual(own, pathlib.Path("/proc/self/oom_score_adj").read_text().strip())
                self.assertLess(int(own), 1000)
            self.assertEqual(set(scores.read_text().split()), {"1000"})
        unit = pathlib.Path("tools/dist/deb/traceweird.service").read_text()
        self.assertIn("\nOOMPolicy=continue\n", unit, "systemd would stop the unit with the child")


if __name__ == "__main__":
    unittest.main()
