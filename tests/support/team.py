"""A team for tests of CI templates: its repository with a history, its profiling step, the client as a tarball, its project."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

from service import BIN, Service, run, trace

PROFILE = """#!/usr/bin/env bash
# The training job of the test: "measures" what ci/kind says, and shows what it could see.
set -euo pipefail
mkdir -p "$1"
kind=$(cat ci/kind)
cp "{traces}/$kind" "$1/rank0.json.gz"
env >"{seen}/$(git rev-parse HEAD)"
"""


class Team:
    """Use as a context manager: service, repository `origin` (main has six measured commits)."""

    def __init__(self, project="llama"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="traceweir-team-"))
        self.origin, self.traces, self.seen = (self.folder / name for name in ("origin", "traces", "seen"))
        for made in (self.origin, self.traces, self.seen):
            made.mkdir()
        self.project = project
        self.service = Service()

    def __enter__(self):
        self.service.__enter__()
        self.token = self.service.token(self.project)
        (self.traces / "good").write_bytes(trace("--seed", 1, "--gzip", name="t.json.gz"))
        (self.traces / "stalled").write_bytes(trace("--seed", 2, "--gzip", "--stall-loader", 5, name="t.json.gz"))
        (self.traces / "rank1").write_bytes(trace("--seed", 1, "--rank", 1, "--gzip", name="t.json.gz"))
        (self.traces / "broken").write_text('{"hello": "world"}')
        self.make_repository()
        self.pack_client()
        self.measure_main()
        return self

    def __exit__(self, *_):
        self.service.__exit__()
        shutil.rmtree(self.folder)

    def git(self, *arguments) -> str:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        return subprocess.run(["git", "-C", self.origin, "-c", "user.name=t", "-c", "user.email=t@localhost", *map(str, arguments)],
                              check=True, capture_output=True, text=True, env=environment).stdout.strip()

    def write(self, path: str, text: str, mode=0o644):
        file = self.origin / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def commit(self, subject: str, kind="good") -> str:
        """A commit on the branch that is checked out; its training measures what `kind` says."""
        self.write("ci/kind", kind)
        self.write("subject", subject)
        self.git("add", "--all")
        self.git("commit", "-q", "-m", subject)
        return self.git("rev-parse", "HEAD")

    def make_repository(self):
        self.git("init", "-q", "-b", "main", ".")
        self.git("config", "uploadpack.allowAnySHA1InWant", "true")
        self.write("ci/profile.sh", PROFILE.format(traces=self.traces, seen=self.seen), 0o755)
        self.write(".traceweir.toml", f'version = 1\nproject = "{self.project}"\nworkload = "ddp"\n[rules."gpu.utilization"]\nworse_by = "3pp"\n')

    def add_templates(self, source: pathlib.Path, target: str):
        shutil.copytree(source, self.origin / target, dirs_exist_ok=True)

    def pack_client(self):
        self.client = self.folder / "client.tar.gz"
        with tarfile.open(self.client, "w:gz") as tar:
            tar.add(BIN / "traceweir", "traceweir-0-linux-x86_64/bin/traceweir")
        self.client_url = self.client.as_uri()
        self.client_sha256 = hashlib.sha256(self.client.read_bytes()).hexdigest()

    def measure_main(self):
        environment = self.service.environment() | {"TRACEWEIR_TOKEN": self.token}
        for number in range(6):
            self.commit(f"main {number}")
            done = run("traceweir", "gate", self.traces / "good", "--branch", "main", env=environment, cwd=self.origin)
            assert done.returncode == 0, done.stderr + done.stdout

    def runs(self, **query) -> list:
        """Newest first, with everything that is stored of each."""
        text = "&".join(f"{key}={value}" for key, value in query.items())
        page = self.service.call("GET", f"/api/v1/projects/{self.project}/runs?{text}", self.token).json["runs"]
        return [self.service.call("GET", one["links"]["self"], self.token).json for one in page]

    def seen_by(self, commit: str) -> str:
        """The environment that the training of a commit saw."""
        return (self.seen / commit).read_text()
