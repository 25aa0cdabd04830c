"""R3: Postgres is stopped at once and started again, over and over, under twenty requests a second. Requests meanwhile are
answered 503 with Retry-After and never 500; five seconds after Postgres is ready everything works; nothing acknowledged is
lost, and no verdict is another than its inputs give."""
import random
import signal

from load import RUNS, Load, seconds_until
from postgres import Cluster
from service import trace
from stress import ServiceOn, check

RECOVERY_SECONDS_MAX = 5
REQUESTS_PER_SECOND = 20


def is_back(service, token) -> bool:
    return service.call("GET", "/readyz").status == 200 and service.call("GET", RUNS, token).status == 200


def restarts(cluster, service, load, count: int) -> list:
    """Seconds from Postgres being ready to the service being well, of each restart."""
    recoveries = []
    for number in range(count):
        if number % 2:
            load.wait_for_more(2)
        load.ended.wait(random.uniform(0.2, 0.8))
        cluster.stop(signal.SIGKILL if number % 5 == 4 else signal.SIGQUIT)
        load.ended.wait(random.uniform(0, 0.3))
        cluster.start()
        recoveries.append(seconds_until(lambda: is_back(service, load.token), 4 * RECOVERY_SECONDS_MAX))
    load.ended.wait(0.5)
    return recoveries


def run(stress) -> str:
    random.seed(3)
    count = stress.count(50, 4)
    with Cluster() as cluster, ServiceOn("postgres", cluster) as service:
        load = Load(service, service.token(), trace("--steps", 3), per_second=REQUESTS_PER_SECOND)
        with load.running(writers=3, readers=2):
            recoveries = restarts(cluster, service, load, count)
        load.settle(60)
        faults = load.faults()
        figures = (f"{count} restarts under {REQUESTS_PER_SECOND} requests/s, {len(load.acknowledged)} acknowledged, "
                   f"answers {dict(sorted(load.statuses.items()))}, slowest recovery {max(recoveries):.2f} s")
        check(not faults, f"{figures}; {len(faults)} faults: {'; '.join(faults[:3])}")
        check(load.statuses[503] > 0, f"{figures}; the fault was never felt")
        check(max(recoveries) < RECOVERY_SECONDS_MAX, figures)
        return f"{figures}, 0 lost, 0 wrong verdicts"
