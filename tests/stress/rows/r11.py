"""R11: bombs of gzip and zstd, in one piece and in members, with windows of up to 2^31 bytes, in front of every reader. Each is
refused by the name of the limit, after at most 3 s, 64 MiB of memory above a small trace's, and no more on disk than the ratio
allows."""
from hostile_files import BOMBS, MIB, Case, bomb
from hostile_uploads import analysed, send
from service import Service, sha, trace
from stress import check

SECONDS_MAX = 3
GROWTH_MAX = 64 * MIB
RATIO_MAX = 200  # inflate_ratio_max
REFUSED = 3  # exit code of the child

# 3 GB each: the ratio near DEFLATE's greatest, and zstd's with a long window.
LARGE = [
    Case(f"3 GB in {packer}", lambda p, packer=packer: bomb(p, '{"traceEvents":[{"a":"', 3000, packer), "trace_too_large",
         "inflate_ratio_max") for packer in ("gzip -9", "zstd -q --long=25 -c")]


def costs(case, path, base: int):
    """The child alone, on one bomb."""
    child = analysed(path)
    check(child.code == REFUSED, f"{case.name}: exit code {child.code}")
    check(child.seconds <= SECONDS_MAX, f"{case.name}: {child.seconds:.1f} s")
    check(child.peak - base <= GROWTH_MAX, f"{case.name}: {(child.peak - base) // MIB} MiB more than a small trace")
    check(child.scratch <= max(RATIO_MAX * path.stat().st_size, 2 * MIB), f"{case.name}: {child.scratch} bytes on disk")
    return child


def run(stress) -> str:
    cases = [case for case in BOMBS + stress.count(LARGE, []) if "trace_too_large" in case.words]
    path, small = stress.folder / "bomb", stress.folder / "small"
    small.write_bytes(trace("--steps", 6))
    base = analysed(small).peak
    children = []
    with Service() as service:
        token = service.token()
        for number, case in enumerate(cases, 1):
            case.make(path)
            children.append(costs(case, path, base))
            answer = send(service, token, path, sha(number))
            named = answer.status == 413 and case.part in answer.json["detail"]
            check(named, f"{case.name}: {answer}")
        check(send(service, token, small, sha(1000)).status == 201, "the next upload was not judged")
    slowest = max(child.seconds for child in children)
    growth = max(child.peak for child in children) - base
    on_disk = max(child.scratch for child in children)
    return (f"{len(cases)} bombs refused by the limit's name, slowest {slowest:.1f} s, {growth / MIB:+.1f} MiB, "
            f"{on_disk / MIB:.1f} MiB on disk")
