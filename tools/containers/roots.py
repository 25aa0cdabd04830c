"""Fresh Debian roots, and commands run in them as their users, for checks on machines without a container engine.

For: ./dev containers and ./dev dist --check. Needs root, and a mount namespace of its own (the checks make it), so that all mounts
end with the program.
"""
import dataclasses
import enum
import pathlib
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


def fresh_root(base: pathlib.Path, suite: str = "bookworm") -> pathlib.Path:
    """A minimal Debian, made once. A root of this machine's release gets packages from where the machine gets its own."""
    if (base / ".ready").exists():
        return base
    shutil.rmtree(base, ignore_errors=True)
    command = ["debootstrap", "--variant=minbase", suite, str(base)]
    mirror = mirror_of_this_machine()
    subprocess.run(command + ([mirror] if mirror else []), check=True, stdout=subprocess.DEVNULL)
    if suite == "bookworm":
        take_sources(base)
    (base / ".ready").touch()
    return base


def take_sources(base: pathlib.Path):
    (base / "etc/apt/sources.list").unlink(missing_ok=True)
    for source in map(pathlib.Path, MACHINE_APT):
        target = base / source.relative_to("/")
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*docker*"))
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", base / MACHINE_CERTIFICATES)


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
