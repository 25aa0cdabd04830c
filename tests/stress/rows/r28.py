"""R28: backups taken while uploads come in, each restored into an empty place, on both stores. The restored store has the
rows and hashes that the backup says, a backup of it says the same, every row has its trace with the right bytes, and every
run that was acknowledged before the backup began is in it."""
import hashlib
import time

from copies import Sealed, blobs_of, command, manifest_of, runs_of, tables_of
from load import Load
from service import cluster, trace
from stress import STORES, Failed, ServiceOn, check


def must(done):
    if done.returncode != 0:
        raise Failed(f"{done.args[1:]}: {done.stderr[-300:]}")


def restored_faults(kind: str, file, second, known: dict, token: str):
    """What is wrong with the place that the backup is restored into."""
    with Sealed(cluster().new_database() if kind == "postgres" else None) as copy:
        must(command(copy, "restore", file))
        must(command(copy, "backup", second))
        if tables_of(second) != tables_of(file):
            yield "other rows or hashes"
        held = blobs_of(copy)
        yield from (f"{name} has other bytes" for name in held
                    if hashlib.sha256((copy.data_dir / "blobs" / name[:2] / name).read_bytes()).hexdigest() != name)
        copy.start()
        listed = {run["id"]: run for run in runs_of(copy, token, "demo")}
        yield from (f"run {run} of upload {number} is not in it" for number, run in known.items() if run not in listed)
        yield from (f"run {run} has no trace" for run in listed
                    if copy.call("GET", f"/api/v1/projects/demo/runs/{run}/traces/0", token).status != 200)


def back_up_under_load(stress, kind: str, count: int, body: bytes) -> str:
    files = [stress.folder / f"{kind}{number}.tar" for number in range(count)]
    known = []
    with ServiceOn(kind) as service:
        token = service.token()
        load = Load(service, token, body, per_second=20)
        with load.running(writers=3):
            while len(load.acknowledged) < 5:
                time.sleep(0.05)
            for file in files:
                known.append(dict(load.acknowledged))
                must(command(service, "backup", file))
        check(not load.odd, f"{kind}: odd answers while a backup was taken: {load.odd[:2]}")
        check(len(load.acknowledged) > len(known[-1]), f"{kind}: nothing was taken while the last backup was")
        faults, rows = [], 0
        for number, file in enumerate(files):
            manifest = manifest_of(file)
            faults += manifest["missing"] + manifest["damaged"]
            rows = max(rows, sum(table["rows"] for table in manifest["tables"]))
            faults += restored_faults(kind, file, stress.folder / f"{kind}{number}.again.tar", known[number], token)
            file.unlink()
        good = count if not faults else "fewer"
        figures = f"{kind}: {good}/{count} equal, up to {rows} rows, {len(known[-1])} runs"
        check(not faults, f"{figures}; {'; '.join(faults[:3])}")
        return figures


def run(stress) -> str:
    body = trace("--steps", 3)
    return "; ".join(back_up_under_load(stress, kind, stress.count(20, 2), body) for kind in STORES)
