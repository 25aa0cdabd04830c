"""The gate with curl alone (ci-templates/shell), in a work tree with the history; exit code, what is shown, what is stored."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from service import free_port
from team import Team

ROOT = pathlib.Path(__file__).resolve().parents[2] / "ci-templates"
EXIT_CODES = {"good": 0, "stalled": 1, "broken": 3}


class Shell(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.team = Team().__enter__()
        cls.addClassCleanup(cls.team.__exit__)

    def measured(self, branch: str, kind: str):
        """A commit on a branch of main, and a work tree of it with the traces of its training."""
        self.team.git("checkout", "-q", "-B", branch, "main")
        sha = self.team.commit(f"{branch}: {kind}", kind)
        self.team.git("checkout", "-q", "main")
        tree = pathlib.Path(tempfile.mkdtemp(dir=self.team.folder)) / "tree"
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        for command in (["clone", "-q", self.team.origin, tree], ["-C", tree, "checkout", "-q", "--detach", sha]):
            subprocess.run(["git", *map(str, command)], check=True, env=clean)
        subprocess.run(["ci/profile.sh", "traces"], cwd=tree, check=True, env={"PATH": os.environ["PATH"]})
        return sha, tree

    def variables(self, **more) -> dict:
        return {"PATH": os.environ["PATH"], "HOME": str(self.team.folder), "LC_ALL": "C.UTF-8", "CI": "true",
                "TRACEWEIR_URL": self.team.service.url, "TRACEWEIR_TOKEN": self.team.token, "TRACEWEIR_CLIENT_URL": self.team.client_url,
                "TRACEWEIR_CLIENT_SHA256": self.team.client_sha256} | {key: str(value) for key, value in more.items()}

    def shell(self, script: str, tree: pathlib.Path, variables: dict):
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=tree, env=variables, capture_output=True, text=True, timeout=120)
        self.assertNotIn(self.team.token, done.stdout + done.stderr)
        return done

    def check_stored(self, sha: str, kind: str, **facts):
        runs = self.team.runs(commit=sha)
        if kind == "broken":
            return self.assertTrue(all(run["verdict"] is None for run in runs))
        self.assertEqual({key: runs[0][key] for key in facts}, facts)
        return self.assertEqual(runs[0]["verdict"]["outcome"], "pass" if kind == "good" else "fail")

    def test_shell(self):
        for kind, code in EXIT_CODES.items():
            with self.subTest(kind):
                sha, tree = self.measured(f"shell-{kind}", kind)
                variables = self.variables(TRACEWEIR_PROJECT="llama", TRACEWEIR_WORKLOAD="ddp", TRACEWEIR_BRANCH="to pic/ü&x=1",
                                           TRACEWEIR_BASE=self.team.git("rev-parse", "main"), TRACEWEIR_RUN_KEY=f"shell-{kind}")
                done = self.shell(f"{ROOT}/shell/gate.sh traces/rank0.json.gz", tree, variables)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.check_stored(sha, kind, branch="to pic/ü&x=1")
                again = self.shell(f"{ROOT}/shell/gate.sh traces/rank0.json.gz", tree, variables)
                self.assertEqual(again.returncode, code)
                if kind != "broken":
                    self.assertEqual(len(self.team.runs(commit=sha)), 1, "a retry made a second run")

    def test_shell_two_ranks_and_a_baseline_that_grows(self):
        sha, tree = self.measured("shell-ranks", "good")
        (tree / "traces/rank1.json.gz").write_bytes((self.team.traces / "rank1").read_bytes())
        variables = self.variables(TRACEWEIR_PROJECT="llama", TRACEWEIR_WORKLOAD="ranks", TRACEWEIR_RUN_KEY="r")
        done = self.shell(f"{ROOT}/shell/gate.sh traces/rank0.json.gz traces/rank1.json.gz", tree, variables)
        (run,) = self.team.runs(commit=sha)
        self.assertEqual((done.returncode, len(run["report"]["ranks"])), (0, 2), done.stdout + done.stderr)

    def test_shell_usage_and_a_service_that_is_away(self):
        _, tree = self.measured("shell-away", "good")
        self.assertEqual(self.shell(f"{ROOT}/shell/gate.sh", tree, self.variables(TRACEWEIR_PROJECT="llama")).returncode, 2)
        wrong = self.variables(TRACEWEIR_PROJECT="llama", TRACEWEIR_COMMIT="abc")
        self.assertEqual(self.shell(f"{ROOT}/shell/gate.sh traces/rank0.json.gz", tree, wrong).returncode, 2)
        away = self.variables(TRACEWEIR_PROJECT="llama", TRACEWEIR_URL=f"http://127.0.0.1:{free_port()}")
        script = (ROOT / "shell/gate.sh").read_text().replace("--retry 4", "--retry 0")
        (tree / "gate.sh").write_text(script)
        self.assertEqual(self.shell("bash ./gate.sh traces/rank0.json.gz", tree, away).returncode, 4)


if __name__ == "__main__":
    unittest.main()
