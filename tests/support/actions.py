"""Plays a workflow of GitHub Actions: its conditions, its environment, its files, its steps' own shell lines.

Known: `run` with bash, composite actions of the workspace, and stand-ins for the three actions of GitHub that our workflows use.
"""
import os
import pathlib
import re
import shutil
import subprocess

import yaml

from expressions import Expression, text_of

TEXT = re.compile(r"\$\{\{(.*?)\}\}", re.S)


class Loader(yaml.SafeLoader):
    """YAML 1.2's booleans: `on` is a word."""


Loader.yaml_implicit_resolvers = {key: [row for row in rows if row[0] != "tag:yaml.org,2002:bool"]
                                  for key, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def load(path) -> dict:
    return yaml.load(pathlib.Path(path).read_text(), Loader)


class Failed(Exception):
    pass


class Job:
    """One job. `world`: event name, event, variables of GitHub, vars, secrets, origin (repository), artifacts (folder)."""

    def __init__(self, folder: pathlib.Path, world: dict):
        self.world, self.failed, self.log, self.ran = world, False, "", []
        self.temp, self.workspace = folder / "temp", folder / "workspace"
        for made in (self.temp, self.workspace):
            made.mkdir(parents=True)
        event = folder / "event.json"
        event.write_text(world["event_text"])
        self.variables = {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": str(event), "GITHUB_WORKSPACE": str(self.workspace),
                          "RUNNER_TEMP": str(self.temp), "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), **world["variables"]}
        self.files = {name: folder / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_ENV")}
        self.path = []
        self.summary = folder / "summary.md"
        self.summary.touch()

    def contexts(self, **more) -> dict:
        github = {name.removeprefix("GITHUB_").lower(): value for name, value in self.variables.items() if name.startswith("GITHUB_")}
        github |= {"event": self.world["event"], "token": self.world["github_token"]}
        return {"github": github, "vars": self.world["vars"], "secrets": self.world["secrets"], "runner": {"temp": str(self.temp)}, **more}

    def value(self, text: str, contexts: dict):
        functions = {"success": lambda: not self.failed, "failure": lambda: self.failed, "always": lambda: True, "cancelled": lambda: False}
        return Expression(text, contexts, functions).value()

    def filled(self, value, contexts: dict) -> str:
        return TEXT.sub(lambda match: text_of(self.value(match[1], contexts)), text_of(value))

    def holds(self, condition, contexts: dict) -> bool:
        text = TEXT.sub(r"\1", text_of(condition if condition is not None else "success()")).strip()
        asks = re.search(r"\b(success|failure|always|cancelled)\(\)", text)
        return bool(self.value(text, contexts)) and (bool(asks) or not self.failed)

    def play(self, job: dict) -> bool:
        """Whether the job succeeds; None where its condition keeps it from running."""
        if not self.holds(job.get("if"), self.contexts()):
            return None
        self.steps(job["steps"], self.contexts(), {})
        return not self.failed

    def steps(self, steps: list, contexts: dict, environment: dict) -> dict:
        done = contexts["steps"] = {}
        for step in steps:
            if not self.holds(step.get("if"), contexts):
                continue
            name = step.get("name") or step.get("uses") or step["run"]
            self.ran.append(name)
            own = environment | {key: self.filled(value, contexts) for key, value in step.get("env", {}).items()}
            try:
                outputs = self.run(step, contexts, own) if "run" in step else self.use(step, contexts, own)
            except Failed as why:
                self.log += f"\n{name}: {why}\n"
                self.failed, outputs = True, {}
            if "id" in step:
                done[step["id"]] = {"outputs": outputs}
        return done

    def run(self, step: dict, contexts: dict, environment: dict) -> dict:
        for file in self.files.values():
            file.write_text("")
        script = self.temp / "script.sh"
        script.write_text(self.filled(step["run"], contexts))
        base = {"PATH": ":".join([*self.path, os.environ["PATH"]]), "HOME": str(self.temp), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.workspace, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=base | self.variables | {name: str(file) for name, file in self.files.items()} | environment)
        self.log += done.stdout
        self.path = [*self.files["GITHUB_PATH"].read_text().split(), *self.path]
        outputs = dict(line.split("=", 1) for line in self.files["GITHUB_OUTPUT"].read_text().splitlines())
        if done.returncode != 0:
            self.failed = True
        return outputs

    def use(self, step: dict, contexts: dict, environment: dict) -> dict:
        inputs = {key: self.filled(value, contexts) for key, value in step.get("with", {}).items()}
        name = step["uses"].partition("@")[0]
        if name.startswith("./"):
            return self.composite(self.workspace / name, inputs, environment)
        stand_in = {"actions/checkout": self.checkout, "actions/upload-artifact": self.upload, "actions/download-artifact": self.download}
        stand_in[name](inputs)
        return {}

    def composite(self, folder: pathlib.Path, inputs: dict, environment: dict) -> dict:
        action = load(folder / "action.yml")
        unknown = set(inputs) - set(action["inputs"])
        if unknown:
            raise Failed(f"inputs that the action does not have: {unknown}")
        contexts = self.contexts()
        contexts["github"]["action_path"] = str(folder)
        given = {key: inputs.get(key, self.filled(about.get("default", ""), contexts)) for key, about in action["inputs"].items()}
        contexts["inputs"] = given
        contexts["steps"] = self.steps(action["runs"]["steps"], contexts, environment)
        return {key: self.filled(about["value"], contexts) for key, about in action["outputs"].items()}

    def git(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        subprocess.run(["git", *map(str, arguments)], cwd=self.workspace, check=True, capture_output=True, env=environment)

    def checkout(self, inputs: dict):
        """Of a pull request the test merge, unless a ref is asked for; all history where fetch-depth is 0."""
        self.git("init", "-q", ".")
        self.git("remote", "add", "origin", f"file://{self.world['origin']}")
        self.git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/pull/*:refs/remotes/pull/*")
        self.git("checkout", "-q", "--detach", inputs.get("ref") or self.variables["GITHUB_SHA"])
        assert inputs.get("fetch-depth") == "0" and inputs.get("persist-credentials") == "false"

    def upload(self, inputs: dict):
        shutil.copytree(self.workspace / inputs["path"], self.world["artifacts"] / inputs["name"])

    def download(self, inputs: dict):
        assert inputs["run-id"] == str(self.world["event"]["workflow_run"]["id"])
        shutil.copytree(self.world["artifacts"] / inputs["name"], inputs["path"], symlinks=True)
