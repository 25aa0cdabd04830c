"""R9: databases of an enemy: views, triggers, generated columns, virtual tables, trees that bite their tails, schemas without
end. Each is read or refused with its reason, within 10 s, 512 MiB of the analysing child and 32 MiB of the service."""

from hostile_files import DATABASES, MIB
from hostile_uploads import analysed, resident, send
from service import Service, sha, trace
from stress import check

SECONDS_MAX = 10
CHILD_MAX = 512 * MIB
GROWTH_MAX = 32 * MIB
SCHEMAS_MIN = 20


def answered(service, token, case, path, number: int) -> float:
    """Seconds of the answer, which is one of those that the case allows."""
    answer = send(service, token, path, sha(number))
    word = "judged" if answer.status == 201 else answer.json["type"]
    check(word in case.words and case.part in answer.body.decode(), f"{case.name}: {answer}")
    return answer.seconds


def run(stress) -> str:
    path = stress.folder / "upload"
    slowest = peak = 0
    with Service() as service:
        token = service.token()
        good = stress.folder / "good"
        good.write_bytes(trace("--steps", 6, "--format", "nsys", name="trace.sqlite"))
        check(send(service, token, good, sha(1)).status == 201, "a good database was not judged")
        before = resident(service.process.pid)
        for number, case in enumerate(DATABASES, 100):
            path.unlink(missing_ok=True)
            case.make(path)
            slowest = max(slowest, answered(service, token, case, path, number))
            peak = max(peak, analysed(path).peak)
        growth = resident(service.process.pid) - before
        check(send(service, token, good, sha(2)).status == 201, "the next database was not judged")
    figures = (f"{len(DATABASES)} databases, slowest {slowest:.1f} s, child {peak // MIB} MiB, service "
               f"{growth / MIB:+.1f} MiB")
    check(len(DATABASES) >= SCHEMAS_MIN and slowest <= SECONDS_MAX and peak <= CHILD_MAX and growth < GROWTH_MAX, figures)
    return figures
