"""Policies tried on what is stored: what one would do to the next run, and what it would have said about the runs so far."""
import json
import pathlib
import subprocess
import tempfile
import unittest

from service import BIN, Service, sha, trace

RULE = '[rules."step.time_p50"]\nworse_by = "5%"\n'


class PolicyTrials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service(backtest_runs_max=100).__enter__()
        cls.addClassCleanup(cls.service.__exit__)
        cls.token = cls.service.token("llama")
        cls.report = cls.service.upload(cls.service.token("maker"), trace("--seed", 1), sha(1), project="maker").json["report"]
        # In force is a policy that fails nothing.
        cls.service.call("PUT", "/api/v1/projects/llama/policy", cls.service.token(None, "admin"), RULE.replace("5%", "500%").encode())
        commits = [{"sha": sha(n), "parents": [sha(n - 1)]} for n in range(2, 21)]
        cls.service.call("PUT", "/api/v1/projects/llama/commits", cls.token, json.dumps(commits).encode())
        cls.runs = [cls.upload(n, 130 if n == 12 else 100 + n % 2 / 2) for n in range(1, 21)]
        cls.upload(90, 300, branch="main", pr=4)
        cls.upload(91, 300, branch="topic")
        cls.upload(92, 300, workload="other")
        for n in range(1, 9):
            cls.upload(n, 100 + n % 2 / 2, workload="steady")

    @classmethod
    def upload(cls, number, milliseconds, **query) -> dict:
        report = json.loads(json.dumps(cls.report))
        for part in [report["run"], *report["ranks"]]:
            for row in part["measurements"]:
                if row["metric"] == "step.time_p50":
                    row["value"] = round(milliseconds * 1e6)
                    row.update({key: row["value"] for key in ("min", "max") if key in row})
        answer = cls.service.upload(cls.token, json.dumps(report).encode(), sha(number), project="llama", **query)
        assert answer.status == 201, answer
        return answer.json

    def ask(self, what, policy=RULE, token=None, query=""):
        return self.service.call("POST", f"/api/v1/projects/llama/policy/{what}{query}", token or self.token, policy.encode())

    def client(self, *arguments, policy=None):
        environment = self.service.environment() | {"TRACEWEIR_TOKEN": self.token}
        with tempfile.TemporaryDirectory() as folder:
            more = []
            if policy is not None:
                (pathlib.Path(folder) / "policy.toml").write_text(policy)
                more = ["--policy", "policy.toml"] if arguments[0] == "backtest" else ["policy.toml"]
            return subprocess.run([BIN / "traceweir", *arguments, *more], capture_output=True, text=True, env=environment, cwd=folder)

    def test_a_backtest_says_what_a_policy_would_have_said(self):
        answer = self.ask("backtest")
        self.assertEqual(answer.status, 200, answer)
        test = answer.json
        self.assertEqual((test["runs"], test["judged"], test["failed_commits"]), (20, 15, 1), test)
        self.assertEqual(test["rules"], [{"metric": "step.time_p50", "judged": 15, "failed": 1, "warned": 0, "alarms": 1, "recovered": 1,
                                          "commits": [sha(12)], "runs": [self.runs[11]["id"]]}])
        self.assertIn("Left out: 1 run", test["notes"][0])
        self.assertEqual(self.ask("backtest", "").json["failed_commits"], 0)
        self.assertEqual(self.ask("backtest", RULE + "confirm = 2\n").json["failed_commits"], 0)

    def test_its_range_can_be_told(self):
        since = self.service.call("GET", f"/api/v1/projects/llama/runs/{self.runs[14]['id']}", self.token).json["uploaded_at"]
        test = self.ask("backtest", query=f"?since={since}").json
        self.assertEqual((test["runs"], test["judged"], test["failed_commits"]), (6, 6, 0))
        self.assertEqual(self.ask("backtest", query="?limit=10").json["runs"], 9)  # one is a pull request's
        self.assertEqual(self.ask("backtest", query="?workload=nobody").json["runs"], 0)
        self.assertEqual(self.ask("backtest", query="?limit=101").json["type"], "bad_query")
        self.assertEqual(self.ask("backtest", query="?since=yesterday").json["type"], "bad_query")
        self.assertEqual(self.ask("backtest", query="?brunch=main").json["type"], "bad_query")

    def test_findings_are_tried_too(self):
        test = self.ask("backtest", "[rules]\n[findings.low_utilization]\n[findings.clock_base_missing]\n").json
        found = {rule["metric"]: rule["failed"] for rule in test["rules"]}
        made = {finding["code"] for rank in self.report["ranks"] for finding in rank["findings"]}
        self.assertEqual(found["finding:low_utilization"], 20 if "low_utilization" in made else 0)
        self.assertEqual(found["finding:clock_base_missing"], 20 if "clock_base_missing" in made else 0)

    def test_a_check_says_what_a_policy_does_to_the_next_run(self):
        answer = self.ask("check", RULE + '[rules."step.time_p95"]\nmax = "1 s"\n[rules."custom.loss"]\nmax = "5"\n', query="?workload=steady")
        self.assertEqual(answer.status, 200, answer)
        rules = {rule["metric"]: rule for rule in answer.json["rules"]}
        step = rules["step.time_p50"]
        self.assertEqual(step["runs"], 8)
        self.assertAlmostEqual(step["fails_at"], 105e6, delta=1e6)
        self.assertLess(step["detectable_later"], step["detectable"] * 1.001)
        self.assertRegex(step["sentence"], r"^step\.time_p50: 8 runs, level 100\S* ms ± 0\.\d %: would fail above 105\S* ms; can see \+5\.\d % today, ")
        self.assertIn("would fail above", rules["step.time_p95"]["sentence"])
        self.assertIn("not_measured", rules["custom.loss"]["sentence"])
        self.assertIn("Only runs with equal gpu", " ".join(answer.json["sentences"]))
        other = self.ask("check", query="?workload=other").json["rules"][0]
        self.assertEqual(other["sentence"], "step.time_p50: 1 run, too few to judge by. Upload 4 more runs of main; then this rule is judged.")
        self.assertIn("step.time_p50", self.ask("check", "").json["rules"][0]["metric"])

    def test_who_may_not_read_may_not_ask_and_a_wrong_policy_is_told(self):
        for what in ("check", "backtest"):
            with self.subTest(what):
                self.assertEqual(self.service.call("POST", f"/api/v1/projects/llama/policy/{what}", None, b"").status, 401)
                stranger = self.service.token("stranger", "read")
                self.assertEqual(self.ask(what, token=stranger).status, 403)
                wrong = self.ask(what, '[rules."step.time_p5O"]\nworse_by = "5%"\n')
                self.assertEqual((wrong.status, wrong.json["type"]), (422, "bad_policy"))
                self.assertIn("line 1", wrong.json["detail"])
                self.assertEqual(self.ask(what, "#" * (65 << 10)).status, 422)
                self.assertEqual(self.ask(what, "#" * (2 << 20)).status, 413)

    def test_the_client_prints_a_backtest_and_exits_by_it(self):
        done = self.client("backtest", "--project", "llama", policy=RULE)
        self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
        self.assertRegex(done.stdout, r"step\.time_p50 +15 +1 +0 +1 +1\n")
        self.assertIn(f"would have failed on {sha(12)[:12]}", done.stdout)
        self.assertIn("1 of 1 alarm recovered without a change of level", done.stdout)
        done = self.client("backtest", "--project", "llama", "--json", policy=RULE.replace("5%", "50%"))
        self.assertEqual((done.returncode, json.loads(done.stdout)["failed_commits"]), (0, 0))
        self.assertEqual(self.client("backtest", policy=RULE).returncode, 2)
        self.assertEqual(self.client("backtest", "--project", "llama", policy="nonsense = 1\n").returncode, 2)

    def test_the_client_prints_a_check(self):
        done = self.client("policy", "check", "--project", "llama", policy=RULE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("step.time_p50: 20 runs, level", done.stdout)
        self.assertIn("rules", json.loads(self.client("policy", "check", "--project", "llama", "--json", policy=RULE).stdout))
        offline = self.client("policy", "check", policy=RULE)
        self.assertEqual(offline.returncode, 0)
        self.assertIn("worse by more than 5 %", offline.stdout)
        self.assertEqual(self.client("policy", "check", "--project", "llama", policy="nonsense = 1\n").returncode, 2)


if __name__ == "__main__":
    unittest.main()
