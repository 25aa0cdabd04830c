"""The commit graph from outside: what is taken, what is refused, and that it finds the baseline."""
import json
import unittest

from service import Service, sha, trace

PATH = "/api/v1/projects/demo/commits"


class Commits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.token = cls.service.token()

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def put(self, body, token=None):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.service.call("PUT", PATH, token or self.token, body)

    def test_the_graph_finds_the_baseline_of_a_commit_whose_parents_the_upload_does_not_say(self):
        graph = [{"sha": sha(n), "parents": [sha(n - 1)], "committed_at": f"2026-11-0{n}T10:00:00Z", "subject": "s",
                  "author": "a"} for n in range(2, 9)] + [{"sha": sha(1)}]
        self.assertEqual(self.put(graph).status, 204)
        self.assertEqual(self.put(graph).status, 204, "again is fine")
        runs = [self.service.upload(self.token, trace("--seed", n), sha(n)).json for n in (1, 2, 3, 4, 5)]
        sixth = self.service.upload(self.token, trace("--seed", 6), sha(8)).json
        self.assertEqual(sixth["verdict"]["ancestry"], "known")
        self.assertEqual(set(sixth["verdict"]["baseline_runs"]), {run["id"] for run in runs})
        history = self.service.call("GET", "/api/v1/projects/demo/history?metric=gpu.utilization", self.token).json
        self.assertEqual(history["points"][1]["committed_at"], "2026-11-02T10:00:00Z")
        by_class = "/api/v1/projects/demo/runs?environment=" + history["points"][0]["environment"].replace(" ", "%20")
        self.assertEqual(len(self.service.call("GET", by_class, self.token).json["runs"]), 6)
        self.assertEqual(self.service.call("GET", by_class + "x", self.token).json["runs"], [])

    def test_what_is_refused(self):
        one = {"sha": sha(20)}
        rows = [
            ("no JSON", b"[", "JSON"),
            ("no list", {}, "list"),
            ("no commit", [1], "commit 0"),
            ("no id", [{"subject": "x"}], "sha"),
            ("a short id", [{"sha": "abc"}], "sha"),
            ("an unknown key", [one | {"date": "x"}], "date"),
            ("a parent that is none", [one, one | {"parents": ["abc"]}], "commit 1: parents"),
            ("its own parent", [one | {"parents": [sha(20)]}], "parents"),
            ("too many parents", [one | {"parents": [sha(n) for n in range(21)]}], "20"),
            ("no time", [one | {"committed_at": "yesterday"}], "committed_at"),
            ("too many", [{"sha": sha(n)} for n in range(1001)], "1000"),
            ("deep", b"[" * 100_000, ""),
            ("half a character", [one | {"author": "\ud800"}], ""),
        ]
        for name, body, part in rows:
            with self.subTest(name):
                answer = self.put(body)
                self.assertEqual((answer.status, answer.json["type"]), (400, "bad_body"), answer)
                self.assertIn(part, answer.json["detail"])

    def test_who_may(self):
        self.assertEqual(self.put([], self.service.token("demo", "read")).status, 403)
        self.assertEqual(self.put([], self.service.token("other")).status, 403)
        self.assertEqual(self.put([]).status, 204)

    def test_texts_come_in_clean(self):
        self.assertEqual(self.put([{"sha": sha(30), "subject": "a\u001b[31m\u202e" + "x" * 5000, "author": "\u0000`|"}]).status,
                         204)


if __name__ == "__main__":
    unittest.main()
