"""R16: the clocks of service and client are a day off, and are set forward and back while uploads are analysed, while runs wait
for their ranks and while tokens end, on both stores (libfaketime; only the wall clock, as when an administrator sets it).
Runs are in the order of receipt whatever the clocks say; each upload is judged once; a run that waits for its ranks is neither
closed early nor left; a token that ends does so by the service's clock and is valid again when that is set back; and the client,
a day off, is let in and its run is listed last."""
import json
import os
import time

from service import run as run_program, sha, trace
from stress import STORES, ServiceOn, check

LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
DAY = 86400
STEPS = (DAY, -DAY, 0, DAY, 0, -DAY)
RUNS = "/api/v1/projects/demo/runs"


class Skewed(ServiceOn):
    """A service whose wall clock is set through a file."""

    def __init__(self, kind: str, **settings):
        super().__init__(kind, **settings)
        self.clock = self.folder / "clock"
        self.set(0)

    def set(self, seconds: int):
        part = self.clock.with_name("clock.part")
        part.write_text(f"{seconds:+d}\n")
        part.rename(self.clock)

    def environment(self) -> dict:
        return super().environment() | faked(FAKETIME_TIMESTAMP_FILE=str(self.clock), FAKETIME_NO_CACHE="1")


def faked(**variables) -> dict:
    return {"LD_PRELOAD": LIBRARY, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"} | variables


def seconds_of(service) -> float:
    """The service's clock, as its answers have it."""
    return time.mktime(time.strptime(service.call("GET", "/healthz").headers["date"], "%a, %d %b %Y %H:%M:%S GMT"))


def upload_while_it_steps(service, token: str, body, rounds: int) -> list:
    """The ids in the order in which they were sent; each analysis has the clock set under it."""
    sent = []
    commits = [{"sha": sha(number), "committed_at": "2039-01-01T00:00:00Z"} for number in range(1, rounds + 1, 2)]
    put = service.call("PUT", "/api/v1/projects/demo/commits", token, json.dumps(commits).encode())
    check(put.status == 204, f"{service.kind}: commits of the future: {put}")
    for number in range(1, rounds + 1):
        answer = service.upload(token, body, sha(number), wait=0)
        check(answer.status in (201, 202), f"upload {number}: {answer}")
        sent.append(answer.json["id"])
        service.set(STEPS[number % len(STEPS)])
    return sent


def statuses(service, token: str, runs: list, seconds_max=60) -> list:
    """Those of the runs when none is analysed any more."""
    deadline = time.monotonic() + seconds_max
    while True:
        found = [service.call("GET", f"{RUNS}/{run}", token).json["status"] for run in runs]
        if not {"pending", "analysing"} & set(found) or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def listed(service, token: str) -> list:
    return [run["id"] for run in reversed(service.call("GET", RUNS + "?limit=200", token).json["runs"])]


def check_order(service, token: str, body, rounds: int):
    sent = upload_while_it_steps(service, token, body, rounds)
    found = statuses(service, token, sent)
    check(found == ["judged"] * rounds, f"{service.kind}: {sorted(set(found))} of {rounds}")
    check(listed(service, token) == sent, f"{service.kind}: the order is not that of receipt")


def check_waiting(service, token: str, body):
    """The first of two ranks; the clock is set forward, and looked at several times; then the second one comes."""
    query = {"rank": 0, "ranks": 2, "run_key": "waits", "wait": 0}
    service.set(0)
    first = service.upload(token, body, sha(9001), **query)
    check(first.status == 202, f"{service.kind}: first rank: {first}")
    for step in (DAY, -DAY, DAY):
        service.set(step)
        time.sleep(0.3)  # resume_pause is shorter
        status = service.call("GET", f"{RUNS}/{first.json['id']}", token).json["status"]
        check(status == "pending", f"{service.kind}: a run that waits for its rank is {status} after a step of the clock")
    second = service.upload(token, trace("--steps", 3, "--rank", 1), sha(9001), **query | {"rank": 1})
    check(second.status in (201, 202), f"{service.kind}: second rank: {second}")
    check(statuses(service, token, [first.json["id"]]) == ["judged"], f"{service.kind}: the run of two ranks is not judged")


def check_token(service, token: str):
    """One that ends in an hour, while the clock is set past its end and back."""
    service.set(0)
    ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    short = service.token("demo", "read", "--expires", ends)
    for step, status in ((0, 200), (3600 - 60, 200), (3600 + 90, 401), (DAY, 401), (-DAY, 200), (0, 200)):
        service.set(step)
        answer = service.call("GET", RUNS, short)
        check(answer.status == status, f"{service.kind}: {step} s on, a token of an hour is answered {answer.status}")
        check(service.call("GET", RUNS, token).status == 200, f"{service.kind}: a token without an end is refused")


def check_client(service, token: str, body, folder):
    file = folder / "client.json"
    file.write_bytes(body)
    for number, step in enumerate((DAY, -DAY)):
        service.set(0)
        commit = sha(9100 + number)
        environment = {"PATH": os.environ["PATH"], "TRACEWEIR_URL": service.url, "TRACEWEIR_TOKEN": token,
                       "HOME": str(folder)} | faked(FAKETIME=f"{step:+d}")
        done = run_program("traceweir", "gate", file, "--project", "demo", "--commit", commit, "--branch", "main",
                           env=environment, cwd=folder)
        check(done.returncode in (0, 2), f"{service.kind}: a client {step:+d} s off ends with {done.returncode}: {done.stderr[-200:]}")
        last = service.call("GET", RUNS + "?limit=1", token).json["runs"][0]
        check(last["commit"] == commit, f"{service.kind}: the run of a client {step:+d} s off is not the last one")


def skew(stress, kind: str, body) -> str:
    rounds = stress.count(60, 6)
    with Skewed(kind, resume_pause="100 ms") as service:
        token = service.token()
        service.set(DAY)
        ahead = seconds_of(service) - time.mktime(time.gmtime())
        check(abs(ahead - DAY) < 60, f"{kind}: the clock is not set: {ahead:.0f} s")
        service.set(0)
        check_order(service, token, body, rounds)
        check_waiting(service, token, body)
        check_token(service, token)
        check_client(service, token, body, stress.folder)
        service.set(-DAY)
        service.stop()
        service.start()  # a day back, the runs are as they were
        check(len(set(listed(service, token))) == rounds + 3, f"{kind}: {len(listed(service, token))} runs")
    return f"{kind}: {rounds} uploads under steps of ±1 day, 0 out of order, 0 lost, 0 closed early"


def run(stress) -> str:
    check(os.path.exists(LIBRARY), f"{LIBRARY} is missing (package libfaketime)")
    body = trace("--steps", 3)
    return "; ".join(skew(stress, kind, body) for kind in STORES)
