"""The snippets of ci-templates/capture, run with stand-ins of torch and nsys that keep how they were called: the flags that the gate
depends on, one file per rank, the steps."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from service import trace

CAPTURE = pathlib.Path(__file__).resolve().parents[2] / "ci-templates/capture"

TORCH = '''
import contextlib, json, pathlib
calls = []
class Anything:
    """Whatever of torch the training itself uses."""
    def __getattr__(self, name): return Anything()
    def __call__(self, *a, **k): return Anything()
class ProfilerActivity: CPU, CUDA = "cpu", "cuda"
class profile:
    def __init__(self, **options):
        self.options, self.steps = options, 0
        calls.append({"profile": {key: value for key, value in options.items() if key != "on_trace_ready"}})
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def step(self):
        self.steps += 1
        if self.steps == self.options["schedule"]["wait"] + self.options["schedule"]["warmup"] + self.options["schedule"]["active"]:
            self.options["on_trace_ready"](self)
    def export_chrome_trace(self, path): pathlib.Path(path).write_text(json.dumps({"steps": self.steps, "calls": calls}))
class profiler:
    ProfilerActivity, profile = ProfilerActivity, profile
    @staticmethod
    def schedule(**options): return options
class cuda:
    class profiler:
        @staticmethod
        def start(): calls.append("start")
        @staticmethod
        def stop(): calls.append("stop")
    class nvtx:
        @staticmethod
        def range_push(name): calls.append("push " + name)
        @staticmethod
        def range_pop(): calls.append("pop")
    @staticmethod
    def set_device(index): calls.append(f"device {index}")
    @staticmethod
    def synchronize(): calls.append("synchronize")
nn, optim, randn = Anything(), Anything(), Anything()
'''
NSYS = """#!/bin/sh
echo "$@" >>"$NSYS_LOG"
for word in "$@"; do case $word in --output=*) out=${word#--output=} ;; esac; done
case $1 in profile) echo report >"$out.nsys-rep" ;; export) [ -e "${out%.sqlite}.nsys-rep" ] && echo export >"$out" ;; esac
"""


class Capture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "torch.py").write_text(TORCH)
        (self.folder / "nsys").write_text(NSYS)
        (self.folder / "nsys").chmod(0o755)
        self.environment = {"PATH": f"{self.folder}:{os.environ['PATH']}", "PYTHONPATH": f"{self.folder}:{CAPTURE}", "NSYS_LOG": str(self.folder / "log"),
                            "PYTHONDONTWRITEBYTECODE": "1"}

    def run_it(self, *command, **more):
        done = subprocess.run([*map(str, command)], cwd=self.folder, env=self.environment | more, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_torch_profiler_writes_ten_steps_one_file_per_rank(self):
        for rank in ("0", "11"):
            self.run_it(sys.executable, CAPTURE / "torch_profile.py", "traces", RANK=rank, LOCAL_RANK=rank)
            self.assertIn(f"device {rank}", json.loads((self.folder / f"traces/rank{rank}.pt.trace.json.gz").read_text())["calls"], "all ranks share a GPU")
        self.assertEqual(sorted(path.name for path in (self.folder / "traces").iterdir()), ["rank0.pt.trace.json.gz", "rank11.pt.trace.json.gz"])
        said = json.loads((self.folder / "traces/rank0.pt.trace.json.gz").read_text())
        options = next(call for call in said["calls"] if "profile" in call)["profile"]
        self.assertGreaterEqual(options["schedule"]["active"], 10)
        self.assertGreater(options["schedule"]["warmup"], 0)
        self.assertEqual(options["activities"], ["cpu", "cuda"])
        self.assertEqual((options["record_shapes"], options["profile_memory"], options["with_stack"]), (False, False, False))

    def test_nsys_has_the_flags_that_the_gate_depends_on(self):
        self.run_it(CAPTURE / "nsys_profile.sh", "traces", "python", "train.py", RANK="3")
        profile, export = (self.folder / "log").read_text().splitlines()
        for flag in ("--trace=cuda,nvtx", "--cuda-graph-trace=node", "--capture-range=cudaProfilerApi", "--output=traces/rank3"):
            self.assertIn(f" {flag} ", profile)
        self.assertTrue(profile.endswith(" python train.py"))
        for flag in ("--type=sqlite", "--include-blobs=true"):
            self.assertIn(f" {flag} ", export)
        self.assertTrue((self.folder / "traces/rank3.sqlite").exists())

    def test_the_rank_comes_from_whoever_starts_the_job(self):
        for name in ("OMPI_COMM_WORLD_RANK", "SLURM_PROCID"):
            self.run_it(CAPTURE / "nsys_profile.sh", name, "true", **{name: "5"})
            self.assertTrue((self.folder / name / "rank5.sqlite").exists())

    def test_what_is_left_can_be_gated_as_the_templates_do(self):
        """On a host without nsys; and with the report put back beside its export, each rank still counts once."""
        binary = pathlib.Path(os.environ.get("TRACEWEIR_BIN_DIR", "build/release")).resolve() / "traceweir"
        for rank in (0, 1):
            (self.folder / f"made{rank}.sqlite").write_bytes(trace("--format", "nsys", "--steps", 6, "--ranks", 2, "--rank", rank, name="made.sqlite"))
            (self.folder / "nsys").write_text(NSYS.replace("echo report", "printf 'QuadD report'").replace("echo export >", f"cat made{rank}.sqlite >"))
            self.run_it(CAPTURE / "nsys_profile.sh", "traces/", "python", "train.py", RANK=str(rank))
        self.assertEqual(sorted(path.name for path in (self.folder / "traces").iterdir()), ["rank0.sqlite", "rank1.sqlite"])
        (self.folder / "nsys").unlink()
        for report in ("kept apart", "beside"):
            for given in (["traces/rank*"], ["traces"], sorted((self.folder / "traces").iterdir())):
                said = json.loads(self.run_it(binary, "gate", *given, "--project", "p", "--commit", "1" * 40, "--branch", "main", "--nsys", "off", "--dry-run", "--json"))
                self.assertEqual(len(said["ranks"]), 2, (report, given))
            said = json.loads(self.run_it(binary, "analyze", "traces", "--nsys", "off", "--json"))
            self.assertEqual(len(said["ranks"]), 2, report)
            for path in (self.folder / "traces.reports").iterdir():
                path.rename(self.folder / "traces" / path.name)

    def test_steps_are_ranges_within_the_capture(self):
        said = self.run_it(sys.executable, "-c", "import torch, nsys_steps\nfor _ in nsys_steps.marked_steps(): pass\nprint('|'.join(torch.calls))").strip().split("|")
        captured = said[said.index("start"):said.index("stop")]
        self.assertGreaterEqual(len([call for call in captured if re.fullmatch(r"push ProfilerStep#\d+", call)]), 10)
        self.assertEqual(said.count("pop"), len([call for call in said if call.startswith("push")]))
        self.assertEqual(said[said.index("stop") - 1], "synchronize", "work of the last step could be cut off")


if __name__ == "__main__":
    unittest.main()
