"""What an upload of an enemy costs: the service's answer and how long it took, and the analysing child alone."""
import dataclasses
import http.client
import os
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.parse

from service import BIN, Answer, Service


def resident(pid: int, field="VmHWM") -> int:
    """Bytes that a process holds, at its highest."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024


def send(service: Service, token: str, path: pathlib.Path, commit: str, **headers) -> Answer:
    """Uploads a file, streamed, so that this process stays small. The answer knows its `seconds`."""
    query = urllib.parse.urlencode({"commit": commit, "branch": "main", "workload": "hostile"})
    fields = {"Authorization": f"Bearer {token}", "Content-Length": str(path.stat().st_size)} | headers
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    begun = time.monotonic()
    with open(path, "rb") as body:
        connection.request("POST", f"/api/v1/projects/demo/runs?{query}", body, fields)
        answer = connection.getresponse()
        result = Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
    result.seconds = time.monotonic() - begun
    connection.close()
    return result


@dataclasses.dataclass
class Child:
    code: int
    peak: int  # bytes of memory
    scratch: int  # bytes that were unpacked to disk
    seconds: float


def analysed(path: pathlib.Path) -> Child:
    """The analysing child as the service starts it, on one file."""
    begun = time.monotonic()
    with open(path, "rb") as upload, tempfile.TemporaryFile() as scratch, open(os.devnull, "wb") as nowhere:
        command = f'exec "{BIN / "traceweir"}" analyze --json --child - 3>/dev/null 4<&{scratch.fileno()}'
        child = subprocess.Popen(["sh", "-c", command], stdin=upload, stdout=nowhere, stderr=nowhere,
                                 pass_fds=[scratch.fileno()], env={})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return Child(child.returncode, usage.ru_maxrss * 1024, os.fstat(scratch.fileno()).st_size,
                     time.monotonic() - begun)
