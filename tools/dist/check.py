#!/usr/bin/env python3
"""Proves what ./dev dist made, in fresh roots: `./dev dist --check` (root and debootstrap; --reuse keeps the roots).

Service: the .deb is installed in Debian 12 and its unit's own command line is started as the unit's user.
Client:  the tarball is unpacked in Debian 11 (glibc 2.31) and in a root that holds nothing else at all; it measures a trace as the
         release build does, and gates it against the service: by localhost, a name of /etc/hosts, a name that only DNS knows, and by
         TLS with the authority's certificate in each place where a distribution keeps it.
All of it on a network of its own. Says in one line per part what it proved.
"""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tools/containers"))

import network  # noqa: E402
from roots import How, Image, enter, fresh_root, root_of  # noqa: E402

DIST = PROJECT / "build/dist"
WORK = DIST / "roots"
PORT, TLS_PORT = 8080, 8443
START_SECONDS_MAX = 30
# Where distributions keep their authorities: Debian and Ubuntu, RHEL and Fedora (old and new), SUSE, Alpine.
AUTHORITIES = ("etc/ssl/certs/ca-certificates.crt", "etc/pki/tls/certs/ca-bundle.crt", "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
               "etc/ssl/ca-bundle.pem", "etc/ssl/cert.pem")
SHA = "{:040x}".format


def fail(text: str):
    raise SystemExit(f"dist --check: {text}")


def said(image: Image, *command, user="", extra=None) -> str:
    process = enter(image, [str(word) for word in command], user=user, extra=extra, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=300)
    if process.returncode != 0:
        fail(f"{' '.join(map(str, command))} in {image.root.name} exits {process.returncode}: {out.decode()[-2000:]}{err.decode()[-2000:]}")
    return out.decode()


def made(pattern: str) -> pathlib.Path:
    return next(DIST.glob(pattern), None) or fail(f"no {pattern} in build/dist: run ./dev dist")


def check_sums():
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=DIST, check=True)
    packed = [path.name for path in (made("*.tar.gz"), made("*.deb"))]
    listed = [line.split()[1] for line in (DIST / "SHA256SUMS").read_text().splitlines()]
    if sorted(packed) != sorted(listed):
        fail(f"SHA256SUMS is about {listed}, not about {packed}")


def check_reproducible():
    """Packed again at another time, the same bytes."""
    before = (DIST / "SHA256SUMS").read_text()
    subprocess.run([sys.executable, PROJECT / "tools/dist/dist.py", "pack"], check=True, stdout=subprocess.DEVNULL)
    if (DIST / "SHA256SUMS").read_text() != before:
        fail("packed twice, the bytes differ")
    print("dist: packed twice, the same bytes", flush=True)


def check_unit():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "-x", made("*.deb"), folder], check=True)
        unit = pathlib.Path(folder) / "lib/systemd/system/traceweird.service"
        judged = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=20", unit], capture_output=True, text=True)
    lines = judged.stdout.strip().splitlines()
    if judged.returncode != 0:
        fail(f"systemd-analyze security: {judged.stdout[-3000:]}{judged.stderr}")
    print(f"dist: the unit: {lines[-1].strip(' →')}", flush=True)


def check_lint():
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", made("*.deb")], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"lintian:\n{done.stdout}{done.stderr}")
    print("dist: lintian has no error and no warning", flush=True)


class Service:
    """The installed package, started as its unit says."""

    def __init__(self, how: How):
        self.image = Image(root_of(WORK / "service", fresh_root(WORK / "bookworm", "bookworm"), how))
        self.process = None
        if how is How.built:
            shutil.copy(made("*.deb"), self.image.root / "traceweir.deb")
            quiet = {"DEBIAN_FRONTEND": "noninteractive"}
            said(self.image, "sh", "-c", "apt-get -qq update && apt-get -qq install -y --no-install-recommends ./traceweir.deb", extra=quiet)
        unit = (self.image.root / "lib/systemd/system/traceweird.service").read_text()
        self.facts = dict(line.split("=", 1) for line in unit.splitlines() if "=" in line and not line.startswith("#"))

    def start(self, *more, **extra):
        log = open(WORK / "service.log", "ab")
        command = [*self.facts["ExecStart"].split(), *more]
        self.process = enter(self.image, command, user=self.facts["User"], extra=extra, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            ready = subprocess.run(["curl", "-sf", f"http://127.0.0.1:{PORT}/readyz"], capture_output=True, text=True)
            if ready.returncode == 0:
                return json.loads(ready.stdout)
            if self.process.poll() is not None or time.monotonic() > deadline:
                fail(f"the service does not start:\n{(WORK / 'service.log').read_text()[-3000:]}")
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(timeout=40) != 0:
            fail("SIGTERM did not end the service with 0")

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def token(self) -> str:
        config = self.facts["ExecStart"].split()[1:]
        return said(self.image, "traceweird", *config, "token", "create", "--project", "llama", user=self.facts["User"]).strip()


def check_package(service: Service, ready: dict):
    root = service.image.root
    if root.joinpath("etc/traceweir/traceweird.toml").stat().st_mode & 0o007:
        fail("everybody may read the configuration")
    status = pathlib.Path(f"/proc/{service.process.pid}/status").read_text()
    if "\nUid:\t0\t" in status:
        fail("the service runs as root")
    for page in ("traceweir.1", "traceweir-gate.1", "traceweird.8"):
        if not list((root / "usr/share/man").rglob(page + ".gz")) and not (root / "etc/dpkg/dpkg.cfg.d").exists():
            fail(f"no page {page}")
    print(f"dist: Debian 12: installed, started as {service.facts['User']}, sandbox {ready['sandbox']}", flush=True)


class Client:
    """The tarball in a root."""

    def __init__(self, root: pathlib.Path, traces: pathlib.Path):
        with tarfile.open(made("*.tar.gz")) as tar:
            tar.extractall(root / "opt")
        self.image = Image(root)
        self.program = "/opt/" + next((root / "opt").glob("traceweir-*")).name + "/bin/traceweir"
        for name in ("etc", "tmp", "proc", "dev"):
            (root / name).mkdir(exist_ok=True)
        shutil.copytree(traces, root / "traces", dirs_exist_ok=True)
        (root / "etc/hosts").write_text("127.0.0.1 localhost trainer.internal\n")
        (root / "etc/resolv.conf").unlink(missing_ok=True)
        (root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        # Services of names whose modules no static program can load, first in line.
        (root / "etc/nsswitch.conf").write_text("hosts: mymachines nis [NOTFOUND=return] files dns myhostname\n")

    def run(self, *arguments, **environment):
        # No `env` and no `sh` of the root: there may be none.
        command = ["chroot", self.image.root, self.program, *map(str, arguments)]
        return subprocess.run(command, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"} | environment, capture_output=True, text=True, timeout=120)

    def analyze(self, *arguments) -> str:
        done = self.run("analyze", *arguments, "--json")
        if done.returncode != 0:
            fail(f"{self.image.root.name}: analyze exits {done.returncode}: {done.stderr}")
        return done.stdout

    def gate(self, url: str, token: str, number: int, trace="/traces/good.json.gz", **more):
        return self.run("gate", trace, "--project", "llama", "--commit", SHA(number), "--branch", "main",
                        TRACEWEIR_URL=url, TRACEWEIR_TOKEN=token, **more)


def check_measures(client: Client, traces: pathlib.Path):
    for trace in sorted(traces.iterdir()):
        ours = subprocess.run([PROJECT / "build/release/traceweir", "analyze", trace, "--json"], capture_output=True, text=True, check=True)
        if client.analyze(f"/traces/{trace.name}") != ours.stdout:
            fail(f"{client.image.root.name}: {trace.name} is not measured as by the release build")


def check_names(client: Client, token: str, begin: int):
    hosts = ("localhost", "trainer.internal", "127.0.0.1", network.DNS_NAME)
    for number, host in enumerate(hosts, begin):
        done = client.gate(f"http://{host}:{PORT}", token, number)
        if done.returncode != 0 or SHA(number)[:12] not in done.stdout + done.stderr:
            fail(f"{client.image.root.name}: gate by {host} exits {done.returncode}: {done.stderr}{done.stdout}")
    unknown = client.gate(f"http://nobody.example:{PORT}", token, 99)
    if unknown.returncode != 4:
        fail(f"a host that nobody knows exits {unknown.returncode}, not 4: {unknown.stderr}")


def check_authorities(client: Client, token: str, certificate: pathlib.Path, begin: int):
    url = f"https://{network.DNS_NAME}:{TLS_PORT}"
    for path in AUTHORITIES:
        place = client.image.root / path
        place.unlink(missing_ok=True)
    if (stranger := client.gate(url, token, 99)).returncode != 4 or "certificate" not in stranger.stderr:
        fail(f"an unknown authority was trusted, or not named: {stranger.returncode} {stranger.stderr}")
    for number, path in enumerate(AUTHORITIES, begin):
        place = client.image.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(certificate, place)
        done = client.gate(url, token, number)
        place.unlink()
        if done.returncode != 0:
            fail(f"{client.image.root.name}: authorities in /{path}: exit {done.returncode}: {done.stderr}")
    shutil.copy(certificate, client.image.root / "tmp/own.pem")
    if (own := client.gate(url, token, begin + len(AUTHORITIES), SSL_CERT_FILE="/tmp/own.pem")).returncode != 0:
        fail(f"SSL_CERT_FILE: exit {own.returncode}: {own.stderr}")


def check_verdict(client: Client, token: str, begin: int):
    """The upload is judged: after a baseline, the stalled trace fails."""
    url = f"http://127.0.0.1:{PORT}"
    for number in range(begin, begin + 6):
        client.gate(url, token, number, TRACEWEIR_WORKLOAD="judged")
    done = client.gate(url, token, begin + 6, "/traces/stalled.json", TRACEWEIR_WORKLOAD="judged")
    if done.returncode != 1 or "gpu.utilization" not in done.stdout:
        fail(f"the stalled trace exits {done.returncode}: {done.stdout}{done.stderr}")


def make_traces(folder: pathlib.Path):
    folder.mkdir(parents=True, exist_ok=True)
    for name, *options in (("good.json.gz", "--gzip"), ("stalled.json", "--stall-loader", "5"), ("good.sqlite", "--format", "nsys")):
        subprocess.run([PROJECT / "build/release/make_trace", "--seed", "1", *options, folder / name], check=True, stdout=subprocess.DEVNULL)


def check_clients(service: Service, how: How):
    traces, certificate = WORK / "traces", network.make_authority(WORK / "authority")
    make_traces(traces)
    network.serve_dns()
    network.serve_tls(certificate, TLS_PORT, PORT)
    token = service.token()
    empty = WORK / "empty"
    shutil.rmtree(empty, ignore_errors=True)
    empty.mkdir()
    old = root_of(WORK / "client", fresh_root(WORK / "bullseye", "bullseye"), how)
    for begin, root, name in ((100, old, "Debian 11"), (200, empty, "a root without anything")):
        client = Client(root, traces)
        check_measures(client, traces)
        check_names(client, token, begin)
        check_authorities(client, token, certificate, begin + 10)
        check_verdict(client, token, begin + 30)
        print(f"dist: client in {name}: {len(list(traces.iterdir()))} traces measured as by the release build; gate by localhost, /etc/hosts, "
              f"DNS and TLS ({len(AUTHORITIES)} places of authorities, SSL_CERT_FILE); a verdict", flush=True)


def check_static_child(service: Service, how: How):
    """The service lets the static client read its uploads: the sandbox is the same."""
    service.stop()
    program = made("*.tar.gz").name.removesuffix(".tar.gz") + "/bin/traceweir"
    with tarfile.open(made("*.tar.gz")) as tar:
        tar.extract(program, service.image.root / "opt")
    before = service.start()
    service.stop()
    after = service.start("--analysis-program", f"/opt/{program}")
    if before["sandbox"] != after["sandbox"]:
        fail(f"the static client is locked in with {after['sandbox']}, the package's with {before['sandbox']}")
    token = service.token()
    done = subprocess.run(["curl", "-sS", "--fail-with-body", "-H", f"Authorization: Bearer {token}", "--data-binary",
                           f"@{WORK / 'traces/good.sqlite'}", f"http://127.0.0.1:{PORT}/api/v1/projects/llama/runs?commit={SHA(1)}"],
                          capture_output=True, text=True)
    if done.returncode != 0 or json.loads(done.stdout)["status"] != "judged":
        fail(f"an upload is not judged: {done.stdout}{done.stderr}")
    service.stop()
    print(f"dist: the static client as the service's analysing child: sandbox {after['sandbox']}, an upload judged", flush=True)


def main():
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise SystemExit("dist --check: needs root and debootstrap, since it makes Debian roots")
    if "--inside" not in sys.argv:
        os.execvp("unshare", ["unshare", "--mount", "--propagation=private", sys.executable, __file__, "--inside", *sys.argv[1:]])
    how = How.reused if "--reuse" in sys.argv else How.built
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / "service.log").unlink(missing_ok=True)
    check_sums()
    check_reproducible()
    check_unit()
    check_lint()
    for suite in ("bullseye", "bookworm"):
        fresh_root(WORK / suite, suite)
    service = Service(how)
    if ctypes.CDLL(None).unshare(0x40000000) != 0:  # CLONE_NEWNET; os.unshare is new in Python 3.12
        fail("no network namespace of its own")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    try:
        check_package(service, service.start())
        check_clients(service, how)
        check_static_child(service, how)
    finally:
        service.kill()


if __name__ == "__main__":
    main()
