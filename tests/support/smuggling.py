"""Requests that two programs read in two ways, each with a second request hidden behind it, and proxies to stand in between.

A case passes where the service refuses it and closes, and nobody ever answers the hidden request. Source: RFC 9112, and the faults
that were found in other servers (docs/decisions/047)."""
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from service import free_port

HIDDEN = b"GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
REFUSALS = {400, 411, 417, 501}


def head(line: str, *fields: str) -> bytes:
    return "\r\n".join([line, "Host: h", *fields, "", ""]).encode("latin-1")


def post(*fields: str, body=b"") -> bytes:
    return head("POST /healthz HTTP/1.1", *fields) + body + HIDDEN


def get(*fields: str) -> bytes:
    return head("GET /healthz HTTP/1.1", *fields) + HIDDEN


CHUNKED = "Transfer-Encoding: chunked"
END = b"0\r\n\r\n"
HEADS = {
    "length and chunked": post("Content-Length: 5", CHUNKED, body=END),
    "chunked and length": post(CHUNKED, "Content-Length: 5", body=END),
    "two lengths": post("Content-Length: 0", "Content-Length: 39"),
    "two equal lengths": post("Content-Length: 0", "Content-Length: 0"),
    "lengths in a list": post("Content-Length: 0, 0"),
    "length with a plus": post("Content-Length: +0"),
    "length with a minus": post("Content-Length: -1"),
    "length in hex": post("Content-Length: 0x0"),
    "length with a space in it": post("Content-Length: 0 0"),
    "length with a fraction": post("Content-Length: 0.0"),
    "length that overflows": post("Content-Length: 18446744073709551616"),
    "length that is empty": post("Content-Length:"),
    "no length": post(),
    "chunked, identity": post("Transfer-Encoding: chunked, identity", body=END),
    "identity, chunked": post("Transfer-Encoding: identity, chunked", body=END),
    "gzip, chunked": post("Transfer-Encoding: gzip, chunked", body=END),
    "xchunked": post("Transfer-Encoding: xchunked", body=END),
    "chunked in quotes": post('Transfer-Encoding: "chunked"', body=END),
    "chunked with a parameter": post("Transfer-Encoding: chunked;q=1", body=END),
    "chunked twice": post(CHUNKED, CHUNKED, body=END),
    "chunked twice in a list": post("Transfer-Encoding: chunked, chunked", body=END),
    "chunked after a vertical tab": post("Transfer-Encoding: \x0bchunked", body=END),
    "chunked after a NUL": post("Transfer-Encoding: \x00chunked", body=END),
    "a space before the colon": post("Transfer-Encoding : chunked", body=END),
    "a space before the name": post(" Transfer-Encoding: chunked", body=END),
    "a folded coding": post("Transfer-Encoding:", " chunked", body=END),
    "a folded field": get("X-A: b", "\tc: d"),
    "an underscore's friend": post("Content-Length: 0", "Transfer_Encoding\x00: chunked"),
    "chunked in HTTP/1.0": head("POST /healthz HTTP/1.0", CHUNKED) + END + HIDDEN,
    "bare LF between fields": b"GET /healthz HTTP/1.1\r\nHost: h\nX: y\r\n\r\n" + HIDDEN,
    "bare LF throughout": b"GET /healthz HTTP/1.1\nHost: h\n\n" + HIDDEN,
    "bare CR in a field": get("X-A: b\rTransfer-Encoding: chunked"),
    "two hosts": get("Host: other"),
    "no host": b"GET /healthz HTTP/1.1\r\nX: y\r\n\r\n" + HIDDEN,
    "a host with a path": b"GET /healthz HTTP/1.1\r\nHost: h/x\r\n\r\n" + HIDDEN,
    "an absolute target": head("GET http://other/healthz HTTP/1.1") + HIDDEN,
    "a target with a space": head("GET /healthz x HTTP/1.1") + HIDDEN,
    "a target with other letters": head("GET /healthz\xff HTTP/1.1") + HIDDEN,
    "HTTP/1.2": head("GET /healthz HTTP/1.2") + HIDDEN,
    "HTTP/0.9": b"GET /healthz\r\n\r\n" + HIDDEN,
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + HIDDEN,
    "TRACE": head("TRACE /healthz HTTP/1.1") + HIDDEN,
    "CONNECT": head("CONNECT h:80 HTTP/1.1") + HIDDEN,
    "an empty line first": b"\r\n" + head("GET /healthz HTTP/1.1") + HIDDEN,
    "an expectation of its own": post("Content-Length: 0", "Expect: 200-ok"),
}
# Bodies are looked at where somebody reads them: sent with a token, to a place that takes a body.
BODIES = {
    "bare LF after a chunk's size": b"1\na\r\n" + END,
    "bare LF in an extension": b"1;x\ny\r\na\r\n" + END,
    "bare CR after a chunk's size": b"1\ra\r\n" + END,
    "a chunk longer than its size": b"1\r\nab\r\n" + END,
    "a chunk without its end": b"1\r\na" + END,
    "a size that overflows": b"ffffffffffffffff1\r\na\r\n" + END,
    "a size with 0x": b"0x1\r\na\r\n" + END,
    "a size with a sign": b"+1\r\na\r\n" + END,
    "no last empty line": b"0\r\nGET /smuggled HTTP/1.1\x00",
}


def cases(token: str) -> dict:
    bodies = {name: head("POST /api/v1/projects/demo/policy/check HTTP/1.1", f"Authorization: Bearer {token}", CHUNKED) + body + HIDDEN
              for name, body in BODIES.items()}
    return HEADS | bodies


def talk(port: int, request: bytes, seconds=10) -> bytes:
    """All that comes until the other side closes; what it says before it resets counts, too."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        try:
            connection.sendall(request)
            while piece := connection.recv(65536):
                answer += piece
        except ConnectionError:
            pass
    return answer


def fault_of(answer: bytes) -> str:
    """Empty where it is one refusal and an end."""
    status = int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0
    if status not in REFUSALS:
        return f"answered by {status}"
    return f"{answer.count(b'HTTP/1.1 ')} answers" if answer.count(b"HTTP/1.1 ") != 1 else ""


def direct(service, token: str) -> dict:
    """name → what is wrong, of the cases that fail."""
    found = {}
    for name, request in cases(token).items():
        try:
            fault = fault_of(talk(service.port, request))
        except TimeoutError:
            fault = "the connection stays open"
        if fault:
            found[name] = fault
    return found


NGINX = """daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream gate {{ server 127.0.0.1:{backend}; keepalive 4; }}
  server {{ listen 127.0.0.1:{port};
    location / {{ proxy_pass http://gate; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_request_buffering off; proxy_set_header X-Request-Id proxied-$request_id; }} }} }}
"""
HAPROXY = """global
  maxconn 64
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend in
  bind 127.0.0.1:{port}
  http-request set-header X-Request-Id proxied-%[uuid()]
  default_backend gate
backend gate
  http-reuse always
  server gate 127.0.0.1:{backend}
"""
PROXIES = {"nginx": (NGINX, "nginx", "-c", "{file}", "-p", "{folder}"), "haproxy": (HAPROXY, "haproxy", "-f", "{file}", "-db")}


def program_of(name: str):
    return shutil.which(PROXIES[name][1], path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")


class Proxy:
    """nginx or HAProxy in front of a service, with connections to it that are kept. Use as a context manager."""

    def __init__(self, name: str, service):
        text, _, *arguments = PROXIES[name]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="traceweir-proxy-"))
        self.port, file = free_port(), self.folder / "config"
        file.write_text(text.format(folder=self.folder, port=self.port, backend=service.port))
        command = [program_of(name), *(part.format(file=file, folder=self.folder) for part in arguments)]
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def __enter__(self):
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return self
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    self.__exit__()
                    raise RuntimeError(f"the proxy did not start: {(self.folder / 'log').read_text()}") from None
                time.sleep(0.02)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=10)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def behind(name: str, service, token: str, every=1) -> dict:
    """name → what is wrong, of every `every`-th case. What the proxy itself takes for a second request is one, to both; it says so by its id. What the service
    sees without the proxy's id was hidden from it."""
    found = {}
    with Proxy(name, service) as proxy:
        for case, request in list(cases(token).items())[::every]:
            try:
                talk(proxy.port, request, seconds=0.5)
            except TimeoutError:
                pass  # a proxy may wait for more
            hidden = [line for line in service.log() if line.get("event") == "request" and line["path"] == "/smuggled"
                      and not line["request_id"].startswith("proxied-")]
            if hidden:
                found[case] = f"the hidden request was answered by {hidden[0]['status']}"
                break
    return found
