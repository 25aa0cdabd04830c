"""The templates for GitLab, Buildkite, Jenkins and for curl alone, played: their own shell lines with their CI's variables, in a work
tree with the history; exit code, files, what is shown, what is stored."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import yaml

from actions import load
from service import BIN, free_port
from team import Team

ROOT = pathlib.Path(__file__).resolve().parents[2] / "ci-templates"
EXIT_CODES = {"good": 0, "stalled": 1, "broken": 3}


def unescaped(groovy: str) -> str:
    """A text of Groovy between ''' as it reaches the shell."""
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), groovy)


class Templates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.team = Team().__enter__()
        cls.addClassCleanup(cls.team.__exit__)
        cls.numbers = iter(range(100, 1000))

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

    def check_reports(self, tree: pathlib.Path, kind: str):
        if kind == "broken":
            return
        failures = list(xml.etree.ElementTree.parse(tree / "traceweir.xml").getroot().iter("failure"))
        self.assertEqual(bool(failures), kind == "stalled")
        self.assertIn("gpu.utilization", (tree / "traceweir.md").read_text())

    # GitLab
    def gitlab_job(self, **inputs) -> dict:
        spec, job = (ROOT / "gitlab/traceweir.yml").read_text().split("\n---\n")
        about = yaml.safe_load(spec)["spec"]["inputs"]
        given = {name: inputs.get(name, (row or {}).get("default")) for name, row in about.items()}
        filled = re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda match: given[match[1]], job)
        return yaml.safe_load(filled)["traceweir"]

    def rule_holds(self, rule: str, variables: dict) -> bool:
        left, right = (side.strip('"') if side.startswith('"') else variables.get(side[1:], "") for side in rule.split(" == "))
        return left == right

    def test_gitlab(self):
        job = self.gitlab_job(**{"profile-job": "profile"})
        self.assertEqual((job["needs"], job["allow_failure"]["exit_codes"], job["artifacts"]["reports"]["junit"]), (["profile"], [3], "traceweir.xml"))
        for kind, code in EXIT_CODES.items():
            with self.subTest(kind):
                sha, tree = self.measured(f"gitlab-{kind}", kind)
                number = next(self.numbers)
                variables = self.variables(
                    GITLAB_CI="true", CI_PIPELINE_SOURCE="merge_request_event", CI_COMMIT_SHA=sha, CI_MERGE_REQUEST_IID=number, CI_PIPELINE_ID=number,
                    CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main", CI_MERGE_REQUEST_SOURCE_BRANCH_NAME=f"gitlab-{kind}", CI_DEFAULT_BRANCH="main",
                    CI_MERGE_REQUEST_DIFF_BASE_SHA=self.team.git("rev-parse", "main"), CI_MERGE_REQUEST_SOURCE_PROJECT_PATH="acme/llama",
                    CI_MERGE_REQUEST_PROJECT_PATH="acme/llama", CI_PROJECT_PATH="acme/llama", CI_JOB_ID=number, CI_JOB_NAME="traceweir",
                    CI_JOB_URL="https://gitlab.example/job", **job["variables"])
                self.assertTrue(any(self.rule_holds(rule["if"], variables) for rule in job["rules"]))
                done = self.shell("\n".join([*job["before_script"], *job["script"]]), tree, variables)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.check_reports(tree, kind)
                self.check_stored(sha, kind, pr=number, branch=f"gitlab-{kind}")

    def test_gitlab_runs_for_no_other_pipeline(self):
        rules = self.gitlab_job(**{"profile-job": "profile"})["rules"]
        branch = {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "topic", "CI_DEFAULT_BRANCH": "main"}
        self.assertFalse(any(self.rule_holds(rule["if"], branch) for rule in rules))
        self.assertTrue(any(self.rule_holds(rule["if"], branch | {"CI_COMMIT_BRANCH": "main"}) for rule in rules))

    # Buildkite
    def test_buildkite(self):
        profile, gate = load(ROOT / "buildkite/pipeline.yml")["steps"]
        self.assertEqual((gate["depends_on"], gate["soft_fail"], gate["secrets"]), (profile["key"], [{"exit_status": 3}], ["TRACEWEIR_TOKEN"]))
        self.assertNotIn("secrets", profile)
        self.assertIn("fork != true", gate["if"])
        bin_folder = self.team.folder / "buildkite"
        bin_folder.mkdir()
        (bin_folder / "buildkite-agent").write_text('#!/bin/sh\ncase $1 in\n  artifact) [ "$2" = download ] && [ -e traces/rank0.json.gz ] ;;\n'
                                                    '  annotate) echo "$@" >annotate.arguments; cat >annotate.body ;;\n  *) exit 9 ;;\nesac\n')
        (bin_folder / "buildkite-agent").chmod(0o755)
        styles = {"good": "success", "stalled": "error", "broken": None}
        for kind, code in EXIT_CODES.items():
            with self.subTest(kind):
                sha, tree = self.measured(f"buildkite-{kind}", kind)
                number = next(self.numbers)
                variables = self.variables(
                    BUILDKITE="true", BUILDKITE_COMMIT=sha, BUILDKITE_BRANCH=f"buildkite-{kind}", BUILDKITE_PULL_REQUEST=number, BUILDKITE_BUILD_ID=f"b{number}",
                    BUILDKITE_PULL_REQUEST_BASE_BRANCH="main", BUILDKITE_PIPELINE_DEFAULT_BRANCH="main", BUILDKITE_RETRY_COUNT=0, BUILDKITE_JOB_ID=f"j{number}",
                    BUILDKITE_REPO="git@github.com:acme/llama.git", BUILDKITE_PULL_REQUEST_REPO="https://github.com/acme/llama.git", BUILDKITE_STEP_KEY="traceweir")
                variables["PATH"] = f"{bin_folder}:{variables['PATH']}"
                done = self.shell(gate["command"].replace("$$", "$"), tree, variables)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.check_reports(tree, kind)
                self.check_stored(sha, kind, pr=number, branch=f"buildkite-{kind}")
                if styles[kind]:
                    self.assertEqual((tree / "annotate.arguments").read_text().split(), ["annotate", "--style", styles[kind], "--context", "traceweir"])
                    self.assertEqual((tree / "annotate.body").read_bytes(), (tree / "traceweir.md").read_bytes())

    # Jenkins
    def jenkins_scripts(self) -> list:
        text = (ROOT / "jenkins/Jenkinsfile").read_text()
        self.assertEqual(text.count("{"), text.count("}"))
        self.assertRegex(text, r"if \(status == 3\) \{\s+unstable\(.*\)\s+\} else if \(status != 0\) \{\s+error\(")
        self.assertRegex(text, r"when \{ expression \{ !env\.CHANGE_FORK \} \}")
        self.assertIn("junit testResults: 'traceweir.xml'", text)
        found = re.findall(r"'''(.*?)'''", text, flags=re.S)
        before_credentials = text.index("withCredentials")
        self.assertLess(text.index(found[0]), before_credentials, "the client is fetched without the token")
        self.assertGreater(text.index(found[1]), before_credentials)
        return [unescaped(script) for script in found]

    def test_jenkins(self):
        client, gate = self.jenkins_scripts()
        for kind, code in EXIT_CODES.items():
            with self.subTest(kind):
                sha, tree = self.measured(f"jenkins-{kind}", kind)
                number = next(self.numbers)
                variables = self.variables(
                    JENKINS_URL="https://jenkins.example/", BUILD_TAG=f"jenkins-llama-{number}", BUILD_NUMBER=number, GIT_COMMIT=sha, CHANGE_ID=number,
                    CHANGE_TARGET="main", CHANGE_BRANCH=f"jenkins-{kind}", BRANCH_NAME=f"PR-{number}", JOB_NAME="llama", BUILD_URL="https://jenkins.example/1/")
                fetched = self.shell(client, tree, {key: value for key, value in variables.items() if key != "TRACEWEIR_TOKEN"})
                self.assertEqual(fetched.returncode, 0, fetched.stderr)
                done = self.shell(gate, tree, variables)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.check_reports(tree, kind)
                self.check_stored(sha, kind, pr=number, branch=f"jenkins-{kind}")

    def test_a_client_with_another_checksum_does_not_run(self):
        _, tree = self.measured("checksum", "good")
        job, (client, _) = self.gitlab_job(**{"profile-job": "profile"}), self.jenkins_scripts()
        gate = load(ROOT / "buildkite/pipeline.yml")["steps"][1]["command"].replace("$$", "$")
        for name, script in (("gitlab", "\n".join(job["before_script"])), ("jenkins", client), ("buildkite", gate.partition("\n")[2].partition("\n")[2])):
            with self.subTest(name):
                done = self.shell("set -eu\n" + script, tree, self.variables(TRACEWEIR_CLIENT_SHA256="0" * 64))
                self.assertNotEqual(done.returncode, 0)
                self.assertFalse((tree / ".traceweir-client/bin/traceweir").exists())

    # curl alone
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
        variables = self.variables(TRACEWEIR_PROJECT="llama", TRACEWEIR_WORKLOAD="ranks", TRACEWEIR_BRANCH="ranks", TRACEWEIR_RUN_KEY="r")
        done = self.shell(f"{ROOT}/shell/gate.sh traces/rank0.json.gz traces/rank1.json.gz", tree, variables)
        (run,) = self.team.runs(commit=sha)
        self.assertEqual((done.returncode, len(run["report"]["ranks"])), (0, 2), done.stdout + done.stderr)

    def test_shell_finds_the_base_branch_as_the_client_does(self):
        rows = [("told", {"TRACEWEIR_BASE_BRANCH": "release/1 ü"}, [], "release/1 ü"),
                ("origin", {}, [["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/team/trunk"]], "team/trunk"),
                ("main", {}, [["symbolic-ref", "-d", "refs/remotes/origin/HEAD"]], "main"),
                ("master", {}, [["update-ref", "refs/remotes/upstream/master", "HEAD"], ["remote", "remove", "origin"], ["branch", "-qD", "main"]], "master"),
                ("nothing", {}, [["remote", "remove", "origin"], ["branch", "-qD", "main"]], "")]
        for name, more, commands, base in rows:
            with self.subTest(name):
                sha, tree = self.measured(f"shell-base-{name}", "good")
                for command in commands:
                    subprocess.run(["git", "-C", tree, *command], check=True)
                said = self.variables(TRACEWEIR_PROJECT="llama", TRACEWEIR_WORKLOAD="base", TRACEWEIR_BRANCH="topic", **more)
                done = self.shell(f"{ROOT}/shell/gate.sh traces/rank0.json.gz", tree, said)
                (run,) = self.team.runs(commit=sha)
                self.assertEqual(run["base_branch"] or "", base, done.stdout + done.stderr)
                explained = json.loads(self.shell(f"{BIN}/traceweir gate --explain-ci --json", tree, said).stdout)
                self.assertEqual(explained["base_branch"] or "", base)

    def test_shell_gates_a_repository_whose_main_branch_is_another(self):
        codes = []
        for kind in ["good"] * 6 + ["stalled"]:
            _, tree = self.measured(f"shell-trunk-{len(codes)}", kind)
            subprocess.run(["git", "-C", tree, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"], check=True)
            done = self.shell(f"{ROOT}/shell/gate.sh traces/rank0.json.gz", tree,
                              self.variables(TRACEWEIR_PROJECT="llama", TRACEWEIR_WORKLOAD="trunk", TRACEWEIR_BRANCH="trunk"))
            codes.append(done.returncode)
        self.assertEqual(codes, [0] * 6 + [1], done.stdout + done.stderr)

    def test_shell_usage_and_a_service_that_is_away(self):
        _, tree = self.measured("shell-away", "good")
        self.assertEqual(self.shell(f"{ROOT}/shell/gate.sh", tree, self.variables(TRACEWEIR_PROJECT="llama")).returncode, 2)
        wrong = self.variables(TRACEWEIR_PROJECT="llama", TRACEWEIR_BRANCH="away", TRACEWEIR_COMMIT="abc")
        self.assertEqual(self.shell(f"{ROOT}/shell/gate.sh traces/rank0.json.gz", tree, wrong).returncode, 2)
        away = self.variables(TRACEWEIR_PROJECT="llama", TRACEWEIR_BRANCH="away", TRACEWEIR_URL=f"http://127.0.0.1:{free_port()}")
        script = (ROOT / "shell/gate.sh").read_text().replace("--retry 4", "--retry 0")
        (tree / "gate.sh").write_text(script)
        self.assertEqual(self.shell("bash ./gate.sh traces/rank0.json.gz", tree, away).returncode, 4)
        self.assertEqual(self.shell("bash ./gate.sh traces/none.json.gz", tree, away).returncode, 2, "a file that is not there is no service that is away")

    def test_shell_a_detached_checkout_wants_its_branch_told(self):
        sha, tree = self.measured("shell-detached", "good")
        done = self.shell(f"{ROOT}/shell/gate.sh traces/rank0.json.gz", tree, self.variables(TRACEWEIR_PROJECT="llama"))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("TRACEWEIR_BRANCH", done.stderr)
        self.assertEqual(self.team.runs(commit=sha), [])

    def test_shell_a_refused_trace_is_no_verdict_whatever_is_wrong_with_it(self):
        _, tree = self.measured("shell-refused", "good")
        for number, content in enumerate((b"no trace at all", b"", b'{"hello": "world"}', b"PK\x03\x04 an archive", b'{"traceEvents": [', b"QuadD report")):
            (tree / "refused").write_bytes(content)
            done = self.shell(f"{ROOT}/shell/gate.sh refused", tree, self.variables(TRACEWEIR_PROJECT="llama", TRACEWEIR_BRANCH="refused",
                                                                                   TRACEWEIR_RUN_KEY=f"refused-{number}"))
            self.assertEqual(done.returncode, 3, (content, done.stdout + done.stderr))
            self.assertRegex(done.stderr + done.stdout, r"[^\\]\n$", "the reason is cut off")


if __name__ == "__main__":
    unittest.main()
