"""R15: twenty different uploads of one commit come at once, in another order each time, on both stores. All are kept, and the
commit's outcome is the one that the mean of all twenty gives (docs/gate.md, "Several runs of a commit"), whatever the order: their
verdicts come one after the other, each knowing all before it.

Every second round is judged by a policy that the mean just keeps, the others by one that it just breaks; of single uploads, and of
many a subset, both would be the other way round.
"""
import concurrent.futures
import hashlib
import random
import statistics

from load import seconds_until
from service import sha, trace
from stress import STORES, ServiceOn, check

UPLOADS = 20
METRIC = "gpu.utilization"
MARGIN = 0.001  # less than one upload more or less changes the mean


def utilization(run: dict) -> float:
    found = [row for row in run["report"]["ranks"][0]["measurements"] if row["metric"] == METRIC]
    return found[0]["value"]


def policy_at_least(service, token: str, value: float) -> str:
    """The hash under which the policy is known."""
    text = f'version = 1\n[rules."{METRIC}"]\nmin = "{100 * value:.3f}%"\n'.encode()
    name = hashlib.sha256(text).hexdigest()
    answer = service.call("PUT", f"/api/v1/projects/demo/policies/{name}", token, text)
    check(answer.status < 300, f"the policy: {answer}")
    return name


def standing(service, token: str, number: int) -> tuple:
    """The commit's outcome, and of how many runs each verdict is, in order; None for a run without one."""
    commit = service.call("GET", f"/api/v1/projects/demo/commits/{sha(number)}", token).json
    known = [run["verdict"]["rules"][0]["confirm"]["have"] if run["status"] == "judged" else None for run in commit["runs"]]
    return commit["outcome"], sorted(known, key=lambda have: have or 0)


def one_round(service, token: str, bodies: list, number: int, policy: str) -> tuple:
    order = random.sample(range(UPLOADS), UPLOADS)

    def send(index):
        return service.upload(token, bodies[index], sha(number), branch="try", policy=policy, headers={"Idempotency-Key": f"{number}/{index}"})

    with concurrent.futures.ThreadPoolExecutor(UPLOADS) as pool:
        answers = list(pool.map(send, order))
    check(all(a.status in (201, 202) for a in answers), f"round {number}: {[a for a in answers if a.status not in (201, 202)][:2]}")
    seconds_until(lambda: None not in standing(service, token, number)[1], 60)
    return standing(service, token, number)


def rounds_on(kind: str, rounds: int, bodies: list) -> str:
    with ServiceOn(kind) as service:
        token = service.token()
        values = [utilization(service.upload(token, body, sha(10**6 + n), branch="try").json) for n, body in enumerate(bodies)]
        mean = statistics.mean(values)
        wanted = {"pass": policy_at_least(service, token, mean - MARGIN), "fail": policy_at_least(service, token, mean + MARGIN)}
        wrong = []
        for number in range(1, rounds + 1):
            outcome = ("pass", "fail")[number % 2]
            got = one_round(service, token, bodies, number, wanted[outcome])
            if got != (outcome, [*range(1, UPLOADS + 1)]):
                wrong.append(f"round {number}: {got} instead of {outcome}")
        below = sum(value < mean for value in values)
        figures = f"{kind}: {rounds} rounds of {UPLOADS} uploads ({below} below the mean of {mean:.3f}), {rounds - len(wrong)} outcomes as the mean says"
        check(not wrong, f"{figures}; {'; '.join(wrong[:3])}")
        return figures


def run(stress) -> str:
    random.seed(15)
    bodies = [trace("--steps", 3, "--seed", n, "--stall-loader", 0 if n % 3 else 3) for n in range(UPLOADS)]
    return "; ".join(rounds_on(kind, stress.count(100, 3), bodies) for kind in STORES)
