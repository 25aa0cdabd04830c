"""`traceweir finish RUN`: a run that waits for ranks is judged with those that it has."""
import json
import pathlib
import tempfile
import threading
import unittest

from service import BIN, Service, run, sha, trace


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

    def test_it_waits_for_what_is_still_being_analysed(self):
        """The run has no job of its own yet, only its upload has."""
        with tempfile.TemporaryDirectory() as folder, Service() as service:
            service.stop()
            go, analyzer = pathlib.Path(folder, "go"), pathlib.Path(folder, "analyzer")
            analyzer.write_text(f'#!/bin/sh\nuntil [ -e {go} ]; do sleep 0.05; done\nexec {BIN / "traceweir"} "$@"\n')
            analyzer.chmod(0o755)
            service.settings["analysis_program"] = analyzer
            go.touch()  # for the look at what it locks itself in with
            service.start()
            go.unlink()
            token = service.token()
            sent = service.upload(token, trace("--steps", 6), sha(1), rank=0, ranks=2, run_key="k", wait=0)
            self.assertEqual(sent.status, 202, sent)
            opened = threading.Timer(2, go.touch)
            opened.start()
            done = service.call("POST", f"/api/v1/projects/demo/runs/{sent.json['id']}/finish", token)
            opened.join()
            self.assertEqual((done.status, done.json["status"]), (200, "judged"), done)

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
