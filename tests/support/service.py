"""A traceweird of the test's own: started on a free port with a store of its own, spoken to over HTTP.

The programs come from TRACEWEIR_BIN_DIR (release builds), the trace generator from TRACEWEIR_MAKE_TRACE; the kind of
store from TRACEWEIR_TEST_STORE: `sqlite` (default) or `postgres`.
Standard library only. Waiting always has an end and never sleeps longer than it must.
"""
import functools
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse

from postgres import Shared

BIN = pathlib.Path(os.environ.get("TRACEWEIR_BIN_DIR", "build/release")).resolve()
MAKE_TRACE = os.environ.get("TRACEWEIR_MAKE_TRACE", str(BIN / "make_trace"))
STORE = os.environ.get("TRACEWEIR_TEST_STORE", "sqlite")
START_SECONDS_MAX = 20
SETTINGS = {"requests_per_address_max": 0}
# A program built with sanitizers cannot start under a limit of its address space.
SANITIZED = {"TRACEWEIR_ANALYSIS_MEMORY_MAX": "0 B"} if os.environ.get("TRACEWEIR_SANITIZED") else {}


def sha(number: int) -> str:
    """A commit id that says its number."""
    return f"{number:040x}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@functools.cache
def cluster() -> Shared:
    """The cluster that the tests share; it is joined when the first service wants a database."""
    return Shared()


class Answer:
    def __init__(self, status: int, headers: dict, body: bytes):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.body[:300]!r}>"


class Service:
    """Use as a context manager. `settings` are configuration keys."""

    def __init__(self, **settings):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="traceweir-test-"))
        self.data_dir = self.folder / "data"
        self.settings = SETTINGS | settings
        self.port = free_port()
        self.process = None
        self.log_path = self.folder / "log"
        self.store = self.new_store()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def environment(self) -> dict:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("TRACEWEIR_", "GIT_"))}
        return clean | {"TRACEWEIR_DATA_DIR": str(self.data_dir), "TRACEWEIR_URL": self.url} | SANITIZED | self.store

    def new_store(self) -> dict:
        """The variables that name an empty store; the embedded one follows the data folder."""
        return {"TRACEWEIR_STORE": cluster().new_database()} if STORE == "postgres" else {}

    def forget(self):
        """Nothing is left of the store."""
        for part in self.data_dir.glob("traceweir.db*"):
            part.unlink()
        self.store = self.new_store()

    def start(self, until="/readyz"):
        settings = {"listen": f"127.0.0.1:{self.port}"} | self.settings
        flags = [f"--{key.replace('_', '-')}={value}" for key, value in settings.items()]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([BIN / "traceweird", *flags], env=self.environment(), stderr=log, stdout=log)
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                if self.call("GET", until, token=None).status == 200:
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the service did not start: {self.log_path.read_text()}")
            time.sleep(0.02)

    def stop(self, how=signal.SIGTERM) -> int:
        if self.process is None or self.process.poll() is not None:
            return 0 if self.process is None else self.process.returncode
        self.process.send_signal(how)
        return self.process.wait(timeout=40)

    def descriptors(self) -> list:
        """What the service has open now."""
        return os.listdir(f"/proc/{self.process.pid}/fd")

    def log(self) -> list:
        """The log's lines, each of which must be JSON."""
        return [json.loads(line) for line in self.log_path.read_text().splitlines()]

    def logged(self, least=1, seconds=10, **fields) -> list:
        """The log's lines that have these fields, once there are so many: a request's line follows its answer."""
        deadline = time.monotonic() + seconds
        while True:
            lines = [line for line in self.log() if fields.items() <= line.items()]
            if len(lines) >= least or time.monotonic() >= deadline:
                return lines
            time.sleep(0.01)

    def run_errors(self) -> dict:
        """Tries that failed for the service's own reasons, by code, of those that did."""
        text = self.call("GET", "/metrics").body.decode()
        counts = re.findall(r'^traceweir_run_errors_total\{code="(\w+)"\} (\d+)$', text, re.MULTILINE)
        return {code: int(count) for code, count in counts if count != "0"}

    def token(self, project="demo", scope="upload,read", *more) -> str:
        arguments = ["token", "create", "--scope", scope, *more] + (["--project", project] if project else [])
        made = subprocess.run([BIN / "traceweird", *arguments], env=self.environment(), capture_output=True, text=True)
        if made.returncode != 0:
            raise RuntimeError(made.stderr)
        return made.stdout.strip()

    def call(self, method: str, path: str, token=None, body=b"", headers=None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        fields = dict(headers or {})
        if token:
            fields["Authorization"] = f"Bearer {token}"
        try:
            connection.request(method, path, body=body if method in ("POST", "PUT") else None, headers=fields)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def upload(self, token: str, body: bytes, commit: str, project="demo", headers=None, **query) -> Answer:
        query = {"commit": commit, "branch": "main"} | query
        path = f"/api/v1/projects/{project}/runs?" + urllib.parse.urlencode(query)
        return self.call("POST", path, token, body, headers)


def trace(*arguments, name="trace.json") -> bytes:
    """The bytes of a trace of the generator."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        subprocess.run([MAKE_TRACE, *map(str, arguments), path], check=True, stdout=subprocess.DEVNULL)
        return path.read_bytes()


def stand_in(folder, script: str) -> pathlib.Path:
    """A shell script in the place of the analyzer. The service first starts it without an upload, to see what it locks
    itself in with; that one ends at once."""
    path = pathlib.Path(folder) / "analyzer"
    path.write_text(f"#!/bin/sh\n[ -n \"$(head -c 1)\" ] || exit 0\n{script}\n")
    path.chmod(0o755)
    return path


def run(program: str, *arguments, env=None, cwd=None) -> subprocess.CompletedProcess:
    """Runs one of our programs; its output is text. Not in the clone that the tests lie in, whose default branch and whose commits
    it would find."""
    return subprocess.run([BIN / program, *map(str, arguments)], capture_output=True, text=True, env=env,
                          cwd=cwd or tempfile.gettempdir(), timeout=120)
