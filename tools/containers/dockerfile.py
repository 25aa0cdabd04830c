"""Reads a Dockerfile and builds its stages as plain folders, each from a fresh Debian root, by running its own commands in a chroot.

For: machines without a container engine. Knows the instructions that our Dockerfile uses; another one is an error, so that nothing
in the file goes unproved. Needs root, and a mount namespace of its own (check.py makes it), so that all mounts end with the program.
"""
import fnmatch
import json
import os
import pathlib
import shlex
import shutil
import subprocess

from roots import MACHINE_CERTIFICATES, How, Image, enter, fresh_root, root_of


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
