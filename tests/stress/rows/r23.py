"""R23: SIGTERM while uploads, reads and analyses run, on both stores. The service takes nothing new, answers or hands back
what it has, and leaves with 0 within 25 s; after the next start everything that was acknowledged is there, once, judged."""
import random
import signal
import time

from load import CUT, Load
from service import trace
from stress import STORES, ServiceOn, check

STOP_SECONDS_MAX = 25.0


def stop_and_start(kind: str, rounds: int, body: bytes):
    random.seed(23)
    with ServiceOn(kind) as service:
        token = service.token()
        load, stops, codes = Load(service, token, body, per_second=40, forgives=CUT), [], []
        with load.running(writers=4, readers=2):
            for _ in range(rounds):
                time.sleep(random.uniform(0.1, 0.5))
                begun = time.monotonic()
                codes.append(service.stop(signal.SIGTERM))
                stops.append(time.monotonic() - begun)
                service.start()
        load.settle(60)
        faults = load.faults()
        lost = sum(fault.startswith("lost") for fault in faults)
        events = [line["event"] for line in service.log()]
        figures = (f"{kind}: {rounds} rounds, {len(load.acknowledged)} acknowledged, {lost} lost, slowest stop {max(stops):.2f} s")
        check(codes == [0] * rounds, f"{figures}; exit codes {sorted(set(codes))}")
        check(not faults, f"{figures}; {'; '.join(faults[:3])}")
        check(max(stops) < STOP_SECONDS_MAX, figures)
        check(events.count("stopped") == rounds and "stop_abandoned" not in events, f"{figures}; stops that hung")
        check(len(load.acknowledged) >= rounds, f"{figures}; hardly any load")
        return figures


def run(stress) -> str:
    body = trace("--steps", 3)
    return "; ".join(stop_and_start(kind, stress.count(50, 3), body) for kind in STORES)
