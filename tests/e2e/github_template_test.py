"""The workflows of ci-templates/github, played: push, pull request of the repository, of a fork, re-run; what is said and what is stored."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from actions import Job, load
from forge import Forge
from team import Team

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "ci-templates/github"
REPOSITORY, FORK = "acme/llama", "stranger/llama"
SECRET_NAME = "TRACEWEIR_TOKEN"


class GitHub(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.team = Team().__enter__()
        cls.addClassCleanup(cls.team.__exit__)
        cls.forge = Forge(REPOSITORY, "ghs_write")
        cls.addClassCleanup(cls.forge.stop)
        cls.team.add_templates(TEMPLATES, ".github/actions/traceweir")
        cls.team.commit("ci: traceweir")
        cls.artifacts = cls.team.folder / "artifacts"
        cls.artifacts.mkdir()
        cls.numbers = iter(range(1000, 2000))

    def on(self, branch: str, subject: str, kind="good") -> str:
        """A commit on a branch of main."""
        self.team.git("checkout", "-q", "-B", branch, "main")
        sha = self.team.commit(subject, kind)
        self.team.git("checkout", "-q", "main")
        return sha

    def request(self, number: int, head: str, branch: str, repository=REPOSITORY) -> dict:
        """A pull request, with the test merge that GitHub makes."""
        self.team.git("update-ref", f"refs/pull/{number}/head", head)
        base = self.team.git("rev-parse", "main")
        tree = self.team.git("rev-parse", f"{head}^{{tree}}")
        merge = self.team.git("commit-tree", tree, "-p", base, "-p", head, "-m", "test merge")
        self.team.git("update-ref", f"refs/pull/{number}/merge", merge)
        owner = repository.partition("/")[0]
        pull = {"number": number, "merge": merge, "head": {"sha": head, "ref": branch, "label": f"{owner}:{branch}",
                                                           "repo": {"full_name": repository, "owner": {"login": owner}}},
                "base": {"ref": "main", "sha": base, "repo": {"full_name": REPOSITORY}}}
        self.forge.pulls.append(pull)
        return pull

    def play(self, name: str, event_name: str, event: dict, sha: str, *, secrets=True, attempt=1, run_id=None, ref="refs/heads/main", checksum=None,
             actor="dev"):
        event = event | {"repository": {"full_name": REPOSITORY, "default_branch": "main"}}
        world = {"event": event, "event_text": json.dumps(event), "origin": self.team.origin, "artifacts": self.artifacts,
                 "github_token": "ghs_write" if secrets else "ghs_read", "secrets": {SECRET_NAME: self.team.token} if secrets else {},
                 "vars": {"TRACEWEIR_URL": self.team.service.url, "TRACEWEIR_CLIENT_URL": self.team.client_url,
                          "TRACEWEIR_CLIENT_SHA256": checksum or self.team.client_sha256},
                 "variables": {"GITHUB_EVENT_NAME": event_name, "GITHUB_SHA": sha, "GITHUB_REF": ref, "GITHUB_REPOSITORY": REPOSITORY,
                               "GITHUB_RUN_ID": str(run_id or next(self.numbers)), "GITHUB_RUN_ATTEMPT": str(attempt), "GITHUB_JOB": "gate",
                               "GITHUB_SERVER_URL": "https://github.example", "GITHUB_API_URL": self.forge.url, "GITHUB_WORKFLOW": "traceweir",
                               "GITHUB_ACTOR": actor}}
        if event_name == "pull_request":
            world["variables"] |= {"GITHUB_HEAD_REF": event["pull_request"]["head"]["ref"], "GITHUB_BASE_REF": "main"}
        job = Job(pathlib.Path(tempfile.mkdtemp(dir=self.team.folder)), world)
        (workflow,) = load(TEMPLATES / name)["jobs"].values()
        return job, job.play(workflow)

    def pull_request(self, pull: dict, **more):
        return self.play("traceweir.yml", "pull_request", {"pull_request": pull, "number": pull["number"]}, pull["merge"],
                         ref=f"refs/pull/{pull['number']}/merge", **more)

    def test_a_push_is_judged_and_enters_the_baseline(self):
        sha = self.team.commit("faster loader")
        job, passed = self.play("traceweir.yml", "push", {"after": sha}, sha)
        self.assertTrue(passed, job.log)
        (run,) = self.team.runs(commit=sha)
        self.assertEqual((run["branch"], run["verdict"]["outcome"], run["pr"]), ("main", "pass", None))
        self.assertIn("gpu.utilization", job.summary.read_text())
        self.assertEqual(self.forge.checks[-1]["head_sha"], sha)
        self.assertEqual(self.forge.checks[-1]["conclusion"], "success")
        self.assertIn("no pull request here", job.log)
        self.assertNotIn(self.team.token, job.log)
        self.assertNotIn(self.team.token, self.team.seen_by(sha), "the training step saw the token")

    def test_a_pull_request_fails_by_the_verdict_and_its_comment_is_changed_in_place(self):
        self.forge.comment(12, "<!-- traceweir quoted by a person -->", "User")
        head = self.on("slow", "decode images in the training process", "stalled")
        pull = self.request(12, head, "slow")
        job, passed = self.pull_request(pull, run_id=777)
        self.assertFalse(passed, job.log)
        self.assertIn("Exit by the verdict", job.ran)
        (run,) = self.team.runs(commit=head)
        self.assertEqual((run["pr"], run["branch"], run["verdict"]["outcome"]), (12, "slow", "fail"))
        comments = [one for one in self.forge.comments if one["issue"] == 12]
        self.assertEqual(len(comments), 2)
        self.assertIn("gpu.utilization", comments[1]["body"])
        self.assertEqual((self.forge.checks[-1]["head_sha"], self.forge.checks[-1]["conclusion"]), (head, "failure"))
        # The same again as a second attempt: one comment, and the attempt takes the place of the first.
        job, passed = self.pull_request(pull, run_id=777, attempt=2)
        self.assertFalse(passed)
        self.assertEqual(len([one for one in self.forge.comments if one["issue"] == 12]), 2)
        runs = self.team.runs(commit=head)
        self.assertEqual([one["superseded"] for one in runs], [False, True])

    def test_a_fork_gets_no_secret_and_enters_no_baseline(self):
        head = self.on("theirs", "a stranger's change")
        pull = self.request(31, head, "theirs", FORK)
        job, passed = self.pull_request(pull, secrets=False)
        self.assertTrue(passed, job.log)
        self.assertNotIn("Gate", job.ran)
        self.assertEqual(self.team.runs(commit=head), [], "the first stage stored something")
        for text in (self.team.seen_by(head), job.log):
            self.assertNotIn(self.team.token, text)
            self.assertNotIn("ghs_", text)
        # From here on the second stage: on main, with secrets.
        done = {"workflow_run": {"id": 4242, "event": "pull_request", "conclusion": "success", "head_sha": head, "head_branch": "theirs",
                                 "run_attempt": 1, "pull_requests": [], "html_url": "https://github.example/run",
                                 "head_repository": {"full_name": FORK, "owner": {"login": "stranger"}}}}
        seen = set(self.team.seen.iterdir())
        job, passed = self.play("traceweir-fork.yml", "workflow_run", done, self.team.git("rev-parse", "main"))
        self.assertTrue(passed, job.log)
        self.assertEqual(set(self.team.seen.iterdir()), seen, "the second stage ran code of the training")
        head_now = self.team.git("-C", job.workspace, "rev-parse", "HEAD")
        self.assertEqual(head_now, self.team.git("rev-parse", "main"), "the second stage checked the fork out")
        (run,) = self.team.runs(commit=head)
        self.assertEqual((run["fork"], run["pr"], run["branch"]), (True, 31, "stranger:theirs"))
        self.assertIn("forks never bring their own", " ".join(run["verdict"]["notes"]), "whose policy judged is not said")
        self.assertEqual((self.forge.checks[-1]["head_sha"], self.forge.checks[-1]["conclusion"]), (head, "success"))
        self.assertEqual(len([one for one in self.forge.comments if one["issue"] == 31]), 1)
        self.assertEqual(self.forge.refused, [])
        sha = self.team.commit("after the fork")
        self.play("traceweir.yml", "push", {"after": sha}, sha)
        self.assertNotIn(run["id"], self.team.runs(commit=sha)[0]["verdict"]["baseline_runs"])

    def test_the_second_stage_is_for_forks_that_succeeded_only(self):
        for change in ({"event": "push"}, {"conclusion": "failure"}, {"head_repository": {"full_name": REPOSITORY, "owner": {"login": "acme"}}}):
            event = {"id": 1, "event": "pull_request", "conclusion": "success", "head_repository": {"full_name": FORK, "owner": {"login": "stranger"}}}
            _, passed = self.play("traceweir-fork.yml", "workflow_run", {"workflow_run": event | change}, self.team.git("rev-parse", "main"))
            self.assertIsNone(passed)

    def test_links_in_a_strangers_artifact_are_not_followed(self):
        head = self.on("link", "a link for a trace")
        self.request(32, head, "link", FORK)
        folder = self.artifacts / "traceweir-traces"
        kept = folder.with_name("kept")
        if folder.exists():
            folder.rename(kept)
        folder.mkdir()
        (folder / "rank0.json").symlink_to("/proc/self/environ")
        done = {"workflow_run": {"id": 4243, "event": "pull_request", "conclusion": "success", "head_sha": head, "head_branch": "link",
                                 "run_attempt": 1, "pull_requests": [], "head_repository": {"full_name": FORK, "owner": {"login": "stranger"}}}}
        job, passed = self.play("traceweir-fork.yml", "workflow_run", done, self.team.git("rev-parse", "main"))
        self.assertFalse(passed)
        self.assertIn("no trace was found", job.log)
        (folder / "rank0.json").unlink()
        folder.rmdir()
        if kept.exists():
            kept.rename(folder)

    def test_dependabot_has_no_secrets_and_goes_through_the_second_stage(self):
        head = self.on("dependabot/pip/torch-3", "bump torch")
        pull = self.request(41, head, "dependabot/pip/torch-3")
        artifact = self.artifacts / "traceweir-traces"
        if artifact.exists():
            artifact.rename(artifact.with_name("kept by dependabot"))
        job, passed = self.pull_request(pull, secrets=False, actor="dependabot[bot]")
        self.assertTrue(passed, job.log)
        self.assertNotIn("Gate", job.ran)
        done = {"workflow_run": {"id": 4244, "event": "pull_request", "conclusion": "success", "head_sha": head, "head_branch": "dependabot/pip/torch-3",
                                 "run_attempt": 1, "pull_requests": [], "actor": {"login": "dependabot[bot]"},
                                 "head_repository": {"full_name": REPOSITORY, "owner": {"login": "acme"}}}}
        job, passed = self.play("traceweir-fork.yml", "workflow_run", done, self.team.git("rev-parse", "main"))
        self.assertTrue(passed, job.log)
        (run,) = self.team.runs(commit=head)
        self.assertEqual((run["fork"], run["pr"], run["verdict"]["outcome"]), (False, 41, "pass"))
        self.assertEqual((self.forge.checks[-1]["head_sha"], self.forge.checks[-1]["conclusion"]), (head, "success"))
        shutil.rmtree(artifact)

    def test_the_verdict_stands_where_comment_and_check_run_cannot_be_written(self):
        self.forge.broken = {"issues", "check-runs"}
        self.addCleanup(setattr, self.forge, "broken", set())
        for number, kind in ((51, "good"), (52, "stalled")):
            head = self.on(f"read-only-{kind}", f"read only {kind}", kind)
            job, passed = self.pull_request(self.request(number, head, f"read-only-{kind}"))
            self.assertEqual(passed, kind == "good", job.log)
            self.assertIn("Exit by the verdict", job.ran)
            self.assertIn("::warning title=traceweir::the comment could not be written", job.log)
            self.assertIn("::warning title=traceweir::the check run could not be written", job.log)

    def test_what_is_no_verdict_satisfies_no_required_check(self):
        """GitHub takes success, neutral and skipped for a required check."""
        accepted = {"success", "neutral", "skipped"}
        rows = [(0, "pass", "false", "success"), (0, "warn", "false", "neutral"), (0, "inconclusive", "false", "neutral"), (0, "pending", "false", None),
                (1, "fail", "false", "failure"), (1, "fail", "true", "failure"), (2, "", "true", "action_required"), (0, "", "false", "action_required"),
                (3, "inconclusive", "false", "action_required"), (3, "rejected", "false", "action_required"), (3, "inconclusive", "true", "neutral"),
                (4, "unreachable", "false", "action_required"), (4, "unreachable", "true", "neutral")]
        event = self.team.folder / "check_event.json"
        event.write_text("{}")
        for code, outcome, soft, conclusion in rows:
            before = len(self.forge.checks)
            environment = {"PATH": os.environ["PATH"], "GITHUB_EVENT_PATH": str(event), "GITHUB_TOKEN": "ghs_write", "GITHUB_API_URL": self.forge.url,
                           "GITHUB_REPOSITORY": REPOSITORY, "GITHUB_SHA": "0" * 40, "CHECK_NAME": "traceweir", "EXIT_CODE": str(code), "OUTCOME": outcome,
                           "SOFT_FAIL": soft}
            done = subprocess.run([TEMPLATES / "check_run.sh"], env=environment, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            posted = [one["conclusion"] for one in self.forge.checks[before:]]
            self.assertEqual(posted, [conclusion] if conclusion else [], (code, outcome, soft))
            if code in (3, 4) and soft == "false":
                self.assertNotIn(posted[0], accepted)
        script = (TEMPLATES / "action.yml").read_text()
        self.assertIn("SOFT_FAIL: ${{ inputs.soft-fail }}", script.partition("- name: Check run")[2].partition("- name:")[0])

    def test_a_client_with_another_checksum_does_not_run(self):
        sha = self.team.commit("another client")
        job, passed = self.play("traceweir.yml", "push", {"after": sha}, sha, checksum="0" * 64)
        self.assertFalse(passed)
        self.assertIn("checksum", job.log.lower())
        self.assertEqual(self.team.runs(commit=sha), [])


if __name__ == "__main__":
    unittest.main()
