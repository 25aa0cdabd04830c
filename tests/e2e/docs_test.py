"""The pages for users: every command in them is run, every policy is played, against a service of the test's own.

How a page is read, block by block:
  ```sh        run by bash, in one work tree per page, in their order
  ```          whose first line begins with `$ `: run too, and the lines below are what it prints; `…` stands for anything, a line `…` for any lines
  ```toml      a policy: `traceweir policy check` takes it
  <!-- plays: good pass, stalled fail -->     before a policy: what each trace comes to under it
  <!-- not run: reason -->                    before a block that cannot run here
A block of another kind is shown only. `127.0.0.1:8080` becomes the port of the test.
"""
import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from service import BIN, Service, free_port, run, sha, trace

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/ci.md", "docs/policy.md", "docs/faq.md"]
BLOCK = re.compile(r"(?:^<!-- (?P<mark>[^\n]*?) -->\n+)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
REASON_LENGTH_MIN = 10
PROJECT = "llama"
TRACES = {
    "good": [], "before": [], "after": ["--slow-allreduce", 100], "stalled": ["--stall-loader", 5], "slow_allreduce": ["--slow-allreduce", 100], "extra_sync": ["--extra-sync"], "pageable": ["--pageable"]}
BASELINE_OF = {"straggler": "ranks", "few_tokens": "tokens"}  # whose level the others are held against, where it is not "good"
EXIT_CODES = {"pass": 0, "warn": 0, "fail": 1, "inconclusive": 3}


@dataclasses.dataclass
class Block:
    kind: str
    text: str
    mark: str
    line: int

    @property
    def runs(self) -> bool:
        return not self.mark.startswith("not run: ")


def blocks_of(page: str) -> list:
    text = (ROOT / page).read_text()
    return [Block(match["kind"], match["text"], match["mark"] or "", text[:match.start("text")].count("\n")) for match in BLOCK.finditer(text)]


def said_as_shown(shown: list, said: list) -> bool:
    """Whether lines are those that the page shows."""
    pattern = "\n".join(".*" if line.strip() == "…" else re.escape(line).replace("…", "[^\n]*") for line in shown)
    return re.fullmatch(pattern, "\n".join(said), flags=re.S) is not None


class Workspace:
    """A work tree as the pages suppose it: commits, traces, the programs in PATH, a service that has judged six runs."""

    def __init__(self, folder: pathlib.Path, service: Service, token: str):
        self.folder, self.port = folder, free_port()
        for name, options in TRACES.items():
            (folder / f"{name}.json.gz").write_bytes(trace("--seed", 1, "--gzip", *options, name="t.json.gz"))
        (folder / "trace.json.gz").write_bytes((folder / "good.json.gz").read_bytes())
        (folder / "utilization.toml").write_text('version = 1\n[rules."gpu.utilization"]\nworse_by = "3pp"\n')
        (folder / "build").mkdir()
        (folder / "build/release").symlink_to(BIN)
        (folder / "home").mkdir()
        self.environment = service.environment() | {
            "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(folder / "home"), "LC_ALL": "C.UTF-8", "TRACEWEIR_TOKEN": token, "TRACEWEIR_PROJECT": PROJECT,
            "TRACEWEIR_LISTEN": f"127.0.0.1:{self.port}", "SHA": sha(77), "CHECKOUT": str(ROOT), "TERM": "dumb"}
        self.environment.pop("TRACEWEIR_DATA_DIR")
        for command in (["init", "-q", "-b", "main"], ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "--allow-empty", "-m", "first"]):
            subprocess.run(["git", *command], cwd=folder, check=True, env=self.environment)

    def run(self, text: str) -> subprocess.CompletedProcess:
        """As one script; what it left in the background ends with it."""
        script = "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + text.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")
        return subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120)


class Docs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.addClassCleanup(cls.service.__exit__)
        cls.token = cls.service.token(PROJECT)
        cls.numbers = iter(range(1000, 9000))
        for number in range(1, 8):
            cls.service.upload(cls.token, trace("--seed", number), sha(number), project=PROJECT, workload="ddp", parents=sha(number - 1) if number > 1 else "")

    def workspace(self) -> Workspace:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Workspace(pathlib.Path(folder.name), self.service, self.token)

    def test_commands(self):
        for page in PAGES:
            place, script, lines = self.workspace(), "", []
            for block in blocks_of(page):
                if block.kind == "sh" and block.runs:
                    script += f"printf '## {page}:{block.line}\\n' >&2\n{block.text}"
                    lines.append(block.line)
            with self.subTest(page):
                self.assertTrue(lines, "a page without a command")
                done = place.run(script)
                self.assertEqual(done.returncode, 0, f"{done.stderr[-3000:]}\n{done.stdout[-2000:]}")
                self.assertEqual(done.stderr.count(f"## {page}:"), len(lines))

    def test_what_is_shown_is_what_is_said(self):
        for page in PAGES:
            place = self.workspace()
            for block in blocks_of(page):
                if block.kind or not block.text.startswith("$ ") or not block.runs:
                    continue
                command, *shown = block.text.rstrip("\n").split("\n")
                with self.subTest(f"{page}:{block.line}"):
                    done = place.run(command[2:] + " || true\n")
                    said = [line.rstrip() for line in done.stdout.rstrip("\n").split("\n")]
                    self.assertTrue(said_as_shown([line.rstrip() for line in shown], said), done.stdout + done.stderr)

    def test_policies_are_policies(self):
        place, count = self.workspace(), 0
        for page in PAGES:
            for block in blocks_of(page):
                if block.kind == "toml" and block.runs:
                    count += 1
                    with self.subTest(f"{page}:{block.line}"):
                        (place.folder / "policy.toml").write_text(block.text)
                        done = place.run("traceweir policy check policy.toml")
                        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(count, 12)

    def files_for(self, name: str, folder: pathlib.Path) -> list:
        if name in TRACES:
            return [folder / f"{name}.json.gz"]
        if name.endswith("tokens"):
            value = 1290 if name == "tokens" else 900
            (folder / "tokens.json").write_text(f'{{"metrics": {{"custom.tokens_per_s": {{"value": {value}, "unit": "tokens/s", "better": "higher"}}}}}}')
            return [folder / "tokens.json"]
        files = [folder / f"{name}{rank}.json.gz" for rank in range(4)]
        for rank, file in enumerate(files):
            slow = ["--slow-kernel", 1.5] if name == "straggler" and rank == 3 else []
            file.write_bytes(trace("--seed", 1, "--ranks", 4, "--rank", rank, "--gzip", *slow, name="t.json.gz"))
        return files

    def play(self, block: Block, place: Workspace):
        policy = place.folder / "policy.toml"
        policy.write_text("version = 1\n" + block.text)
        wanted = dict(item.split() for item in block.mark.removeprefix("plays: ").split(", "))
        workload = f"w{block.line}"

        def gate(name, branch="main"):
            done = run("traceweir", "gate", *self.files_for(name, place.folder), "--policy", policy, "--workload", workload, "--commit", sha(next(self.numbers)),
                       "--branch", branch, "--env", "node=a", env=place.environment, cwd=place.folder)
            found = re.search(r"^(pass|warn|fail|inconclusive)\b", done.stdout, flags=re.M)
            return (found[1] if found else "", done.returncode), done.stdout + done.stderr

        for pinned in re.findall(r'pinned = "(.*)"', block.text):
            gate("good", pinned)
        for _ in range(6):
            gate(BASELINE_OF.get(next(iter(wanted)), next(iter(wanted))))
        for name, outcome in wanted.items():
            with self.subTest(f"docs/policy.md:{block.line} {name}"):
                said, text = gate(name)
                self.assertEqual(said, (outcome, EXIT_CODES[outcome]), text)

    def test_recipes_do_what_they_say(self):
        place = self.workspace()
        blocks = [block for block in blocks_of("docs/policy.md") if block.kind == "toml"]
        for block in blocks:
            self.assertTrue(block.mark.startswith("plays: "), f"line {block.line}: no trace is said to play it")
            self.play(block, place)

    def test_what_is_not_run_says_why(self):
        for page in PAGES:
            for block in blocks_of(page):
                if not block.runs:
                    self.assertGreaterEqual(len(block.mark), len("not run: ") + REASON_LENGTH_MIN, f"{page}:{block.line}")

    def test_links_lead_somewhere(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (ROOT / page).read_text()):
                if "://" not in target:
                    self.assertTrue((ROOT / page).parent.joinpath(target).exists(), f"{page}: {target}")

    def test_the_reader_of_shown_lines(self):
        self.assertTrue(said_as_shown(["a … c", "…", "d"], ["a b c", "x", "y", "d"]))
        self.assertFalse(said_as_shown(["a … c"], ["a b d"]))
        self.assertFalse(said_as_shown(["a"], ["a", "b"]))


if __name__ == "__main__":
    unittest.main()
