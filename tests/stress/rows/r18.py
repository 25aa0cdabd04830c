"""R18: names that would be paths, markup, SQL, commands of a CI or of a terminal, wherever a name can be given. They are stored and
shown as text: in a real browser no dialog opens, nothing breaks the content policy, nothing becomes an element; and every line of the
log is JSON without a raw control character."""
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(TESTS / "http"))
from hostile_test import EVIL, RAW, evil_trace  # noqa: E402
from service import Service, sha  # noqa: E402
from stress import broken_log_lines, check  # noqa: E402

LONG = "b" * 10_240
MARKUP = ("<img src=x onerror=\"alert('%s')\">", "\"><script>alert('%s')</script>", "<svg onload=alert('%s')>", "javascript:alert('%s')")


def names() -> list:
    return [*EVIL, *(text % "name" for text in MARKUP), "--upload-pack=touch /tmp/x", "$(touch /tmp/x)", "%00%2e%2e/", "../" * 80 + "etc/passwd"]


def upload_all(service, token: str, count: int) -> list:
    """A run for each name, given wherever a name may stand. Returns their ids."""
    body, runs = evil_trace(), []
    for number, name in enumerate(names()[:count], 1):
        commits = [{"sha": sha(number), "parents": [], "subject": name, "author": name}]
        known = service.call("PUT", "/api/v1/projects/demo/commits", token, json.dumps(commits).encode())
        check(known.status == 204, f"commit {name!r}: {known}")
        answer = service.upload(token, body, sha(number), branch=name, name=name, job=name, matrix=name, workload="evil",
                                **{"env.node": name})
        check(answer.status == 201, f"upload {name!r}: {answer}")
        check(RAW.search(answer.body.decode()) is None, f"{name!r} comes back raw")
        runs.append(answer.json["id"])
    return runs


def check_refused_or_inert(service, token: str) -> int:
    """A branch of 10 KB and names in paths: refused by name, or not found; never half understood."""
    tries = [service.upload(token, b"{}", sha(999), branch=LONG)]
    for name in names():
        word = urllib.parse.quote(name, safe="")
        tries += [service.call(verb, f"/api/v1/projects/{word}", token, b"{}") for verb in ("GET", "PUT")]
        tries += [service.call("GET", f"/api/v1/projects/demo/runs/{word}", token), service.call("GET", f"/{word}", token)]
    for answer in tries:
        check(400 <= answer.status < 500 and len(answer.body) < 4096, f"{answer}")
        check(RAW.search(answer.body.decode()) is None, f"raw in {answer}")
    return len(tries)


def look_at_pages(stress, service, token: str, runs: list) -> int:
    """Returns how many pages the browser looked at."""
    facts = stress.folder / "facts.json"
    facts.write_text(json.dumps({"url": service.url, "token": token, "runs": runs}))
    environment = os.environ | {"TRACEWEIR_WEB_FACTS": str(facts), "TRACEWEIR_WEB_SHOTS": str(stress.folder / "shots")}
    work = pathlib.Path(environment.get("TRACEWEIR_WEB_WORK") or TESTS.parent / "build" / "web")
    done = subprocess.run(["node", TESTS / "stress" / "inert.mjs"], env=environment | {"TRACEWEIR_WEB_WORK": str(work)},
                          capture_output=True, text=True)
    stress.say(done.stderr)
    found = re.search(r"^(\d+) pages, 0 dialogs, 0 CSP reports$", done.stdout, re.MULTILINE)
    check(done.returncode == 0 and found, f"the browser: exit {done.returncode}: {done.stdout[-600:]} {done.stderr[-600:]}")
    return int(found[1])


def run(stress) -> str:
    with Service() as service:
        token = service.token()
        runs = upload_all(service, token, stress.count(len(names()), 6))
        refused = check_refused_or_inert(service, token)
        pages = look_at_pages(stress, service, token, runs)
        service.stop()
        log = service.log_path.read_text()
        broken = broken_log_lines(service.log_path)
        check(not broken and not RAW.search(log), f"{len(broken)} broken log lines: {broken[:1]} {RAW.search(log)}")
        return (f"{len(runs)} hostile names stored and shown on {pages} pages: 0 dialogs, 0 CSP reports; {refused} requests refused; "
                f"{len(log.splitlines())} log lines, all JSON")
