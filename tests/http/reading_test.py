"""Reading back: runs and their pages, commits, history, policy; and how the gate speaks through them."""
import csv
import hashlib
import io
import unittest

from service import Service, sha, trace

UTILIZATION = "/api/v1/projects/demo/history?metric=gpu.utilization&branch=main"


class Reading(unittest.TestCase):
    """Eight commits; the seventh has a stalled data loader."""

    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.token = cls.service.token()
        cls.admin = (cls.service.data_dir / "admin-token").read_text().strip()
        cls.runs = []
        for number in range(1, 9):
            stall = ["--stall-loader", 5] if number == 7 else []
            answer = cls.service.upload(cls.token, trace("--seed", number, *stall), sha(number),
                                        parents=sha(number - 1) if number > 1 else "")
            assert answer.status == 201, answer
            cls.runs.append(answer.json)

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def get(self, path, **headers):
        return self.service.call("GET", path, self.token, headers=headers)

    def test_the_seventh_fails_and_says_why(self):
        outcomes = [run["verdict"]["outcome"] for run in self.runs]
        self.assertEqual(outcomes, ["inconclusive"] * 5 + ["pass", "fail", "pass"])
        verdict = self.runs[6]["verdict"]
        self.assertIn("gpu.utilization fell from", " ".join(rule["sentence"] for rule in verdict["rules"]))
        rule = next(r for r in verdict["rules"] if r["metric"] == "gpu.utilization")
        self.assertEqual((rule["outcome"], rule["reason"], rule["baseline"]["runs"]), ("fail", "worse", 6))
        self.assertLess(rule["delta"], -0.15)
        self.assertTrue(rule["next"])
        self.assertEqual(verdict["ancestry"], "known")

    def test_a_failed_run_is_no_baseline(self):
        eighth = self.runs[7]["verdict"]
        self.assertNotIn(self.runs[6]["id"], eighth["baseline_runs"])
        self.assertIn(self.runs[5]["id"], eighth["baseline_runs"])

    def test_history_is_in_order(self):
        history = self.get(UTILIZATION).json
        self.assertEqual([p["commit"] for p in history["points"]], [sha(n) for n in range(1, 9)])
        self.assertEqual(history["points"][6]["outcome"], "fail")
        self.assertEqual((history["unit"], history["better"]), ("ratio", "higher"))

    def test_history_as_csv(self):
        answer = self.get(UTILIZATION, Accept="text/csv")
        rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
        self.assertEqual(len(rows), 8)
        self.assertEqual(rows[6]["outcome"], "fail")

    def test_history_takes_the_newest(self):
        points = self.get(UTILIZATION + "&limit=3").json["points"]
        self.assertEqual([p["commit"] for p in points], [sha(6), sha(7), sha(8)])

    def test_questions_that_are_refused(self):
        for path in ("/api/v1/projects/demo/history", "/api/v1/projects/demo/history?metric=gpu.utilisation",
                     UTILIZATION + "&limit=0", UTILIZATION + "&limit=x", UTILIZATION + "&metric=gpu.idle",
                     "/api/v1/projects/demo/runs?outcome=great", "/api/v1/projects/demo/runs?since=yesterday",
                     "/api/v1/projects/demo/runs?unknown=1", "/api/v1/projects/demo/commits/abc"):
            with self.subTest(path):
                self.assertEqual(self.get(path).status, 400)

    def test_pages_cover_all_runs_once(self):
        seen, path = [], "/api/v1/projects/demo/runs?limit=3&branch=main"
        while path:
            page = self.get(path).json
            self.assertLessEqual(len(page["runs"]), 3)
            seen += [run["id"] for run in page["runs"]]
            path = page["next"]
        self.assertEqual(seen, [run["id"] for run in reversed(self.runs)])

    def test_filters(self):
        failed = self.get("/api/v1/projects/demo/runs?outcome=fail&branch=main").json["runs"]
        self.assertEqual([run["id"] for run in failed], [self.runs[6]["id"]])
        self.assertNotIn("report", failed[0])
        self.assertEqual(self.get("/api/v1/projects/demo/runs?until=2020-01-01").json["runs"], [])
        self.assertEqual(len(self.get("/api/v1/projects/demo/runs?since=2020-01-01&branch=main").json["runs"]), 8)

    def test_a_commit_may_be_told_by_its_first_digits(self):
        commit = "4916a8b9cfd0" + "0" * 28
        one = self.service.upload(self.token, trace("--seed", 20), commit, branch="short").json["id"]
        self.service.upload(self.token, trace("--seed", 20), "4916a8b9cfe" + "0" * 29, branch="short")
        runs = "/api/v1/projects/demo/runs?commit="
        for told in (commit, commit[:12], commit[:39]):
            with self.subTest(told):
                self.assertEqual([run["id"] for run in self.get(runs + told).json["runs"]], [one])
        self.assertEqual(len(self.get(runs + commit[:7] + "&branch=short").json["runs"]), 2)
        self.assertEqual(self.get(runs + "4916a8b9cff").json["runs"], [])
        for told in ("zzz", commit[:6], commit[:12].upper(), commit[:11] + "%25", "0" * 65):
            with self.subTest(told):
                answer = self.get(runs + told)
                self.assertEqual((answer.status, answer.json["type"]), (400, "bad_query"), answer)
                self.assertIn("commit: expected a full commit id of 40 or 64 hex digits", answer.json["detail"])

    def test_a_commit_has_the_worst_outcome_of_its_workloads(self):
        commit = self.get(f"/api/v1/projects/demo/commits/{sha(7)}").json
        self.assertEqual(commit["outcome"], "fail")
        self.assertEqual(self.get(f"/api/v1/projects/demo/commits/{sha(99)}").json["runs"], [])

    def test_a_run_that_is_not_there(self):
        self.assertEqual(self.get("/api/v1/projects/demo/runs/nothing").status, 404)

    def test_head_has_no_body(self):
        answer = self.service.call("HEAD", self.runs[0]["links"]["self"], self.token)
        self.assertEqual((answer.status, answer.body), (200, b""))

    def test_a_failing_verdict_as_an_http_error(self):
        answer = self.service.upload(self.token, trace("--seed", 20, "--stall-loader", 5), sha(20), parents=sha(8),
                                     fail_status=424, branch="topic", base=sha(8))
        self.assertEqual(answer.status, 424, answer)
        self.assertEqual(answer.json["verdict"]["outcome"], "fail")

    def test_a_pull_request_is_judged_and_never_a_baseline(self):
        answer = self.service.upload(self.token, trace("--seed", 21), sha(21), branch="topic", base=sha(6), pr=5)
        self.assertEqual(answer.json["verdict"]["outcome"], "pass", answer)
        self.assertNotIn(self.runs[7]["id"], answer.json["verdict"]["baseline_runs"], "only ancestors of the merge base")
        later = self.service.upload(self.token, trace("--seed", 22), sha(22), branch="topic", base=sha(8))
        self.assertNotIn(answer.json["id"], later.json["verdict"]["baseline_runs"])

    def test_the_policy_is_read_written_and_checked(self):
        path = "/api/v1/projects/policed/policy"
        token = self.service.token("policed")
        built_in = self.service.call("GET", path, token)
        self.assertEqual(built_in.headers["x-policy-source"], "built_in")
        self.assertIn("gpu.utilization", built_in.body.decode())
        policy = b'version = 1\n[rules."gpu.utilization"]\nmin = "99%"\n'
        self.assertEqual(self.service.call("PUT", path, self.admin, policy).status, 204)
        self.assertEqual(self.service.call("GET", path, token).body, policy)
        run = self.service.upload(token, trace("--seed", 1), sha(1), project="policed").json
        self.assertEqual(run["verdict"]["outcome"], "fail")
        self.assertEqual(run["verdict"]["policy_source"], "server")
        wrong = self.service.call("PUT", path, self.admin, b'version = 1\n[rules."gpu.utilisation"]\nmin = "9"\n')
        self.assertEqual((wrong.status, wrong.json["type"]), (422, "bad_policy"))
        self.assertIn("line 2", wrong.json["detail"])
        self.assertEqual(self.service.call("GET", path, token).body, policy, "a refused policy changes nothing")

    def test_a_policy_sent_with_the_upload(self):
        token, other = self.service.token("sender"), self.service.token("onlooker")
        policy = b'version = 1\n[rules."gpu.utilization"]\nmin = "99%"\n'
        digest = hashlib.sha256(policy).hexdigest()
        path = f"/api/v1/projects/sender/policies/{digest}"
        upload = {"project": "sender", "policy": digest}
        unknown = self.service.upload(token, trace("--seed", 1), sha(1), **upload)
        self.assertEqual((unknown.status, unknown.json["type"]), (400, "bad_query"))
        self.assertEqual(self.service.call("PUT", path, token, policy).status, 204)
        self.assertEqual(self.service.call("PUT", path, other, policy).status, 403)
        self.assertEqual(self.service.call("PUT", path, token, policy + b" ").status, 422)
        verdict = self.service.upload(token, trace("--seed", 1), sha(1), **upload).json["verdict"]
        self.assertEqual((verdict["outcome"], verdict["policy_source"], verdict["policy_sha256"]), ("fail", "sent", digest))
        forked = self.service.upload(token, trace("--seed", 1), sha(2), fork="true", **upload).json["verdict"]
        self.assertEqual(forked["policy_source"], "built_in", "forks never bring their own")
        self.assertIn("forks never bring their own", " ".join(forked["notes"]))
        self.service.call("PUT", "/api/v1/projects/sender", self.admin, b'{"policy_source": "server"}')
        ignored = self.service.upload(token, trace("--seed", 1), sha(3), **upload).json["verdict"]
        self.assertEqual(ignored["policy_source"], "built_in")
        wrong = b"version = 9"
        self.assertEqual(self.service.call("PUT", f"/api/v1/projects/sender/policies/{hashlib.sha256(wrong).hexdigest()}",
                                           token, wrong).status, 422)

    def test_a_list_says_each_verdict(self):
        runs = self.get("/api/v1/projects/demo/runs?branch=main&limit=2").json["runs"]
        self.assertEqual([run["verdict"]["outcome"] for run in runs], ["pass", "fail"])

    def test_counters_for_prometheus(self):
        def value(series):
            text = self.service.call("GET", "/metrics").body.decode()
            return next((float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(series + " ")), 0)

        series = 'traceweir_http_requests_total{method="GET",route="/api/v1/projects/{project}/runs/{run}",status="404"}'
        before = value(series)
        self.assertEqual(self.get("/api/v1/projects/demo/runs/nobody").status, 404)
        self.assertEqual(value(series), before + 1)
        self.assertEqual(value("traceweir_store_ready"), 1)
        results = ("inconclusive", "rejected")
        runs = {result: value(f'traceweir_runs_total{{result="{result}"}}') for result in results}
        token = self.service.token("counted")
        self.service.upload(token, trace("--seed", 1), sha(1), project="counted")
        self.service.upload(token, b"no trace at all", sha(2), project="counted")
        for result in results:
            self.assertEqual(value(f'traceweir_runs_total{{result="{result}"}}'), runs[result] + 1, result)
        self.assertGreaterEqual(value("traceweir_run_duration_seconds_count"), 2)
        self.assertGreater(value("traceweir_disk_free_bytes"), 0)
        text = self.service.call("GET", "/metrics")
        self.assertIn("version=0.0.4", text.headers["content-type"])
        for secret in (b"twr_", b"demo", b"nobody"):
            self.assertNotIn(secret, text.body, "no token, no project and no path of a client is in it")

    def test_a_project_that_observes_says_so(self):
        token = self.service.token("watched")
        self.service.call("PUT", "/api/v1/projects/watched", self.admin, b'{"mode": "observe"}')
        run = self.service.upload(token, trace("--seed", 1), sha(1), project="watched").json
        self.assertEqual(run["verdict"]["mode"], "observe")


if __name__ == "__main__":
    unittest.main()
