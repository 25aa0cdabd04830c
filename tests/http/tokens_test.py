"""Tokens: made, listed, rotated and revoked over REST and by the command, and their secrets nowhere else."""
import datetime
import json
import pathlib
import re
import subprocess
import time
import unittest

from service import Service, run, sha, trace

RUNS = "/api/v1/projects/demo/runs"


def later(**time_from_now) -> str:
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**time_from_now)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.addClassCleanup(cls.service.__exit__)
        cls.admin = (cls.service.data_dir / "admin-token").read_text().strip()
        cls.of_project = cls.service.token("demo", "admin")
        cls.uploader = cls.service.token("demo", "upload")

    def post(self, path, body=None, token=None):
        return self.service.call("POST", path, token or self.admin, b"" if body is None else json.dumps(body).encode())

    def listed(self, token=None) -> dict:
        return {row["id"]: row for row in self.service.call("GET", "/api/v1/tokens", token or self.admin).json["tokens"]}

    def status(self, token) -> int:
        return self.service.call("GET", RUNS, token).status

    def test_one_is_made_shown_once_used_and_revoked(self):
        made = self.post("/api/v1/tokens", {"project": "demo", "scopes": ["read"], "note": "wall\u202e", "expires_at": later(days=1)})
        self.assertEqual(made.status, 201, made)
        token, name = made.json["token"], made.json["id"]
        self.assertRegex(token, rf"^twr_{name}_[0-9a-f]{{64}}$")
        self.assertEqual(self.status(token), 200)
        row = self.listed()[name]
        self.assertEqual((row["project"], row["scopes"], row["state"], row["job"], row["note"]), ("demo", ["read"], "live", None, "wall\\u{202e}"))
        self.assertIsNotNone(row["last_used_at"])
        self.assertNotIn(token.split("_")[2], json.dumps(self.listed()))
        self.assertEqual(self.service.call("DELETE", f"/api/v1/tokens/{name}", self.admin).status, 204)
        self.assertEqual((self.status(token), self.listed()[name]["state"]), (401, "revoked"))
        audit = self.service.call("GET", "/api/v1/projects/demo/audit", self.admin).json["entries"]
        actions = [entry["action"] for entry in audit if name in entry["detail"]]
        self.assertEqual(sorted(actions), ["token_created", "token_revoked"])
        self.assertEqual({entry["actor"] for entry in audit if name in entry["detail"]}, {self.admin.split("_")[1]})

    def test_a_rotation_has_two_live_tokens_for_a_while(self):
        old = self.post("/api/v1/tokens", {"project": "demo", "scopes": ["upload", "read"], "expires_at": later(days=30)}).json
        new = self.post(f"/api/v1/tokens/{old['id']}/rotate", {"overlap_s": 1})
        self.assertEqual(new.status, 201, new)
        self.assertEqual((new.json["scopes"], new.json["project"], new.json["expires_at"][:10]), (["upload", "read"], "demo", later(days=30)[:10]))
        self.assertNotEqual(new.json["id"], old["id"])
        seen = {self.status(new.json["token"])}
        deadline = time.monotonic() + 10
        while self.status(old["token"]) != 401:
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(seen | {self.status(new.json["token"])}, {200})
        self.assertEqual(self.listed()[old["id"]]["state"], "expired")
        self.assertEqual(self.post(f"/api/v1/tokens/{old['id']}/rotate").status, 409)
        self.assertEqual(self.post(f"/api/v1/tokens/{new.json['id']}/rotate", {"overlap_s": -1}).status, 400)
        self.assertEqual(self.post("/api/v1/tokens/0000000000000000/rotate").status, 404)
        by_default = self.post(f"/api/v1/tokens/{new.json['id']}/rotate").json
        self.assertEqual(self.listed()[new.json["id"]]["expires_at"][:13], later(hours=24)[:13])
        self.assertEqual(self.status(by_default["token"]), 200)

    def test_a_token_has_one_successor(self):
        """Rotated again, the old one would hand on the end of its overlap and not its lifetime."""
        for expires in (later(days=30), None):
            with self.subTest(expires):
                old = self.post("/api/v1/tokens", {"project": "demo", "scopes": ["read"], "expires_at": expires}).json
                new = self.post(f"/api/v1/tokens/{old['id']}/rotate", {"overlap_s": 600}).json
                again = self.post(f"/api/v1/tokens/{old['id']}/rotate", {"overlap_s": 600})
                self.assertEqual(again.status, 409, again)
                self.assertIn(new["id"], again.json["detail"])
                self.assertEqual(self.listed()[old["id"]]["replaced_by"], new["id"])
                self.assertEqual(self.status(old["token"]), 200)
                last = self.post(f"/api/v1/tokens/{new['id']}/rotate").json
                self.assertEqual(last["expires_at"] and last["expires_at"][:10], expires and expires[:10])
                self.assertIsNone(self.listed()[last["id"]]["replaced_by"])

    def test_an_administrator_of_a_project_has_that_project_only(self):
        elsewhere = self.service.token("other", "read").split("_")[1]
        self.assertEqual({row["project"] for row in self.listed(self.of_project).values()}, {"demo"})
        self.assertEqual(self.post("/api/v1/tokens", {"project": "demo", "scopes": ["upload"]}, self.of_project).status, 201)
        self.assertEqual(self.post("/api/v1/tokens", {"project": "other", "scopes": ["upload"]}, self.of_project).status, 403)
        self.assertEqual(self.post("/api/v1/tokens", {"scopes": ["admin"]}, self.of_project).status, 403)
        self.assertEqual(self.service.call("DELETE", f"/api/v1/tokens/{elsewhere}", self.of_project).status, 404)
        self.assertEqual(self.post(f"/api/v1/tokens/{elsewhere}/rotate", None, self.of_project).status, 404)
        for token in (self.uploader, None):
            self.assertIn(self.service.call("GET", "/api/v1/tokens", token).status, (401, 403))

    def test_what_would_be_no_token_is_refused(self):
        rows = [{}, {"scopes": []}, {"scopes": ["root"]}, {"scopes": "read"}, {"scopes": ["read"]}, {"scopes": [1], "project": "demo"},
                {"scopes": ["read"], "project": "demo", "expires_at": "2020-01-01"}, {"scopes": ["read"], "project": "demo", "expires_at": "soon"},
                {"scopes": ["read"], "project": "demo", "secret": "mine"}]
        for body in rows:
            with self.subTest(body):
                self.assertEqual(self.post("/api/v1/tokens", body).status, 400)
        self.assertEqual(self.post("/api/v1/tokens", {"scopes": ["read"], "project": "nowhere"}).status, 404)

    def test_the_command_does_the_same(self):
        command = lambda *arguments: run("traceweird", "token", *arguments, env=self.service.environment())
        old = self.service.token("demo", "read", "--note", "by hand")
        name = old.split("_")[1]
        new = command("rotate", name, "--overlap", "0s")
        self.assertRegex(new.stdout, r"^twr_[0-9a-f]{16}_[0-9a-f]{64}\n$", new.stderr)
        self.assertEqual((self.status(old), self.status(new.stdout.strip())), (401, 200))
        rows = {row["id"]: row for row in json.loads(command("list", "--json").stdout)["tokens"]}
        self.assertEqual((rows[name]["state"], rows[name]["note"]), ("expired", "by hand"))
        table = command("list").stdout
        self.assertRegex(table, rf"{name} +demo +read .*expired .*by hand")
        for overlap in ("soon", "", "24", "91d", "-1h", "99999999h"):
            self.assertEqual(command("rotate", name, f"--overlap={overlap}").returncode, 2, overlap)
        self.assertEqual(command("rotate", "0000000000000000").returncode, 2)
        for verb in ("create", "list", "rotate", "revoke"):
            self.assertIn("Example", command(verb, "--help").stdout)


class Secrets(unittest.TestCase):
    """A secret is in no log, no counter, no error, no audit entry and no file, however it was sent."""

    def test_they_are_nowhere(self):
        with Service(failed_authentications_max=1000) as service:
            admin = (service.data_dir / "admin-token").read_text().strip()
            (service.data_dir / "admin-token").unlink()
            token = service.token("demo", "upload,read")
            wrong = token[:-4] + ("0000" if token[-4:] != "0000" else "1111")
            secrets = {text.split("_")[2] for text in (admin, token, wrong)}
            self.assertEqual(service.upload(token, trace("--steps", 4), sha(1), headers={"X-Request-Id": token}).status, 201)
            bodies = [service.upload(token, wrong.encode(), sha(2), job=admin), service.upload(wrong, b"{}", sha(2)),
                      service.call("GET", f"{RUNS}?branch={token}", token), service.call("GET", f"{RUNS}/{token}", token),
                      service.call("GET", f"/{token}"), service.call("GET", f"{RUNS}?{token}=1"), service.call("POST", f"{RUNS}?token={wrong}", wrong),
                      service.call("GET", RUNS, "x" + token), service.call("GET", RUNS, headers={"Authorization": f"Basic {token}"}),
                      service.call("GET", RUNS, headers={"Authorization": f"Bearer {token} {admin}"}),
                      service.call("PUT", "/api/v1/projects/demo", admin, json.dumps({token: 1}).encode()),
                      service.call("GET", "/metrics"), service.call("GET", "/readyz"), service.call("GET", "/api/v1/tokens", admin),
                      service.call("GET", "/api/v1/projects/demo/audit", admin)]
            self.assertEqual({answer.status for answer in bodies[:10]} & {200, 201}, set())
            told = [answer.body for answer in bodies if answer is not bodies[10]] + [service.log_path.read_bytes()]
            service.stop()
            told += [path.read_bytes() for path in service.data_dir.rglob("*") if path.is_file()]
            for secret in secrets:
                self.assertEqual([text[:80] for text in told if secret.encode() in text], [])


if __name__ == "__main__":
    unittest.main()
