#!/usr/bin/env python3
"""dist.py fetch | pack: what `./dev dist` ships, reproducible by SOURCE_DATE_EPOCH (default: the time of the last commit).

fetch prints `-D` options for CMake's preset `static`: the sources of libraries of which Debian has no static form.
pack makes of build/static/traceweir and build/release/{traceweir,traceweird}, in build/dist:
  traceweir-VERSION-linux-x86_64.tar.gz   the static client with pages, completions, licences
  traceweir_VERSION_amd64.deb             both programs, a hardened unit, pages, completions
  SHA256SUMS
"""
import hashlib
import os
import pathlib
import re
import subprocess
import sys

import deb
import sources
import tarball

PROJECT = pathlib.Path(__file__).resolve().parents[2]
TARGET = PROJECT / "build/dist"


def version() -> str:
    return re.search(r"^project\(traceweir VERSION ([\d.]+)", (PROJECT / "CMakeLists.txt").read_text(), flags=re.M)[1]


def epoch() -> int:
    if os.environ.get("SOURCE_DATE_EPOCH"):
        return int(os.environ["SOURCE_DATE_EPOCH"])
    said = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=PROJECT, capture_output=True, text=True)
    if said.returncode != 0:
        raise SystemExit("dist: no git history here: say of when this is with SOURCE_DATE_EPOCH (seconds since 1970)")
    return int(said.stdout)


def fetch():
    found = sources.fetch(TARGET / "sources")
    print(" ".join(f"-DTRACEWEIR_{name.upper()}_SOURCE={path}" for name, path in found.items()))


def pack():
    TARGET.mkdir(parents=True, exist_ok=True)
    for old in [*TARGET.glob("*.tar.gz"), *TARGET.glob("*.deb")]:
        old.unlink()
    release = [PROJECT / "build/release" / name for name in ("traceweir", "traceweird")]
    made = [tarball.build(PROJECT / "build/static/traceweir", PROJECT, TARGET, version(), epoch()),
            deb.build(release, TARGET, version(), epoch())]
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    (TARGET / "SHA256SUMS").write_text("".join(sums))
    for path in [*made, TARGET / "SHA256SUMS"]:
        print(f"{path.stat().st_size:>10}  {path.relative_to(PROJECT)}")


def main():
    verbs = {"fetch": fetch, "pack": pack}
    if len(sys.argv) != 2 or sys.argv[1] not in verbs:
        raise SystemExit(__doc__)
    verbs[sys.argv[1]]()


if __name__ == "__main__":
    main()
