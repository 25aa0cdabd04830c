"""Libraries that Debian ships only as shared ones, built into the static client from Debian's own source packages.

apt fetches them from where this machine gets its packages, and checks their signatures; the version is the one whose headers are
installed, so that headers and library are one.
"""
import pathlib
import re
import shutil
import subprocess
import tarfile

LISTS = ("/etc/apt/sources.list", "/etc/apt/sources.list.d")
# Source package → the package whose version is wanted, and the file that is compiled.
WANTED = {"simdjson": ("libsimdjson-dev", "singleheader/simdjson.cpp"), "fmtlib": ("libfmt-dev", "src/format.cc")}


def source_lists() -> dict:
    """The machine's own lists with sources instead of packages, by file name."""
    texts = {}
    for place in map(pathlib.Path, LISTS):
        for path in sorted(place.iterdir()) if place.is_dir() else [place] if place.exists() else []:
            text = path.read_text()
            if path.suffix == ".sources":
                texts[path.name] = re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.M)
            elif path.suffix == ".list":
                texts[path.name] = re.sub(r"^deb(-src)? ", "deb-src ", text, flags=re.M)
    return texts


def apt(work: pathlib.Path, *command):
    options = {"Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": work / "lists.d", "Dir::State::Lists": work / "lists",
               "APT::Sandbox::User": "root"}
    flags = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
    done = subprocess.run(["apt-get", "-qq", *flags, *command], cwd=work, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"dist: apt-get {' '.join(command)}: {done.stderr.strip()}\nIs there a network, and are these Debian's package sources?")


def installed_version(package: str) -> str:
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=True).stdout


def fetch(work: pathlib.Path) -> dict:
    """Source package → the file to compile. What is there already is not fetched again."""
    found = {}
    for name, (package, file) in WANTED.items():
        version = installed_version(package)
        folder = work / f"{name}-{version}"
        if not (folder / file).exists():
            unpack(work, name, version, folder)
        found[name] = folder / file
    return found


def unpack(work: pathlib.Path, name: str, version: str, folder: pathlib.Path):
    (work / "lists.d").mkdir(parents=True, exist_ok=True)
    (work / "lists/partial").mkdir(parents=True, exist_ok=True)
    for file, text in source_lists().items():
        (work / "lists.d" / file).write_text(text)
    apt(work, "update")
    apt(work, "source", "--download-only", f"{name}={version}")
    archive = next(work.glob(f"{name}_{version.rpartition('-')[0]}.orig.tar.*"))
    shutil.rmtree(folder, ignore_errors=True)
    half = folder.with_suffix(".part")
    shutil.rmtree(half, ignore_errors=True)
    with tarfile.open(archive) as tar:
        tar.extractall(half)
    next(half.iterdir()).rename(folder)
    half.rmdir()
