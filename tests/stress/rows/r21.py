"""R21: names that lead elsewhere (`../`, encoded, absolute, with NUL, with backslashes) in every path parameter, query parameter
and header of the contract, and in the paths of the dashboard. strace sees every file that the service and its children touch
meanwhile: none that an honest request does not touch too, outside the data folder. No answer holds what a file outside it says."""
import http.client
import itertools
import json
import pathlib
import re
import subprocess
import time
import urllib.parse

from hostile_uploads import send
from service import Service, sha, trace
from stress import Failed, check, status_of

CALLS = ("open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat,truncate,"
         "readlink,readlinkat,execve")
ATTACH_SECONDS_MAX = 20
SECRET = "this-stands-outside-the-data-folder"
UP = ["../" * 8, "..%2f" * 8, "%2e%2e/" * 8, "%2e%2e%2f" * 8, "..%5c" * 8, "..\\" * 8, "....//" * 8, "%252e%252e%252f" * 8, "..;/" * 8,
      "%c0%ae%c0%ae/" * 8, "/", "//", "%00", "./" * 3]
# Of the machine, and of the folder around the data folder.
FILES = ["etc/passwd", "secret.txt", "proc/self/environ", "traceweir.db"]
HEADERS = ["Authorization", "X-Request-Id", "Idempotency-Key", "X-Content-SHA256", "Content-Type", "Accept", "If-None-Match",
           "X-Forwarded-For", "X-Original-URL", "X-Rewrite-URL", "Content-Disposition", "Range"]


def names(folder: pathlib.Path) -> list:
    plain = [up + file for up in UP for file in FILES]
    return plain + [str(folder / "secret.txt"), f"file://{folder}/secret.txt", "..", ".", "CON", "a/../../secret.txt%00.json"]


class Trace:
    """Files that a running service and its children name, as strace sees them."""

    PATH = re.compile(r'(\w+)\((?:AT_FDCWD<(?P<cwd>[^>]*)>|\d+<(?P<at>[^>]*)>)?,?\s*"(?P<path>(?:[^"\\]|\\.)*)"')

    def __init__(self, pid: int, log: pathlib.Path):
        self.log = log
        self.process = subprocess.Popen(["strace", "-f", "-y", "-qq", "-s", "4096", "-e", f"trace={CALLS}", "-o", log, "-p", str(pid)],
                                        stderr=subprocess.PIPE, text=True)

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=20)

    def paths(self) -> set:
        found = set()
        for line in self.log.read_text(errors="replace").splitlines():
            named = self.PATH.search(line)
            if named:
                base = named["cwd"] or named["at"] or "/"
                found.add(str(pathlib.PurePosixPath(base) / named["path"]))
        return found


def raw_call(service, token, method: str, target: str, headers=None, body=b"") -> bytes:
    """Sends a target as it stands; what it must not hold, http.client refuses to send."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in ({"Authorization": f"Bearer {token}", "Content-Length": str(len(body))} | (headers or {})).items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read()
        check(answer.status < 500 or answer.status == 501, f"{method} {target}: {answer.status} {text[:200]}")
        return text
    except http.client.InvalidURL:
        return b""
    finally:
        connection.close()


def operations(service) -> list:
    """(method, path, names of query parameters) of the contract."""
    contract = json.loads(service.call("GET", "/openapi.json").body)
    found = []
    for path, methods in contract["paths"].items():
        for method, operation in methods.items():
            if method not in ("get", "post", "put", "delete"):
                continue
            parameters = operation.get("parameters", []) + methods.get("parameters", [])
            resolved = [contract["components"]["parameters"][p["$ref"].rsplit("/", 1)[1]] if "$ref" in p else p for p in parameters]
            found.append((method.upper(), path, [p["name"] for p in resolved if p["in"] == "query"]))
    return found


def filled(path: str, otherwise="demo") -> str:
    return re.sub(r"\{[^}]*\}", otherwise, path)


def attacks(service, folder: pathlib.Path):
    """(method, target, headers): each name once in every place."""
    known = operations(service)
    for name in names(folder):
        quoted = urllib.parse.quote(name, safe="%/.\\;:")
        for method, path, parameters in known:
            for parameter in re.findall(r"\{[^}]*\}", path):
                yield method, filled(path.replace(parameter, quoted)), {}
            for parameter in parameters:
                yield method, f"{filled(path)}?{parameter}={urllib.parse.quote(name)}", {}
        for prefix in ("/", "/assets/", "/ui/", "/api/v1/"):
            yield "GET", prefix + quoted, {}
        for header in HEADERS:
            yield "GET", "/api/v1/projects/demo/runs", {header: name.replace("\\", "/")}
            yield "POST", f"/api/v1/projects/demo/runs?commit={sha(7)}&branch=main", {header: name.replace("\\", "/")}


def honest(service, token, upload: pathlib.Path):
    check(send(service, token, upload, sha(1)).status == 201, "an honest upload was not judged")
    for path in ("/", "/metrics", "/healthz", "/readyz", "/openapi.json", "/api/v1/projects/demo/runs", "/api/v1/projects"):
        service.call("GET", path, token)


def all_are_traced(pid: int) -> bool:
    """Every thread has strace behind it: what a thread touched before that would not be seen."""
    threads = [path.name for path in pathlib.Path("/proc", str(pid), "task").iterdir()]
    return all(status_of(int(thread)).get("TracerPid", "0").strip() != "0" for thread in threads)


def traced(service, folder: pathlib.Path, work) -> set:
    trace_of = Trace(service.process.pid, folder / "strace")
    until = time.monotonic() + ATTACH_SECONDS_MAX
    while not all_are_traced(service.process.pid) and trace_of.process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    if not all_are_traced(service.process.pid):
        trace_of.process.kill()
        raise Failed(f"strace cannot look: {trace_of.process.stderr.read()[-200:]}")
    try:
        work()
    finally:
        trace_of.end()
    return trace_of.paths()


def run(stress) -> str:
    upload = stress.folder / "upload"
    upload.write_bytes(trace("--steps", 2))
    with Service() as service:
        (service.folder / "secret.txt").write_text(SECRET)
        token = service.token("demo", "upload,read")
        usual = traced(service, stress.folder, lambda: honest(service, token, upload))
        check(any("traceweir" in path for path in usual), "strace sees nothing")
        todo = list(attacks(service, service.folder))
        todo = todo if not stress.quick else list(itertools.islice(todo, 0, None, 40))

        def attack():
            for method, target, headers in todo:
                body = b"{}" if method in ("POST", "PUT") else b""
                text = raw_call(service, token, method, target, headers, body)
                check(SECRET.encode() not in text and b"root:x:" not in text, f"{method} {target} answers with a file")

        touched = traced(service, stress.folder, attack)
        outside = sorted(path for path in touched - usual if not path.startswith(str(service.data_dir)))
        check(service.process.poll() is None, "the service ended")
    outside = [path for path in outside if not re.match(r"/proc/(self|\d+)(/task/\d+)?/(fd|stat|status|comm|maps)\b", path)]
    check(not outside, f"{len(outside)} files outside the data folder: {outside[:5]}")
    return f"{len(todo)} requests, {len(touched)} files touched, 0 outside the data folder"
