"""What the client finds out in each CI and event: commit, base, branch, pull request, attempt, key. Real repositories,
and each CI's own variables."""
import json
import os
import pathlib
import shutil
import tempfile
import unittest

from repository import Repository, event_file, git
from service import run

PLAIN = {key: value for key, value in os.environ.items()
         if key in ("PATH", "HOME", "LANG", "TMPDIR")} | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
GITHUB = {"GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_RUN_ID": "1658821493", "GITHUB_RUN_ATTEMPT": "1",
          "GITHUB_JOB": "train", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/llama"}
GITLAB = {"GITLAB_CI": "true", "CI": "true", "CI_PIPELINE_ID": "901", "CI_JOB_ID": "5001", "CI_JOB_NAME": "train",
          "CI_JOB_URL": "https://gitlab.com/acme/llama/-/jobs/5001", "CI_DEFAULT_BRANCH": "main",
          "CI_PROJECT_PATH": "acme/llama"}
BUILDKITE = {"BUILDKITE": "true", "CI": "true", "BUILDKITE_BUILD_ID": "0190-ab", "BUILDKITE_JOB_ID": "0190-cd",
             "BUILDKITE_STEP_KEY": "train", "BUILDKITE_BUILD_URL": "https://buildkite.com/acme/llama/builds/7",
             "BUILDKITE_PULL_REQUEST": "false", "BUILDKITE_RETRY_COUNT": "0", "BUILDKITE_TAG": "",
             "BUILDKITE_PIPELINE_DEFAULT_BRANCH": "main", "BUILDKITE_REPO": "git@github.com:acme/llama.git"}
JENKINS = {"JENKINS_URL": "https://ci.acme.org/", "BUILD_TAG": "jenkins-llama-7", "BUILD_NUMBER": "7",
           "JOB_NAME": "llama", "BUILD_URL": "https://ci.acme.org/job/llama/7/"}


class CiEnvironment(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.repository = repository = Repository(cls.folder)
        cls.at_main = repository.clone(cls.folder / "at_main", repository.main[-1])
        cls.at_merge = repository.clone(cls.folder / "at_merge", repository.merge)
        cls.at_head = repository.clone(cls.folder / "at_head", repository.head)
        cls.shallow_merge = repository.clone(cls.folder / "shallow_merge", repository.merge, depth=1, branches=False)
        cls.shallow_main = repository.clone(cls.folder / "shallow_main", repository.main[-1], depth=1, branches=False)
        cls.no_git = cls.folder / "no_git"
        cls.no_git.mkdir()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def explained(self, where, variables, *more):
        done = run("traceweir", "gate", "--explain-ci", "--json", *more, env=PLAIN | variables, cwd=where)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check(self, found, **expected):
        self.assertEqual({key: found[key] for key in expected}, expected, found)

    def github(self, name, event=None, **more):
        variables = GITHUB | {"GITHUB_EVENT_NAME": name} | more
        return variables | ({"GITHUB_EVENT_PATH": str(event_file(self.folder, event))} if event is not None else {})

    def pull_request(self, fork=False, **more):
        theirs = {"full_name": "eve/llama", "owner": {"login": "eve"}} if fork else {"full_name": "acme/llama"}
        event = {"number": 12, "repository": {"full_name": "acme/llama", "default_branch": "main"},
                 "pull_request": {"number": 12, "head": {"sha": self.repository.head, "ref": "feature", "repo": theirs},
                                  "base": {"sha": self.repository.main[4], "ref": "main",
                                           "repo": {"full_name": "acme/llama"}}}}
        return self.github("pull_request", event, GITHUB_SHA=self.repository.merge, GITHUB_REF="refs/pull/12/merge",
                           GITHUB_BASE_REF="main", GITHUB_HEAD_REF="feature", **more)

    def test_github_push(self):
        main = self.repository.main
        found = self.explained(self.at_main, self.github(
            "push", {"repository": {"default_branch": "main", "full_name": "acme/llama"}}, GITHUB_SHA=main[-1],
            GITHUB_REF="refs/heads/main"))
        self.check(found, ci="github", event="push", commit=main[-1], head=main[-1], base=main[-2], branch="main",
                   base_branch="main", pr=None, fork=False, attempt=1, job="train", parents=[main[-2]],
                   key="github/1658821493/1/train", notes=[],
                   job_url="https://github.com/acme/llama/actions/runs/1658821493/attempts/1")

    def test_github_push_to_another_branch(self):
        found = self.explained(self.at_head, self.github(
            "push", {"repository": {"default_branch": "main"}}, GITHUB_SHA=self.repository.head,
            GITHUB_REF="refs/heads/feature"))
        self.check(found, commit=self.repository.head, base=self.repository.base, branch="feature", base_branch="main",
                   pr=None)

    def test_github_pull_request(self):
        found = self.explained(self.at_merge, self.pull_request())
        self.check(found, event="pull_request", commit=self.repository.head, head=self.repository.head,
                   base=self.repository.base, branch="feature", base_branch="main", pr=12, fork=False,
                   parents=[self.repository.feature[0]])
        self.assertIn("github.event.pull_request.head.sha", " ".join(found["notes"]))

    def test_github_pull_request_from_a_fork(self):
        found = self.explained(self.at_merge, self.pull_request(fork=True))
        self.check(found, commit=self.repository.head, base=self.repository.base, branch="eve:feature", pr=12, fork=True)

    def test_github_pull_request_from_a_fork_that_is_gone(self):
        variables = self.pull_request(fork=True)
        event = json.loads(pathlib.Path(variables["GITHUB_EVENT_PATH"]).read_text())
        event["pull_request"]["head"]["repo"] = None
        variables["GITHUB_EVENT_PATH"] = str(event_file(self.folder, event))
        self.check(self.explained(self.at_merge, variables), branch="fork:feature", fork=True)

    def test_github_shallow_clone_of_a_pull_request(self):
        found = self.explained(self.shallow_merge, self.pull_request())
        self.check(found, commit=self.repository.head, base=None, pr=12, branch="feature")
        self.assertIn("fetch-depth: 0", " ".join(found["notes"]))

    def test_github_shallow_clone_of_a_push(self):
        main = self.repository.main
        found = self.explained(self.shallow_main, self.github("push", {"repository": {"default_branch": "main"}},
                                                              GITHUB_SHA=main[-1], GITHUB_REF="refs/heads/main"))
        self.check(found, commit=main[-1], base=main[-2], parents=[main[-2]])
        self.assertIn("shallow and ends after 1 commit;", " ".join(found["notes"]))
        self.assertIn("fetch-depth: 0", " ".join(found["notes"]))

    def test_github_merge_queue(self):
        repository = self.repository
        found = self.explained(self.at_merge, self.github("merge_group", {
            "merge_group": {"head_sha": repository.merge, "base_sha": repository.main[-1], "base_ref": "refs/heads/main",
                            "head_ref": f"refs/heads/gh-readonly-queue/main/pr-12-{repository.main[-1]}"}},
            GITHUB_SHA=repository.merge, GITHUB_REF=f"refs/heads/gh-readonly-queue/main/pr-12-{repository.main[-1]}"))
        self.check(found, event="merge_group", commit=repository.merge, base=repository.main[-1], base_branch="main",
                   branch=f"gh-readonly-queue/main/pr-12-{repository.main[-1]}", pr=12, fork=False)

    def test_github_tag(self):
        main = self.repository.main
        found = self.explained(self.at_main, self.github("push", {"repository": {"default_branch": "main"}},
                                                         GITHUB_SHA=main[4], GITHUB_REF="refs/tags/v1.4"))
        self.check(found, commit=main[4], branch="v1.4", tag="v1.4", base_branch="main", base=main[3], pr=None)

    def test_github_second_workflow_of_the_fork_flow(self):
        event = {"repository": {"full_name": "acme/llama", "default_branch": "main"},
                 "workflow_run": {"id": 77, "run_attempt": 2, "event": "pull_request", "head_sha": self.repository.head,
                                  "head_branch": "main", "pull_requests": [],
                                  "head_repository": {"full_name": "eve/llama", "owner": {"login": "eve"}}}}
        found = self.explained(self.at_main, self.github("workflow_run", event, GITHUB_SHA=self.repository.main[-1],
                                                         GITHUB_REF="refs/heads/main", TRACEWEIR_PR="12"))
        self.check(found, event="workflow_run", commit=self.repository.head, base=self.repository.base, fork=True,
                   branch="eve:main", base_branch="main", pr=12, attempt=2, key="github/77/2/train")

    def test_a_re_run_has_another_attempt_and_another_key(self):
        sources = [
            (self.pull_request(), {"GITHUB_RUN_ATTEMPT": "2"}, 2),
            (GITLAB | {"CI_COMMIT_SHA": self.repository.main[-1], "CI_JOB_RETRY_COUNT": "0"}, {"CI_JOB_RETRY_COUNT": "1"}, 2),
            (GITLAB | {"CI_COMMIT_SHA": self.repository.main[-1]}, {"CI_JOB_ID": "5002"}, 5002),
            (BUILDKITE | {"BUILDKITE_COMMIT": self.repository.main[-1]}, {"BUILDKITE_RETRY_COUNT": "1"}, 2),
        ]
        for first, second, attempt in sources:
            with self.subTest(second):
                one, two = self.explained(self.at_merge, first), self.explained(self.at_merge, first | second)
                self.assertLess(one["attempt"], two["attempt"])
                self.assertEqual(two["attempt"], attempt)
                self.assertNotEqual(one["key"], two["key"])
                self.assertEqual(one["ci_run"], two["ci_run"])

    def test_cells_of_a_matrix_have_keys_of_their_own(self):
        keys = {self.explained(self.at_main, GITHUB | {"TRACEWEIR_MATRIX": cell})["key"]
                for cell in ("", '{"gpu":"a100"}', '{"gpu":"h100"}')}
        self.assertEqual(len(keys), 3, keys)

    def test_gitlab(self):
        repository, main = self.repository, self.repository.main
        found = self.explained(self.at_main, GITLAB | {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_SHA": main[-1],
                                                       "CI_COMMIT_BRANCH": "main"})
        self.check(found, ci="gitlab", event="push", commit=main[-1], base=main[-2], branch="main", pr=None,
                   base_branch="main", job="train", job_url=GITLAB["CI_JOB_URL"], key="gitlab/901/5001/train")
        request = GITLAB | {"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "12",
                            "CI_COMMIT_SHA": repository.head, "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.base,
                            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_COMMIT_REF_NAME": "feature",
                            "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "feature", "CI_MERGE_REQUEST_PROJECT_PATH": "acme/llama",
                            "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "acme/llama"}
        expected = dict(commit=repository.head, head=repository.head, base=repository.base, branch="feature",
                        base_branch="main", pr=12, fork=False)
        self.check(self.explained(self.at_head, request), **expected)
        merged = request | {"CI_COMMIT_SHA": repository.merge, "CI_MERGE_REQUEST_EVENT_TYPE": "merged_result",
                            "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": repository.head}
        self.check(self.explained(self.at_merge, merged), **expected)
        fork = request | {"CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "eve/llama", "CI_PROJECT_PATH": "eve/llama"}
        self.check(self.explained(self.at_head, fork), **expected | {"branch": "eve:feature", "fork": True})
        tag = GITLAB | {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_SHA": main[4], "CI_COMMIT_TAG": "v1.4"}
        self.check(self.explained(self.at_main, tag), commit=main[4], branch="v1.4", tag="v1.4", pr=None)

    def test_gitlab_jobs_that_send_one_run_agree_on_the_attempt(self):
        for job in ("5001", "5002"):
            found = self.explained(self.at_main, GITLAB | {"CI_JOB_ID": job}, "--rank", "1", "--ranks", "2")
            self.check(found, attempt=1)

    def test_buildkite(self):
        repository, main = self.repository, self.repository.main
        push = BUILDKITE | {"BUILDKITE_COMMIT": main[-1], "BUILDKITE_BRANCH": "main"}
        self.check(self.explained(self.at_main, push), ci="buildkite", event="push", commit=main[-1], base=main[-2],
                   branch="main", base_branch="main", pr=None, attempt=1, job="train",
                   job_url="https://buildkite.com/acme/llama/builds/7#0190-cd", key="buildkite/0190-ab/1/train")
        by_hand = push | {"BUILDKITE_COMMIT": "HEAD"}
        self.check(self.explained(self.at_main, by_hand), commit=main[-1], branch="main")
        request = BUILDKITE | {"BUILDKITE_COMMIT": repository.head, "BUILDKITE_BRANCH": "feature",
                               "BUILDKITE_PULL_REQUEST": "12", "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main",
                               "BUILDKITE_PULL_REQUEST_REPO": "https://github.com/acme/llama.git"}
        expected = dict(event="pull_request", commit=repository.head, base=repository.base, base_branch="main", pr=12)
        self.check(self.explained(self.at_head, request), **expected, branch="feature", fork=False)
        fork = request | {"BUILDKITE_PULL_REQUEST_REPO": "git://github.com/eve/llama.git", "BUILDKITE_BRANCH": "eve:feature"}
        self.check(self.explained(self.at_head, fork), **expected, branch="eve:feature", fork=True)
        tag = BUILDKITE | {"BUILDKITE_COMMIT": main[4], "BUILDKITE_TAG": "v1.4", "BUILDKITE_BRANCH": "v1.4"}
        self.check(self.explained(self.at_main, tag), commit=main[4], event="tag", branch="v1.4", tag="v1.4", pr=None)
        queue = BUILDKITE | {"BUILDKITE_COMMIT": repository.merge, "BUILDKITE_MERGE_QUEUE_BASE_BRANCH": "main",
                             "BUILDKITE_BRANCH": "gh-readonly-queue/main/pr-12-ab",
                             "BUILDKITE_MERGE_QUEUE_BASE_COMMIT": main[-1]}
        self.check(self.explained(self.at_merge, queue), event="merge_group", commit=repository.merge, base=main[-1])

    def test_jenkins(self):
        repository, main = self.repository, self.repository.main
        push = JENKINS | {"GIT_COMMIT": main[-1], "GIT_BRANCH": "origin/main"}
        self.check(self.explained(self.at_main, push), ci="jenkins", event="push", commit=main[-1], base=main[-2],
                   branch="main", base_branch="main", pr=None, attempt=1, job="llama", job_url=JENKINS["BUILD_URL"],
                   key="jenkins/jenkins-llama-7/1/llama")
        request = JENKINS | {"CHANGE_ID": "12", "CHANGE_TARGET": "main", "CHANGE_BRANCH": "feature", "BRANCH_NAME": "PR-12"}
        expected = dict(event="pull_request", commit=repository.head, base=repository.base, base_branch="main", pr=12)
        for where, commit in ((self.at_merge, repository.merge), (self.at_head, repository.head)):
            found = self.explained(where, request | {"GIT_COMMIT": commit})
            self.check(found, **expected, branch="feature", fork=False)
        fork = request | {"GIT_COMMIT": repository.merge, "CHANGE_FORK": "eve"}
        self.check(self.explained(self.at_merge, fork), **expected, branch="eve:feature", fork=True)
        tag = JENKINS | {"GIT_COMMIT": main[4], "TAG_NAME": "v1.4", "BRANCH_NAME": "v1.4"}
        self.check(self.explained(self.at_main, tag), commit=main[4], event="tag", branch="v1.4", pr=None)

    def test_a_jenkins_merge_of_jenkins_own_shape(self):
        """Jenkins merges the target into the head; and a change's head may be a merge that a person made."""
        work = self.repository.clone(self.folder / "jenkins", self.repository.head)
        git(work, "merge", "-q", "--no-ff", "-m", "x", "origin/main")
        merge = git(work, "rev-parse", "HEAD")
        request = JENKINS | {"CHANGE_ID": "12", "CHANGE_TARGET": "main", "CHANGE_BRANCH": "feature",
                             "BRANCH_NAME": "PR-12", "GIT_COMMIT": merge}
        self.check(self.explained(work, request), commit=self.repository.head, base=self.repository.base)
        git(work, "update-ref", "refs/remotes/origin/PR-12", merge)
        self.check(self.explained(work, request), commit=merge, base=self.repository.main[-1])

    def test_git_alone(self):
        main = self.repository.main
        self.check(self.explained(self.repository.origin, {}), ci="git", commit=main[-1], branch="main", base=main[-2],
                   base_branch="main", key=None, pr=None, attempt=1)
        self.check(self.explained(self.at_main, {}), ci="git", commit=main[-1], branch=None, base_branch="main")

    def test_no_git_at_all(self):
        found = self.explained(self.no_git, GITHUB | {"GITHUB_SHA": self.repository.head, "GITHUB_REF": "refs/heads/main"})
        self.check(found, ci="github", commit=self.repository.head, branch="main", base=None, parents=[])
        self.check(self.explained(self.no_git, {}), ci="none", commit=None, branch=None, key=None)
        found = self.explained(self.no_git, GITHUB | {"GITHUB_SHA": self.repository.head, "PATH": str(self.no_git)})
        self.check(found, commit=self.repository.head)

    def test_flag_over_variable_over_ci_over_git(self):
        main = self.repository.main
        variables = self.pull_request() | {"TRACEWEIR_BRANCH": "mine", "TRACEWEIR_PR": "13"}
        found = self.explained(self.at_merge, variables, "--pr", "14", "--commit", "origin/main~1")
        self.check(found, pr=14, branch="mine", commit=main[-2], head=self.repository.head)
        sources = {key: found["sources"][key] for key in ("pr", "branch", "commit", "base_branch")}
        self.assertEqual(sources, {"pr": "--pr", "branch": "TRACEWEIR_BRANCH", "commit": "--commit",
                                   "base_branch": "GITHUB_BASE_REF"})
        self.check(self.explained(self.at_main, GITHUB | {"TRACEWEIR_CI": "none"}), ci="git", key=None)
        for wrong in (["--pr", "x"], ["--attempt", "0"], ["--commit", "nothing"], ["--fork=maybe"], ["--ci", "travis"]):
            done = run("traceweir", "gate", "--explain-ci", *wrong, env=PLAIN, cwd=self.at_main)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn(wrong[0].split("=")[0], done.stderr)
        done = run("traceweir", "gate", "--explain-ci", env=PLAIN | {"TRACEWEIR_PR": "x"}, cwd=self.at_main)
        self.assertIn("TRACEWEIR_PR", done.stderr)
        self.assertEqual(self.explained(self.at_main, {"TRACEWEIR_PR": " "})["pr"], None, "set, and empty: not given")

    def test_events_are_untrusted(self):
        head, deep = self.repository.head, '{"pull_request":' * 5000
        events = ["", "no json", "[]", "null", '"x"', deep, '{"pull_request": 7}', '{"pull_request": {"head": []}}',
                  '{"pull_request": {"head": {"sha": "; rm -rf /", "ref": "\\u001b[31m"}, "number": "x"}}',
                  '{"pull_request": {"number": 1e400}}', " " * (26 << 20)]
        for text in events:
            with self.subTest(text[:60]):
                variables = self.github("pull_request", text, GITHUB_SHA=self.repository.merge, GITHUB_BASE_REF="main",
                                        GITHUB_REF="refs/pull/12/merge")
                done = run("traceweir", "gate", "--explain-ci", env=PLAIN | variables, cwd=self.at_merge)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("\x1b", done.stdout)
        for path in ("/dev/zero", str(self.folder), "/nowhere"):
            variables = self.github("pull_request", None, GITHUB_SHA=self.repository.merge, GITHUB_EVENT_PATH=path,
                                    GITHUB_REF="refs/pull/12/merge", GITHUB_BASE_REF="main")
            found = self.explained(self.at_merge, variables)
            self.check(found, commit=head, pr=12, base=self.repository.base)
            self.assertIn("GITHUB_EVENT_PATH", " ".join(found["notes"]))

    def test_the_table_for_people(self):
        done = run("traceweir", "gate", "--explain-ci", env=PLAIN | self.pull_request(), cwd=self.shallow_merge)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"commit +[0-9a-f]{40}  pull_request.head.sha in GITHUB_EVENT_PATH")
        self.assertIn("note: this clone does not have commit", done.stdout)
        self.assertIn("not known", done.stdout)


if __name__ == "__main__":
    unittest.main()
