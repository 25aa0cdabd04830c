"""R24: half an hour of ten small uploads a second and a big one each minute, on each store, side by side. No request fails, and after
the warm-up neither memory nor descriptors grow: less than 1 MiB in ten minutes. The warm-up begins with as many uploads as a series is
read of, as fast as they go: what is read of a shorter one grows with it. (The quick form is too short for that, and for a slope: it
bounds the growth.)"""
import concurrent.futures
import threading
import time

from load import Load, Pace, numbered, seconds_until
from service import sha, trace
from stress import STORES, ServiceOn, check, descriptors, resident_bytes, slope

alone_in_full = True
MIB = 1 << 20
UPLOADS_PER_SECOND = 10
SERIES_RUNS_MAX = 10_000  # SeriesQuery::limit
FILL_SECONDS_MAX = 1800
SLOPE_MAX = 1.0  # MiB in ten minutes
QUICK_GROWTH_MAX = 8 * MIB
DESCRIPTORS_GROWTH_MAX = 8
# A few seconds on a busy machine: what the nine who send have open at one moment, a connection, a file and pipes each.
QUICK_DESCRIPTORS_GROWTH_MAX = 32
WARM_UP = 1 / 3  # of the time with the steady load


def big_ones(load: Load, body: bytes, pause: float, sent: list):
    number = 10**6
    while not load.ended.wait(pause):
        number += 1
        load.begun.add(number)
        answer = load.ask(lambda: load.service.upload(load.token, numbered(body, number), sha(number)), (201, 202))
        sent.append(answer is not None)


def sampled(service, seconds: float, every: float) -> list:
    """(seconds, resident bytes, descriptors) of the service's own process."""
    begun, samples = time.monotonic(), []
    while (now := time.monotonic() - begun) < seconds:
        samples.append((now, resident_bytes(service.process.pid), descriptors(service.process.pid)))
        time.sleep(every)
    return samples


def soak(stress, kind: str, small: bytes, big: bytes) -> str:
    seconds = stress.count(1800, 10)
    with ServiceOn(kind, queue_depth_max=256) as service:
        load, sent = Load(service, service.token(), small, per_second=1000), []
        other = threading.Thread(target=big_ones, args=(load, big, stress.count(60, 4), sent))
        with load.running(writers=8):
            seconds_until(lambda: load.statuses[201] >= stress.count(SERIES_RUNS_MAX, 0), FILL_SECONDS_MAX)
            before, load.pace = load.statuses[201], Pace(UPLOADS_PER_SECOND)
            other.start()
            samples = sampled(service, seconds, stress.count(5, 0.25))
        other.join()
        uploads, failed = load.statuses[201] - before, load.statuses.total() - load.statuses[201] - load.statuses[202]
        warm = [sample for sample in samples if sample[0] >= WARM_UP * seconds]
        grown = max(b for _, b, _ in warm[-3:]) - max(b for _, b, _ in warm[:3])
        handles = max(d for *_, d in warm[-3:]) - max(d for *_, d in warm[:3])
        per_ten_minutes = slope([(t, b / MIB) for t, b, _ in warm]) * 600
        rate = uploads / seconds
        figures = (f"{kind}: {seconds} s, {uploads} uploads ({rate:.1f}/s, {len(sent)} big; {before} before), {failed} errors, "
                   f"memory {samples[-1][1] / MIB:.0f} MiB, {per_ten_minutes:+.2f} MiB in 10 min, descriptors {samples[-1][2]} ({handles:+d})")
        check(failed == 0 and not load.odd and all(sent), f"{figures}; {load.odd[:2]}")
        check(rate >= stress.count(0.9, 0.3) * UPLOADS_PER_SECOND, f"{figures}; too few uploads")
        check(handles <= stress.count(DESCRIPTORS_GROWTH_MAX, QUICK_DESCRIPTORS_GROWTH_MAX), figures)
        check(grown < QUICK_GROWTH_MAX if stress.quick else per_ten_minutes < SLOPE_MAX, figures)
        return figures if not stress.quick else figures.replace(f"{per_ten_minutes:+.2f} MiB in 10 min", f"grown by {grown / MIB:.1f} MiB")


def run(stress) -> str:
    small, big = trace("--steps", 3), trace("--steps", stress.count(2000, 200))
    with concurrent.futures.ThreadPoolExecutor(len(STORES)) as pool:
        parts = [pool.submit(soak, stress, kind, small, big) for kind in STORES]
    broken = [part.exception() for part in parts]
    figures = "; ".join(str(error or part.result()) for error, part in zip(broken, parts))
    check(not any(broken), figures)
    return figures
