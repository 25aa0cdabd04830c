"""Changes of level and segments over the service: what is told, once; and that the order of uploads does not matter."""
import random
import unittest

from levels import Levels
from service import sha


def level(number):
    """100 ms, a better level from 13 on, and a worse one from 19 on; each run with a little noise of its own."""
    base = 100 if number < 13 else 90 if number < 19 else 108
    return base * (1 + 0.002 * random.Random(number).uniform(-1, 1))


class Drift(Levels):
    def graph(self, project, last):
        self.commits(project, [{"sha": sha(n), "parents": [sha(n - 1)], "subject": f"change {n}", "author": "Ada"}
                               for n in range(2, last + 1)])

    def test_a_drift_is_noted_by_the_run_that_reveals_it_and_told_once(self):
        project = "drift"
        self.tokens(project)
        self.policy(project, "")
        self.graph(project, 30)
        runs = [self.upload(project, n, 100 * (1.001 if n % 2 else 0.999)) for n in range(1, 11)]
        runs += [self.upload(project, n, 104 * (1.001 if n % 2 else 0.999)) for n in range(11, 18)]
        sentence = f"drift: step.time_p50 rose 4.0 % between {sha(10)[:12]} and {sha(11)[:12]}"
        noted = [run for run in runs if any("drift: step.time_p50" in note for note in run["verdict"]["notes"])]
        self.assertEqual(len(noted), 1)
        self.assertIn(sentence, noted[0]["verdict"]["notes"])
        stored = self.service.call("GET", f"/api/v1/projects/{project}/runs/{noted[0]['id']}", self.tokens(project)).json
        self.assertIn(sentence, stored["verdict"]["notes"])
        told = [notice for notice in self.notices(project) if notice["kind"] == "drift" and notice["metric"] == "step.time_p50"]
        self.assertEqual([(notice["sentence"], notice["commit"], notice["branch"]) for notice in told],
                         [(sentence, sha(11), "main")])
        change, = self.page(project)["change_points"]
        self.assertEqual((change["commit"], change["previous_commit"], change["better"], change["accepted"]),
                         (sha(11), sha(10), False, False))
        self.assertAlmostEqual(change["before"], 100e6, delta=0.2e6)
        self.assertAlmostEqual(change["after"], 104e6, delta=0.2e6)
        self.assertLess(change["p"], 0.001)
        self.accept(project, runs[10])
        self.assertTrue(self.page(project)["change_points"][0]["accepted"])
        self.assertEqual([segment["began"] for segment in self.page(project)["segments"]], ["first", "acceptance"])

    def test_an_accepted_drift_is_not_told(self):
        project = "accepted"
        self.tokens(project)
        self.policy(project, "")
        self.history(project, (100, 10))
        self.accept(project, self.upload(project, 11, 120))
        for number in range(12, 20):
            self.upload(project, number, 120 * (1.002 if number % 2 else 0.998))
        self.assertEqual([notice for notice in self.notices(project) if notice["kind"] == "drift"], [])

    def of_order(self, project, numbers):
        """What is known after these uploads and one more, without what differs by nature: ids and times of receipt."""
        self.tokens(project)
        self.policy(project, "")
        self.graph(project, 30)
        for number in numbers:
            self.upload(project, number, level(number))
        rule = self.rule(self.upload(project, 30, 100))
        page = self.page(project)
        commits = {point["run"]: point["commit"] for point in page["points"]}
        rule["baseline"] |= {key: commits[rule["baseline"][key]] for key in ("first", "last")}
        rule.pop("next")
        points = [(point["commit"], point["value"], point["in_baseline"]) for point in page["points"]]
        changes = [{key: value for key, value in change.items() if key != "run"} for change in page["change_points"]]
        segments = [{key: value for key, value in segment.items() if not key.endswith("_run")} for segment in page["segments"]]
        return rule, points, changes, segments

    def test_the_order_of_uploads_does_not_matter(self):
        numbers = list(range(1, 25))
        in_order = self.of_order("in-order", numbers)
        rule, points, changes, segments = in_order
        self.assertEqual([point[0] for point in points], [sha(n) for n in numbers + [30]])
        self.assertEqual([point[2] for point in points], [True] * 18 + [False] * 7)
        self.assertEqual([change["better"] for change in changes], [True, False])
        self.assertEqual([segment["began"] for segment in segments], ["first", "improvement"])
        self.assertEqual((rule["reason"], rule["baseline"]["runs"]), ("worse", 6))
        shuffled = numbers[:]
        random.Random(7).shuffle(shuffled)
        for name, order in [("reversed", numbers[::-1]), ("shuffled", shuffled), ("late", numbers[6:] + numbers[:6])]:
            with self.subTest(name):
                self.assertEqual(self.of_order(name, order), in_order)

    def test_only_one_environment_is_shown_where_it_is_asked_for(self):
        project = "classes"
        self.tokens(project)
        self.policy(project, '[environment]\nmatch = ["node"]\n')
        for number in range(1, 5):
            self.upload(project, number, 100 + number, **{"env.node": "ab"[number % 2]})
        page = self.page(project)
        first = page["points"][0]["environment"]
        shown = self.page(project, environment=first)
        self.assertEqual([point["commit"] for point in shown["points"]], [sha(1), sha(3)])
        self.assertEqual({segment["environment"] for segment in shown["segments"]}, {first})
        self.assertEqual(len(page["segments"]), 2)
        self.assertEqual(self.page(project, environment="none")["points"], [])

    def test_points_carry_the_band_that_they_were_judged_by(self):
        project = "band"
        self.tokens(project)
        self.policy(project, "")
        self.graph(project, 8)
        self.history(project, (100, 7))
        points = self.page(project)["points"]
        self.assertEqual([point["band"] for point in points[:5]], [None] * 5)
        for point in points[5:]:
            self.assertAlmostEqual(point["band"]["level"], 100e6, delta=0.1e6)
            self.assertLess(point["band"]["low"], point["value"])
            self.assertGreater(point["band"]["high"], point["value"])
        self.assertEqual((points[1]["subject"], points[1]["author"], points[0]["subject"]), ("change 2", "Ada", ""))
        csv = self.service.call("GET", f"/api/v1/projects/{project}/history?metric=step.time_p50", self.tokens(project),
                                headers={"Accept": "text/csv"}).body.decode()
        header, _, second = csv.splitlines()[:3]
        self.assertEqual(header.split(",")[9:], ["subject", "author", "superseded", "accepted", "in_baseline", "level", "low", "high"])
        self.assertEqual(second.split(",")[-8:], ["change 2", "Ada", "false", "false", "true", "", "", ""])


if __name__ == "__main__":
    unittest.main()
