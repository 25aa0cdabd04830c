"""Reads a Dockerfile and builds its stages as plain folders, each from a fresh Debian root, by running its own commands in a chroot.

For: machines without a container engine. Knows the instructions that our Dockerfile uses; another one is an error, so that nothing
in the file goes unproved. Needs root, and a mount namespace of its own (check.py makes it), so that all mounts end with the program.
"""
import dataclasses
import enum
import fnmatch
import json
import os
import pathlib
import shlex
import shutil
import subprocess

MACHINE_APT = ("/etc/apt/sources.list", "/etc/apt/sources.list.d", "/etc/apt/apt.conf.d", "/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt")


# Whom this machine trusts, where no package replaces it: npm, which builds the dashboard, may have to go the machine's own way.
MACHINE_CERTIFICATES = "etc/ssl/certificates-of-the-machine.crt"


class How(enum.Enum):
    built = 1
    reused = 2  # the roots of the last call, for work on the compose file


@dataclasses.dataclass
class Image:
    """What a stage leaves: its root and how it is run."""
    root: pathlib.Path
    environment: dict = dataclasses.field(default_factory=lambda: {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"})
    workdir: str = "/"
    user: str = "root"
    entrypoint: list = dataclasses.field(default_factory=list)
    health: str = ""
    volumes: list = dataclasses.field(default_factory=list)


def instructions(text: str) -> list:
    """(line number, keyword, rest) of each instruction; continued lines are joined."""
    found, joined, begin = [], "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or (not joined and not line.strip()):
            continue
        begin = begin if joined else number
        joined += line.rstrip("\\") if line.endswith("\\") else line
        if line.endswith("\\"):
            continue
        keyword, _, rest = joined.strip().partition(" ")
        found.append((begin, keyword.upper(), rest.strip()))
        joined = ""
    return found


def fresh_root(base: pathlib.Path) -> pathlib.Path:
    """A minimal Debian 12, made once. Packages come from where this machine gets its own."""
    if (base / ".ready").exists():
        return base
    shutil.rmtree(base, ignore_errors=True)
    command = ["debootstrap", "--variant=minbase", "bookworm", str(base)]
    mirror = mirror_of_this_machine()
    subprocess.run(command + ([mirror] if mirror else []), check=True, stdout=subprocess.DEVNULL)
    (base / "etc/apt/sources.list").unlink(missing_ok=True)
    for source in map(pathlib.Path, MACHINE_APT):
        target = base / source.relative_to("/")
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*docker*"))
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", base / MACHINE_CERTIFICATES)
    (base / ".ready").touch()
    return base


def mirror_of_this_machine() -> str:
    for path in (pathlib.Path("/etc/apt/sources.list.d/debian.sources"), pathlib.Path("/etc/apt/sources.list")):
        for line in path.read_text().splitlines() if path.exists() else []:
            words = line.split()
            if len(words) > 1 and words[0] in ("URIs:", "deb"):
                return next((word for word in words[1:] if "://" in word), "")
    return ""


def root_of(target: pathlib.Path, source: pathlib.Path, how: How) -> pathlib.Path:
    """A root of its own, as a copy of `source`, with the kernel's folders."""
    if how is How.built:
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", "--reflink=auto", source, target], check=True)
    for kernel in ("proc", "sys", "dev"):
        subprocess.run(["mount", "--rbind", f"/{kernel}", target / kernel], check=True)
    return target


def enter(image: Image, command: list, user: str = "", extra: dict = None, **options):
    """Runs a command inside, as the engine would: its user without any capability, its environment and nothing of ours."""
    user = user or image.user
    drop = [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--no-new-privs",
                                      "--bounding-set=-all", "--inh-caps=-all"]
    environment = [f"{key}={value}" for key, value in (image.environment | (extra or {})).items()]
    there = ["sh", "-c", 'cd "$0" && exec "$@"', image.workdir]
    return subprocess.Popen(["chroot", image.root, "env", "-i", *environment, *drop, *there, *command], **options)


class Builder:
    """Builds the stages of a Dockerfile into `work`."""

    def __init__(self, context: pathlib.Path, work: pathlib.Path, how: How):
        self.context, self.work, self.how, self.stages = context, work, how, {}
        self.image = None

    def build(self) -> Image:
        for number, keyword, rest in instructions((self.context / "Dockerfile").read_text()):
            step = getattr(self, "do_" + keyword.lower(), None)
            if step is None:
                raise SystemExit(f"Dockerfile:{number}: {keyword}: not proved by this check; teach it first")
            print(f"  {keyword} {rest[:100]}", flush=True)
            if self.how is How.built or keyword not in ("RUN", "COPY"):
                step(rest)
        return self.image

    def do_from(self, rest):
        words = rest.split()
        if words[0] != "debian:12-slim":
            raise SystemExit(f"Dockerfile: FROM {words[0]}: the check has only a fresh Debian 12")
        name = words[2] if len(words) == 3 else "final"
        self.image = Image(root_of(self.work / name, fresh_root(self.work / "base"), self.how))
        self.stages[name] = self.image

    def do_workdir(self, rest):
        self.image.workdir = rest
        (self.image.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def do_copy(self, rest):
        words = rest.split()
        if words[0].startswith("--from="):
            sources = [self.stages[words[0][len("--from="):]].root / path.lstrip("/") for path in words[1:-1]]
            target = self.image.root / words[-1].lstrip("/")
            target.mkdir(parents=True, exist_ok=True)
            for source in sources:
                shutil.copy(source, target)
        elif words == [".", "."]:
            copy_context(self.context, self.image.root / self.image.workdir.lstrip("/"))
        else:
            raise SystemExit(f"Dockerfile: COPY {rest}: not proved by this check; teach it first")

    def do_run(self, rest):
        log = self.work / "run.log"
        with open(log, "wb") as out:
            trust = {"NODE_EXTRA_CA_CERTS": "/" + MACHINE_CERTIFICATES}
            code = enter(self.image, ["sh", "-c", rest], extra=trust, stdout=out, stderr=subprocess.STDOUT).wait()
        if code != 0:
            raise SystemExit(f"RUN {rest}\nended with {code}:\n{log.read_text(errors='replace')[-4000:]}")

    def do_user(self, rest):
        self.image.user = rest

    def do_env(self, rest):
        self.image.environment |= dict(word.split("=", 1) for word in shlex.split(rest))

    def do_volume(self, rest):
        self.image.volumes.append(rest)

    def do_expose(self, rest):
        int(rest)

    def do_healthcheck(self, rest):
        self.image.health = rest.partition("CMD ")[2]

    def do_entrypoint(self, rest):
        self.image.entrypoint = json.loads(rest)


def copy_context(context: pathlib.Path, target: pathlib.Path):
    """The working tree without what .dockerignore names."""
    patterns = [line for line in (context / ".dockerignore").read_text().split("\n") if line and not line.startswith("#")]
    top = {pattern for pattern in patterns if not pattern.startswith("**/")}
    anywhere = [pattern[3:] for pattern in patterns if pattern.startswith("**/")]

    def left_out(folder, names):
        here = top if os.path.samefile(folder, context) else set()
        return [name for name in names if name in here or any(fnmatch.fnmatch(name, pattern) for pattern in anywhere)]

    shutil.copytree(context, target, dirs_exist_ok=True, ignore=left_out, symlinks=True)
