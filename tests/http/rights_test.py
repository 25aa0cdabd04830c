"""Who may do what: tokens, scopes, projects, and what an outsider is told."""
import datetime
import json
import unittest

from service import BIN, Service, run, sha, trace


class Rights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service(failed_authentications_max=100_000).__enter__()
        cls.uploader = cls.service.token("demo", "upload")
        cls.reader = cls.service.token("demo", "read")
        cls.stranger = cls.service.token("other", "upload,read,admin")
        cls.admin = (cls.service.data_dir / "admin-token").read_text().strip()
        cls.trace = trace("--steps", 4)

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def test_each_right_needs_its_scope(self):
        runs = "/api/v1/projects/demo/runs"
        policy = "/api/v1/projects/demo/policy"
        rows = [
            ("reading without a token", "GET", runs, None, 401),
            ("reading with a wrong secret", "GET", runs, self.reader[:-4] + "0000", 401),
            ("reading with no token at all", "GET", runs, "hello", 401),
            ("reading as a reader", "GET", runs, self.reader, 200),
            ("reading as an uploader", "GET", runs, self.uploader, 403),
            ("reading as a stranger", "GET", runs, self.stranger, 403),
            ("reading as the administrator", "GET", runs, self.admin, 200),
            ("a project that is not there, as a stranger", "GET", "/api/v1/projects/none/runs", self.stranger, 403),
            ("a project that is not there, as the administrator", "GET", "/api/v1/projects/none/runs", self.admin, 404),
            ("changing the policy as a reader", "PUT", policy, self.reader, 403),
            ("listing projects with a wrong secret", "GET", "/api/v1/projects", self.reader[:-4] + "0000", 401),
            ("listing projects as the administrator", "GET", "/api/v1/projects", self.admin, 200),
            ("liveness needs nothing", "GET", "/healthz", None, 200),
        ]
        for name, method, path, token, status in rows:
            with self.subTest(name):
                answer = self.service.call(method, path, token)
                self.assertEqual(answer.status, status, answer)

    def test_projects_are_listed_for_whom_may_read_them(self):
        self.service.token("listed", "upload")
        self.service.call("PUT", "/api/v1/projects/listed", self.admin, b'{"read_access": "public"}')
        named = lambda token: {project["name"] for project in self.service.call("GET", "/api/v1/projects", token).json["projects"]} - {"open"}
        self.assertEqual(named(None), {"listed"})
        self.assertEqual(named(self.uploader), {"listed"}, "to upload is not to read")
        self.assertEqual(named(self.reader), {"demo", "listed"})
        self.assertEqual(named(self.stranger), {"other", "listed"}, "an admin of one project is one of that project")
        self.assertEqual(named(self.admin), {"demo", "other", "listed"})

    def test_uploading_needs_upload(self):
        self.assertEqual(self.service.upload(self.reader, self.trace, sha(1)).status, 403)
        self.assertEqual(self.service.upload(self.uploader, self.trace, sha(1)).status, 201)

    def test_a_token_in_the_query_is_refused_and_in_no_log(self):
        answer = self.service.call("GET", f"/api/v1/projects/demo/runs?token={self.reader}")
        self.assertIn(answer.status, (400, 401))
        secret = self.reader.split("_")[2]
        self.assertNotIn(secret, self.service.log_path.read_text())
        self.assertNotIn(secret, answer.body.decode())

    def test_a_revoked_token_ends_at_once(self):
        token = self.service.token("demo", "read")
        path = "/api/v1/projects/demo/runs"
        self.assertEqual(self.service.call("GET", path, token).status, 200)
        done = run("traceweird", "token", "revoke", token.split("_")[1], env=self.service.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.service.call("GET", path, token).status, 401)

    def test_an_expired_token_is_none(self):
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)
        token = self.service.token("demo", "read", "--expires", end.strftime("%Y-%m-%dT%H:%M:%SZ"))
        status = lambda: self.service.call("GET", "/api/v1/projects/demo/runs", token).status
        statuses = {status()}
        while datetime.datetime.now(datetime.timezone.utc) < end:
            statuses.add(status())
        self.assertLessEqual(statuses, {200, 401})
        self.assertEqual(status(), 401, "from its end on")

    def test_the_list_of_tokens_shows_no_secret(self):
        listed = run("traceweird", "token", "list", env=self.service.environment())
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn(self.reader.split("_")[1], listed.stdout)
        self.assertNotIn(self.reader.split("_")[2], listed.stdout)

    def test_the_first_start_makes_an_administrator_also_beside_tokens_of_projects(self):
        with Service() as service:
            service.stop()
            service.forget()
            (service.data_dir / "admin-token").unlink()
            service.token("early", "upload")
            service.start()
            admin = (service.data_dir / "admin-token").read_text().strip()
            self.assertEqual(service.call("GET", "/api/v1/projects", admin).status, 200)
            service.stop()
            service.start()
            self.assertEqual((service.data_dir / "admin-token").read_text().strip(), admin, "made once")

    def test_the_admin_token_is_for_its_owner_only(self):
        mode = (self.service.data_dir / "admin-token").stat().st_mode & 0o777
        self.assertEqual(mode, 0o600)
        self.assertNotIn(self.admin, self.service.log_path.read_text())

    def test_a_public_project_is_read_by_everyone_and_written_by_none(self):
        self.service.token("open", "upload")
        body = json.dumps({"read_access": "public"}).encode()
        changed = self.service.call("PUT", "/api/v1/projects/open", self.admin, body)
        self.assertEqual(changed.status, 200, changed)
        self.assertEqual(self.service.call("GET", "/api/v1/projects/open/runs").status, 200)
        self.assertEqual(self.service.upload(None, self.trace, sha(1), project="open").status, 401)
        audit = self.service.call("GET", "/api/v1/projects/open/audit", self.admin).json["entries"]
        self.assertIn("project_changed", [entry["action"] for entry in audit])

    def test_project_settings_are_checked(self):
        for body in (b'{"mode": "loud"}', b'{"typo": 1}', b'[1]', b'{"mode":'):
            with self.subTest(body):
                self.assertEqual(self.service.call("PUT", "/api/v1/projects/demo", self.admin, body).status, 400)


if __name__ == "__main__":
    unittest.main()
