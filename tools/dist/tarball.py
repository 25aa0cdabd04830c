"""The client as one file that needs nothing of the machine, with its pages, completions and licences, as a reproducible tarball."""
import gzip
import pathlib
import shutil
import subprocess
import tarfile

import layout

README = """\
traceweir {version}: the client and offline tool of Traceweir, for Linux on x86-64.

bin/traceweir is one static file: copy it anywhere. It needs no library, no Python and no GPU of the machine.
share/ holds pages of man and completions; copied to /usr/local as it stands, shells and man find them.
LICENSE is its own licence; licences/ holds those of what is linked into it.

Names of hosts are looked up in /etc/hosts and DNS (other services of nsswitch.conf are not asked). Certificates are checked
against the system's authorities, wherever the distribution keeps them; SSL_CERT_FILE and SSL_CERT_DIR win.
"""
# What is linked in, by the packages that hold the licences: Debian's own texts are shipped.
LINKED = ("libc6", "libstdc++6", "libssl3", "libsqlite3-0", "libsqlitecpp-dev", "zlib1g", "libisal2", "libzstd1", "libseccomp2", "libboost1.81-dev",
          "libfmt-dev", "libsimdjson-dev", "libtomlplusplus-dev", "libcli11-dev", "nlohmann-json3-dev", "libexpected-dev")


def check_static(program: pathlib.Path):
    """No interpreter and no needed library: else it starts here and not where people train."""
    said = subprocess.run(["readelf", "--wide", "--program-headers", "--dynamic", program], capture_output=True, text=True, check=True).stdout
    for word in ("INTERP", "(NEEDED)"):
        if word in said:
            raise SystemExit(f"dist: {program} is not static: {word}")


def build(program: pathlib.Path, project: pathlib.Path, target: pathlib.Path, version: str, epoch: int) -> pathlib.Path:
    check_static(program)
    name = f"traceweir-{version}-linux-x86_64"
    root = target / name
    shutil.rmtree(root, ignore_errors=True)
    layout.lay_out(root, program, "site-functions")
    layout.install(project / "LICENSE", root / "LICENSE")
    layout.write(root / "README", README.format(version=version).encode())
    for package in LINKED:
        layout.install(pathlib.Path("/usr/share/doc") / package / "copyright", root / "licences" / package)
    layout.settle(root, epoch)
    archive = target / f"{name}.tar.gz"
    pack(root, archive, epoch)
    shutil.rmtree(root)
    return archive


def pack(root: pathlib.Path, archive: pathlib.Path, epoch: int):
    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = epoch
        return member

    with open(archive, "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        tar.add(root, root.name, recursive=False, filter=plain)
        for path in sorted(root.rglob("*")):
            tar.add(path, f"{root.name}/{path.relative_to(root)}", recursive=False, filter=plain)
