"""R14: one upload is sent fifty times at once with one key, on both stores. There is one run, and fifty equal answers."""
import concurrent.futures
import threading

from load import runs_of
from service import sha, trace
from stress import STORES, ServiceOn, check

SENDERS = 50


def one_round(service, token: str, body: bytes, number: int) -> tuple:
    """The different answers to one upload, each (status, bytes)."""
    ready = threading.Barrier(SENDERS)

    def send(_):
        ready.wait()
        answer = service.upload(token, body, sha(number), headers={"Idempotency-Key": f"round-{number}"})
        return answer.status, answer.body

    with concurrent.futures.ThreadPoolExecutor(SENDERS) as pool:
        return set(pool.map(send, range(SENDERS)))


def run(stress) -> str:
    body, rounds, done = trace("--steps", 3), stress.count(20, 1), []
    for kind in STORES:
        with ServiceOn(kind) as service:
            token = service.token()
            for number in range(1, rounds + 1):
                answers = one_round(service, token, body, number)
                check(len(answers) == 1 and next(iter(answers))[0] == 201,
                      f"{kind}: round {number}: {len(answers)} different answers: {[(s, b[:200]) for s, b in answers][:3]}")
            rows = sum(map(len, runs_of(service, token).values()))
            check(rows == rounds, f"{kind}: {rows} rows of {rounds} uploads")
            done.append(f"{kind}: {rounds} uploads sent {SENDERS} times at once, {rows} rows, equal answers")
    return "; ".join(done)
