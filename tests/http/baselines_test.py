"""What the policy says about the baseline, through the service: pinned runs, epoch, levels that got better, commits that
wait for confirmation, metrics of one's own."""
import json
import unittest

from levels import Levels
from service import sha


class Baselines(Levels):
    def test_many_small_steps_fail_against_the_pin(self):
        self.tokens("pinned")
        self.policy("pinned", "")
        first = self.upload("pinned", 1, 100)
        last = self.history("pinned", *((100 + 2 * step, 4) for step in range(5)))
        for pin in (first["id"], sha(1)):
            with self.subTest(pin):
                self.policy("pinned", f'[baseline]\nmin_runs = 3\npinned = "{pin}"\n')
                last += 1
                verdict = self.upload("pinned", last, 113)["verdict"]
                self.assertEqual(verdict["outcome"], "fail", verdict)
                reasons = {rule["against"]: rule["reason"] for rule in verdict["rules"]}
                self.assertEqual(reasons[pin], "worse")
                self.assertNotEqual(reasons[None], "worse")
                self.assertIn(f"since {pin}", verdict["summary"])

    def test_a_pinned_tag_is_the_branch_of_its_runs(self):
        self.tokens("tagged")
        self.policy("tagged", "")
        last = self.history("tagged", (100, 6))
        self.upload("tagged", 90, 100, branch="v1.4")
        self.policy("tagged", '[baseline]\npinned = "v1.4"\n')
        self.assertEqual(self.upload("tagged", last + 1, 100)["verdict"]["outcome"], "pass")
        self.policy("tagged", '[baseline]\npinned = "v1.5"\n')
        verdict = self.upload("tagged", last + 2, 100)["verdict"]
        self.assertEqual((verdict["outcome"], verdict["rules"][0]["reason"]), ("inconclusive", "not_comparable"))
        self.assertIn("Upload a run of v1.5", verdict["rules"][0]["next"])

    def test_nothing_before_the_epoch_counts(self):
        self.tokens("epoch")
        self.policy("epoch", "")
        last = self.history("epoch", (100, 6))
        self.policy("epoch", "[baseline]\nepoch = 2001-01-01\n")
        self.assertEqual(self.upload("epoch", last + 1, 100)["verdict"]["rules"][0]["reason"], "within")
        self.policy("epoch", "[baseline]\nepoch = 2999-01-01\n")
        self.assertEqual(self.upload("epoch", last + 2, 100)["verdict"]["rules"][0]["reason"], "no_baseline")

    def test_a_history_that_got_faster_and_falls_back_is_caught(self):
        self.tokens("faster")
        self.policy("faster", "")
        last = self.history("faster", (100, 12), (90, 6))
        rule = self.upload("faster", last + 1, 100)["verdict"]["rules"][0]
        self.assertEqual(rule["reason"], "worse")
        self.assertEqual((rule["baseline"]["runs"], rule["baseline"]["segments"]), (6, 2))
        self.assertAlmostEqual(rule["baseline"]["level"], 90e6, delta=0.2e6)

    def counted(self, project):
        return [point["in_baseline"] for point in self.page(project)["points"]]

    def outcomes(self, project, number, *levels):
        return [self.upload(project, number, level)["verdict"]["outcome"] for level in levels]

    def test_a_commit_that_fails_or_waits_for_confirmation_is_in_no_baseline(self):
        self.tokens("confirm")
        self.policy("confirm", "confirm = 2\n")
        last = self.history("confirm", (100, 10))
        for i in range(3):
            self.assertEqual(self.outcomes("confirm", last + 1 + i, 140 + i, 141), ["inconclusive", "fail"])
        self.assertEqual(self.counted("confirm"), [True] * 10 + [False] * 6)
        self.assertEqual(self.outcomes("confirm", last + 4, 140), ["inconclusive"])  # nobody confirms it
        # A commit that is cleared counts with all its runs, and no more once a further run makes it fail.
        self.assertEqual(self.outcomes("confirm", last + 5, 107), ["inconclusive"])
        self.assertEqual(self.counted("confirm")[10:], [False] * 8)
        self.assertEqual(self.outcomes("confirm", last + 5, 100), ["warn"])
        self.assertEqual(self.counted("confirm")[10:], [False] * 7 + [True] * 2)
        self.assertEqual(self.outcomes("confirm", last + 5, 140, 141)[-1], "fail")
        self.assertEqual(self.counted("confirm")[10:], [False] * 11)
        rule = self.rule(self.upload("confirm", last + 6, 100))
        self.assertEqual((rule["reason"], rule["baseline"]["runs"]), ("within", 10))
        self.assertLess(rule["fails_at"], 106e6)
        # Accepted, the commit counts with all its runs.
        accepted = self.upload("confirm", last + 1, 140)
        self.accept("confirm", accepted)
        self.assertEqual(self.counted("confirm")[10:12], [True] * 2)

    def test_the_order_of_a_commits_runs_does_not_matter(self):
        runs = [(n, 100 + n % 3 / 4) for n in range(1, 11)] + [(11, 140), (11, 141), (12, 107), (12, 100), (13, 140), (14, 100)]
        orders = {"forward": runs, "backward": runs[::-1], "mixed": runs[11:] + runs[:11]}
        answers = {}
        for project, order in orders.items():
            self.tokens(project)
            self.policy(project, "confirm = 2\n")
            self.commits(project, [{"sha": sha(n), "parents": [sha(n - 1)]} for n in range(2, 16)])
            for number, level in order:
                self.upload(project, number, level)
            points = sorted((p["commit"], p["value"], p["in_baseline"]) for p in self.page(project)["points"])
            rule = self.rule(self.upload(project, 15, 100))
            answers[project] = (points, rule["fails_at"], rule["baseline"]["runs"])
        out = {(commit, value) for commit, value, counts in answers["forward"][0] if not counts}
        self.assertEqual(out, {(sha(11), 140e6), (sha(11), 141e6), (sha(13), 140e6)})
        self.assertEqual(answers["backward"], answers["forward"])
        self.assertEqual(answers["mixed"], answers["forward"])

    def own(self, project, number, value, unit="s", better="lower"):
        body = json.dumps({"metrics": {"custom.t": {"value": value, "unit": unit, "better": better}}}).encode()
        answer = self.service.upload(self.tokens(project), body, sha(number), project=project)
        self.assertEqual(answer.status, 201, answer)
        return answer.json["verdict"]

    def own_policy(self, project, more=""):
        self.tokens(project)
        text = '[rules."custom.t"]\nworse_by = "5%"\n' + more
        answer = self.service.call("PUT", f"/api/v1/projects/{project}/policy", self.admin, text.encode())
        self.assertEqual(answer.status, 204, answer)

    def test_a_metric_of_ones_own_is_pinned_in_base_units(self):
        self.own_policy("own-pin", f'[baseline]\npinned = "{sha(1)}"\n')
        for number in range(1, 8):
            verdict = self.own("own-pin", number, 10 + number / 100, "s") if number < 7 else self.own("own-pin", 7, 10050, "ms")
        self.assertEqual({rule["against"]: rule["reason"] for rule in verdict["rules"]}, {None: "within", sha(1): "within"})
        self.assertAlmostEqual(next(r for r in verdict["rules"] if r["against"])["baseline"]["level"], 10.01e9, delta=1e6)

    def test_a_metric_of_ones_own_that_got_better_and_falls_back_is_caught(self):
        self.own_policy("own-better")
        for number in range(1, 19):
            self.own("own-better", number, (10 if number <= 12 else 9) * (1.002 if number % 2 else 0.998))
        rule, = self.own("own-better", 19, 10)["rules"]
        self.assertEqual((rule["reason"], rule["baseline"]["runs"], rule["baseline"]["segments"]), ("worse", 6, 2))
        page = self.page("own-better", metric="custom.t")
        self.assertEqual([segment["began"] for segment in page["segments"]], ["first", "improvement"])

    def test_a_metric_of_ones_own_that_is_another_than_the_baselines_is_not_judged(self):
        self.own_policy("own-kind")
        for number in range(1, 9):
            self.own("own-kind", number, 1.2 * (1.002 if number % 2 else 0.998))
        for number, (unit, better, says) in enumerate([("GiB", "lower", "in bytes here, and in ns in the baseline"),
                                                       ("s", "higher", "better side is higher here")], 20):
            rule, = self.own("own-kind", number, 3, unit, better)["rules"]
            self.assertEqual((rule["outcome"], rule["reason"]), ("inconclusive", "untrusted_data"))
            self.assertIn(says, rule["sentence"])
            self.assertIn("baseline.epoch", rule["next"])
        rule, = self.own("own-kind", 9, 1200, "ms")["rules"]
        self.assertEqual((rule["reason"], rule["baseline"]["runs"]), ("within", 8))

    def test_what_a_pattern_finds_in_the_baseline_and_not_in_the_run_is_missing(self):
        self.tokens("own-gone")
        text = '[rules."custom.*"]\nworse_by = "5%"\ndirection = "lower"\n'
        self.assertEqual(self.service.call("PUT", "/api/v1/projects/own-gone/policy", self.admin, text.encode()).status, 204)
        for number in range(1, 8):
            values = {"custom.a": 1 + number / 1000} | ({"custom.b": 2 + number / 1000} if number < 7 else {})
            body = json.dumps({"metrics": {name: {"value": value, "unit": "s", "better": "lower"} for name, value in values.items()}})
            answer = self.service.upload(self.tokens("own-gone"), body.encode(), sha(number), project="own-gone")
        verdict = answer.json["verdict"]
        self.assertEqual({rule["metric"]: rule["reason"] for rule in verdict["rules"]}, {"custom.a": "within", "custom.b": "metric_missing"})
        self.assertEqual(verdict["outcome"], "inconclusive")
        replayed = self.service.call("GET", f"/api/v1/projects/own-gone/runs/{answer.json['id']}/replay", self.tokens("own-gone"))
        self.assertTrue(replayed.json["same"], replayed.json["differences"])

    def test_a_failing_run_of_the_baseline_branch_is_told_once(self):
        self.tokens("told")
        self.policy("told", "")
        last = self.history("told", (100, 6))
        self.upload("told", 80, 120, branch="feature", base=sha(last))
        self.assertEqual(self.notices("told"), [])
        run = self.upload("told", last + 1, 120)
        notice, = self.notices("told")
        self.assertEqual([notice[key] for key in ("kind", "branch", "run", "commit", "metric")],
                         ["failed", "main", run["id"], sha(last + 1), "step.time_p50"])
        self.assertEqual(notice["sentence"], run["verdict"]["summary"])


if __name__ == "__main__":
    unittest.main()
