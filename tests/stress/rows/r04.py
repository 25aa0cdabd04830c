"""R4: the answer to a COMMIT is lost. Something between the service and Postgres cuts the connection when a COMMIT is sent;
every second one reaches the server, the others do not. Uploads repeated with their key come to one run each, judged once."""
import random

from flaky import CutsCommits
from load import Load, runs_of
from postgres import Cluster
from service import trace
from stress import ServiceOn, check

COMMITS_OF_AN_UPLOAD = 5


class Behind:
    """Databases of a cluster, reached through something else."""

    def __init__(self, cluster, port: int):
        self.cluster, self.port = cluster, port

    def new_database(self) -> str:
        name = self.cluster.new_database().split("/")[3].split("?")[0]
        return f"postgresql://traceweir@127.0.0.1:{self.port}/{name}?sslmode=disable&gssencmode=disable"


def run(stress) -> str:
    random.seed(4)
    cuts = stress.count(100, 8)
    with Cluster() as cluster, CutsCommits(cluster.folder / ".s.PGSQL.5432") as between:
        with ServiceOn("postgres", Behind(cluster, between.port), resume_pause="1 s") as service:
            load, number = Load(service, service.token(), trace("--steps", 3)), 0
            while sum(between.cuts.values()) < cuts and number < 20 * cuts:
                number += 1
                load.begun.add(number)
                between.arm(random.randint(1, COMMITS_OF_AN_UPLOAD), number % 2 == 0)
                while not load.send(number):
                    load.ended.wait(0.05)
            between.arm(0, True)
            load.settle(60)
            faults, rows = load.faults(), sum(map(len, runs_of(service, load.token).values()))
        seen, unseen = between.cuts[True], between.cuts[False]
        figures = (f"{seen + unseen} COMMITs without an answer ({seen} of them done, {unseen} not), {number} uploads, {rows} rows, "
                   f"answers {dict(sorted(load.statuses.items()))}")
        check(seen + unseen >= cuts, f"{figures}; too few were cut")
        check(not faults and rows == number, f"{figures}; {'; '.join(faults[:3])}")
        return figures
