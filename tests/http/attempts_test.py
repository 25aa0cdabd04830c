"""Attempts of a CI job from outside: the highest stands, whatever comes when; and absence of data is never a pass."""
import hashlib
import unittest

from service import Service, sha, trace

POLICY = b'version = 1\n[rules."gpu.utilization"]\nmin = "85%"\n'
BAD = b'{"traceEvents": "none"}'


class Attempts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.token = cls.service.token()
        cls.policy = hashlib.sha256(POLICY).hexdigest()
        assert cls.service.call("PUT", f"/api/v1/projects/demo/policies/{cls.policy}", cls.token, POLICY).status < 300
        cls.good = trace("--ranks", 2, "--steps", 6)
        cls.stalled = trace("--ranks", 2, "--steps", 6, "--stall-loader", 20)

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def send(self, number, body, attempt=1, **query):
        query = {"ci_run": "1", "job": "bench", "branch": "main", "policy": self.policy} | query
        return self.service.upload(self.token, body, sha(number), attempt=attempt, **query)

    def outcome(self, number):
        commit = self.service.call("GET", f"/api/v1/projects/demo/commits/{sha(number)}", self.token).json
        return commit["outcome"], [(run["attempt"], run["superseded"]) for run in commit["runs"]]

    def test_a_late_lower_attempt_is_judged_alone_and_overrules_nothing(self):
        first = self.send(1, self.good, 2)
        self.assertEqual((first.status, first.json["verdict"]["outcome"]), (201, "pass"), first)
        late = self.send(1, self.stalled, 1)
        self.assertEqual((late.status, late.json["verdict"]["outcome"], late.json["superseded"]), (201, "fail", True), late)
        self.assertNotIn("mean of", late.body.decode())
        self.assertIn("attempt 2 of this job", " ".join(late.json["verdict"]["notes"]))
        self.assertEqual(self.outcome(1), ("pass", [(2, False), (1, True)]))
        sample = self.send(1, self.good, 2)
        self.assertEqual(sample.json["verdict"]["outcome"], "pass", "the late one is in no mean")

    def test_in_order_the_higher_attempt_takes_the_place(self):
        self.assertEqual(self.send(2, self.stalled, 1).json["verdict"]["outcome"], "fail")
        self.assertEqual(self.send(2, self.good, 2).json["verdict"]["outcome"], "pass")
        self.assertEqual(self.outcome(2), ("pass", [(1, True), (2, False)]))

    def test_a_pull_request_has_no_say_in_a_commit_of_the_repository(self):
        self.assertEqual(self.send(30, self.stalled).json["verdict"]["outcome"], "fail")
        for samples, attempt, job in ((1, 1, "its own"), (2, 7, "bench")):
            proposed = self.send(30, self.good, attempt, job=job, pr=12)
            self.assertEqual((proposed.status, proposed.json["verdict"]["outcome"]), (201, "pass"), proposed)
            self.assertEqual("mean of" in proposed.body.decode(), samples > 1, "runs of the pull request alone")
            self.assertEqual(self.outcome(30)[0], "fail")
        self.assertFalse(any(superseded for _, superseded in self.outcome(30)[1]))
        again = self.send(30, self.stalled, job="again").json["verdict"]
        self.assertEqual(again["outcome"], "fail", "its runs are no samples of the branch's")
        other = self.send(30, self.stalled, job="its own", pr=13).json["verdict"]
        self.assertEqual((other["outcome"], self.outcome(30)[0]), ("fail", "fail"))
        self.send(31, self.good, pr=12)
        self.assertEqual(self.outcome(31)[0], "pass", "it counts where the repository has not measured the commit itself")

    def test_without_the_higher_attempt_the_lower_one_stands_again(self):
        admin = (self.service.data_dir / "admin-token").read_text().strip()
        point = lambda: [(point["in_baseline"], point["superseded"]) for point in self.service.call(
            "GET", "/api/v1/projects/demo/history?metric=gpu.utilization&branch=main&workload=again", self.token).json["points"]]
        self.send(40, self.good, 1, workload="again")
        self.assertEqual(point(), [(True, False)])
        mistaken = self.send(40, self.stalled, 2, workload="again")
        self.assertEqual((self.outcome(40)[0], sorted(point())), ("fail", [(False, False), (False, True)]))
        path = f"/api/v1/projects/demo/runs/{mistaken.json['id']}"
        self.assertEqual([self.service.call("DELETE", path, admin).status for _ in range(2)], [204, 204])
        self.assertEqual((self.outcome(40), point()), (("pass", [(1, False)]), [(True, False)]))

    def test_a_fork_has_no_say_in_a_commit_of_the_repository(self):
        self.assertEqual(self.send(20, self.stalled).json["verdict"]["outcome"], "fail")
        for samples, attempt, job in ((1, 1, "fork's"), (2, 7, "bench")):
            forked = self.send(20, self.good, attempt, job=job, fork="true", pr=12)
            self.assertEqual((forked.status, forked.json["verdict"]["outcome"]), (201, "inconclusive"), "it learns, without a policy of its own")
            self.assertEqual({rule["confirm"]["have"] for rule in forked.json["verdict"]["rules"]}, {samples}, "runs of the fork alone")
            self.assertEqual(self.outcome(20)[0], "fail")
        self.assertFalse(any(superseded for _, superseded in self.outcome(20)[1]))
        own = self.send(20, self.stalled, job="again").json["verdict"]
        self.assertEqual({rule["confirm"]["have"] for rule in own["rules"]}, {2}, "runs of the repository alone")
        self.send(21, self.good, fork="true", pr=12)
        self.assertEqual(self.outcome(21)[0], "inconclusive", "it counts where the repository has not measured the commit itself")

    def test_a_rejected_run_is_never_a_pass(self):
        self.send(3, self.good)
        self.assertEqual(self.send(3, BAD, 2).status, 422)
        self.assertEqual(self.outcome(3)[0], "inconclusive")
        self.send(4, BAD)
        self.assertEqual(self.outcome(4)[0], "inconclusive")
        self.send(5, self.stalled)
        self.send(5, BAD, workload="other")
        self.assertEqual(self.outcome(5)[0], "fail")

    def test_a_run_that_waits_is_never_a_pass(self):
        waiting = {"run_key": "k", "rank": 0, "ranks": 2, "workload": "other"}
        self.send(6, self.good, **waiting)
        self.assertIsNone(self.outcome(6)[0], "nothing has a verdict yet")
        self.send(6, self.good)
        self.assertEqual(self.outcome(6)[0], "inconclusive")


if __name__ == "__main__":
    unittest.main()
