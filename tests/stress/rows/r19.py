"""R19: tokens are guessed as fast as an address can, one after the other and on many connections at once, and used where they have no
right: no more guesses than the limit in any minute, a line with the address for each and no secret in it, no hint why a token is
refused, and no secret in logs, counters, answers, the audit log or a core dump."""
import concurrent.futures
import datetime
import http.client
import json
import pathlib
import re
import threading
import time

from service import Service, run as run_program
from stress import check

RUNS = "/api/v1/projects/demo/runs"
LIMIT, MINUTE, CONNECTIONS = 20, 60, 200


def guesses(service, numbers, bodies: set) -> list:
    """Times of the answers that say whether a guess was right."""
    said = []
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    for number in numbers:
        token = f"twr_{number:016x}_{number:064x}"
        connection.request("GET", RUNS, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        bodies.add(answer.read().decode())
        check(answer.status in (401, 429), f"a guess was answered by {answer.status}")
        if answer.status == 401:
            said.append(time.monotonic())
    connection.close()
    return said


def at_once(service, count: int, bodies: set) -> list:
    """The same on as many connections as an address may have nearly, all open before the first guess."""
    barrier, shares = threading.Barrier(CONNECTIONS), [range(first, count, CONNECTIONS) for first in range(CONNECTIONS)]

    def share(numbers):
        barrier.wait(60)
        return guesses(service, numbers, bodies)

    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        return [time for times in pool.map(share, shares) for time in times]


def lines_of_guesses(service, count: int) -> int:
    """What the log has of them, by the address that they came from."""
    return sum(1 for line in service.logged(count, event="request", remote="127.0.0.1", path=RUNS) if line["status"] in (401, 429))


def most_in_a_minute(times: list) -> int:
    return max((sum(1 for other in times if begun <= other < begun + MINUTE) for begun in times), default=0)


def refusals(service, bodies: set) -> dict:
    """(status, what is said) of tokens that are none any more, and of those without the right."""
    soon = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    tokens = {"expired": service.token("demo", "read", "--expires", soon), "revoked": service.token("demo", "read"),
              "of another project": service.token("other", "upload,read,admin"), "without the scope": service.token("demo", "upload")}
    known = service.token("demo", "read")
    run_program("traceweird", "token", "revoke", tokens["revoked"].split("_")[1], env=service.environment())
    tokens |= {"unknown": f"twr_{'a' * 16}_{'b' * 64}", "with a wrong secret": known[:-1] + ("0" if known[-1] != "0" else "1")}
    while service.call("GET", RUNS, tokens["expired"]).status == 200:
        time.sleep(0.2)
    found = {}
    for name, token in tokens.items():
        answer = service.call("GET", RUNS, token)
        bodies.add(answer.body.decode())
        found[name] = (answer.status, answer.json["detail"])
    other = service.call("GET", "/api/v1/projects/nowhere/runs", tokens["of another project"])
    found["of a project that is not there"] = (other.status, other.json["detail"])
    return found, set(tokens.values()) | {known}


def leaks(service, tokens: set, bodies: set) -> int:
    """Places that hold a secret."""
    admin = (service.data_dir / "admin-token").read_text().strip()
    told = [service.log_path.read_text(), service.call("GET", "/metrics").body.decode(), service.call("GET", "/api/v1/tokens", admin).body.decode(),
            service.call("GET", "/api/v1/projects/demo/audit", admin).body.decode(), *bodies]
    told += [path.read_bytes().decode("latin-1") for path in service.data_dir.rglob("*") if path.is_file() and path.name != "admin-token"]
    secrets = {token.split("_")[2] for token in tokens | {admin}}
    return sum(1 for text in told for secret in secrets if secret in text)


def core_limit(service) -> str:
    limits = pathlib.Path("/proc", str(service.process.pid), "limits").read_text()
    return next(line.split()[4] for line in limits.splitlines() if line.startswith("Max core file size"))


def run(stress) -> str:
    count, bodies = stress.count(10_000, 400), set()
    with Service(failed_authentications_max=LIMIT, requests_per_address_max=0) as service:
        service.token("demo", "read")
        begun = time.monotonic()
        said = at_once(service, count // 2, bodies) + guesses(service, range(count // 2, count), bodies)
        seconds = time.monotonic() - begun
        most = most_in_a_minute(said)
        check(0 < most <= LIMIT, f"{most} guesses were answered within a minute, {LIMIT} are allowed")
        lines = lines_of_guesses(service, count)
        check(lines == count, f"{lines} of {count} guesses have a line in the log")
        check(not re.search("[0-9a-f]{64}", service.log_path.read_text()), "a guess is in the log")
    with Service() as service:
        found, tokens = refusals(service, bodies)
        hints = {answer for name, answer in found.items() if name in ("expired", "revoked", "unknown", "with a wrong secret")}
        check(len(hints) == 1 and hints.pop()[0] == 401, f"refused tokens are told apart: {json.dumps(found)}")
        check(found["of another project"] == found["of a project that is not there"] and found["without the scope"][0] == 403,
              f"rights are told apart: {json.dumps(found)}")
        places, core = leaks(service, tokens, bodies), core_limit(service)
        check(places == 0 and core == "0", f"{places} places hold a secret; the limit of core dumps is {core}")
    return f"{count} guesses in {seconds:.1f} s, half of them on {CONNECTIONS} connections, at most {most} answered within a minute, {lines} in the log; {len(found)} refusals without a hint; 0 secrets found"
