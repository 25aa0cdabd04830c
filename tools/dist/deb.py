"""The Debian package of both programs: the service under a user of its own in a hardened unit, and the client."""
import os
import pathlib
import re
import shutil
import subprocess

import layout

FOLDER = pathlib.Path(__file__).resolve().parent / "deb"
CONFIG = "etc/traceweir/traceweird.toml"
SCRIPTS = ("postinst", "prerm", "postrm")
CONTROL = """\
Package: traceweir
Version: {version}
Architecture: amd64
Maintainer: Traceweir developers <traceweir@localhost.localdomain>
Installed-Size: {size}
Depends: {depends}, adduser
Recommends: ca-certificates
Suggests: postgresql
Section: devel
Priority: optional
Description: gate that keeps GPU training fast
 After each commit a CI job profiles a few training steps and sends the trace.
 Traceweir measures it (GPU utilization, idle time and its causes, all-reduce
 time, exposed communication), compares the figures with limits and with the
 history of comparable runs, and answers pass or fail, with the reason.
 .
 This package holds the service (traceweird), the client and offline tool
 (traceweir), a systemd unit, pages of man and completions.
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Traceweir

Files: *
Copyright: 2026 The Traceweir authors
License: Apache-2.0

License: Apache-2.0
 On Debian systems the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
"""


def dependencies(programs: list, work: pathlib.Path) -> str:
    """What the programs' libraries come to as packages and versions: dpkg-shlibdeps knows."""
    (work / "debian").mkdir(parents=True, exist_ok=True)
    (work / "debian/control").write_text("Source: traceweir\n\nPackage: traceweir\nArchitecture: any\n")
    done = subprocess.run(["dpkg-shlibdeps", "-O", *(f"-e{program}" for program in programs)], cwd=work, capture_output=True, text=True)
    found = re.search(r"^shlibs:Depends=(.*)$", done.stdout, flags=re.M)
    if done.returncode != 0 or not found:
        raise SystemExit(f"dist: dpkg-shlibdeps: {done.stderr}")
    return found[1]


def lay_out(root: pathlib.Path, programs: list, version: str, epoch: int):
    for program in programs:
        layout.lay_out(root / "usr", program, "vendor-completions")
    for page in (root / "usr/share/man").rglob("*.[18]"):
        layout.compress(page)
    layout.install(FOLDER / "traceweird.service", root / "lib/systemd/system/traceweird.service")
    layout.install(FOLDER / "traceweird.toml", root / CONFIG)
    doc = root / "usr/share/doc/traceweir"
    layout.write(doc / "copyright", COPYRIGHT.encode())
    date = subprocess.run(["date", "--utc", "--rfc-email", f"--date=@{epoch}"], capture_output=True, text=True, check=True).stdout.strip()
    entry = f"traceweir ({version}) stable; urgency=medium\n\n  * CHANGELOG.md of the project says what is new.\n\n" \
            f" -- Traceweir developers <traceweir@localhost.localdomain>  {date}\n"
    layout.write(doc / "changelog", entry.encode())
    layout.compress(doc / "changelog")
    layout.install(FOLDER / "lintian-overrides", root / "usr/share/lintian/overrides/traceweir")


def control_files(root: pathlib.Path, version: str, depends: str):
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    size = sum(path.stat().st_size // 1024 + 1 for path in files)
    control = root / "DEBIAN"
    sums = subprocess.run(["md5sum", *(path.relative_to(root) for path in files)], cwd=root, capture_output=True, text=True, check=True).stdout
    layout.write(control / "md5sums", sums.encode())
    layout.write(control / "conffiles", f"/{CONFIG}\n".encode())
    layout.write(control / "control", CONTROL.format(version=version, size=size, depends=depends).encode())
    for script in SCRIPTS:
        layout.install(FOLDER / script, control / script, 0o755)


def build(programs: list, target: pathlib.Path, version: str, epoch: int) -> pathlib.Path:
    root, work = target / "deb-root", target / "deb-work"
    shutil.rmtree(root, ignore_errors=True)
    lay_out(root, programs, version, epoch)
    control_files(root, version, dependencies([root / "usr/bin" / program.name for program in programs], work))
    layout.settle(root, epoch)
    archive = target / f"traceweir_{version}_amd64.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, archive], check=True, stdout=subprocess.DEVNULL,
                   env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch)})
    shutil.rmtree(root)
    shutil.rmtree(work)
    return archive
