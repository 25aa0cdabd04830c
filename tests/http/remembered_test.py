"""A stored run that is asked for again and again: answered from memory for a moment, and never with what it was."""
import time
import unittest

from levels import Levels
from service import run

# Remembered::age_max, and a margin for a machine that is busy.
AGE_SECONDS_MAX = 1
MARGIN_SECONDS = 10


class Remembered(Levels):
    def judged(self, project):
        """A run, and its path."""
        self.tokens(project)
        return self.path(project, self.upload(project, 1, 100))

    def path(self, project, run):
        return f"/api/v1/projects/{project}/runs/{run['id']}"

    def get(self, path, token, **headers):
        return self.service.call("GET", path, token, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def test_the_same_answer_to_the_same_question(self):
        path = self.judged("same")
        token = self.service.token("same", "read")
        first = self.get(path, token)
        self.assertEqual(first.status, 200, first)
        for _ in range(3):
            again = self.get(path, token)
            self.assertEqual((again.status, again.body), (200, first.body))
            self.assertNotEqual(again.headers["x-request-id"], first.headers["x-request-id"])
        self.assertIn("text/markdown", self.get(path, token, Accept="text/markdown").headers["content-type"])
        self.assertEqual(self.get(path + "?x=1", token).status, 400)

    def test_a_change_is_seen_at_once(self):
        self.tokens("changed")
        self.policy("changed", "")
        failed = self.upload("changed", self.history("changed", (100, 10)) + 1, 120)
        path = self.path("changed", failed)
        token = self.service.token("changed", "read")
        self.assertEqual(self.get(path, token).json["acceptances"], [])
        self.accept("changed", failed)
        self.assertEqual(len(self.get(path, token).json["acceptances"]), 1)
        self.undo("changed", failed)
        self.assertIsNotNone(self.get(path, token).json["acceptances"][0].get("undone_at", ""))

    def test_what_one_token_was_told_is_not_told_to_another(self):
        path = self.judged("mine")
        self.assertEqual(self.get(path, self.service.token("mine", "read")).status, 200)
        self.assertEqual(self.get(path, None).status, 401)
        self.assertEqual(self.get(path, "twr_0123456789abcdef_" + "0" * 40).status, 401)
        self.assertEqual(self.get(path, self.service.token("theirs", "read")).status, 403)

    def test_a_token_that_is_revoked_elsewhere_is_refused_within_a_moment(self):
        path = self.judged("revoked")
        token = self.service.token("revoked", "read")
        self.assertEqual(self.get(path, token).status, 200)
        done = run("traceweird", "token", "revoke", token.split("_")[1], env=self.service.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        revoked = time.monotonic()
        while self.get(path, token).status == 200:
            self.assertLess(time.monotonic() - revoked, AGE_SECONDS_MAX + MARGIN_SECONDS)


if __name__ == "__main__":
    unittest.main()
