"""What the policy says about the baseline, through the service: pinned runs, epoch, levels that got better."""
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
