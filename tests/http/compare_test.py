"""Why a run fails: explanations in its verdict, comparisons of runs, what waiting costs."""
import json
import math
import unittest

from service import Service, sha, trace

POLICY = """[cost]
gpu_hour = 2.5
[rules."gpu.utilization"]
worse_by = "3pp"
[rules."step.time_p50"]
worse_by = "5%"
[rules."comm.exposed_per_step"]
worse_by = "10%"
at_least = "0.1 ms"
"""
JOB = ("--noise", "1")


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.stop, 9)
        cls.service.start()
        cls.token = cls.service.token("llama")
        admin = cls.service.token("llama", "admin")
        assert cls.service.call("PUT", "/api/v1/projects/llama/policy", admin, POLICY.encode()).status == 204
        cls.base = [cls.upload(number, "--seed", str(number)) for number in range(1, 6)]
        cls.slow = cls.upload(6, "--seed", "6", "--stall-loader", "5")

    @classmethod
    def upload(cls, number, *arguments, **query):
        answer = cls.service.upload(cls.token, trace(*JOB, *arguments), sha(number), project="llama", **query)
        assert answer.status == 201, answer
        return answer.json

    def compare(self, base, head, headers=None):
        return self.service.call("GET", f"/api/v1/projects/llama/compare?base={base}&head={head}", self.token, headers=headers)

    def check_sums(self, explanations):
        self.assertTrue(explanations)
        for explanation in explanations:
            with self.subTest(metric=explanation["metric"]):
                rows = explanation["contributions"]
                self.assertLessEqual(len(rows), 10)
                limit = 1e-12 if explanation["unit"] == "ratio" else 1
                self.assertLessEqual(abs(math.fsum(row["delta"] for row in rows) - explanation["delta"]), limit)
                self.assertAlmostEqual(explanation["head"] - explanation["base"], explanation["delta"])

    def test_a_failing_verdict_says_why(self):
        verdict = self.slow["verdict"]
        self.assertEqual(verdict["outcome"], "fail")
        self.assertEqual({e["metric"] for e in verdict["explanations"]}, {"gpu.utilization", "step.time_p50"})
        self.check_sums(verdict["explanations"])
        for explanation in verdict["explanations"]:
            self.assertIn("idle time waiting for input in data_loading", explanation["sentence"])
            values = {}
            for run in self.base:
                values[run["id"]] = next(row["value"] for row in run["report"]["run"]["measurements"] if row["metric"] == explanation["metric"])
            middle = sorted(values.values())[2]
            self.assertEqual(values[explanation["against_run"]], middle, "the run at the lower median stands for the level")
        rule = next(rule for rule in verdict["rules"] if rule["metric"] == "step.time_p50")
        self.assertIn("Open the comparison with run", rule["next"])
        self.assertIsNone(verdict["workload_changed"])
        self.assertEqual(verdict["facts"], [fact for fact in verdict["facts"] if fact])

    def test_a_passing_verdict_has_nothing_to_explain(self):
        verdict = self.upload(7, "--seed", "7")["verdict"]
        self.assertEqual((verdict["outcome"], verdict["explanations"], verdict["facts"]), ("pass", [], []))
        self.assertAlmostEqual(verdict["cost"]["delta_per_hour"], 0, delta=0.02)

    def test_another_program_is_told_where_its_numbers_are_better_too(self):
        other = self.upload(9, "--seed", "9", "--extra-kernels", "200", "--slow-kernel", "0.1", branch="other")["verdict"]
        self.assertEqual([rule["reason"] for rule in other["rules"] if rule["metric"] == "step.time_p50"], ["better"])
        self.assertIsNotNone(other["workload_changed"], other)

    def test_what_waiting_costs(self):
        values = {row["metric"]: row["value"] for row in self.slow["report"]["run"]["measurements"]}
        cost = self.slow["verdict"]["cost"]
        self.assertEqual((cost["gpus"], cost["gpu_hour"]), (1, 2.5))
        self.assertAlmostEqual(cost["idle_per_hour"], 2.5 * values["gpu.idle"])
        self.assertAlmostEqual(cost["exposed_per_hour"], 2.5 * (values["gpu.exposed_comm"] + values["gpu.exposed_memory"]))
        self.assertGreater(cost["delta_per_hour"], 0.4)

    def test_any_two_runs_can_be_compared(self):
        first, slow = self.base[0]["id"], self.slow["id"]
        answer = self.compare(first, slow)
        self.assertEqual(answer.status, 200, answer)
        diff = answer.json
        self.assertEqual(diff["schema"], "traceweir.diff/1")
        self.assertEqual((diff["base"]["run"], diff["head"]["commit"]), (first, sha(6)))
        self.assertIn("idle time waiting for input", diff["summary"])
        self.check_sums(diff["explanations"])
        self.assertGreater(diff["cost"]["delta_per_hour"], 0)
        back = self.compare(slow, first).json
        for there, again in zip(diff["explanations"], back["explanations"]):
            self.assertEqual(there["delta"], -again["delta"])
        text = self.compare(first, slow, {"Accept": "text/markdown"})
        self.assertTrue(text.headers["content-type"].startswith("text/markdown"))
        self.assertIn("idle time waiting for input", text.body.decode())

    def test_what_cannot_be_compared(self):
        first = self.base[0]["id"]
        self.assertEqual(self.compare(first, "nobody").status, 404)
        self.assertEqual(self.service.call("GET", f"/api/v1/projects/llama/compare?base={first}", self.token).status, 400)
        self.assertEqual(self.service.call("GET", f"/api/v1/projects/llama/compare?base={first}&head={first}&x=1", self.token).status, 400)
        self.assertEqual(self.service.call("GET", f"/api/v1/projects/llama/compare?base={first}&head={first}").status, 401)
        waiting = self.service.upload(self.token, trace(*JOB, "--seed", "9"), sha(9), project="llama", run_key="k", rank=0, ranks=2)
        self.assertEqual(waiting.status, 202)
        answer = self.compare(first, waiting.json["id"])
        self.assertEqual((answer.status, answer.json["type"]), (409, "conflict"))
        self.assertIn("pending", answer.json["detail"])

    def test_another_program_is_named_beside_the_numbers(self):
        report = json.loads(json.dumps(self.base[0]["report"]))
        for rank in report["ranks"]:
            for kernel in rank["kernels"]:
                kernel["name"] = "other_" + kernel["name"]
        for row in report["run"]["measurements"]:
            if row["metric"] == "step.time_p50":
                row["value"] = row["min"] = row["max"] = 2 * row["value"]
        answer = self.service.upload(self.token, json.dumps(report).encode(), sha(10), project="llama")
        verdict = answer.json["verdict"]
        self.assertEqual(verdict["outcome"], "fail")
        self.assertIn("Workload changed: 100 % of the compute time", verdict["workload_changed"]["sentence"])
        self.assertEqual(len(verdict["workload_changed"]["reasons"]), 1)


if __name__ == "__main__":
    unittest.main()
