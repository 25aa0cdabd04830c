"""Histories of one metric for tests: a service, and runs whose steps take as long as a test says."""
import json
import unittest
import urllib.parse

from service import Service, sha, trace

RULE = '[rules."step.time_p50"]\nworse_by = "5%"\n'


class Levels(unittest.TestCase):
    report = None

    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.admin = cls.service.token(None, "admin")
        cls.known = {}

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def policy(self, project, text):
        answer = self.service.call("PUT", f"/api/v1/projects/{project}/policy", self.admin, (RULE + text).encode())
        self.assertEqual(answer.status, 204, answer)

    def upload(self, project, number, milliseconds, **query):
        """A run whose steps take so long: the report of a real trace, with that value."""
        if Levels.report is None:
            first = self.service.upload(self.service.token("maker"), trace("--seed", 1), sha(1), project="maker")
            Levels.report = first.json["report"]
        report = json.loads(json.dumps(Levels.report))
        for part in [report["run"], *report["ranks"]]:
            for row in part["measurements"]:
                if row["metric"] == "step.time_p50":
                    row["value"] = round(milliseconds * 1e6)
                    row.update({key: row["value"] for key in ("min", "max") if key in row})
        answer = self.service.upload(self.tokens(project), json.dumps(report).encode(), sha(number), project=project, **query)
        self.assertEqual(answer.status, 201, answer)
        return answer.json

    def tokens(self, project):
        """The project's token; the first call makes the project."""
        if project not in self.known:
            self.known[project] = self.service.token(project)
        return self.known[project]

    def history(self, project, *levels):
        number = 0
        for milliseconds, count in levels:
            for i in range(count):
                number += 1
                self.upload(project, number, milliseconds * (1.002 if i % 2 else 0.998))
        return number

    def rule(self, run, against=None):
        """The result of the rule on step.time_p50."""
        return next(rule for rule in run["verdict"]["rules"]
                    if rule["metric"] == "step.time_p50" and rule["against"] == against)

    def page(self, project, metric="step.time_p50", **query):
        """The history page of a metric."""
        path = f"/api/v1/projects/{project}/history?" + urllib.parse.urlencode({"metric": metric} | query)
        answer = self.service.call("GET", path, self.tokens(project))
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def accept(self, project, run, status=201, **body):
        body = {"metrics": ["step.time_p50"], "reason": "a larger batch"} | body
        path = f"/api/v1/projects/{project}/runs/{run['id']}/accept"
        answer = self.service.call("POST", path, self.admin, json.dumps(body).encode())
        self.assertEqual(answer.status, status, answer)
        return answer.json

    def undo(self, project, run, status=204):
        answer = self.service.call("DELETE", f"/api/v1/projects/{project}/runs/{run['id']}/accept", self.admin)
        self.assertEqual(answer.status, status, answer)

    def commits(self, project, graph):
        answer = self.service.call("PUT", f"/api/v1/projects/{project}/commits", self.tokens(project), json.dumps(graph).encode())
        self.assertEqual(answer.status, 204, answer)

    def notices(self, project):
        return [line for line in self.service.log() if line["event"] == "notice" and line["project"] == project]
