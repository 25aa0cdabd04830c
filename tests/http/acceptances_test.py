"""Accepted regressions, through the service: who may, what counts from then on, undoing, the end, and the pin."""
import datetime
import os
import subprocess
import time
import unittest

from levels import Levels
from service import BIN, sha


class Acceptances(Levels):
    def regressed(self, project, runs=1, policy="", last_level=120):
        """Ten runs at 100 ms, and then some that fail."""
        self.tokens(project)
        self.policy(project, policy)
        last = self.history(project, (100, 10))
        failed = [self.upload(project, last + 1 + i, last_level * (1.001 if i % 2 else 0.999)) for i in range(runs)]
        self.assertEqual([run["verdict"]["outcome"] for run in failed], ["fail"] * runs)
        return failed, last + runs

    def counted(self, project):
        return [point["in_baseline"] for point in self.page(project)["points"]]

    def test_the_accepted_level_is_the_baseline_from_that_run_on(self):
        failed, last = self.regressed("from", runs=3)
        self.assertEqual(self.counted("from"), [True] * 10 + [False] * 3)
        acceptance = self.accept("from", failed[0], author="ann")
        self.assertEqual({key: acceptance[key] for key in ("run", "commit", "workload", "metrics", "reason", "author", "until")},
                         {"run": failed[0]["id"], "commit": sha(11), "workload": "default", "metrics": ["step.time_p50"],
                          "reason": "a larger batch", "author": "ann", "until": None})
        # The failed run and the later ones of its level count; their verdicts stay as they were given.
        self.assertEqual(self.counted("from"), [True] * 13)
        points = self.page("from")["points"]
        self.assertEqual([point["outcome"] for point in points[10:]], ["fail"] * 3)
        self.assertEqual([point["accepted"] for point in points], [False] * 10 + [True] + [False] * 2)
        rule = self.rule(self.upload("from", last + 1, 121))
        self.assertEqual((rule["outcome"], rule["reason"]), ("warn", "accepted"))
        self.assertIn('ann accepted: "a larger batch"', rule["sentence"])
        self.assertEqual(rule["baseline"]["runs"], 3)
        for i in range(2):
            self.upload("from", last + 2 + i, 119 + i)
        rule = self.rule(self.upload("from", last + 4, 120))
        self.assertEqual((rule["reason"], rule["baseline"]["runs"]), ("within", 6))  # silent, once it is long enough
        self.assertEqual(self.rule(self.upload("from", last + 5, 140))["reason"], "worse")  # and guarded
        segments = self.page("from")["segments"]
        self.assertEqual([segment["began"] for segment in segments], ["first", "acceptance"])
        self.assertEqual(segments[1]["first_run"], failed[0]["id"])
        self.assertAlmostEqual(segments[1]["level"], 120e6, delta=0.5e6)

    def test_undoing_restores_the_old_level(self):
        failed, last = self.regressed("undone", runs=2)
        self.accept("undone", failed[0])
        for i in range(4):
            self.assertNotEqual(self.upload("undone", last + 1 + i, 120 + 0.1 * i)["verdict"]["outcome"], "fail")
        self.undo("undone", failed[0])
        self.assertEqual(self.counted("undone"), [True] * 10 + [False] * 6)
        self.assertEqual([segment["began"] for segment in self.page("undone")["segments"]], ["first"])
        rule = self.rule(self.upload("undone", last + 5, 120))
        self.assertEqual((rule["reason"], rule["baseline"]["runs"]), ("worse", 10))
        self.assertAlmostEqual(rule["baseline"]["level"], 100e6, delta=0.1e6)
        # Back at the old level everything is as before; accepted once more, the level is the baseline again.
        self.assertEqual(self.rule(self.upload("undone", last + 6, 100))["reason"], "within")
        self.undo("undone", failed[0], status=404)
        self.accept("undone", failed[0])
        self.assertEqual(self.counted("undone"), [True] * 18)

    def test_a_run_that_is_good_by_itself_stays_when_the_acceptance_goes(self):
        failed, last = self.regressed("good")
        self.accept("good", failed[0])
        self.upload("good", last + 1, 120)
        self.upload("good", last + 2, 100)
        self.undo("good", failed[0])
        self.assertEqual(self.counted("good"), [True] * 10 + [False, False, True])

    def test_an_acceptance_that_ends_raises_the_alarm_again(self):
        failed, last = self.regressed("ends", runs=2)
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=3)
        acceptance = self.accept("ends", failed[0], until=end.isoformat())
        self.assertTrue(acceptance["until"].startswith(end.strftime("%Y-%m-%dT%H:%M:%S")))
        self.assertNotEqual(self.upload("ends", last + 1, 120)["verdict"]["outcome"], "fail")
        while datetime.datetime.now(datetime.timezone.utc) < end:
            time.sleep(0.1)
        rule = self.rule(self.upload("ends", last + 2, 120))
        self.assertEqual((rule["reason"], rule["baseline"]["runs"]), ("worse", 10))
        page = self.page("ends")
        self.assertEqual([point["accepted"] for point in page["points"]], [False] * 14)
        self.assertEqual([point["in_baseline"] for point in page["points"]], [True] * 10 + [False] * 4)

    def test_only_the_named_metrics_are_accepted(self):
        other = '[rules."gpu.utilization"]\nmin = "99.99%"\n'
        self.tokens("named")
        self.policy("named", "")
        last = self.history("named", (100, 10))
        self.policy("named", other)
        failed = self.upload("named", last + 1, 120)
        self.accept("named", failed)
        # It still fails for another metric, so it is in no baseline, but the accepted level is known.
        self.assertEqual(self.counted("named"), [True] * 10 + [False])
        run = self.upload("named", last + 2, 120)
        self.assertEqual(self.rule(run)["reason"], "accepted")
        self.assertEqual(run["verdict"]["outcome"], "fail")
        self.accept("named", failed, metrics="all")
        self.assertEqual(self.counted("named"), [True] * 10 + [True, True])
        self.assertEqual(self.upload("named", last + 3, 120)["verdict"]["outcome"], "warn")

    def test_the_run_and_the_list_show_it_and_the_audit_keeps_it(self):
        failed, _ = self.regressed("shown")
        first = self.accept("shown", failed[0], until="2999-12-31")
        self.undo("shown", failed[0])
        second = self.accept("shown", failed[0], metrics="all")
        self.assertEqual(second["metrics"], "all")
        token = self.tokens("shown")
        run = self.service.call("GET", f"/api/v1/projects/shown/runs/{failed[0]['id']}", token).json
        listed = self.service.call("GET", "/api/v1/projects/shown/acceptances", token).json["acceptances"]
        self.assertEqual(listed, run["acceptances"])
        self.assertEqual([entry["id"] for entry in listed], [second["id"], first["id"]])
        self.assertEqual(listed[0], second)
        self.assertEqual(listed[1] | {"undone_at": "", "undone_by": ""}, first | {"undone_at": "", "undone_by": ""})
        self.assertTrue(listed[1]["undone_by"] and listed[1]["undone_at"])
        page = self.service.call("GET", f"/api/v1/projects/shown/runs/{failed[0]['id']}", token, headers={"Accept": "text/markdown"}).body.decode()
        self.assertEqual(page.count("> accepted by "), 1, "the one that was undone is not told")
        self.assertRegex(page, r"> accepted by .* on [0-9-]{10} \(every metric\): a larger batch\n")
        audit = self.service.call("GET", "/api/v1/projects/shown/audit", self.admin).json["entries"]
        self.assertEqual([entry["action"] for entry in audit][:3], ["accepted", "acceptance_undone", "accepted"])
        self.assertIn("a larger batch", audit[0]["detail"])

    def test_what_is_refused(self):
        failed, _ = self.regressed("refused")
        for body, word in [({"metrics": []}, "metrics"), ({"metrics": "some"}, "metrics"), ({"metrics": [1]}, "metrics"),
                           ({"metrics": ["step.time_p51"]}, "step.time_p51"), ({"reason": ""}, "reason"),
                           ({"reason": "x" * 1001}, "reason"), ({"until": "soon"}, "until"), ({"until": "2001-01-01"}, "until"),
                           ({"author": "x" * 201}, "author"), ({"why": "x"}, "why"), ({"reason": 7}, "reason")]:
            with self.subTest(body):
                self.assertIn(word, self.accept("refused", failed[0], status=400, **body)["detail"])
        self.accept("refused", {"id": "01970000-0000-7000-8000-000000000000"}, status=404)
        self.undo("refused", {"id": "01970000-0000-7000-8000-000000000000"}, status=404)
        self.undo("refused", failed[0], status=404)
        path = f"/api/v1/projects/refused/runs/{failed[0]['id']}/accept"
        body = b'{"metrics": "all", "reason": "why"}'
        self.assertEqual(self.service.call("POST", path, None, body).status, 401)
        self.assertEqual(self.service.call("POST", path, self.tokens("refused"), body).status, 403)
        self.assertEqual(self.service.call("DELETE", path, self.tokens("refused")).status, 403)
        self.assertEqual(self.service.call("POST", path + "?x=1", self.admin, body).status, 400)
        self.assertEqual(self.service.call("GET", "/api/v1/projects/refused/acceptances?x=1", self.admin).status, 400)

    def test_the_reason_is_clean_text(self):
        failed, last = self.regressed("clean")
        self.assertEqual(self.accept("clean", failed[0], reason="a\x1b[31mb\n")["reason"], "a\\x1b[31mb\\x0a")
        self.assertNotIn("\x1b", self.rule(self.upload("clean", last + 1, 120))["sentence"])

    def test_an_acceptance_moves_only_an_older_pin(self):
        for pin, moved in ((sha(1), True), (sha(30), False)):
            project = "pin" + str(moved)
            with self.subTest(project):
                failed, last = self.regressed(project)
                self.accept(project, failed[0])
                self.upload(project, 30, 100, branch="v1.5")
                self.policy(project, f'[baseline]\npinned = "{pin}"\n')
                run = self.upload(project, last + 1, 120)
                against = f"the level accepted at run {failed[0]['id']}" if moved else pin
                self.assertEqual(self.rule(run, against)["reason"], "within" if moved else "worse")

    def test_an_accepted_pull_request_speaks_once_it_is_merged(self):
        project = "merged"
        self.tokens(project)
        self.policy(project, "")
        last = self.history(project, (100, 10))
        graph = [{"sha": sha(n), "parents": [sha(n - 1)]} for n in range(2, 11)]
        graph += [{"sha": sha(50), "parents": [sha(10)]}, {"sha": sha(51), "parents": [sha(50)]},
                  {"sha": sha(11), "parents": [sha(10), sha(51)]}, {"sha": sha(12), "parents": [sha(11)]},
                  {"sha": sha(60), "parents": [sha(10)]}]
        self.commits(project, graph)
        of_request = {"branch": "feature", "base": sha(10), "pr": 7}
        failed = self.upload(project, 50, 120, **of_request)
        self.assertEqual(failed["verdict"]["outcome"], "fail")
        self.accept(project, failed)
        self.assertEqual(self.rule(self.upload(project, 50, 120, **of_request))["reason"], "accepted")
        self.assertEqual(self.rule(self.upload(project, 51, 120, **of_request))["reason"], "accepted")
        self.assertEqual(self.rule(self.upload(project, 60, 120, branch="other", base=sha(10)))["reason"], "worse")
        self.accept(project, self.upload(project, 51, 121, **of_request))
        merge = self.upload(project, last + 1, 120)
        self.assertEqual(self.rule(merge)["reason"], "accepted")
        self.assertEqual(self.rule(self.upload(project, last + 2, 120))["reason"], "accepted")
        self.assertEqual(self.counted(project)[-2:], [True, True])

    def test_an_accepted_commit_speaks_too_where_others_followed_it_before_the_merge(self):
        project = "behind"
        self.tokens(project)
        self.policy(project, "")
        last = self.history(project, (100, 10))
        graph = [{"sha": sha(n), "parents": [sha(n - 1)]} for n in range(2, 11)]
        graph += [{"sha": sha(50), "parents": [sha(10)]}, {"sha": sha(51), "parents": [sha(50)]},
                  {"sha": sha(52), "parents": [sha(51)]}, {"sha": sha(11), "parents": [sha(10), sha(52)]},
                  {"sha": sha(12), "parents": [sha(11)]}, {"sha": sha(60), "parents": [sha(10)]}]
        self.commits(project, graph)
        self.accept(project, self.upload(project, 50, 120, branch="feature", base=sha(10), pr=7))
        self.assertEqual(self.rule(self.upload(project, 60, 120, branch="other", base=sha(10)))["reason"], "worse")
        for number in (last + 1, last + 2):
            self.assertEqual(self.rule(self.upload(project, number, 120))["reason"], "accepted")
        self.assertEqual(self.counted(project)[-2:], [True, True])

    def test_the_command(self):
        failed, last = self.regressed("command")
        environment = dict(os.environ, TRACEWEIR_URL=f"http://127.0.0.1:{self.service.port}", TRACEWEIR_TOKEN=self.admin,
                           TRACEWEIR_PROJECT="command")

        def accept(*arguments):
            return subprocess.run([BIN / "traceweir", "accept", failed[0]["id"], *arguments], env=environment,
                                  capture_output=True, text=True, timeout=60)

        def shown():
            return subprocess.run([BIN / "traceweir", "show", failed[0]["id"]], env=environment, capture_output=True, text=True, timeout=60).stdout

        self.assertEqual(accept().returncode, 2)
        self.assertIn("--reason", accept().stderr)
        done = accept("--reason", "larger batch")  # the metrics that fail
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("step.time_p50", done.stdout)
        self.assertIn("--undo", done.stdout)
        self.assertRegex(shown(), r"\n  accepted by .* on [0-9-]{10} \(step\.time_p50\): larger batch\n")
        self.assertEqual(self.rule(self.upload("command", last + 1, 120))["reason"], "accepted")
        undone = accept("--undo")
        self.assertEqual((undone.returncode, undone.stderr), (0, ""))
        self.assertNotIn("accepted by", shown())
        self.assertEqual(accept("--undo").returncode, 2)
        done = accept("--reason", "why", "--metric", "step.time_p50", "--metric", "gpu.idle", "--until", "2999-01-01", "--json")
        self.assertIn('"metrics":["gpu.idle","step.time_p50"]', done.stdout)
        self.assertEqual(accept("--reason", "why", "--metric", "gpu.nothing").returncode, 2)
        self.assertEqual(accept("--reason", "why", "--until", "soon").returncode, 2)
        self.assertIn("no metric fails", subprocess.run(
            [BIN / "traceweir", "accept", self.upload("command", last + 2, 100)["id"], "--reason", "x"], env=environment,
            capture_output=True, text=True, timeout=60).stderr)


if __name__ == "__main__":
    unittest.main()
