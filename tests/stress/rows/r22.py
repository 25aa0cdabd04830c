"""R22: webhooks, issuers and places of traces that point to where the service must not go, themselves or by a redirect: refused, and
nobody there is ever connected to."""
import json
import socket
import threading

from issuer import AUDIENCE, Issuer
from s3 import variables
from service import Service, run as run_program, sha, trace
from stress import check

FAILING = '[rules."gpu.utilization"]\nmin = "99.9%"\n'
SECRET = "a secret of this test, long enough"


class Target:
    """Where nobody may come: counts connections. With `redirect_to` it answers each request by a redirect."""

    def __init__(self, redirect_to=""):
        self.count, self.redirect_to = 0, redirect_to
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.count += 1
            with connection:
                connection.settimeout(5)
                if self.redirect_to:
                    connection.recv(65536)
                    connection.sendall(f"HTTP/1.1 307 Elsewhere\r\nLocation: {self.redirect_to}\r\nContent-Length: 0\r\n\r\n".encode())

    def close(self):
        self.socket.close()


def webhook_outcome(url: str) -> str:
    """What the log says of a notice to that URL."""
    service = Service(webhook_url=url, webhook_pause="1 ms", webhook_time_max="5 s")
    try:
        secret = service.folder / "secret"
        secret.write_text(SECRET)
        service.settings["webhook_secret_file"] = secret
        service.start()
        admin = (service.data_dir / "admin-token").read_text().strip()
        token = service.token()
        service.call("PUT", "/api/v1/projects/demo", admin, b'{"policy_source": "server"}')
        service.call("PUT", "/api/v1/projects/demo/policy", admin, FAILING.encode())
        service.upload(token, trace("--seed", 1), sha(1))
        told = service.logged(event="notice_failed", seconds=20)
        return told[0]["detail"] if told else "nothing"
    finally:
        service.__exit__()


def exchange_statuses(target: Target) -> dict:
    """How an exchange is answered where the issuer sends us elsewhere."""
    found = {}
    with Issuer() as issuer:
        with Service(oidc_github_issuers=issuer.url, oidc_audience=AUDIENCE, oidc_plain_http="loopback", oidc_keys_retry="0 s") as service:
            admin = (service.data_dir / "admin-token").read_text().strip()
            jobs = {"trusted_jobs": [{"issuer": issuer.url, "repository": "acme/llama"}]}
            service.call("PUT", "/api/v1/projects/demo", admin, json.dumps(jobs).encode())
            good = issuer.document
            for name in ("redirect", "keys elsewhere", "keys at a metadata service", "good"):
                issuer.behaviour = "redirect" if name == "redirect" else "good"
                place = {"keys elsewhere": f"http://127.0.0.1:{target.port}/keys", "keys at a metadata service": "http://169.254.169.254/keys"}.get(name)
                issuer.document = (lambda path, place=place: {"issuer": issuer.url, "jwks_uri": place}) if place else good
                found[name] = service.call("POST", "/api/v1/projects/demo/oidc/token", issuer.token()).status
    return found


def is_no_endpoint(url: str) -> bool:
    checked = run_program("traceweird", "config", "check", "--blobs", "s3://traces/x", "--s3-endpoint", url)
    return checked.returncode == 2 and "not called" in checked.stderr


def upload_through(redirecting: Target) -> int:
    """How an upload is answered whose place of traces sends us elsewhere."""
    service = Service(blobs="s3://traces/x", s3_endpoint=f"http://127.0.0.1:{redirecting.port}", s3_tries_max=1)
    service.store |= variables()
    try:
        service.start(until="/healthz")
        return service.upload(service.token(), trace("--seed", 1), sha(1)).status
    finally:
        service.__exit__()


def run(stress) -> str:
    target = Target()
    redirecting = Target(redirect_to=f"http://127.0.0.1:{target.port}/hook")
    try:
        urls = ["http://169.254.169.254/latest/meta-data/", f"http://0.0.0.0:{target.port}/hook", f"http://[::ffff:0.0.0.0]:{target.port}/hook",
                "https://[fe80::1]/hook"]
        for url in stress.count(urls, urls[:2]):
            outcome = webhook_outcome(url)
            check("not called" in outcome, f"{url}: {outcome}")
        outcome = webhook_outcome(f"http://127.0.0.1:{redirecting.port}/hook")
        check("307" in outcome, f"a redirect: {outcome}")
        check(redirecting.count == 1, f"{redirecting.count} connections to the webhook")
        places = ["http://169.254.169.254", f"http://0.0.0.0:{target.port}", f"http://[::ffff:0.0.0.0]:{target.port}", "http://[64:ff9b::a9fe:a9fe]"]
        called = [place for place in places if not is_no_endpoint(place)]
        check(not called, f"{called}: taken as s3_endpoint")
        status = upload_through(redirecting)
        check(status == 503 and redirecting.count > 1, f"a redirect of a place of traces: {status}, {redirecting.count} connections")
        statuses = exchange_statuses(target)
        check(statuses.pop("good") == 201 and set(statuses.values()) == {503}, f"exchanges: {statuses}")
        check(target.count == 0, f"{target.count} connections to where nobody may go")
        return (f"{stress.count(len(urls), 2)} forbidden addresses of webhooks, {len(places)} of places of traces, a redirect of each, "
                f"{len(statuses)} issuers that point elsewhere: all refused, 0 connections")
    finally:
        target.close()
        redirecting.close()
