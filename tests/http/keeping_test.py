"""What is kept and for how long, what is refused because it would be too much, and what is gone when it is deleted."""
import contextlib
import json
import os
import pathlib
import tempfile
import time
import unittest

from service import Service, sha, stand_in, trace

POLICY = b'version = 1\n[rules."gpu.utilization"]\nmin = "99.9%"\n'


class Keeping(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trace, cls.other = trace("--steps", 5), trace("--steps", 6)

    def age_blobs(self, service, seconds=2 * 3600):
        for blob in (service.data_dir / "blobs").glob("*/*"):
            os.utime(blob, (time.time() - seconds,) * 2)

    def blobs(self, service):
        return len(list((service.data_dir / "blobs").glob("*/*")))

    def restart(self, service, **settings):
        self.assertEqual(service.stop(), 0)
        service.settings |= settings
        service.start()

    def until(self, what, seconds=20):
        deadline = time.monotonic() + seconds
        while not what() and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue(what())

    def put_project(self, service, admin, **settings):
        return service.call("PUT", "/api/v1/projects/demo", admin, json.dumps(settings).encode())

    def removed(self, service, token, place):
        return service.call("GET", place + "/traces/0", token).status == 410

    def failing(self, service, token, admin, commit):
        """A run that fails."""
        self.assertEqual(service.call("PUT", "/api/v1/projects/demo/policy", admin, POLICY).status, 204)
        run = service.upload(token, self.other, commit, workload="failing").json
        return run

    def test_a_service_with_another_store_leaves_the_traces_alone(self):
        with Service() as service:
            token = service.token()
            service.upload(token, self.trace, sha(1))
            self.age_blobs(service, 3 * 86400)
            self.assertEqual(service.stop(), 0)
            service.forget()  # a database that was mistyped, or is new
            token = service.token()
            service.start(until="/healthz")
            ready = service.call("GET", "/readyz")
            self.assertEqual((ready.status, ready.json["blobs"]), (503, "blob store: cannot be used"), ready)
            refused = service.upload(token, self.other, sha(2))
            self.assertEqual(refused.status, 503, refused)
            self.until(lambda: any(line["event"] == "sweep_failed" for line in service.log()))
            said = next(line for line in service.log() if line["event"] == "sweep_failed")
            self.assertIn("it has the traces of another store", said["detail"])
            self.assertEqual(self.blobs(service), 1)
            self.assertEqual(service.stop(), 0)
            (service.data_dir / "blobs" / ".store").unlink()  # as the documentation says
            service.start()
            self.assertEqual(service.upload(token, self.other, sha(2)).status, 201)

    def test_what_cannot_be_read_beside_the_traces_is_told_and_keeps_no_other_from_being_swept(self):
        with Service() as service:
            service.upload(service.token(), self.trace, sha(1))
            self.assertEqual(service.stop(), 0)
            blobs = service.data_dir / "blobs"
            used = next(path.parent.name for path in blobs.glob("*/*"))
            orphan = "cd" if used != "cd" else "ce"
            for folder in ("lost+found", orphan):
                (blobs / folder).mkdir(mode=0o700)
                (blobs / folder / (orphan * 32)).write_bytes(b"nobody's")
            (blobs / ("00" if used != "00" else "01")).write_bytes(b"no folder")
            self.age_blobs(service, 3 * 86400)
            service.start()
            self.until(lambda: any(line["event"] == "sweep_failed" for line in service.log()))
            said = next(line for line in service.log() if line["event"] == "sweep_failed")
            self.assertRegex(said["detail"], "^looking at the blobs in 0[01]: .*; all others were looked at, and 1 went$")
            self.assertEqual(self.blobs(service), 2, "the run's own, and what is not ours")

    def test_old_traces_go_but_not_those_of_failed_and_accepted_runs(self):
        with Service() as service:
            token, admin = service.token(), service.token("", "admin")
            self.assertEqual(self.put_project(service, admin, policy_source="server").status, 200)
            passed = service.upload(token, self.trace, sha(1)).json
            accepted = service.upload(token, trace("--steps", 7), sha(3), workload="accepted").json
            failed = self.failing(service, token, admin, sha(2))
            self.assertEqual(failed["verdict"]["outcome"], "fail", failed["verdict"])
            place = passed["links"]["self"]
            done = service.call("POST", accepted["links"]["self"] + "/accept", admin, b'{"metrics": "all", "reason": "known"}')
            self.assertEqual(done.status, 201, done)
            kept = service.call("GET", place, token).json["traces"]
            self.assertEqual([(t["rank"], t["kept"], t["kept_until"], t["bytes"]) for t in kept], [(0, True, None, len(self.trace))])
            self.age_blobs(service)
            time.sleep(1.1)
            self.restart(service, trace_retention="1 s")
            self.until(lambda: self.removed(service, token, place))
            answer = service.call("GET", place + "/traces/0", token)
            self.assertEqual(answer.json["type"], "trace_removed")
            self.assertIn("trace_retention = 1 s", answer.json["detail"])
            gone = service.call("GET", place, token).json
            self.assertEqual((gone["status"], gone["verdict"]), ("judged", passed["verdict"]))
            state = gone["traces"][0]
            self.assertFalse(state["kept"])
            self.assertIn("trace_retention", state["removed_why"])
            self.assertIn(state["removed_at"][:10], answer.json["detail"])
            for run in (failed, accepted):
                self.assertEqual(service.call("GET", run["links"]["self"] + "/traces/0", token).status, 200)
            self.until(lambda: self.blobs(service) == 2)
            self.assertEqual(service.call("GET", place + "/replay", token).status, 200)

    def test_a_project_may_keep_its_traces_longer_and_says_until_when(self):
        with Service() as service:
            token, admin = service.token(), service.token("", "admin")
            self.assertEqual(self.put_project(service, admin, retention={"trace_days": 30}).json["retention"]["trace_days"], 30)
            run = service.upload(token, self.trace, sha(1)).json
            time.sleep(1.1)
            self.restart(service, trace_retention="1 s")
            until = service.call("GET", run["links"]["self"], token).json["traces"][0]["kept_until"]
            self.assertGreater(until, run["uploaded_at"])
            self.assertEqual(service.call("GET", run["links"]["self"] + "/traces/0", token).status, 200)
            self.put_project(service, admin, retention={"trace_days": None})
            self.restart(service)
            self.until(lambda: self.removed(service, token, run["links"]["self"]))

    def test_of_too_many_bytes_the_oldest_go(self):
        with Service() as service:
            token = service.token()
            runs = [service.upload(token, trace("--steps", n), sha(n)).json["links"]["self"] for n in (5, 6, 7)]
            self.age_blobs(service)
            self.restart(service, trace_bytes_max=f"{len(trace('--steps', 7)) + len(trace('--steps', 6))} B")
            self.until(lambda: self.removed(service, token, runs[0]))
            self.until(lambda: self.blobs(service) == 2)
            self.assertEqual([self.removed(service, token, run) for run in runs], [True, False, False])

    def test_a_trace_that_comes_back_after_it_was_removed_is_kept(self):
        with Service() as service:
            token = service.token()
            first = service.upload(token, self.trace, sha(1)).json["links"]["self"]
            self.age_blobs(service)
            time.sleep(1.1)
            self.restart(service, trace_retention="1 s")
            self.until(lambda: self.blobs(service) == 0)
            self.restart(service, trace_retention="0 s")
            again = service.upload(token, self.trace, sha(2)).json["links"]["self"]
            self.assertEqual(service.call("GET", again + "/traces/0", token).body, self.trace)
            self.assertTrue(self.removed(service, token, first))

    def test_old_values_leave_histories_and_runs_stay(self):
        with Service() as service:
            token = service.token()
            run = service.upload(token, self.trace, sha(1)).json
            history = "/api/v1/projects/demo/history?metric=gpu.utilization&branch=main"
            self.assertEqual(len(service.call("GET", history, token).json["points"]), 1)
            time.sleep(1.1)
            self.restart(service, measurement_retention="1 s")
            self.until(lambda: service.call("GET", history, token).json["points"] == [])
            self.assertEqual(service.call("GET", run["links"]["self"], token).json["report"], run["report"])

    def test_a_quota_of_bytes(self):
        with Service(quota_bytes_max=f"{len(self.trace) * 3 // 2} B") as service:
            token, admin = service.token(), service.token("", "admin")
            self.assertEqual(service.upload(token, self.trace, sha(1)).status, 201)
            refused = service.upload(token, self.trace, sha(2))
            self.assertEqual((refused.status, refused.json["type"]), (507, "quota_exceeded"), refused)
            for part in ("quota_bytes_max", str(len(self.trace)), "PUT /api/v1/projects/demo"):
                self.assertIn(part, refused.json["detail"])
            chunks = (self.trace[i:i + 4096] for i in range(0, len(self.trace), 4096))
            with contextlib.suppress(OSError):  # the rest of the body is not read
                streamed = service.call("POST", f"/api/v1/projects/demo/runs?commit={sha(3)}", token, chunks)
                self.assertEqual((streamed.status, streamed.json["type"]), (507, "quota_exceeded"), streamed)
            self.assertEqual(list((service.data_dir / "spool" / "incoming").glob("*")), [])
            self.assertEqual(len(service.call("GET", "/api/v1/projects/demo/runs", token).json["runs"]), 1)
            raised = self.put_project(service, admin, quota={"bytes_max": 0})
            self.assertEqual(raised.json["quota"], {"bytes_max": 0, "uploads_per_day": None})
            self.assertEqual(service.upload(token, self.trace, sha(2)).status, 201)

    def test_a_quota_of_uploads(self):
        with Service() as service:
            token, admin = service.token(), service.token("", "admin")
            self.put_project(service, admin, quota={"uploads_per_day": 2})
            answers = [service.upload(token, self.trace, sha(n), headers={"Idempotency-Key": f"k{n}"}) for n in range(3)]
            self.assertEqual([a.status for a in answers], [201, 201, 429])
            self.assertEqual(answers[2].json["type"], "too_many_uploads")
            self.assertIn("quota_uploads_per_day is 2", answers[2].json["detail"])
            again = service.upload(token, self.trace, sha(1), headers={"Idempotency-Key": "k1"})
            self.assertEqual((again.status, again.json["id"]), (201, answers[1].json["id"]), "an answer that was lost")
            self.assertEqual(service.upload(service.token("free"), self.trace, sha(1), project="free").status, 201)

    def test_a_known_key_lifts_no_quota(self):
        """One that is sent again adds nothing; another body under its key is refused, and none of it is kept."""
        large = b"{" + b" " * (2 * len(self.trace))
        for quota in ({"uploads_per_day": 1}, {"bytes_max": len(self.trace) * 3 // 2}):
            with self.subTest(quota), Service() as service:
                token, admin, key = service.token(), service.token("", "admin"), {"Idempotency-Key": "k"}
                self.put_project(service, admin, quota=quota)
                first = service.upload(token, self.trace, sha(1), headers=key)
                self.assertEqual(first.status, 201, first)
                for n, body in enumerate((large, self.trace[:-1], b"x" + self.trace[1:], iter([large]))):
                    with contextlib.suppress(OSError):  # the rest of the body is not read
                        refused = service.upload(token, body, sha(1), headers=key)
                        self.assertEqual((refused.status, refused.json["type"]), (409, "key_reused"), (n, refused))
                self.assertEqual(self.blobs(service), 1)
                self.assertEqual(list((service.data_dir / "spool" / "incoming").glob("*")), [])
                again = service.upload(token, self.trace, sha(1), headers=key)
                self.assertEqual((again.status, again.json["id"]), (201, first.json["id"]))
                self.assertIn(service.upload(token, self.trace, sha(2)).status, (429, 507))

    def test_an_upload_that_its_run_does_not_want_leaves_nothing(self):
        with Service() as service:
            token = service.token()
            self.assertEqual(service.upload(token, self.trace, sha(1), rank=0, ranks=2, run_key="k").status, 202)
            for wrong, status in (({"rank": 0}, 409), ({"rank": 5}, 400), ({"rank": 1, "ranks": 3}, 409), ({"rank": 1, "branch": "other"}, 409)):
                refused = service.upload(token, self.other, sha(1), **{"ranks": 2, "run_key": "k", **wrong})
                self.assertEqual(refused.status, status, (wrong, refused))
            self.assertEqual(self.blobs(service), 1)

    def test_settings_that_make_no_sense_are_refused(self):
        with Service() as service:
            admin = service.token("", "admin")
            for wrong in ({"retention": {"trace_days": -1}}, {"retention": {"days": 1}}, {"quota": {"bytes_max": "9"}},
                          {"quota": 5}, {"retention": {"trace_days": 99999}}):
                refused = self.put_project(service, admin, **wrong)
                self.assertEqual((refused.status, refused.json["type"]), (400, "bad_body"), (wrong, refused))

    def test_a_deleted_run(self):
        with Service() as service:
            token, admin = service.token(), service.token("demo", "admin")
            places = [service.upload(token, self.trace if n < 2 else self.other, sha(n)).json["links"]["self"] for n in range(4)]
            self.age_blobs(service)
            self.assertEqual(service.call("DELETE", places[2], token).status, 403)
            self.assertEqual(service.call("DELETE", places[2]).status, 401)
            for _ in range(2):
                self.assertEqual(service.call("DELETE", places[2], admin).status, 204)
            self.assertEqual(service.call("GET", places[2], token).status, 404)
            self.assertEqual(self.blobs(service), 2, "another run has the same trace")
            self.assertEqual(service.call("DELETE", places[3], admin).status, 204)
            self.assertEqual(self.blobs(service), 1, "it went with its last reference")
            history = service.call("GET", "/api/v1/projects/demo/history?metric=gpu.utilization&branch=main", token).json
            self.assertEqual([point["commit"] for point in history["points"]], [sha(0), sha(1)])
            log = service.call("GET", "/api/v1/projects/demo/audit", admin).json["entries"]
            deletions = [(e["action"], e["detail"]) for e in log if e["action"] == "run_deleted"]
            self.assertEqual(deletions, [("run_deleted", places[n].rsplit("/", 1)[1]) for n in (3, 2)])
            self.assertEqual(service.call("DELETE", "/api/v1/projects/demo/runs/nobody", admin).status, 404)

    def test_a_run_that_is_deleted_while_it_is_analysed(self):
        with tempfile.TemporaryDirectory() as folder:
            program = stand_in(folder, f"until [ -e {folder}/go ]; do sleep 0.05; done\nexec false")
            with Service(analysis_program=program) as service:
                token, admin = service.token(), service.token("demo", "admin")
                place = service.upload(token, self.trace, sha(1), wait=0).headers["location"]
                self.assertEqual(service.call("GET", place, token).json["status"], "analysing")
                self.assertEqual(service.call("DELETE", place, admin).status, 204)
                (pathlib.Path(folder) / "go").touch()
                self.until(lambda: b"traceweir_queue_depth 0" in service.call("GET", "/metrics").body)
                self.assertEqual(service.call("GET", place, token).status, 404)
                self.assertEqual(service.call("GET", "/api/v1/projects/demo/runs", token).json["runs"], [])
                self.assertEqual(service.stop(), 0)

    def test_levels_follow_a_deletion(self):
        """Five runs, the newest of which is all that is left of a level: its segment ends before it when it is gone."""
        with Service() as service:
            token, admin = service.token(), service.token("demo", "admin")
            runs = [service.upload(token, self.trace, sha(n)).json["links"]["self"] for n in range(6)]
            path = "/api/v1/projects/demo/history?metric=gpu.utilization&branch=main"
            before = service.call("GET", path, token).json["segments"]
            self.assertIn(runs[5].rsplit("/", 1)[1], json.dumps(before))
            self.assertEqual(service.call("DELETE", runs[5], admin).status, 204)
            after = service.call("GET", path, token).json["segments"]
            self.assertEqual(len(after), len(before), "the level is told without the run that is gone")
            self.assertNotIn(runs[5].rsplit("/", 1)[1], json.dumps(after))

    def test_a_deleted_project(self):
        with Service() as service:
            token, admin, own = service.token(), service.token("", "admin"), service.token("demo", "admin")
            for n in range(3):
                service.upload(token, self.trace, sha(n))
            service.upload(service.token("other"), self.other, sha(1), project="other")
            self.age_blobs(service)
            self.assertEqual(service.call("DELETE", "/api/v1/projects/demo", own).status, 403)
            for _ in range(2):
                self.assertEqual(service.call("DELETE", "/api/v1/projects/demo", admin).status, 204)
            self.assertEqual(service.call("GET", "/api/v1/projects/demo/runs", admin).status, 404)
            self.assertEqual(service.call("GET", "/api/v1/projects/demo/runs", token).status, 401)
            self.assertEqual([p["name"] for p in service.call("GET", "/api/v1/projects", admin).json["projects"]], ["other"])
            self.assertEqual(self.blobs(service), 1)
            self.assertEqual(service.call("DELETE", "/api/v1/projects/nobody", admin).status, 404)
            again = service.upload(service.token(), self.trace, sha(1))
            self.assertEqual(again.status, 201, "the name is free")


if __name__ == "__main__":
    unittest.main()
