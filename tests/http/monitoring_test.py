"""The dashboard for Grafana and the alerts for Prometheus ask for what GET /metrics has, with labels that it has, and leave
nothing out."""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import yaml
from service import BIN, Service, sha, stand_in, trace

HERE = pathlib.Path("docs/monitoring")
# Series that no panel needs, with the reason.
UNSHOWN = {}
# Labels that Prometheus adds to every series.
ADDED = {"instance", "job"}
# Words of PromQL that could be taken for a series.
WORD = re.compile(r"\b((?:traceweir|process)_[a-z0-9_]+)\b")
PARTS = re.compile(r"_(bucket|sum|count)$")


def exported() -> dict:
    """Series → its labels, of a service that has seen everything: a verdict, a lost file, a request that fits no route."""
    with tempfile.TemporaryDirectory() as folder:
        analyzer = stand_in(folder, "exec sleep 600")
        with Service(analysis_program=analyzer, stop_time_max="1 s") as service:
            token = service.token()
            service.upload(token, trace("--steps", 3), sha(1), wait=0)
            service.stop(signal.SIGKILL)
            for blob in (service.data_dir / "blobs").glob("*/*"):
                blob.unlink()
            analyzer.write_text(f'#!/bin/sh\nexec {BIN / "traceweir"} "$@"\n')
            service.start()
            service.upload(token, trace("--steps", 4), sha(2))
            text = service.call("GET", "/metrics").body.decode()
    series = {name: set() for name in re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)}
    for name, labels in re.findall(r"^([a-z_]+)\{(.*)\} ", text, re.MULTILINE):
        series[PARTS.sub("", name) if PARTS.sub("", name) in series else name] |= set(re.findall(r'(\w+)="', labels))
    return series


def names_in(expression: str) -> set:
    """Of series, without what is in quotes; a histogram's parts by its own name."""
    bare = re.sub(r'"[^"]*"', '""', expression)
    return {PARTS.sub("", name) if PARTS.search(name) and not name.endswith("_total") else name for name in WORD.findall(bare)}


def labels_in(expression: str) -> set:
    bare = re.sub(r'"[^"]*"', '""', expression)
    grouped = {name.strip() for group in re.findall(r"\bby \(([^)]*)\)", bare) for name in group.split(",")}
    return grouped | set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"\"", bare))


class Monitoring(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.series = exported()
        cls.dashboard = json.loads((HERE / "grafana.json").read_text())
        cls.panels = [panel for panel in cls.dashboard["panels"] if panel["type"] != "row"]
        cls.alerts = yaml.safe_load((HERE / "alerts.yml").read_text())["groups"][0]["rules"]

    def check(self, expression: str):
        names = names_in(expression)
        self.assertTrue(names, f"no series of ours in {expression}")
        self.assertLessEqual(names, set(self.series), expression)
        known = set().union(*(self.series[name] for name in names)) | ADDED | {"le"}
        self.assertLessEqual(labels_in(expression), known, expression)

    def test_the_dashboard_asks_for_what_there_is(self):
        for panel in self.panels:
            for target in panel["targets"]:
                with self.subTest(panel["title"], expr=target["expr"]):
                    self.check(target["expr"])
                    legend = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
                    self.assertLessEqual(legend, labels_in(target["expr"]) | ADDED, target["legendFormat"])
                    self.assertEqual(target["expr"].count("("), target["expr"].count(")"))

    def test_every_series_is_on_the_dashboard(self):
        shown = set().union(*(names_in(target["expr"]) for panel in self.panels for target in panel["targets"]))
        self.assertEqual(set(self.series) - shown - set(UNSHOWN), set(), "give it a panel, or a reason in UNSHOWN")
        self.assertLessEqual(set(UNSHOWN), set(self.series))

    def test_panels_say_what_they_are(self):
        self.assertEqual(len({panel["id"] for panel in self.dashboard["panels"]}), len(self.dashboard["panels"]))
        for panel in self.panels:
            with self.subTest(panel["title"]):
                self.assertGreater(len(panel["description"]), 15)
                self.assertTrue(panel["fieldConfig"]["defaults"]["unit"])
                self.assertLessEqual(panel["gridPos"]["x"] + panel["gridPos"]["w"], 24)
        taken = [(panel["gridPos"]["x"] + x, panel["gridPos"]["y"] + y) for panel in self.panels
                 for x in range(panel["gridPos"]["w"]) for y in range(panel["gridPos"]["h"])]
        self.assertEqual(len(taken), len(set(taken)), "panels overlap")

    def test_alerts_ask_for_what_there_is_and_say_what_to_do(self):
        anchors = {re.sub(r"[^\w\- ]", "", line.strip("# \n").lower()).replace(" ", "-")
                   for line in pathlib.Path("docs/operations.md").read_text().splitlines() if line.startswith("#")}
        for alert in self.alerts:
            with self.subTest(alert["alert"]):
                self.check(alert["expr"])
                self.assertIn(alert["labels"]["severity"], ("page", "ticket"))
                self.assertTrue(alert["annotations"]["summary"] and alert["annotations"]["description"])
                file, anchor = alert["annotations"]["runbook"].split("#")
                self.assertEqual(file, "docs/operations.md")
                self.assertIn(anchor, anchors)

    @unittest.skipIf(shutil.which("promtool") is None, "promtool (Debian: prometheus) is not installed")
    def test_prometheus_takes_the_alerts(self):
        done = subprocess.run(["promtool", "check", "rules", HERE / "alerts.yml"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
