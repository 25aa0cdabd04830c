#!/usr/bin/env python3
"""The benchmark judges, prints and measures as it says; no program of ours is needed."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import measuring
import table
from inputs import Inputs
from measuring import Cost, Failed, Figure


def row(**changes):
    return table.Row(**({"name": "a.row", "what": "this to that", "must": 1.3, "should": 0.9, "measure": None} | changes))


class Judging(unittest.TestCase):
    def test_at_most(self):
        for value, verdict in ((0.9, "should"), (0.91, "must"), (1.3, "must"), (1.31, "MISSED")):
            self.assertEqual(row().verdict(Figure(value, value, value)), verdict)

    def test_at_least(self):
        rising = row(must=0.06, should=0.2, at_least=True)
        for value, verdict in ((0.2, "should"), (0.19, "must"), (0.06, "must"), (0.059, "MISSED")):
            self.assertEqual(rising.verdict(Figure(value, value, value)), verdict)

    def test_documents(self):
        done = [table.Measured(row(), Figure(1.0, 0.8, 1.2, "1 s against 1 s"))]
        self.assertIn("must", table.line(done[0]))
        self.assertIn("0.8–1.2", table.line(done[0]))
        written = json.loads(table.document(done, {"runs": 5}))
        self.assertEqual((written["runs"], written["rows"][0]["value"], written["rows"][0]["verdict"]), (5, 1.0, "must"))
        metric = json.loads(table.metrics(done))["metrics"]["custom.bench.a.row"]
        self.assertEqual(metric, {"value": 1.0, "unit": "ratio", "better": "lower"})


class Measuring(unittest.TestCase):
    def test_ratio_is_of_medians_and_its_spread_of_pairs(self):
        ours, theirs = [Cost(1, 0), Cost(2, 0), Cost(9, 0)], [Cost(4, 0), Cost(4, 0), Cost(3, 0)]
        figure = measuring.ratio(ours, theirs)
        self.assertEqual((figure.value, figure.low, figure.high), (0.5, 0.25, 3.0))

    def test_runs_alternate(self):
        order = []
        costs = measuring.alternately(2, a=lambda: order.append("a"), b=lambda: order.append("b"))
        self.assertEqual(order, ["a", "b", "a", "b"])
        self.assertEqual({name: len(each) for name, each in costs.items()}, {"a": 2, "b": 2})

    def test_cost_of_a_program(self):
        busy = "import time\nx = bytearray(50_000_000)\nwhile time.process_time() < 0.1: pass\nprint('{\"cpu_s\": 7, \"wall_s\": 8}')"
        cost = measuring.cost_of([sys.executable, "-c", busy])
        self.assertGreaterEqual(cost.cpu, 0.09)
        self.assertGreaterEqual(cost.wall, 0.09)
        self.assertGreater(cost.rss, 50_000_000)
        own = measuring.own_cost_of([sys.executable, "-c", busy])
        self.assertEqual((own.cpu, own.wall), (7, 8))

    def test_a_program_that_fails_has_no_cost(self):
        with self.assertRaisesRegex(Failed, "exit 3: gone"):
            measuring.cost_of([sys.executable, "-c", "import sys; sys.stderr.write('gone'); sys.exit(3)"])

    def test_cpu_of_a_running_process_has_its_children(self):
        burn = "import subprocess, sys\nc = 'import time\\nwhile time.process_time() < 0.1: pass'\n"
        burn += "subprocess.run([sys.executable, '-c', c])\nprint(flush=True)\nsys.stdin.read()"
        with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
            parent.stdout.readline()
            self.assertGreaterEqual(measuring.cpu_under(parent.pid), 0.08)
            parent.stdin.close()


class Making(unittest.TestCase):
    def test_inputs_are_made_once_and_never_half(self):
        with tempfile.TemporaryDirectory() as folder:
            inputs = Inputs(pathlib.Path(folder) / "inputs", pathlib.Path("/none"), lambda text: None)

            def fails(part):
                part.write_text("half")
                raise Failed("no")
            self.assertRaises(Failed, inputs.made, "a", fails)
            path = inputs.made("a", lambda part: part.write_text("whole"))
            self.assertEqual(path.read_text(), "whole")
            self.assertEqual(inputs.made("a", fails), path)
            self.assertEqual([each.name for each in path.parent.iterdir()], [path.name])


if __name__ == "__main__":
    unittest.main()
