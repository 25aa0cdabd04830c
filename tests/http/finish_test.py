"""`traceweir finish RUN`: a run that waits for ranks is judged with those that it has."""
import json
import unittest

from service import Service, run, sha, trace


class Finish(unittest.TestCase):
    def test_a_run_that_waits_is_judged_with_what_it_has(self):
        with Service() as service:
            token = service.token()
            sent = service.upload(token, trace("--steps", 6), sha(1), rank=0, ranks=2, run_key="k", wait=0)
            self.assertEqual(sent.status, 202, sent)
            environment = service.environment() | {"TRACEWEIR_TOKEN": token, "TRACEWEIR_PROJECT": "demo"}
            for form in ([], ["--json"]):  # again is fine
                done = run("traceweir", "finish", sent.json["id"], *form, env=environment)
                self.assertEqual(done.returncode, 3, done)
                self.assertIn("missing_rank" if form else "inconclusive", done.stdout)
            self.assertEqual(json.loads(done.stdout)["ranks"]["missing"], [1])

    def test_it_exits_by_the_verdict_and_by_the_mistake(self):
        with Service() as service:
            token, reader = service.token(), service.token("demo", "read")
            whole = service.upload(token, trace("--steps", 6), sha(1)).json["id"]
            rows = [(whole, token, 0, ""), (whole, reader, 2, "forbidden"), ("nothing", token, 2, "not_found")]
            for name, who, code, word in rows:
                with self.subTest(name, code=code):
                    environment = service.environment() | {"TRACEWEIR_TOKEN": who, "TRACEWEIR_PROJECT": "demo"}
                    done = run("traceweir", "finish", name, env=environment)
                    self.assertEqual(done.returncode, code, done)
                    self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
