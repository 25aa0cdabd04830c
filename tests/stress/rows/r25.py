"""R25: five services start at once on an empty database: one makes the schema and the administrator. Then three on it take
uploads while one after the other is killed (-9) and started again: every upload gets exactly one result."""
import concurrent.futures
import itertools
import random
import signal
import threading

from replicas import Replica, seconds_until
from service import Service, cluster, sha, trace
from stress import ServiceOn, check

SETTINGS = dict(job_lease="2 s", resume_pause="200 ms", analysis_workers=1, queue_depth_max=1000)
SETTLE_SECONDS_MAX = 60


def start_at_once(services: list):
    with concurrent.futures.ThreadPoolExecutor(len(services)) as pool:
        for done in [pool.submit(service.start) for service in services]:
            done.result()


def asked(service: Service, sql: str) -> str:
    return cluster().psql(sql, database=service.store["TRACEWEIR_STORE"].split("/")[3].split("?")[0])


class Uploads:
    """Numbered uploads with keys, sent to whichever service answers, until each is acknowledged."""

    def __init__(self, services: list, token: str, body: bytes, count: int):
        self.services, self.token, self.body, self.count = services, token, body, count
        self.numbers, self.lock, self.odd = itertools.count(), threading.Lock(), []

    def send(self, number: int):
        headers = {"Idempotency-Key": f"key-{number}"}
        for turn in itertools.count(number):
            try:
                answer = self.services[turn % len(self.services)].upload(self.token, self.body, sha(number), headers=headers)
            except OSError:
                continue  # it was just killed
            if answer.status in (201, 202):
                return
            if answer.status != 503:
                self.odd.append(f"upload {number}: {answer.status} {answer.body[:200]}")
                return

    def work(self):
        while True:
            with self.lock:
                number = next(self.numbers)
            if number >= self.count:
                return
            self.send(number)


def kill_until(done: threading.Event, services: list) -> int:
    kills = 0
    while not done.wait(random.uniform(0.3, 1.5)):
        service = random.choice(services)
        service.stop(signal.SIGKILL)
        service.start()
        kills += 1
    return kills


def run_uploads(uploads: Uploads) -> int:
    """Returns how many kills there were meanwhile."""
    done = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(7) as pool:
        killing = pool.submit(kill_until, done, uploads.services)
        senders = [pool.submit(uploads.work) for _ in range(6)]
        try:
            for sender in senders:
                sender.result()
        finally:
            done.set()
        return killing.result()


def run(stress) -> str:
    random.seed(25)
    count = stress.count(1000, 60)
    first = ServiceOn("postgres", **SETTINGS)
    services = [first] + [Replica(first, f"replica{number}") for number in range(4)]
    try:
        start_at_once(services)
        schema = asked(first, "SELECT count(*) = max(version) FROM schema_version")
        administrators = asked(first, "SELECT count(*) FROM token WHERE can_admin")
        for service in services[3:]:
            service.stop()
        uploads = Uploads(services[:3], first.token(), trace("--steps", 3), count)
        kills = run_uploads(uploads)
        open_runs = "SELECT count(*) FROM run WHERE status NOT IN ('judged', 'rejected')"
        seconds_until(lambda: asked(first, open_runs) == "0", SETTLE_SECONDS_MAX)
        runs = asked(first, "SELECT count(*) FROM run")
        judged = asked(first, "SELECT count(*) FROM run WHERE status = 'judged'")
        results = asked(first, "SELECT count(*) FROM run_document")
        jobs = asked(first, "SELECT count(*) FROM analysis_job")
        figures = (f"5 starts at once: {administrators} administrator, schema {'once' if schema == 't' else 'broken'}; 3 services, "
                   f"{kills} kills: {count} uploads -> {results} results of {runs} runs, {judged} judged, {jobs} jobs left")
        check(administrators == "1" and schema == "t" and kills > 0, figures)
        check(not uploads.odd, f"{figures}; {uploads.odd[:3]}")
        check((int(runs), int(results), int(jobs)) == (count, count, 0), figures)
        check(int(judged) >= count - kills, f"{figures}; more were given up than were killed")
        return figures
    finally:
        for service in services[1:] + [first]:
            service.__exit__()
