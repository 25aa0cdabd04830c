"""A throw-away git repository with the shape that CI events have: a main branch, a change that left it, the test merge
of both, and clones as a CI makes them."""
import json
import os
import pathlib
import subprocess

WHO = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@localhost", "GIT_COMMITTER_NAME": "t",
       "GIT_COMMITTER_EMAIL": "t@localhost", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}


def git(folder, *arguments, **variables) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(["git", "-C", str(folder), *map(str, arguments)], capture_output=True, text=True, check=True,
                          env=clean | WHO | variables)
    return done.stdout.strip()


class Repository:
    """`main` has six commits; the change `feature` left it after the third and has two; `merge` is the test merge of
    both that a CI makes; the event's base is the fifth, older than main's tip and younger than the merge base."""

    def __init__(self, folder: pathlib.Path):
        self.origin = folder / "origin"
        self.origin.mkdir(parents=True)
        git(self.origin, "init", "-q", "-b", "main")
        self.main = [self.commit(f"main {number}") for number in range(6)]
        self.base = self.main[2]
        git(self.origin, "checkout", "-q", "-b", "feature", self.base)
        self.feature = [self.commit(f"feature {number}") for number in range(2)]
        self.head = self.feature[-1]
        git(self.origin, "checkout", "-q", "--detach", "main")
        git(self.origin, "merge", "-q", "--no-ff", "-m", "test merge", self.head)
        self.merge = git(self.origin, "rev-parse", "HEAD")
        git(self.origin, "update-ref", "refs/pull/12/merge", self.merge)
        git(self.origin, "update-ref", "refs/pull/12/head", self.head)
        git(self.origin, "tag", "v1.4", self.main[4])
        git(self.origin, "checkout", "-q", "main")
        git(self.origin, "config", "uploadpack.allowAnySHA1InWant", "true")

    def commit(self, subject, **files) -> str:
        for name, text in files.items():
            (self.origin / name).write_text(text)
            git(self.origin, "add", name)
        git(self.origin, "commit", "-q", "--allow-empty", "-m", subject)
        return git(self.origin, "rev-parse", "HEAD")

    def clone(self, folder: pathlib.Path, commit: str, depth=0, branches=True) -> pathlib.Path:
        """As a CI checks out: detached at `commit`; all branches, or nothing but that commit's history."""
        git(folder.parent, "init", "-q", folder)
        git(folder, "remote", "add", "origin", f"file://{self.origin}")
        wanted = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"] if branches else []
        git(folder, "fetch", "-q", "--no-tags", *([f"--depth={depth}"] if depth else []), "origin", commit, *wanted)
        git(folder, "checkout", "-q", "--detach", commit)
        return folder


def event_file(folder: pathlib.Path, event) -> pathlib.Path:
    path = folder / f"event{len(list(folder.glob('event*')))}.json"
    path.write_text(event if isinstance(event, str) else json.dumps(event))
    return path
