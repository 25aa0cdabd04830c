"""What a service answers, to be compared with what a copy of it answers; and its store's commands."""
import json
import pathlib
import shutil
import subprocess
import tarfile

from service import BIN, Service

PAGE = "limit=200"


class Sealed(Service):
    """A service whose store is at `store_url` (None: in the data folder), and which is not started by `with`."""

    def __init__(self, store_url=None, **settings):
        self.store_url = store_url
        super().__init__(**settings)

    def new_store(self) -> dict:
        return {"TRACEWEIR_STORE": self.store_url} if self.store_url else {}

    def __enter__(self):
        return self


def command(service: Service, *arguments) -> subprocess.CompletedProcess:
    """traceweird with the service's configuration."""
    return subprocess.run([BIN / "traceweird", *map(str, arguments)], env=service.environment(), capture_output=True,
                          text=True, timeout=300)


def runs_of(service: Service, token: str, project: str) -> list:
    runs, path = [], f"/api/v1/projects/{project}/runs?{PAGE}"
    while path:
        page = service.call("GET", path, token).json
        runs += page["runs"]
        path = page["next"]
    return runs


def paths_of(service: Service, token: str):
    """Everything that can be asked of a service, for every project and run that it knows."""
    yield "/api/v1/projects"
    for project in service.call("GET", "/api/v1/projects", token).json["projects"]:
        at = f"/api/v1/projects/{project['name']}"
        yield from (f"{at}/policy", f"{at}/acceptances", f"{at}/audit", f"{at}/badge.svg")
        metrics, commits = set(), set()
        for run in runs_of(service, token, project["name"]):
            yield from (f"{at}/runs/{run['id']}", f"{at}/runs/{run['id']}/replay", f"{at}/runs/{run['id']}/traces/0")
            shown = service.call("GET", f"{at}/runs/{run['id']}", token).json
            metrics |= {row["metric"] for row in ((shown.get("report") or {}).get("run") or {}).get("measurements", [])}
            commits.add(run["commit"])
        yield from (f"{at}/history?metric={metric}" for metric in sorted(metrics))
        yield from (f"{at}/commits/{commit}" for commit in sorted(commits))


def answers_of(service: Service, token: str) -> dict:
    """By path. A trace is bytes, everything else is read."""
    answers = {}
    for path in paths_of(service, token):
        answer = service.call("GET", path, token)
        is_json = "json" in answer.headers.get("content-type", "") and "/traces/" not in path
        answers[path] = (answer.status, plain(answer.json) if is_json else answer.body)
    return answers


def plain(json_value):
    """Without what names the single request."""
    if isinstance(json_value, dict):
        return {key: plain(value) for key, value in json_value.items() if key not in ("request_id", "instance")}
    return [plain(value) for value in json_value] if isinstance(json_value, list) else json_value


def differences(these: dict, those: dict) -> list:
    return [f"{path}: {str(these.get(path))[:200]} / {str(those.get(path))[:200]}"
            for path in sorted(set(these) | set(those)) if these.get(path) != those.get(path)]


def manifest_of(file) -> dict:
    with tarfile.open(file) as archive:
        return json.loads(archive.extractfile("manifest.json").read())


def tables_of(file) -> dict:
    """Rows and hash of each table of a backup."""
    return {table["name"]: (table["rows"], table["sha256"]) for table in manifest_of(file)["tables"]}


def blobs_of(service: Service) -> set:
    return {path.name for path in (service.data_dir / "blobs").glob("*/*")}


def with_traces_of(source: Service, target: Service):
    """What copy-store leaves to the operator where the data folder changes too."""
    target.data_dir.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source.data_dir / "blobs", pathlib.Path(target.data_dir) / "blobs")
