#!/usr/bin/env python3
"""Proves Dockerfile and docker-compose.yml on a machine without a container engine: `./dev containers`.

1. Builds the image: the Dockerfile's own instructions, each stage in a fresh Debian 12 root (dockerfile.py).
2. Plays `docker compose up`: the services in their order, with their environment, volumes, health checks and rights, on a network
   of their own. The image postgres:15 cannot be pulled here; Debian's PostgreSQL 15 with the same variables stands in for it.
3. Uses it: a token, an upload, a restart of both; the run must still be there.
`--reuse` takes the roots that the last call built and plays only 2 and 3. Needs root and debootstrap. Says in one line what it proved.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import yaml

from dockerfile import Builder
from roots import How, Image, enter, fresh_root, root_of

PROJECT = pathlib.Path(__file__).resolve().parents[2]
WORK = PROJECT / "build/containers"
TRACE = PROJECT / "tests/golden/kineto/worked_example/input.json"
HEALTHY_SECONDS_MAX = 60
STOP_SECONDS_MAX = 30
CLONE_NEWNET = 0x40000000
POSTGRES_BIN = "/usr/lib/postgresql/15/bin"


def with_variables(text: str) -> str:
    """${NAME:-default} as compose replaces it where nothing is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def postgres_stand_in(how: How) -> Image:
    """What the official image does with its variables, done by Debian's packages."""
    image = Image(root_of(WORK / "postgres", fresh_root(WORK / "base"), how))
    install = "apt-get update && apt-get install -y --no-install-recommends postgresql-15"
    log = WORK / "run.log"
    with open(log, "wb") as out:
        code = 0 if how is How.reused else enter(image, ["sh", "-c", install], extra={"DEBIAN_FRONTEND": "noninteractive"}, stdout=out, stderr=out).wait()
    if code != 0:
        raise SystemExit(log.read_text(errors="replace")[-4000:])
    image.environment["PATH"] += ":" + POSTGRES_BIN
    image.user = "postgres"
    start = ("test -s $D/PG_VERSION || { printf %s \"$POSTGRES_PASSWORD\" >/tmp/password && "
             "initdb -D $D -U \"$POSTGRES_USER\" --encoding=UTF8 --locale=C.UTF-8 --auth=scram-sha-256 --pwfile=/tmp/password >/dev/null && "
             "echo \"create database \\\"$POSTGRES_DB\\\"\" | postgres --single -D $D postgres >/dev/null; }; "
             "exec postgres -D $D -c listen_addresses='*'")
    image.entrypoint = ["sh", "-c", "D=/var/lib/postgresql/data; " + start]
    return image


class Running:
    """One service of the compose file."""

    def __init__(self, name: str, image: Image, settings: dict):
        self.name, self.image, self.settings = name, image, settings
        self.environment = dict(settings.get("environment", {}))
        test = settings.get("healthcheck", {}).get("test")
        self.health = test[1] if test else image.health
        self.process = None
        for volume in settings.get("volumes", []):
            self.mount(*volume.split(":"))

    def mount(self, volume: str, path: str):
        """A named volume: empty at first, then with what the image has there, and its owner."""
        store, target = WORK / "volumes" / volume, self.image.root / path.lstrip("/")
        store.mkdir(parents=True, exist_ok=True)
        target.mkdir(parents=True, exist_ok=True)
        owner = target.stat() if path in self.image.volumes else None
        uid, gid = (owner.st_uid, owner.st_gid) if owner else self.ids()
        os.chown(store, uid, gid)
        os.chmod(store, 0o700)
        subprocess.run(["mount", "--bind", store, target], check=True)

    def ids(self):
        line = next(row for row in (self.image.root / "etc/passwd").read_text().splitlines() if row.startswith(self.image.user + ":"))
        return int(line.split(":")[2]), int(line.split(":")[3])

    def lock_root(self):
        """read_only: nothing but volumes and tmpfs can be written."""
        root = self.image.root
        for path in self.settings.get("tmpfs", []):
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", root / path.lstrip("/")], check=True)
        if self.settings.get("read_only"):
            subprocess.run(["mount", "--rbind", root, root], check=True)
            subprocess.run(["mount", "-o", "remount,bind,ro", root], check=True)

    def start(self):
        log = open(WORK / f"{self.name}.log", "ab")
        self.process = enter(self.image, self.image.entrypoint, extra=self.environment, stdout=log, stderr=log)
        deadline = time.monotonic() + HEALTHY_SECONDS_MAX
        while self.run("sh", "-c", self.health).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{self.name} is not healthy:\n{(WORK / (self.name + '.log')).read_text()[-3000:]}")
            time.sleep(0.2)

    def run(self, *command) -> subprocess.CompletedProcess:
        """docker compose exec."""
        process = enter(self.image, list(command), extra=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(command, process.returncode, out.decode(), err.decode())

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=STOP_SECONDS_MAX)


def curl(path: str, token: str, *more) -> dict:
    answer = subprocess.run(["curl", "-sS", "--fail-with-body", "-H", f"Authorization: Bearer {token}", *more, "http://127.0.0.1:8080" + path],
                            capture_output=True, text=True, timeout=120)
    if answer.returncode != 0:
        raise SystemExit(f"GET {path}: {answer.stdout}{answer.stderr}")
    return json.loads(answer.stdout)


def check_rights(service: Running):
    status = pathlib.Path(f"/proc/{service.process.pid}/status").read_text()
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert facts["Uid"].split()[0] != "0", "the service runs as root"
    assert int(facts["CapBnd"], 16) == 0 and facts["NoNewPrivs"] == "1", "the service kept rights"
    refused = service.run("sh", "-c", "echo x >/usr/local/bin/x || echo x >/etc/x")
    assert refused.returncode != 0, "the service could write to its image"


def up(image: Image, stand_in: Image):
    compose = yaml.safe_load(with_variables((PROJECT / "docker-compose.yml").read_text()))
    services = compose["services"]
    assert list(services) == ["postgres", "traceweird"] and "postgres" in services["traceweird"]["depends_on"]
    (image.root / "etc/hosts").write_text("127.0.0.1 localhost postgres\n")
    postgres = Running("postgres", stand_in, services["postgres"])
    traceweird = Running("traceweird", image, services["traceweird"])
    traceweird.lock_root()
    try:
        use(postgres, traceweird)
    finally:
        for service in (traceweird, postgres):
            service.kill()


def use(postgres: Running, traceweird: Running):
    """A run is judged and stays, whatever is restarted."""
    postgres.start()
    traceweird.start()
    check_rights(traceweird)
    made = traceweird.run("traceweird", "token", "create", "--project", "llama", "--scope", "upload,read")
    assert made.returncode == 0, made.stderr
    token = made.stdout.strip()
    sha = "a" * 40
    run = curl(f"/api/v1/projects/llama/runs?workload=w&branch=main&commit={sha}", token, "--data-binary", f"@{TRACE}")
    assert run["status"] == "judged", run
    assert traceweird.stop() == 0, "SIGTERM did not end the service with 0"
    postgres.stop()
    postgres.start()
    traceweird.start()
    again = curl(run["links"]["self"], token)
    assert again["report"] == run["report"] and again["verdict"] == run["verdict"], "the run changed over a restart"
    traceweird.stop()
    postgres.stop()
    print(f"containers: image built, both services healthy, run {run['id']} judged and kept over a restart of both")


def main():
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise SystemExit("containers: needs root and debootstrap, since it makes Debian roots")
    if "--inside" not in sys.argv:
        os.execvp("unshare", ["unshare", "--mount", "--propagation=private", sys.executable, __file__, "--inside", *sys.argv[1:]])
    how = How.reused if "--reuse" in sys.argv else How.built
    shutil.rmtree(WORK / "volumes", ignore_errors=True)
    for log in WORK.glob("*.log"):
        log.unlink()
    WORK.mkdir(parents=True, exist_ok=True)
    print("containers: building the image", flush=True)
    image = Builder(PROJECT, WORK, how).build()
    print("containers: PostgreSQL 15 for postgres:15", flush=True)
    stand_in = postgres_stand_in(how)
    print("containers: docker compose up", flush=True)
    unshare_network()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    up(image, stand_in)


def unshare_network():
    """A network of the check's own, so that ports are free. os.unshare is new in Python 3.12."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNET) != 0:
        raise SystemExit("containers: no network namespace of its own")


if __name__ == "__main__":
    main()
