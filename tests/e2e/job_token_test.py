"""A CI job without a secret: the gate shows the service the CI's id token, and says which credential it has."""
import http.server
import json
import pathlib
import tempfile
import threading
import unittest
import urllib.parse

from issuer import Issuer
from service import Service, run, sha, trace


class Runner:
    """What GitHub's runner offers a job with `id-token: write`: an address that gives id tokens for an audience."""

    def __init__(self, issuer):
        self.asked, self.claims, self.status = [], {}, 200
        runner = self

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                query = dict(urllib.parse.parse_qsl(self.path.partition("?")[2]))
                runner.asked.append((self.path.partition("?")[0], query, self.headers["Authorization"]))
                body = json.dumps({"value": issuer.token(aud=query.get("audience"), **runner.claims)}).encode()
                self.send_response(runner.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.variables = {"ACTIONS_ID_TOKEN_REQUEST_URL": f"http://127.0.0.1:{self.server.server_address[1]}/idtoken?api-version=2.0",
                          "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "runner-secret"}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class JobToken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.trace = pathlib.Path(folder.name) / "trace.json"
        cls.trace.write_bytes(trace("--steps", 4))
        cls.issuer = Issuer().__enter__()
        cls.addClassCleanup(cls.issuer.__exit__)
        cls.runner = Runner(cls.issuer)
        cls.addClassCleanup(cls.runner.close)
        cls.service = Service(oidc_github_issuers=cls.issuer.url, oidc_plain_http="loopback")
        cls.service.settings["oidc_audience"] = cls.service.url
        cls.service.__enter__()
        cls.addClassCleanup(cls.service.__exit__)
        admin = (cls.service.data_dir / "admin-token").read_text().strip()
        jobs = {"trusted_jobs": [{"issuer": cls.issuer.url, "repository": "acme/llama"}]}
        assert cls.service.call("PUT", "/api/v1/projects/demo", admin, json.dumps(jobs).encode()).status == 200

    def setUp(self):
        self.runner.asked, self.runner.claims, self.runner.status = [], {}, 200

    def gate(self, variables, *more, number=1):
        self.runner.claims.setdefault("sha", sha(number))
        environment = self.service.environment() | {"TRACEWEIR_PROJECT": "demo", "TRACEWEIR_RETRY_TIME_MAX": "0"} | variables
        return run("traceweir", "gate", self.trace, "--ci", "none", "--commit", sha(number), "--branch", "main", *more, env=environment)

    def test_github_is_asked_for_a_token_of_this_service(self):
        done = self.gate(self.runner.variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        (path, query, authorization), = self.runner.asked
        self.assertEqual((path, query, authorization), ("/idtoken", {"api-version": "2.0", "audience": self.service.url}, "Bearer runner-secret"))
        self.assertNotIn("twr_", done.stdout + done.stderr)
        run_of = self.service.call("GET", "/api/v1/projects/demo/runs", self.service.token("demo", "read")).json["runs"]
        self.assertEqual([r["commit"] for r in run_of if r["commit"] == sha(1)], [sha(1)])

    def test_gitlab_has_put_one_into_a_variable(self):
        done = self.gate({"TRACEWEIR_OIDC_TOKEN": self.issuer.token(aud=self.service.url, sha=sha(2))}, number=2)
        self.assertEqual((done.returncode, self.runner.asked), (0, []), done.stderr)
        self.assertNotIn("read by nobody", done.stderr)

    def test_a_token_of_the_services_own_comes_first(self):
        done = self.gate(self.runner.variables | {"TRACEWEIR_TOKEN": self.service.token()}, number=3)
        self.assertEqual((done.returncode, self.runner.asked), (0, []), done.stderr)

    def test_refusals_say_why(self):
        self.runner.claims = {"repository": "mallory/llama"}
        stranger = self.gate(self.runner.variables, number=4)
        self.assertEqual(stranger.returncode, 2, stranger)
        self.assertIn("mallory/llama", stranger.stderr)
        self.assertIn("trusted_jobs", stranger.stderr)
        self.runner.claims, self.runner.status = {}, 403
        powerless = self.gate(self.runner.variables, number=5)
        self.assertEqual(powerless.returncode, 2, powerless)
        self.assertIn("id-token: write", powerless.stderr)
        audience = self.gate({"TRACEWEIR_OIDC_TOKEN": self.issuer.token()}, number=6)
        self.assertEqual(audience.returncode, 2, audience)
        self.assertIn(self.service.url, audience.stderr)
        for address in ("http://runner.example.com/x", "ftp://127.0.0.1/x", "nonsense"):
            unsafe = self.gate(self.runner.variables | {"ACTIONS_ID_TOKEN_REQUEST_URL": address}, number=7)
            self.assertEqual(unsafe.returncode, 2, unsafe)
            self.assertIn("ACTIONS_ID_TOKEN_REQUEST_URL", unsafe.stderr)
        for done in (stranger, powerless, audience):
            self.assertNotIn("runner-secret", done.stdout + done.stderr)

    def test_a_pull_request_uploads_as_one_only(self):
        self.runner.claims = {"ref": "refs/pull/12/merge", "event_name": "pull_request"}
        self.assertEqual(self.gate(self.runner.variables, number=8).returncode, 2)
        self.assertEqual(self.gate(self.runner.variables, "--pr", 12, number=9).returncode, 0)

    def test_explain_ci_says_which_credential_there_is(self):
        rows = [({}, None, "none"), (self.runner.variables, "GitHub's id token of the job, exchanged for a token of minutes", "GitHub's id token"),
                ({"TRACEWEIR_OIDC_TOKEN": "a.b.c"}, "TRACEWEIR_OIDC_TOKEN, exchanged for a token of minutes", "TRACEWEIR_OIDC_TOKEN"),
                ({"TRACEWEIR_TOKEN": "twr_x"} | self.runner.variables, "TRACEWEIR_TOKEN", "TRACEWEIR_TOKEN")]
        for variables, expected, shown in rows:
            with self.subTest(shown):
                told = self.gate(variables, "--explain-ci", "--json")
                self.assertEqual(json.loads(told.stdout)["credential"], expected, told.stderr)
                self.assertRegex(self.gate(variables, "--explain-ci").stdout, rf"credential +{shown}")
                self.assertNotIn("runner-secret", told.stdout)
        self.assertEqual(self.runner.asked, [])


if __name__ == "__main__":
    unittest.main()
