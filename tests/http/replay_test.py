"""Verdicts are judged again from what is stored: equal to the bit, and a changed one is told by name."""
import contextlib
import hashlib
import json
import os
import sqlite3
import subprocess
import unittest

from service import BIN, STORE, Service, sha, trace

RULE = '[rules."step.time_p50"]\nworse_by = "5%"\n'


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.addClassCleanup(cls.service.__exit__)
        cls.admin = cls.service.token(None, "admin")
        cls.token = cls.service.token("llama")
        cls.report = cls.service.upload(cls.service.token("maker"), trace("--seed", 1), sha(1), project="maker").json["report"]

    def body(self, milliseconds) -> bytes:
        """The report of a real trace whose steps take so long."""
        report = json.loads(json.dumps(self.report))
        for part in [report["run"], *report["ranks"]]:
            for row in part["measurements"]:
                if row["metric"] == "step.time_p50":
                    row["value"] = round(milliseconds * 1e6)
                    row.update({key: row["value"] for key in ("min", "max") if key in row})
        return json.dumps(report).encode()

    def upload(self, number, milliseconds, **query) -> dict:
        answer = self.service.upload(self.token, self.body(milliseconds), sha(number), project="llama", **query)
        self.assertEqual(answer.status, 201, answer)
        return answer.json

    def policy(self, text):
        answer = self.service.call("PUT", "/api/v1/projects/llama/policy", self.admin, text.encode())
        self.assertEqual(answer.status, 204, answer)

    def replay(self, run):
        return self.service.call("GET", f"/api/v1/projects/llama/runs/{run}/replay", self.token)

    def client(self, run, *more):
        return subprocess.run([BIN / "traceweir", "replay", run, "--project", "llama", *more], capture_output=True, text=True,
                              env=self.service.environment() | {"TRACEWEIR_TOKEN": self.token})

    def change(self, sql, *values):
        """As somebody does who can write to the database."""
        if STORE == "postgres":
            literals = [value.replace("'", "''") for value in values]
            text = sql
            for literal in literals:
                text = text.replace("?", f"'{literal}'", 1)
            done = subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", self.service.store["TRACEWEIR_STORE"]], input=text,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        else:
            with contextlib.closing(sqlite3.connect(self.service.data_dir / "traceweir.db", timeout=20)) as database, database:
                self.assertEqual(database.execute(sql, values).rowcount, 1)

    def edit(self, run, before, after):
        where = "run_seq = (SELECT seq FROM run WHERE id = ?)"
        self.change(f"UPDATE run_document SET verdict = replace(verdict, ?, ?) WHERE {where}", before, after, run)

    def test_every_kind_of_verdict_is_the_same_again(self):
        self.policy(RULE)
        runs, workload = [], {"workload": "kinds"}
        for number in range(1, 7):
            runs.append(self.upload(number, 100 + number % 2, **workload))
        runs.append(self.upload(7, 130, **workload))
        runs.append(self.upload(8, 104.5, **workload))
        runs.append(self.upload(9, 90, branch="topic", base=sha(6), pr=3, **workload))
        self.policy("")
        runs.append(self.upload(10, 100, **workload))
        text = RULE + f'confirm = 2\n[baseline]\npinned = "{runs[0]["id"]}"\n[findings.straggler]\n'
        name = hashlib.sha256(text.encode()).hexdigest()
        self.assertEqual(self.service.call("PUT", f"/api/v1/projects/llama/policies/{name}", self.token, text.encode()).status, 204)
        runs.append(self.upload(11, 140, policy=name, **workload))
        runs.append(self.upload(11, 141, policy=name, **workload))
        runs.append(self.upload(12, 100, policy=name, branch="topic", fork="true", **workload))
        partial = self.service.upload(self.token, self.body(100), sha(13), project="llama", ranks=2, run_key="x", **workload).json["id"]
        runs.append(self.service.call("POST", f"/api/v1/projects/llama/runs/{partial}/finish", self.token).json)
        reasons = {rule["reason"] for run in runs for rule in run["verdict"]["rules"]}
        self.assertLessEqual({"no_baseline", "short_baseline", "within", "worse", "missing_rank", "needs_confirmation", "better"}, reasons)
        self.service.stop()
        self.service.start()  # nothing of it is in memory
        for run in runs:
            with self.subTest(run["verdict"]["summary"]):
                answer = self.replay(run["id"])
                self.assertEqual(answer.status, 200, answer)
                self.assertEqual((answer.json["same"], answer.json["differences"]), (True, []))
                self.assertEqual(answer.json["stored"], run["verdict"])
                self.assertEqual(answer.json["now"], {key: value for key, value in run["verdict"].items() if key in answer.json["now"]})
                self.assertEqual(answer.json["build"]["stored"], answer.json["build"]["now"])
                kept = self.service.call("GET", f"/api/v1/projects/llama/policies/{run['verdict']['policy_sha256']}", self.token)
                self.assertEqual(hashlib.sha256(kept.body).hexdigest(), run["verdict"]["policy_sha256"])
        done = self.client(runs[6]["id"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("equal to the bit", done.stdout)
        self.assertTrue(json.loads(self.client(runs[6]["id"], "--json").stdout)["same"])

    def test_what_the_judge_was_given_is_in_no_answer(self):
        run = self.upload(60, 100, workload="shown")
        for path in (f"runs/{run['id']}", "runs?workload=shown", f"commits/{sha(60)}"):
            text = self.service.call("GET", f"/api/v1/projects/llama/{path}", self.token).body.decode()
            self.assertNotIn("classifier\":1},\"runs\"", text)
            self.assertNotIn("\n", text)

    def tampered(self, number, before, after):
        self.policy(RULE)
        run = self.upload(number, 100, workload=f"tampered-{number}")["id"]
        self.assertTrue(self.replay(run).json["same"])
        self.edit(run, before, after)
        answer = self.replay(run).json
        self.assertFalse(answer["same"])
        done = self.client(run)
        self.assertEqual(done.returncode, 1)
        self.assertIn(answer["differences"][0][:100], done.stdout)
        return answer["differences"]

    def test_a_changed_outcome_reason_or_number_is_told(self):
        self.assertIn('outcome is stored as "pass"', self.tampered(20, '{"outcome":"inconclusive"', '{"outcome":"pass"')[0])
        self.assertIn("reason is stored as", self.tampered(21, '"reason":"no_baseline"', '"reason":"better"')[0])
        self.assertIn("observed is stored as 99", self.tampered(22, '"observed":100000000.0', '"observed":99000000.0')[0])
        self.assertIn("notes is stored as", self.tampered(23, '"notes":[]', '"notes":["all is well"]')[0])

    def test_a_changed_value_that_was_judged_is_told(self):
        differences = self.tampered(30, '["step.time_p50",100000000', '["step.time_p50",900000000')
        self.assertIn("step.time_p50: observed is stored as 100000000.0, and judged now as 900000000.0", differences)

    def test_what_cannot_be_read_any_more_is_told(self):
        self.assertIn("cannot be read", self.tampered(31, '"summary"', '"sum')[0])
        self.assertIn("what the judge was given cannot be read", self.tampered(32, '"classifier":', '"classified":')[0])
        self.assertIn("cannot be read", self.tampered(33, '"outcome":"inconclusive"', '"outcome":"fine"')[0])

    def test_another_policy_in_the_place_of_the_one_is_told(self):
        self.policy(RULE + "sigmas = 2\n")
        run = self.upload(40, 100, workload="policies")
        name = run["verdict"]["policy_sha256"]
        self.change("UPDATE policy SET toml = ? WHERE sha256 = ?", RULE + "sigmas = 9\n", name)
        self.assertIn("is another one", self.replay(run["id"]).json["differences"][0])
        self.policy("")

    def test_a_changed_outcome_of_the_run_is_told(self):
        run = self.upload(50, 100, workload="listed")["id"]
        self.change("UPDATE run SET outcome = ? WHERE id = ?", "pass", run)
        self.assertIn("the run: outcome is stored as pass", self.replay(run).json["differences"][0])

    def test_what_another_build_judged_needs_the_same_reasons_only(self):
        self.policy(RULE)
        run = self.upload(70, 100, workload="built")["id"]
        build = self.replay(run).json["build"]["now"]
        self.edit(run, f'"build":"{build}"', '"build":"0.0.1 another"')
        self.edit(run, '"sentence":"learning', '"sentence":"still learning')
        answer = self.replay(run).json
        self.assertEqual((answer["same"], answer["build"]["stored"]), (True, "0.0.1 another"))
        self.assertIn("another build", self.client(run).stdout)
        self.edit(run, '"reason":"no_baseline"', '"reason":"within"')
        self.assertEqual(len(self.replay(run).json["differences"]), 1)

    def test_a_run_that_cannot_be_replayed_says_why(self):
        run = self.upload(80, 100, workload="old")["id"]
        self.change("UPDATE run_document SET verdict = ? WHERE run_seq = (SELECT seq FROM run WHERE id = ?)",
                    '{"outcome":"pass","summary":"of an older version","rules":[]}', run)
        self.assertEqual(self.replay(run).json["type"], "conflict")
        self.assertEqual(self.client(run).returncode, 2)
        self.assertEqual(self.replay("nobody").status, 404)
        bad = self.service.upload(self.token, b'{"hello": 1}', sha(81), project="llama", workload="old")
        self.assertEqual(bad.status, 422)

    def test_policies_of_other_projects_are_not_seen(self):
        run = self.upload(90, 100, workload="secret")
        other = self.service.token("other", "read")
        path = f"policies/{run['verdict']['policy_sha256']}"
        self.assertEqual(self.service.call("GET", f"/api/v1/projects/other/{path}", other).status, 404)
        self.assertEqual(self.service.call("GET", f"/api/v1/projects/llama/{path}", None).status, 401)
        self.assertEqual(self.service.call("GET", "/api/v1/projects/llama/policies/xyz", self.token).json["type"], "bad_query")


if __name__ == "__main__":
    unittest.main()
