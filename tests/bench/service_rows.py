"""Rows about the service: uploads, histories and stored runs, on a Postgres of the benchmark's own, against programs that
do the least of the same."""
import contextlib
import functools
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import tempfile
import time

import history
from inputs import Inputs, Sizes
from measuring import Cost, Failed, Figure, alternately, cost_of, cpu_under, own_cost_of, ratio, warm
from postgres import Cluster
from service import Service, free_port, sha
from table import Row

CLIENTS = 8
HISTORY_POINTS = 10_000
START_SECONDS_MAX = 20
NGINX = """daemon off; master_process off; pid {folder}/pid; error_log {folder}/error;
events {{}}
http {{ access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e; keepalive_requests 1000000;
server {{ listen 127.0.0.1:{port}; location / {{ return 200 "ok"; }} }} }}
"""


class BenchService(Service):
    """On a database of the benchmark's cluster."""

    def __init__(self, database: str):
        self.database = database
        super().__init__()

    def new_store(self) -> dict:
        return {"TRACEWEIR_STORE": self.database}


class Services:
    """What is started for the rows is started when the first one asks for it. Use as a context manager."""

    def __init__(self, inputs: Inputs, sizes: Sizes, programs: pathlib.Path, runs: int):
        self.inputs, self.sizes, self.programs, self.runs = inputs, sizes, programs, runs
        self.quick = sizes.kernels < 1_000_000
        self.stack = contextlib.ExitStack()
        self.commits = self.sent = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    @functools.cached_property
    def folder(self) -> pathlib.Path:
        return pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="traceweir-bench-")))

    @functools.cached_property
    def cluster(self) -> Cluster:
        return self.stack.enter_context(Cluster())

    @functools.cached_property
    def database(self) -> str:
        return self.cluster.new_database()

    @functools.cached_property
    def service(self) -> BenchService:
        return self.stack.enter_context(BenchService(self.database))

    @functools.cached_property
    def token(self) -> str:
        return self.service.token("demo")

    @functools.cached_property
    def nginx(self) -> tuple:
        """The process and its port."""
        port = free_port()
        (self.folder / "nginx.conf").write_text(NGINX.format(folder=self.folder, port=port))
        server = subprocess.Popen(["/usr/sbin/nginx", "-p", self.folder, "-c", self.folder / "nginx.conf"],
                                  stderr=subprocess.DEVNULL)
        self.stack.callback(lambda: (server.terminate(), server.wait()))
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline and server.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                return server, port
            time.sleep(0.02)
        raise Failed(f"nginx did not start: {(self.folder / 'error').read_text()[-300:]}")

    # ---- requests

    def head(self, method: str, path: str, length=0) -> bytes:
        return (f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self.token}\r\n"
                f"Content-Length: {length}\r\n\r\n").encode()

    def upload_path(self, commit: str) -> str:
        return f"/api/v1/projects/demo/runs?commit={commit}&branch=main&workload=bench"

    def clients(self, port: int, count: int, request: bytes, clients=CLIENTS) -> dict:
        """Numbers in the request go on from call to call: a commit is not measured again."""
        file = self.folder / "request"
        file.write_bytes(request)
        first, self.sent = self.sent, self.sent + count
        return cost_of([self.programs / "bench_clients", port, clients, count, file, first]).said

    def send_file(self, port: int, file: pathlib.Path) -> bytes:
        """The answer to an upload of the file; the client costs next to nothing."""
        self.commits += 1
        with socket.create_connection(("127.0.0.1", port)) as connection, open(file, "rb") as body:
            connection.sendall(self.head("POST", self.upload_path(sha(self.commits)), os.fstat(body.fileno()).st_size))
            connection.sendfile(body)
            answer = connection.recv(1 << 16)
        return answer

    # ---- upload and verdict

    def upload(self, file: pathlib.Path) -> Cost:
        process = self.service.process.pid
        before, begun = cpu_under(process), time.monotonic()
        answer = self.send_file(self.service.port, file)
        wall = time.monotonic() - begun
        if b" 201 " not in answer.partition(b"\r\n")[0]:
            raise Failed(f"the upload was answered {answer[:300]!r}")
        return Cost(cpu_under(process) - before, wall)

    def sink(self, file: pathlib.Path) -> Cost:
        with subprocess.Popen([self.programs / "bench_sink"], stdout=subprocess.PIPE, text=True) as sink:
            port = json.loads(sink.stdout.readline())["port"]
            self.send_file(port, file)
            said = json.loads(sink.stdout.read())
        if said["bytes"] != file.stat().st_size:
            raise Failed(f"the sink took {said['bytes']} bytes")
        return Cost(said["cpu_s"], said["wall_s"])

    def pieces(self, file: pathlib.Path) -> Cost:
        """What an upload is made of: analysis, receiving, hash and write."""
        cli = cost_of([self.programs / "traceweir", "analyze", "--json", file])
        kept = own_cost_of([self.programs / "bench_hash_write", file, self.folder / "kept"])
        return Cost(cli.cpu + self.sink(file).cpu + kept.cpu, 0)

    def upload_and_verdict(self) -> Figure:
        file = self.inputs.kineto(self.sizes.middle)
        warm(file)
        costs = alternately(self.runs, ours=lambda: self.upload(file), pieces=lambda: self.pieces(file))
        return ratio(costs["ours"], costs["pieces"])

    # ---- small uploads

    def small_uploads(self) -> float:
        """Answered with their verdict, per second."""
        body = self.inputs.upload().read_bytes()
        request = self.head("POST", self.upload_path("@" * 40), len(body)) + body
        said = self.clients(self.service.port, 200 if self.quick else 1000, request)
        return said["answers"] / said["wall_s"]

    def pgbench(self, *options) -> str:
        return self.cluster.run("pgbench", "-h", self.cluster.folder, "-U", "postgres", *options, "bench")

    @functools.cached_property
    def pgbench_tables(self) -> bool:
        self.cluster.psql("CREATE DATABASE bench")
        self.pgbench("-i", "-q", "-s", 10)
        return True

    def pgbench_rate(self) -> float:
        assert self.pgbench_tables
        out = self.pgbench("-N", "-n", "-c", CLIENTS, "-j", 2, "-T", 2 if self.quick else 5)
        return float(re.search(r"tps = ([0-9.]+)", out)[1])

    def uploads_to_pgbench(self) -> Figure:
        rates = alternately(self.runs, ours=self.small_uploads, pgbench=self.pgbench_rate)
        per_s = {name: statistics.median(each) for name, each in rates.items()}
        return ratio(rates["ours"], rates["pgbench"], note=f"{per_s['ours']:.0f}/s against {per_s['pgbench']:.0f}/s")

    # ---- history

    @functools.cached_property
    def filled(self) -> str:
        """The metric of which there is a history of HISTORY_POINTS."""
        token = self.service.token("series")
        answer = self.service.upload(token, self.inputs.upload().read_bytes(), sha(1), project="series")
        if answer.status != 201:
            raise Failed(f"the first run of the history was answered {answer}")
        metric = "gpu.utilization"
        history.fill(self.cluster, self.database, answer.json["id"], metric, HISTORY_POINTS)
        self.series_token = token
        return metric

    def history_p50(self) -> Cost:
        metric = self.filled
        path = f"/api/v1/projects/series/history?metric={metric}&branch=main"
        request = self.head("GET", path).replace(self.token.encode(), self.series_token.encode())
        said = self.clients(self.service.port, 20 if self.quick else 50, request, clients=1)
        return Cost(0, said["p50_s"], 0, json.dumps(said))

    def fetch_p50(self) -> Cost:
        said = own_cost_of([self.programs / "bench_fetch", self.database, "series", self.filled, HISTORY_POINTS,
                            20 if self.quick else 50]).said
        if said["rows"] != HISTORY_POINTS:
            raise Failed(f"the history has {said['rows']} rows")
        return Cost(0, said["p50_s"])

    def history_to_fetch(self) -> Figure:
        costs = alternately(self.runs, ours=self.history_p50, fetch=self.fetch_p50)
        return ratio(costs["ours"], costs["fetch"], "wall")

    # ---- a stored run

    @functools.cached_property
    def stored_run(self) -> bytes:
        answer = self.service.upload(self.token, self.inputs.upload().read_bytes(), "f" * 40)
        if answer.status != 201:
            raise Failed(f"the run was answered {answer}")
        return self.head("GET", answer.headers["location"])

    def per_answer(self, process: int, port: int, count: int, request: bytes) -> float:
        before = cpu_under(process)
        self.clients(port, count, request)
        return (cpu_under(process) - before) / count

    def stored_to_nginx(self) -> Figure:
        request, (nginx, nginx_port) = self.stored_run, self.nginx
        costs = alternately(
            self.runs,
            ours=lambda: self.per_answer(self.service.process.pid, self.service.port, 5_000 if self.quick else 10_000, request),
            nginx=lambda: self.per_answer(nginx.pid, nginx_port, 20_000 if self.quick else 50_000, self.head("GET", "/")))
        return ratio(costs["ours"], costs["nginx"])

    def rows(self) -> list:
        return [
            Row("service.upload", f"upload and verdict of {self.sizes.middle} JSON, CPU to analysis + R7 + SHA-256 + write", 1.3,
                1.1, self.upload_and_verdict),
            Row("service.small", f"durable uploads of 25 kB at {CLIENTS} clients, rate to pgbench -N", 0.06, 0.2,
                self.uploads_to_pgbench, at_least=True),
            Row("service.history", "10k-point history over HTTP, p50 to R6", 1.5, 1.1, self.history_to_fetch),
            Row("service.stored", "GET of a stored run, CPU to nginx return", 6, 3, self.stored_to_nginx),
        ]
