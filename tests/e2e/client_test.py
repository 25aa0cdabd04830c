"""The client as CI uses it: each exit code by a case that causes it, what is printed, what git tells."""
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from service import Service, free_port, run, sha, trace


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.good = cls.folder / "good.json.gz"
        cls.good.write_bytes(trace("--seed", 1, "--gzip", name="t.json.gz"))
        cls.slow = cls.folder / "slow.json"
        cls.slow.write_bytes(trace("--seed", 2, "--stall-loader", 5))
        cls.broken = cls.folder / "broken.json"
        cls.broken.write_text('{"a": 1}')
        cls.env = cls.service.environment() | {"TRACEWEIR_TOKEN": cls.service.token(), "TRACEWEIR_PROJECT": "demo",
                                               "TRACEWEIR_RETRY_TIME_MAX": "1"}
        for number in range(1, 7):
            cls.gate(cls.good, number)

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()
        shutil.rmtree(cls.folder)

    @classmethod
    def gate(cls, file, number, *more, env=None):
        return run("traceweir", "gate", file, "--commit", sha(number), "--branch", "main", *more, env=env or cls.env)

    def test_0_pass(self):
        done = self.gate(self.good, 10)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn("pass", done.stdout)

    def test_0_learning_and_3_when_strict(self):
        done = self.gate(self.good, 11, "--workload", "young")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("learning", done.stdout)
        self.assertEqual(self.gate(self.good, 12, "--workload", "young", "--strict").returncode, 3)

    def test_1_fail_with_the_reason(self):
        done = self.gate(self.slow, 13)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gpu.utilization fell from", done.stdout)
        self.assertIn("tolerance", done.stdout)
        self.assertIn("next:", done.stdout)
        self.assertNotIn("\x1b", done.stdout, "no colours where nobody sees them")

    def test_2_usage_and_refusal(self):
        rows = [
            ("no file", run("traceweir", "gate", env=self.env)),
            ("a file that is not there", self.gate(self.folder / "none.json", 14)),
            ("an unknown option", self.gate(self.good, 14, "--typo")),
            ("no URL", self.gate(self.good, 14, env={k: v for k, v in self.env.items() if k != "TRACEWEIR_URL"})),
            ("no URL that we know", self.gate(self.good, 14, "--url", "ftp://x")),
            ("a wrong token", self.gate(self.good, 14, env=self.env | {"TRACEWEIR_TOKEN": "twr_0_0"})),
            ("a wrong commit", run("traceweir", "gate", self.good, "--commit", "abc", env=self.env)),
            ("no command", run("traceweir", env=self.env)),
            ("an unknown command", run("traceweir", "analyse", "x", env=self.env)),
            ("a negative skip", self.gate(self.good, 14, "--skip", "-1")),
            ("a key that would break the header", self.gate(self.good, 14, "--key", "a\r\nX: y")),
        ]
        for name, done in rows:
            with self.subTest(name):
                self.assertEqual(done.returncode, 2, done.stderr + done.stdout)
                self.assertTrue(done.stderr or done.stdout)
                self.assertNotIn("/usr/include", done.stderr)
                self.assertLess(max(map(len, done.stderr.splitlines()), default=0), 400)

    def test_3_a_trace_that_is_refused(self):
        done = self.gate(self.broken, 15)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("not_a_trace", done.stderr)

    def test_4_nobody_there(self):
        env = self.env | {"TRACEWEIR_URL": f"http://127.0.0.1:{free_port()}"}
        done = self.gate(self.good, 16, env=env)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("unreachable", done.stderr)
        self.assertNotIn("/usr/include", done.stderr)
        soft = self.gate(self.good, 16, "--on-unreachable", "pass", env=env)
        self.assertEqual(soft.returncode, 0, soft.stderr)
        self.assertIn("without a verdict", soft.stderr)

    def test_a_higher_attempt_takes_the_place_of_a_lower_one(self):
        ci = ["--ci-run", "77", "--job", "train"]
        self.assertEqual(self.gate(self.slow, 30, *ci, "--attempt", "1").returncode, 1)
        self.assertEqual(self.gate(self.good, 30, *ci, "--attempt", "2").returncode, 0, "a re-run clears a bad node")

    def test_observing_never_fails(self):
        admin = (self.service.data_dir / "admin-token").read_text().strip()
        self.service.token("watched")
        self.service.call("PUT", "/api/v1/projects/watched", admin, b'{"mode": "observe"}')
        self.service.call("PUT", "/api/v1/projects/watched/policy", admin,
                          b'version = 1\n[rules."gpu.utilization"]\nmin = "99%"\n')
        env = self.env | {"TRACEWEIR_TOKEN": admin, "TRACEWEIR_PROJECT": "watched"}
        done = self.gate(self.good, 17, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fail", done.stdout)
        self.assertIn("only observes", done.stdout)

    def test_json_is_the_answer_and_nothing_else(self):
        done = self.gate(self.good, 18, "--json")
        self.assertEqual(json.loads(done.stdout)["commit"], sha(18))

    def test_whoever_does_not_wait_has_no_verdict(self):
        done = self.gate(self.good, 19, "--workload", "later", "--wait", 0)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no verdict yet", done.stdout)
        self.assertIn("no verdict within --wait", run("traceweir", "gate", "--help").stdout)

    def test_a_dry_run_sends_nothing(self):
        done = run("traceweir", "gate", self.good, "--dry-run", env={})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing was sent", done.stdout)

    def test_history_runs_and_show(self):
        history = run("traceweir", "history", "gpu.utilization", "--branch", "main", env=self.env)
        self.assertEqual(history.returncode, 0, history.stderr)
        self.assertGreaterEqual(len(history.stdout.splitlines()), 8)
        csv = run("traceweir", "history", "gpu.utilization", "--csv", env=self.env)
        self.assertIn("gpu=", csv.stdout)
        runs = json.loads(run("traceweir", "runs", "--outcome", "pass", "--json", env=self.env).stdout)["runs"]
        shown = run("traceweir", "show", runs[0]["id"], env=self.env)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn(runs[0]["id"], shown.stdout)
        self.assertIn("gpu.utilization", shown.stdout)
        self.assertEqual(run("traceweir", "show", "none", env=self.env).returncode, 2)
        self.assertEqual(run("traceweir", "history", "gpu.utilisation", env=self.env).returncode, 2)

    def test_git_tells_commit_branch_and_parents(self):
        work = self.folder / "work"
        for command in (["init", "-q", "-b", "main", work], ["-C", work, "commit", "-q", "--allow-empty", "-m", "a"],
                        ["-C", work, "commit", "-q", "--allow-empty", "-m", "b"]):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *map(str, command)], check=True)
        head, parent = (subprocess.run(["git", "-C", work, "rev-parse", ref], capture_output=True, text=True).stdout.strip()
                        for ref in ("HEAD", "HEAD~1"))
        for commit in (parent, None):
            arguments = ["--commit", commit] if commit else []
            done = run("traceweir", "gate", self.good, "--workload", "git", "--json", *arguments, env=self.env, cwd=work)
            self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["commit"], answer["branch"]), (head, "main"))

    def commits_of(self, work, count):
        for number in range(count):
            subprocess.run(["git", "-C", work, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q",
                            "--allow-empty", "-m", f"c{number}\x1b[31m"], check=True)
        log = subprocess.run(["git", "-C", work, "log", "--format=%H"], capture_output=True, text=True, check=True)
        return log.stdout.split()

    def test_gate_tells_the_ancestors_and_says_where_a_shallow_clone_ends(self):
        work, shallow = self.folder / "line", self.folder / "shallow"
        subprocess.run(["git", "init", "-q", "-b", "main", work], check=True)
        commits = self.commits_of(work, 12)
        gate = ["traceweir", "gate", self.good, "--workload", "line", "--branch", "main", "--json"]
        for commit in commits[6:11]:  # the graph comes with the newest of them alone
            done = run(*gate, "--commit", commit, env=self.env)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = run(*gate, env=self.env, cwd=work)
        verdict = json.loads(done.stdout)["verdict"]
        self.assertEqual((verdict["ancestry"], len(verdict["baseline_runs"])), ("known", 5), done.stderr)
        self.assertNotIn("shallow", done.stderr)
        subprocess.run(["git", "clone", "-q", "--depth", "3", f"file://{work}", shallow], check=True)
        done = run(*gate, env=self.env, cwd=shallow)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("shallow and ends after 3 commits", done.stderr)

    def test_several_files_are_ranks_of_one_run(self):
        files = []
        for rank in range(3):
            files.append(self.folder / f"rank{rank}.json")
            files[-1].write_bytes(trace("--steps", 6, "--ranks", 3, "--rank", rank))
        done = run("traceweir", "gate", *files, "--commit", sha(50), "--workload", "ranks", "--json", env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["ranks"]["received"], [0, 1, 2])
        self.assertEqual(len(answer["report"]["ranks"]), 3)
        again = run("traceweir", "gate", *files, "--commit", sha(50), "--workload", "ranks", "--json", env=self.env)
        self.assertNotEqual(json.loads(again.stdout)["id"], answer["id"], "a new key: a further sample")

    def test_jobs_of_one_run_and_the_last_has_the_verdict(self):
        ends = []
        for rank in range(3):
            file = self.folder / f"job{rank}.json"
            file.write_bytes(trace("--steps", 6, "--ranks", 3, "--rank", rank))
            ends.append(run("traceweir", "gate", file, "--commit", sha(51), "--workload", "jobs", "--rank", rank, "--ranks", 3,
                            "--run-key", "pipeline-7", env=self.env))
        self.assertEqual([end.returncode for end in ends], [0, 0, 0], ends)
        self.assertIn("pending: 1 of 3 ranks arrived; missing: 1, 2", ends[0].stdout)
        self.assertRegex(ends[0].stdout, "look again with: traceweir show [0-9a-f-]{36} --project demo\n")
        self.assertIn("learning", ends[2].stdout)
        broken = run("traceweir", "gate", self.good, self.broken, "--commit", sha(52), "--workload", "jobs", env=self.env)
        self.assertEqual(broken.returncode, 3, broken.stderr)
        self.assertIn("broken.json: ", broken.stderr)
        listed = run("traceweir", "runs", "--commit", sha(52), "--workload", "jobs", env=self.env)
        self.assertIn("1 of 2 ranks arrived", listed.stdout)
        shown = run("traceweir", "show", listed.stdout.splitlines()[1].split()[0], env=self.env)
        self.assertIn("rank 1 was rejected", shown.stdout)

    def test_ranks_of_other_jobs_need_something_that_says_which_run_it_is(self):
        env = {key: value for key, value in self.env.items() if key != "TRACEWEIR_CI_RUN"}
        gate = ["traceweir", "gate", self.good, "--commit", sha(53), "--workload", "jobs"]
        for more in (["--rank", 0, "--ranks", 2], ["--rank", 1, "--ranks", 2], [self.good, "--ranks", 3]):
            done = run(*gate, *more, env=env)
            self.assertEqual(done.returncode, 2, done.stderr + done.stdout)
            self.assertIn("--run-key", done.stderr)
            self.assertIn("--ci-run", done.stderr)
        listed = run("traceweir", "runs", "--commit", sha(53), "--workload", "jobs", env=env)
        self.assertNotIn("pending", listed.stdout)
        self.assertEqual(run(*gate, "--rank", 0, "--ranks", 1, env=env).returncode, 0)

    def test_the_repository_brings_its_policy(self):
        work = self.folder / "policed"
        work.mkdir()
        (work / ".traceweir.toml").write_text('version = 1\nproject = "demo"\nworkload = "policed"\n'
                                              '[rules."gpu.utilization"]\nmin = "99%"\n')
        env = {k: v for k, v in self.env.items() if k != "TRACEWEIR_PROJECT"}
        gate = ["traceweir", "gate", self.good, "--commit", sha(40), "--branch", "main"]
        done = run(*gate, env=env, cwd=work)
        self.assertEqual(done.returncode, 1, done.stderr + done.stdout)
        self.assertIn("demo / policed", done.stdout)
        (work / ".traceweir.toml").write_text('version = 1\n[rulez]\n')
        done = run(*gate, env=self.env, cwd=work)
        self.assertEqual(done.returncode, 2)
        self.assertIn(".traceweir.toml: line 2", done.stderr)

    def test_runs_says_each_outcome(self):
        listed = run("traceweir", "runs", "--outcome", "pass", env=self.env)
        self.assertIn(" pass ", listed.stdout)

    def test_runs_takes_a_commit_as_its_tables_print_it(self):
        printed = "4916a8b9cfd0"
        run("traceweir", "gate", self.good, "--commit", printed + "0" * 28, "--workload", "short", env=self.env)
        listed = run("traceweir", "runs", "--commit", printed, env=self.env)
        self.assertEqual(listed.stdout.count(printed), 1, listed)
        none = run("traceweir", "runs", "--commit", printed[:-1] + "1", env=self.env)
        self.assertEqual((none.returncode, none.stdout), (0, "no such runs\n"), none.stderr)
        wrong = run("traceweir", "runs", "--commit", "zzz", env=self.env)
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        self.assertIn("its first 7 or more", wrong.stderr)

    def test_every_command_has_help(self):
        for program, commands in (("traceweir", ["", "analyze", "gate", "history", "runs", "show", "metrics"]),
                                  ("traceweird", ["", "token", "config"])):
            for command in commands:
                with self.subTest(f"{program} {command}"):
                    done = run(program, *([command] if command else []), "--help")
                    self.assertEqual(done.returncode, 0)
                    self.assertIn("Usage", done.stdout)


if __name__ == "__main__":
    unittest.main()
