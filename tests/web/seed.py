"""A service with a history that is worth a look: forty commits of a training job with what happens to a team in a month, branches,
several ranks, and names that would be markup if anybody read them as such.

`python3 tests/web/seed.py` keeps such a service running for development until its input ends; dashboard_test.py tests against it.
"""
import concurrent.futures
import datetime
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from service import MAKE_TRACE, Service, trace  # noqa: E402

HOSTILE = "<img src=x onerror=\"window.hostile='%s'\">"
KERNEL = HOSTILE % "kernel"
PHASE = HOSTILE % "phase"
COMMITS = 40
BEGIN = datetime.datetime(2026, 10, 20, 9, tzinfo=datetime.timezone.utc)
AUTHORS = ("Ada", "Grace", "Barbara", HOSTILE % "author")
# Commit → how the job behaved from there on, and what the commit says of itself.
EVENTS = {
    1: ((), "train: first profile"),
    13: (("--slow-kernel", 0.9), "model: fused attention"),
    24: (("--slow-kernel", 0.9, "--stall-loader", 4), "data: decode images in the training process"),
    25: (("--slow-kernel", 0.9), "Revert \"data: decode images in the training process\""),
    31: (("--slow-kernel", 0.9, "--slow-allreduce", 1.9), "comm: smaller buckets " + HOSTILE % "subject"),
    32: (("--slow-kernel", 0.9), "Revert \"comm: smaller buckets\""),
    39: (("--slow-kernel", 0.9, "--extra-sync"), "loss: log it every step"),
}
CHORES = ("docs: how to resume a run", "optim: warm up for 200 steps", "model: rename the blocks", "ci: newer runner image", "data: shuffle with a fixed seed")
POLICY = """version = 1
[rules."gpu.utilization"]
worse_by = "3pp"
min = "60%"
[rules."gpu.idle"]
worse_by = "3pp"
[rules."step.time_p50"]
worse_by = "5%"
max = "40 ms"
[rules."allreduce.time_mean"]
worse_by = "10%"
at_least = "0.1 ms"
[rules."comm.exposed_per_step"]
worse_by = "10%"
at_least = "0.1 ms"
"""


def sha(number: int) -> str:
    return hashlib.sha1(str(number).encode()).hexdigest()


def behaviour(number: int) -> tuple:
    return EVENTS[max(commit for commit in EVENTS if commit <= number)][0]


def subject(number: int) -> str:
    return EVENTS[number][1] if number in EVENTS else CHORES[number % len(CHORES)]


def commit(number: int, parent: int, text: str) -> dict:
    at = BEGIN + datetime.timedelta(hours=23 * number if number <= 100 else 23 * 36 + 17 * (number - 100))
    return {"sha": sha(number), "parents": [sha(parent)] if parent else [], "committed_at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "subject": text, "author": AUTHORS[number % len(AUTHORS)]}


def hostile(body: bytes) -> bytes:
    """The same trace, whose kernels and phases have names like markup."""
    document = json.loads(body)
    for event in document["traceEvents"]:
        if event.get("cat") == "kernel" and "gemm" in event.get("name", ""):
            event["name"] = KERNEL
        elif event.get("name") == "forward":
            event["name"] = PHASE
    return json.dumps(document).encode()


class Seeded:
    """A running service and what is in it."""

    def __init__(self):
        self.service = Service()
        self.service.start()
        self.admin = (self.service.data_dir / "admin-token").read_text().strip()
        self.token = self.service.token("demo")
        self.runs = {}

    def fill(self):
        self.call("PUT", "/api/v1/projects/demo", {"read_access": "public"})
        self.service.call("PUT", "/api/v1/projects/demo/policy", self.admin, POLICY.encode())
        self.call("PUT", "/api/v1/projects/empty", {"read_access": "public"})
        graph = [commit(n, n - 1, subject(n)) for n in range(1, COMMITS + 1)]
        graph += [commit(n, 36 if n == 101 else n - 1, f"try: {n - 100}") for n in range(101, 105)]
        self.service.call("PUT", "/api/v1/projects/demo/commits", self.token, json.dumps(graph).encode())
        for number, body in self.traces():
            run = self.upload(number, body, branch=self.branch_of(number), **({"pr": 7} if number > 100 else {}))
            self.runs[number] = run["id"]
        self.fill_others()

    def fill_others(self):
        """What is rarer: several ranks, an nsys export, a file that is none, a run that waits, a project that is not public."""
        for rank in (0, 1):
            run = self.upload(COMMITS, trace("--steps", 8, "--rank", rank, "--stall-loader", rank), workload="two-ranks", run_key="a", rank=rank, ranks=2)
        self.runs["ranks"] = run["id"]
        self.runs["nsys"] = self.upload(COMMITS, trace("--format", "nsys", "--steps", 8, name="t.sqlite"), workload="nsys")["id"]
        self.upload(COMMITS, b'{"a": 1}', workload="odd")
        self.runs["rejected"] = self.service.call("GET", "/api/v1/projects/demo/runs?workload=odd", self.token).json["runs"][0]["id"]
        self.runs["pending"] = self.upload(COMMITS, trace("--steps", 8), workload="odd", run_key="b", rank=0, ranks=2)["id"]
        self.secret = self.service.token("secret")
        self.runs["secret"] = self.upload(1, trace("--steps", 8), project="secret", token=self.secret)["id"]

    def branch_of(self, number: int) -> str:
        return "main" if number <= 100 else "try/" + HOSTILE % "branch"

    def traces(self):
        """(commit, trace) in order; made two at a time."""
        numbers = [*range(1, COMMITS + 1), *range(101, 105)]
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
            def make(number):
                path = pathlib.Path(folder) / f"{number}.json"
                more = behaviour(min(number, COMMITS)) if number <= 100 else ("--slow-kernel", 0.9, "--stall-loader", 2.5 if number == 103 else 0)
                subprocess.run([MAKE_TRACE, "--steps", "8", "--seed", str(number), *map(str, more), path], check=True, stdout=subprocess.DEVNULL)
                return number, path.read_bytes()
            yield from ((number, hostile(body) if number == COMMITS else body) for number, body in pool.map(make, numbers))

    def upload(self, number, body, token=None, **query) -> dict:
        return self.service.upload(token or self.token, body, sha(number), **{"workload": "ddp-8gpu", "name": f"rank0-{number}.json"} | query).json

    def call(self, verb, path, body):
        answer = self.service.call(verb, path, self.admin, json.dumps(body).encode())
        assert answer.status < 300, answer
        return answer

    def facts(self) -> dict:
        return {"url": self.service.url, "token": self.token, "admin": self.admin, "secret": self.secret, "runs": self.runs, "commits": COMMITS}


def main():
    seeded = Seeded()
    try:
        seeded.fill()
        print(json.dumps(seeded.facts()), flush=True)
        sys.stdin.read()
    finally:
        seeded.service.__exit__()


if __name__ == "__main__":
    main()
