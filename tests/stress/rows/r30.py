"""R30: the service is down while CI runs. The client tries five times with growing, random pauses, gives up within 90 s, and exits
with 4, or with 0 where the job says --on-unreachable=pass; and where the service comes back meanwhile, the verdict comes too."""
import concurrent.futures
import re
import threading
import time

from service import Service, run as run_program, sha, trace
from stress import check

TRIES = 5
SECONDS_MAX = 90  # also the client's default


def gate(env: dict, *arguments, seconds: int):
    begun = time.monotonic()
    patience = [] if seconds == SECONDS_MAX else ["--retry-time-max", seconds]
    done = run_program("traceweir", "gate", "--branch", "main", *patience, *arguments, env=env)
    return done, time.monotonic() - begun


def is_patient(done, took: float, seconds: int) -> bool:
    """All tries within the time, each pause announced and none shorter than the one before."""
    pauses = [int(word) for word in re.findall(r"\(try \d of 5, next in (\d+) s\)", done.stderr)]
    return took <= seconds and len(pauses) == TRIES - 1 and pauses == sorted(pauses)


def come_back(service, token_env: dict, path, seconds: int):
    """The service is started again while the client waits."""
    timer = threading.Timer(seconds / 6, service.start)
    timer.start()
    try:
        return gate(token_env, path, "--commit", sha(9), seconds=seconds)
    finally:
        timer.join()


def run(stress) -> str:
    seconds = stress.count(SECONDS_MAX, 6)
    path = stress.folder / "trace.json"
    path.write_bytes(trace("--steps", 3))
    with Service() as service:
        env = service.environment() | {"TRACEWEIR_TOKEN": service.token(), "TRACEWEIR_PROJECT": "demo"}
        service.stop()
        cases = [("closed", [], 4), ("open", ["--on-unreachable", "pass"], 0)]
        with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
            done = list(pool.map(lambda case: gate(env, path, "--commit", sha(1), *case[1], seconds=seconds), cases))
        for (name, _, code), (result, took) in zip(cases, done):
            check(result.returncode == code and is_patient(result, took, seconds),
                  f"{name}: exit {result.returncode} after {took:.1f} s: {result.stderr[-300:]}")
        result, back = come_back(service, env, path, seconds)
        check(result.returncode == 0 and back <= seconds, f"coming back: exit {result.returncode} after {back:.1f} s: {result.stderr[-300:]}")
        slowest = max(took for _, took in done)
    return (f"down: {TRIES} tries in {slowest:.1f} s of {seconds} s, exit 4 closed, 0 open; back again: verdict after {back:.1f} s, exit 0")
