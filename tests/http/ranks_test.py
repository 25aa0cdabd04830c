"""Runs of several uploads: any order, at once, again, by halves, too late, and never a pass with a rank missing."""
import concurrent.futures
import gzip
import json
import pathlib
import random
import shutil
import signal
import tempfile
import time
import unittest

from service import Service, run, sha, trace

BAD = b'{"traceEvents": "none"}'


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.token = cls.service.token()
        cls.traces = [trace("--steps", 6, "--ranks", 8, "--rank", rank, "--seed", rank) for rank in range(8)]
        cls.folder = pathlib.Path(tempfile.mkdtemp())

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()
        shutil.rmtree(cls.folder)

    def send(self, rank, number, body=None, ranks=8, **query):
        query = {"rank": rank, "ranks": ranks, "run_key": f"key-{number}"} | query
        query = {key: value for key, value in query.items() if value is not None}
        return self.service.upload(self.token, self.traces[rank] if body is None else body, sha(number), **query)

    def get(self, run):
        return self.service.call("GET", run["links"]["self"], self.token).json

    def finish(self, run, query=""):
        return self.service.call("POST", run["links"]["self"] + "/finish" + query, self.token)

    def runs_of(self, number):
        return self.service.call("GET", f"/api/v1/projects/demo/runs?commit={sha(number)}", self.token).json["runs"]

    def test_eight_clients_in_any_order_make_one_run_and_one_verdict(self):
        order = list(range(8))
        random.Random(20261129).shuffle(order)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda rank: self.send(rank, 1), order))
        self.assertEqual({a.json["id"] for a in answers}, {answers[0].json["id"]})
        self.assertIn(201, [a.status for a in answers], "whoever completes it has the verdict")
        self.assertTrue({a.status for a in answers} <= {201, 202})
        for answer in answers:
            if answer.status == 202:
                self.assertEqual(answer.json["status"], "pending")
                self.assertIsNone(answer.json["verdict"])
        runs = self.runs_of(1)
        self.assertEqual([r["status"] for r in runs], ["judged"])
        whole = self.get(runs[0])
        self.assertEqual(whole["ranks"], {"expected": 8, "received": list(range(8)), "missing": [], "rejected": []})
        self.assertEqual([rank["rank"] for rank in whole["report"]["ranks"]], list(range(8)))

    def test_the_run_measures_what_the_command_line_measures_on_all_files(self):
        files = []
        for rank in range(3):
            file = self.folder / f"rank{rank}.json"
            file.write_bytes(self.traces[rank])
            files.append(file)
        here = run("traceweir", "analyze", "--json", "--hash", *files)
        self.assertEqual(here.returncode, 0, here.stderr)
        for rank in (2, 0, 1):
            there = self.send(rank, 2, ranks=3, name=f"rank{rank}.json")
        self.assertEqual(there.status, 201, there)
        self.assertIn(here.stdout.strip().encode(), there.body, "byte for byte")
        measured = {m["metric"]: m["value"] for m in there.json["report"]["run"]["measurements"]}
        self.assertGreater(measured["allreduce.matched_calls"], 0)

    def test_reports_of_ranks_are_put_together_and_say_what_they_cannot_tell(self):
        files = []
        for rank in range(2):
            file = self.folder / f"edge{rank}.json"
            file.write_bytes(self.traces[rank])
            report = self.folder / f"edge{rank}.report.json"
            report.write_text(run("traceweir", "analyze", "--json", "--hash", file).stdout)
            files.append(report)
        for rank in range(2):
            there = self.send(rank, 3, files[rank].read_bytes(), ranks=2)
        self.assertEqual(there.status, 201, there)
        here = run("traceweir", "analyze", "--json", *files)
        self.assertIn(here.stdout.strip().encode(), there.body, "byte for byte")
        measured = {m["metric"]: m for m in there.json["report"]["run"]["measurements"]}
        self.assertEqual(measured["allreduce.wait_share"]["not_measured"], "ranks_apart")
        self.assertIsNotNone(measured["gpu.utilization"]["value"])
        self.assertIsNotNone(measured["rank.compute_skew"]["value"])

    def test_the_same_again_is_the_same_run(self):
        first = self.send(0, 4, ranks=2)
        self.assertEqual((first.status, first.json["status"]), (202, "pending"), first)
        self.assertEqual(first.json["ranks"]["missing"], [1])
        again = self.send(0, 4, ranks=2)
        self.assertEqual((again.status, again.json["id"]), (202, first.json["id"]))
        last = self.send(1, 4, ranks=2)
        self.assertEqual(last.status, 201, last)
        late = self.send(0, 4, ranks=2)
        self.assertEqual((late.status, late.json["id"]), (201, first.json["id"]), "also when it is judged")
        self.assertEqual(late.json["verdict"], last.json["verdict"])
        self.assertEqual(len(self.runs_of(4)), 1)

    def test_fifty_parallel_retries_make_one_run(self):
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            headers = {"Idempotency-Key": "fifty"}
            send = lambda _: self.service.upload(self.token, self.traces[0], sha(5), headers=headers)
            answers = list(pool.map(send, range(50)))
        self.assertEqual({a.status for a in answers}, {201}, answers[0])
        self.assertEqual(len({a.json["id"] for a in answers}), 1)
        self.assertEqual(len(self.runs_of(5)), 1)

    def test_what_contradicts_is_refused_by_name(self):
        self.assertEqual(self.send(0, 6, ranks=4).status, 202)
        rows = [
            ("another file of the rank", dict(rank=0, body=self.traces[3]), 409, "rank 0"),
            ("another number of ranks", dict(rank=1, ranks=8), 409, "says 8"),
            ("a rank that the run has not", dict(rank=4, ranks=4), 400, "4 is none of 4 ranks"),
            ("a rank that the run has not, without ranks", dict(rank=5, ranks=None), 400, "5 is none of the 4 ranks"),
            ("another branch", dict(rank=1, branch="topic"), 409, "branch"),
            ("another environment", {"rank": 1, "env.node": "b"}, 409, "env.*"),
            ("more ranks than a run may have", dict(rank=0, ranks=65), 400, "ranks"),
        ]
        for name, query, status, part in rows:
            with self.subTest(name):
                answer = self.send(**({"number": 6, "ranks": 4} | query))
                self.assertEqual(answer.status, status, answer)
                self.assertIn(part, answer.json["detail"])
        self.assertEqual(self.runs_of(6)[0]["ranks"]["received"], [0])

    def test_a_bad_rank_is_refused_at_once_and_its_slot_is_free(self):
        first = self.send(0, 7, ranks=2)
        bad = self.send(1, 7, BAD, ranks=2)
        self.assertEqual((bad.status, bad.json["type"]), (422, "not_a_trace"), bad)
        waiting = self.get(first.json)
        self.assertEqual((waiting["status"], waiting["ranks"]["missing"]), ("pending", [1]))
        self.assertEqual(waiting["ranks"]["rejected"][0]["rank"], 1)
        self.assertEqual(waiting["ranks"]["rejected"][0]["error"]["type"], "not_a_trace")
        good = self.send(1, 7, ranks=2)
        self.assertEqual((good.status, good.json["id"]), (201, first.json["id"]), good)
        self.assertEqual(good.json["ranks"]["rejected"], [])

    def test_the_same_rank_twice_is_refused_on_arrival_and_costs_the_run_nothing(self):
        for number, body in ((20, self.traces[0]), (21, trace("--steps", 7, "--ranks", 8, "--rank", 0))):
            first = self.send(0, number, ranks=3)
            self.send(2, number, ranks=3)
            twice = self.send(1, number, body, ranks=3)
            self.assertEqual((twice.status, twice.json["type"]), (409, "conflict"), twice)
            for part in ("sent as rank 1", "of rank 0", "sent as rank 0"):
                self.assertIn(part, twice.json["detail"])
            self.assertEqual(self.get(first.json)["ranks"]["missing"], [1], "its slot is free")
            good = self.send(1, number, ranks=3)
            self.assertEqual((good.status, good.json["id"], good.json["ranks"]["rejected"]), (201, first.json["id"], []), good)

    def test_equal_metrics_of_ones_own_may_be_those_of_two_ranks(self):
        body = json.dumps({"metrics": {"custom.loss": {"value": 1, "unit": "s", "better": "lower"}}}).encode()
        answers = [self.send(rank, 22, body, ranks=2) for rank in range(2)]
        self.assertEqual([answer.status for answer in answers], [202, 201], answers)

    def test_metrics_of_ones_own_are_no_rank_beside_a_trace(self):
        body = json.dumps({"metrics": {"custom.loss": {"value": 1, "unit": "s", "better": "lower"}}}).encode()
        self.send(0, 23, ranks=2)
        answer = self.send(1, 23, body, ranks=2)
        self.assertEqual((answer.status, answer.json["type"]), (400, "bad_query"), answer)
        self.assertIn("give the values in a call of their own", answer.json["detail"])

    def test_finish_judges_with_a_missing_rank_and_never_passes(self):
        first = self.send(0, 8, ranks=2).json
        done = self.finish(first)
        self.assertEqual((done.status, done.json["verdict"]["outcome"]), (200, "inconclusive"), done)
        self.assertIn("missing_rank", {rule["reason"] for rule in done.json["verdict"]["rules"]})
        advice = {rule["next"] for rule in done.json["verdict"]["rules"] if rule["reason"] == "missing_rank"}
        self.assertEqual(advice, {"Upload all 2 ranks again as a run of its own: with a higher attempt, or another run key."})
        late = self.send(1, 8, ranks=2)
        self.assertEqual((late.status, late.json["type"]), (409, "conflict"), late)
        self.assertIn("rank 1 comes too late", late.json["detail"])
        self.assertEqual(self.finish(first).json["verdict"], done.json["verdict"], "again is the same")
        again = self.send(1, 8, ranks=2, attempt=2)
        self.assertNotEqual(again.json["id"], first["id"], "a higher attempt is another run")
        whole = self.send(0, 8, ranks=2, attempt=2)
        self.assertEqual((whole.status, whole.json["status"]), (201, "judged"), "what the advice says works")

    def test_a_run_without_any_usable_rank_is_rejected_with_the_reason(self):
        self.assertEqual(self.send(0, 9, BAD, ranks=2).status, 422)
        done = self.finish(self.runs_of(9)[0])
        self.assertEqual((done.status, done.json["type"]), (422, "not_a_trace"), done)
        self.assertIn("no rank of the run could be used", done.json["detail"])

    def test_finish_needs_the_right_and_the_run(self):
        pending = self.send(0, 10, ranks=2).json
        reader = self.service.token("demo", "read")
        path = pending["links"]["self"] + "/finish"
        self.assertEqual(self.service.call("POST", path, reader).status, 403)
        self.assertEqual(self.service.call("POST", path, self.service.token("other")).status, 403)
        self.assertEqual(self.service.call("POST", path + "?now=1", self.token).status, 400)
        self.assertEqual(self.service.call("POST", "/api/v1/projects/demo/runs/none/finish", self.token).status, 404)
        self.assertEqual(self.get(pending)["status"], "pending")

    def test_one_file_may_hold_several_ranks(self):
        job = trace("--steps", 6, "--format", "nsys", "--ranks", 4, "--all-ranks", name="job.sqlite")
        first = self.send(2, 11, job, ranks=8)
        self.assertEqual(first.status, 202, first)
        self.assertEqual(first.json["ranks"]["received"], [2, 3, 4, 5])
        overlapping = self.send(0, 11, trace("--steps", 5, "--format", "nsys", "--ranks", 4, "--all-ranks"), ranks=8)
        self.assertEqual((overlapping.status, overlapping.json["type"]), (409, "conflict"), overlapping)
        self.assertIn("rank 2", overlapping.json["detail"])
        beyond = self.send(6, 11, trace("--steps", 5, "--format", "nsys", "--ranks", 4, "--all-ranks"), ranks=8)
        self.assertEqual(beyond.status, 400, beyond)
        self.assertIn("holds 4 ranks from 6 on", beyond.json["detail"])
        whole = self.send(0, 12, job, ranks=4)
        self.assertEqual(whole.status, 201, whole)

    def test_compressed_exports_of_several_ranks_are_unpacked_each_for_itself(self):
        for rank in range(2):
            export = gzip.compress(trace("--steps", 6, "--format", "nsys", "--ranks", 2, "--rank", rank, name="t.sqlite"))
            answer = self.send(rank, 16, export, ranks=2)
        self.assertEqual(answer.status, 201, answer)
        self.assertEqual({rank["trace"]["compression"] for rank in answer.json["report"]["ranks"]}, {"gzip"})

    def test_a_ci_job_needs_no_key(self):
        ci = dict(run_key="", ci_run="77", job="bench", matrix="a100", ranks=2)
        first = self.send(0, 13, **ci)
        self.assertEqual((first.status, first.json["status"]), (202, "pending"))
        last = self.send(1, 13, **ci)
        self.assertEqual((last.status, last.json["id"]), (201, first.json["id"]), last)

    def test_without_ranks_each_upload_of_a_job_is_a_sample_of_its_own(self):
        ids = set()
        for rank in range(2):
            answer = self.service.upload(self.token, self.traces[rank], sha(14), ci_run="78", job="bench")
            self.assertEqual(answer.status, 201, answer)
            ids.add(answer.json["id"])
        self.assertEqual(len(ids), 2)

    def test_a_file_with_fewer_ranks_than_stated_is_judged_at_once_where_nothing_can_join(self):
        answer = self.service.upload(self.token, self.traces[0], sha(15), ranks=2)
        self.assertEqual((answer.status, answer.json["verdict"]["outcome"]), (201, "inconclusive"), answer)
        self.assertIn("run_key", " ".join(answer.json["warnings"]))


class Waiting(unittest.TestCase):
    """Time and restarts."""

    def setUp(self):
        self.traces = [trace("--steps", 5, "--ranks", 2, "--rank", rank) for rank in range(2)]

    def until_judged(self, service, token, place):
        deadline, run = time.monotonic() + 60, {"status": "pending"}
        while run["status"] in ("pending", "analysing") and time.monotonic() < deadline:
            run = service.call("GET", place, token).json
        return run

    def test_a_run_that_waits_too_long_is_judged_with_a_missing_rank(self):
        with Service(run_complete_time_max="1 s", resume_pause="100 ms") as service:
            token = service.token()
            place = service.upload(token, self.traces[0], sha(1), rank=0, ranks=2, run_key="k").headers["location"]
            run = self.until_judged(service, token, place)
            self.assertEqual((run["status"], run["verdict"]["outcome"]), ("judged", "inconclusive"))
            self.assertIn("missing_rank", {rule["reason"] for rule in run["verdict"]["rules"]})

    def test_a_waiting_run_survives_a_kill_and_is_completed_afterwards(self):
        with Service() as service:
            token = service.token()
            first = service.upload(token, self.traces[0], sha(1), rank=0, ranks=2, run_key="k", wait=0)
            self.assertEqual(first.status, 202)
            service.stop(signal.SIGKILL)
            service.start()
            last = service.upload(token, self.traces[1], sha(1), rank=1, ranks=2, run_key="k", wait=0)
            self.assertEqual(last.json["id"], first.json["id"])
            service.stop(signal.SIGKILL)
            service.start()
            run = self.until_judged(service, token, first.headers["location"])
            self.assertEqual((run["status"], len(run["report"]["ranks"])), ("judged", 2))

    def test_time_goes_on_while_the_service_is_down(self):
        with Service(run_complete_time_max="1 s", resume_pause="100 ms") as service:
            token = service.token()
            place = service.upload(token, self.traces[0], sha(1), rank=0, ranks=2, run_key="k").headers["location"]
            service.stop(signal.SIGKILL)
            service.start()
            self.assertEqual(self.until_judged(service, token, place)["status"], "judged")


if __name__ == "__main__":
    unittest.main()
