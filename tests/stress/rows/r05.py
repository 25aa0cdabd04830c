"""R5: the disk is full: a file system of 64 MiB, first under the blobs, then under the embedded store. Uploads are refused
with 507 and a reason, their halves are removed, reading goes on, /readyz says no below the headroom; and when there is room
again all is well, and the database whole.

The file systems are in memory, in a mount namespace of this process's own (root, or a user namespace). Where neither may be
made, a small /dev/shm, as containers have one, is filled instead; where that is large too, the row fails: it was not tried.
"""
import contextlib
import ctypes
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile

from load import RUNS, Load, numbered, runs_of, seconds_until
from service import sha, trace
from stress import Failed, ServiceOn, check

MIB = 1 << 20
SIZE = 64 * MIB
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000


@contextlib.contextmanager
def small_disk(folder: pathlib.Path):
    """An empty file system of 64 MiB that only this process and its children see."""
    place = folder / "disk"
    place.mkdir()
    about = os.statvfs("/dev/shm")
    if mounted(place):
        try:
            yield place
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)
    elif about.f_bavail * about.f_frsize <= 2 * SIZE and os.access("/dev/shm", os.W_OK):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as inside:
            yield pathlib.Path(inside)
    else:
        raise Failed("no small file system could be made (neither root nor user namespaces), so nothing was tried")


def mounted(place: pathlib.Path) -> bool:
    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None).unshare(CLONE_NEWNS | (0 if user == 0 else CLONE_NEWUSER)) != 0:
        return False
    if user != 0:
        pathlib.Path("/proc/self/setgroups").write_text("deny")
        pathlib.Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        pathlib.Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["mount", "--make-rprivate", "/"], **quiet)  # in a changed root there is no mount there, and no need
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)], **quiet).returncode == 0


def fill(place: pathlib.Path, leave: int):
    """As if somebody else had taken the space; `leave` bytes of it are left, as nearly as blocks allow."""
    about = os.statvfs(place)
    left = about.f_bavail * about.f_frsize - leave
    with contextlib.suppress(OSError), open(place / "filler", "wb", buffering=0) as filler:
        while left > 0:
            left -= filler.write(b"x" * min(left, MIB))


def free(place: pathlib.Path):
    (place / "filler").unlink()


def check_refused(answer, where: str):
    check((answer.status, answer.json["type"]) == (507, "disk_full") and answer.json["detail"], f"{where}: {answer}")


def check_reading(service, token: str, place: str, where: str):
    for path in (RUNS, place):
        answer = service.call("GET", path, token)
        check(answer.status == 200, f"{where}: reading {path}: {answer}")
    check(service.call("GET", "/healthz").status == 200, f"{where}: it is not alive")


def parts(service) -> list:
    return list((service.data_dir / "spool" / "incoming").glob("*.part"))


def full_under_blobs(disk: pathlib.Path, body: bytes, headroom: str, rounds: int) -> int:
    """Uploads of 4 MiB until there is no room, again and again. Returns how many were refused."""
    refused, padded = 0, body + b" " * (4 * MIB)
    service = ServiceOn("sqlite", disk_headroom_bytes=headroom)
    service.store = {"TRACEWEIR_STORE": f"sqlite:{service.folder}/elsewhere.db"}
    service.data_dir = disk / "data"
    with service:
        token = service.token()
        first = service.upload(token, body, sha(1))
        check(first.status == 201, f"blobs: {first}")
        for number in range(2, 2 + rounds):
            fill(disk, random.randint(0, 3 * MIB))
            answer = service.upload(token, numbered(padded, number), sha(number), headers={"Idempotency-Key": f"b{number}"})
            check_refused(answer, f"blobs, headroom {headroom}")
            refused += 1
            check(not parts(service), f"blobs: {parts(service)} is left")
            ready = service.call("GET", "/readyz")
            check(headroom == "0 B" or ready.status == 503 and "disk" in ready.json, f"blobs: below the headroom: {ready}")
            check_reading(service, token, first.json["links"]["self"], "blobs")
            free(disk)
            check(service.call("GET", "/readyz").status == 200, "blobs: not ready with room again")
            again = service.upload(token, numbered(body, number), sha(number), headers={"Idempotency-Key": f"a{number}"})
            check(again.status == 201, f"blobs: with room again: {again}")
        check(all(len(runs) == 1 for runs in runs_of(service, token).values()), "blobs: something is there twice or by halves")
    shutil.rmtree(disk / "data")
    return refused


def full_under_store(disk: pathlib.Path, body: bytes, rounds: int) -> tuple:
    """The database's own file system is full. Returns how many uploads were refused, and how many came through."""
    service = ServiceOn("sqlite", disk_headroom_bytes="0 B", resume_pause="1 s")
    service.store = {"TRACEWEIR_STORE": f"sqlite:{disk}/store.db"}
    with service:
        token = service.token()
        load = Load(service, token, body, per_second=1000)
        load.begun.add(1)
        check(load.send(1), f"store: {load.odd}")
        first = f"{RUNS}/{load.acknowledged[1]}"
        refused = came = 0
        for number in range(2, 2 + 4 * rounds):
            if number % 4 == 2:
                fill(disk, random.randint(0, 256 * 1024))
            load.begun.add(number)
            answer = service.upload(token, numbered(body, number), sha(number), headers={"Idempotency-Key": f"key-{number}"})
            if answer.status in (201, 202):
                load.acknowledged[number], came = answer.json["id"], came + 1
            else:
                check_refused(answer, "store")
                refused += 1
            check_reading(service, token, first, "store")
            if number % 4 == 1:
                free(disk)
                seconds_until(lambda number=number: load.send(number), 20)
        load.settle(60)
        faults = load.faults()
        check(not faults, f"store: {'; '.join(faults[:3])}")
        check(service.stop() == 0, "store: it did not end well")
        whole = sqlite3.connect(disk / "store.db").execute("PRAGMA integrity_check").fetchone()[0]
        check(whole == "ok", f"store: integrity_check: {whole}")
    return refused, came


def run(stress) -> str:
    random.seed(5)
    body = trace("--steps", 3)
    with small_disk(stress.folder) as disk:
        below = full_under_blobs(disk, body, "8 MiB", stress.count(10, 2))
        full = full_under_blobs(disk, body, "0 B", stress.count(10, 2))
        refused, came = full_under_store(disk, body, stress.count(25, 3))
    check(refused > 0, f"store: never full: {came} uploads came through")
    return (f"blobs: {below} uploads refused below the headroom, {full} on a full disk, no half left; store: {refused} refused with 507, "
            f"{came} that still found room are there; reads went on, 0 crashes, integrity_check ok")
