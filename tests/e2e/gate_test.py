"""`traceweir gate` as the step of a CI job: what is stored, what it leaves behind, and what happens when things go wrong."""
import base64
import gzip
import itertools
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from flaky import LosesAnswers, Tls, Tunnel
from repository import Repository, event_file, git
from service import Service, free_port, run, sha, trace


class Gate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.good, cls.slow = cls.folder / "good.json", cls.folder / "slow.json"
        cls.good.write_bytes(trace("--seed", 1))
        cls.slow.write_bytes(trace("--seed", 2, "--stall-loader", 5))
        cls.token = cls.service.token()
        cls.env = cls.service.environment() | {"TRACEWEIR_TOKEN": cls.token, "TRACEWEIR_PROJECT": "demo",
                                               "TRACEWEIR_RETRY_TIME_MAX": "3"}
        for name in [name for name in cls.env if name.startswith(("GITHUB_", "CI_", "GITLAB_", "BUILDKITE"))]:
            del cls.env[name]

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()
        shutil.rmtree(cls.folder)

    def gate(self, *arguments, cwd=None, **variables):
        return run("traceweir", "gate", *arguments, env=self.env | variables, cwd=cwd or self.folder)

    def answer(self, *arguments, code=0, cwd=None, **variables):
        done = self.gate(*arguments, "--json", cwd=cwd, **variables)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return json.loads(done.stdout)

    def github(self, commit, run_id, **more):
        return {"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": str(run_id), "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "train",
                "GITHUB_SHA": commit, "GITHUB_REF": "refs/heads/main", "GITHUB_EVENT_NAME": "push"} | more

    def learn(self, workload, count=5, first=900):
        for number in range(first, first + count):
            self.answer(self.good, "--workload", workload, "--commit", sha(number), "--branch", "main")

    def runs_of(self, commit, workload):
        answer = self.service.call("GET", f"/api/v1/projects/demo/runs?commit={commit}&workload={workload}", self.token)
        return answer.json["runs"]

    def test_a_step_that_runs_again_makes_no_second_run(self):
        variables = self.github(sha(1), 501)
        ids = {self.answer(self.good, "--workload", "once", **variables)["id"] for _ in range(2)}
        self.assertEqual(len(ids), 1)
        self.assertEqual(len(self.runs_of(sha(1), "once")), 1)
        other = self.answer(self.slow, "--workload", "once", **variables)
        self.assertNotIn(other["id"], ids, "the same attempt with other content is a further sample")

    def test_an_answer_that_is_lost_makes_no_second_run(self):
        with LosesAnswers(self.service.port, 2) as between:
            answer = self.answer(self.good, "--workload", "lost", "--commit", sha(2), "--branch", "main",
                                 TRACEWEIR_URL=f"http://127.0.0.1:{between.port}", TRACEWEIR_RETRY_TIME_MAX="4")
        self.assertEqual(answer["status"], "judged")
        self.assertEqual(len([line for line in between.seen if line.startswith(b"POST")]), 3)
        self.assertEqual([row["id"] for row in self.runs_of(sha(2), "lost")], [answer["id"]])

    def test_a_re_run_supersedes_and_a_matrix_makes_samples(self):
        first = self.github(sha(3), 502, TRACEWEIR_MATRIX="a")
        self.answer(self.slow, "--workload", "again", **first)
        self.answer(self.good, "--workload", "again", **first | {"GITHUB_RUN_ATTEMPT": "2"})
        self.answer(self.good, "--workload", "again", **first | {"TRACEWEIR_MATRIX": "b"})
        rows = {(row["matrix"], row["attempt"]): row["superseded"] for row in self.runs_of(sha(3), "again")}
        self.assertEqual(rows, {("a", 1): True, ("a", 2): False, ("b", 1): False})

    def test_ranks_of_several_jobs_find_each_other_by_the_ci_run(self):
        states = []
        for rank in range(2):
            file = self.folder / f"job{rank}.json"
            file.write_bytes(trace("--steps", 6, "--ranks", 2, "--rank", rank))
            variables = self.github(sha(4), 503, TRACEWEIR_MATRIX=str(rank), GITHUB_JOB=f"train-{rank}")
            states.append(self.answer(file, "--rank", rank, "--ranks", 2, "--workload", "jobs", **variables))
        self.assertEqual([state["status"] for state in states], ["pending", "judged"])
        self.assertEqual(states[0]["id"], states[1]["id"])

    def test_patterns_and_folders_are_ranks_in_the_order_of_their_numbers(self):
        ranks = self.folder / "ranks"
        ranks.mkdir()
        for rank in range(11):
            (ranks / f"rank{rank}.json").write_bytes(trace("--steps", 4, "--ranks", 11, "--rank", rank))
        (ranks / "notes.txt").write_text("nothing")
        for given in (str(ranks), f"{ranks}/rank*.json"):
            answer = self.answer(given, "--workload", "folder", "--commit", sha(5), "--branch", "main")
            self.assertEqual([row["trace"]["name"] for row in answer["report"]["ranks"]],
                             [f"rank{rank}.json" for rank in range(11)])
        self.assertEqual(self.gate(self.folder / "none*.json", "--commit", sha(5)).returncode, 2)

    def test_a_database_that_is_still_written_is_refused_with_the_reason(self):
        file = self.folder / "open.sqlite"
        with sqlite3.connect(file) as database:
            database.execute("CREATE TABLE t (a)")
        pathlib.Path(f"{file}-wal").write_bytes(b"x" * 32)
        done = self.gate(file, "--commit", sha(6))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("open.sqlite: export still open or not checkpointed: there is a -wal file", done.stderr)

    def test_what_is_not_compressed_is_compressed_on_the_way(self):
        plain = self.answer(self.good, "--workload", "packed", "--commit", sha(7), "--compression", "none")
        packed = self.answer(self.good, "--workload", "packed", "--commit", sha(7))
        small = self.folder / "small.json.gz"
        small.write_bytes(gzip.compress(self.good.read_bytes()))
        already = self.answer(small, "--workload", "packed", "--commit", sha(7))
        kinds = [answer["report"]["ranks"][0]["trace"]["compression"] for answer in (plain, packed, already)]
        self.assertEqual(kinds, ["none", "zstd", "gzip"])
        sizes = [answer["report"]["ranks"][0]["trace"]["bytes"] for answer in (plain, packed)]
        self.assertLess(sizes[1] * 3, sizes[0])
        self.assertEqual(*[answer["report"]["run"] for answer in (plain, packed)])

    def test_edge_sends_the_report_and_not_the_trace(self):
        here = self.answer(self.good, "--workload", "edge", "--commit", sha(8), "--edge")
        there = self.answer(self.good, "--workload", "edge", "--commit", sha(8))
        self.assertEqual(here["report"]["run"], there["report"]["run"])
        self.assertEqual(len(here["report"]["ranks"][0]["trace"]["sha256"]), 64)
        policy = self.folder / "edge.toml"
        policy.write_text('version = 1\n[trace]\nskip_steps = 3\n[rules."gpu.utilization"]\nworse_by = "3pp"\n')
        skipped = self.answer(self.good, "--workload", "edge", "--commit", sha(8), "--edge", "--policy", policy)
        self.assertEqual(skipped["report"]["ranks"][0]["window"]["skipped_steps"], 3)

    def test_a_dry_run_says_what_it_would_do(self):
        done = self.gate(self.good, "--dry-run", **self.github(sha(9), 504))
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("nothing was sent", "github/504/1/train", "project 'demo'", sha(9)):
            self.assertIn(part, done.stdout)
        self.assertEqual(self.runs_of(sha(9), "default"), [])

    def test_a_suspicious_run_is_confirmed_by_running_again(self):
        policy = self.folder / "confirm.toml"
        policy.write_text('version = 1\n[rules."gpu.utilization"]\nworse_by = "3pp"\nconfirm = 2\n')
        for number in range(910, 915):
            self.answer(self.good, "--workload", "confirm", "--commit", sha(number), "--branch", "main", "--policy", policy)
        file, log = self.folder / "again.json", self.folder / "again.log"
        gate = [file, "--workload", "confirm", "--branch", "feature", "--policy", policy]
        file.write_bytes(self.slow.read_bytes())
        self.answer(*gate, "--commit", sha(20), code=3)
        seen = self.folder / "again.environment"
        again = f"echo said; env > {seen}; echo $TRACEWEIR_CONFIRMATION >> {log}; cat {self.good} > {file}"
        cleared = self.gate(*gate, "--commit", sha(21), "--confirm-with", again)
        self.assertEqual(cleared.returncode, 0, cleared.stderr + cleared.stdout)
        self.assertEqual(log.read_text(), "2\n")
        self.assertNotIn("said", cleared.stdout)
        self.assertIn("PATH=", seen.read_text())
        self.assertNotIn(self.token, seen.read_text(), "the code under test saw the token")
        self.assertEqual(len(self.runs_of(sha(21), "confirm")), 2)
        file.write_bytes(self.slow.read_bytes())
        broken = self.folder / "slower.json"
        broken.write_bytes(trace("--seed", 3, "--stall-loader", 5))
        self.assertEqual(self.gate(*gate, "--commit", sha(22), "--confirm-with", f"cp {broken} {file}").returncode, 1)
        file.write_bytes(self.slow.read_bytes())
        for number, command, said in ((23, "true", "left the files as they were"), (24, "exit 7", "exit code 7")):
            done = self.gate(*gate, "--commit", sha(number), "--confirm-with", command)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(said, done.stderr)

    def test_what_is_left_behind_for_the_ci(self):
        self.learn("left")
        summary, output = self.folder / "summary", self.folder / "output"
        files = {kind: self.folder / f"left.{kind}" for kind in ("markdown", "junit", "dotenv")}
        options = [part for kind, file in files.items() for part in (f"--{kind}", file)]
        done = self.gate(self.slow, "--workload", "left", *options, GITHUB_STEP_SUMMARY=str(summary),
                         GITHUB_OUTPUT=str(output), **self.github(sha(30), 505))
        self.assertEqual(done.returncode, 1, done.stderr)
        markdown = files["markdown"].read_text()
        self.assertTrue(markdown.startswith("<!-- traceweir:demo/left -->\n"))
        self.assertEqual(summary.read_text().strip(), markdown.strip())
        url = f"{self.service.url}/projects/demo/runs/"
        self.assertIn(url, markdown)
        self.assertIn(url, done.stdout)
        suite = ElementTree.fromstring(files["junit"].read_text()).find("testsuite")
        self.assertGreater(int(suite.get("failures")), 0)
        self.assertEqual(len(suite.findall("testcase")), int(suite.get("tests")))
        self.assertRegex(done.stdout, r"(?m)^::error title=Traceweir%3A gpu\.\w+ \(demo / left\)::gpu\.")
        outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        self.assertEqual({key: outputs[key] for key in ("outcome", "exit-code")}, {"outcome": "fail", "exit-code": "1"})
        self.assertTrue(outputs["run-url"].startswith(url))
        self.assertIn("TRACEWEIR_OUTCOME=fail\n", files["dotenv"].read_text())
        asked = self.service.call("GET", f"/api/v1/projects/demo/runs/{outputs['run-id']}", self.token,
                                  headers={"Accept": "text/markdown"})
        self.assertEqual(asked.body.decode(), markdown, "the service says the same")
        commit = self.service.call("GET", f"/api/v1/projects/demo/commits/{sha(30)}", self.token,
                                   headers={"Accept": "text/markdown"})
        self.assertIn("fail · demo / left", commit.body.decode())

    def test_without_a_verdict_something_is_left_behind_too(self):
        markdown, junit = self.folder / "none.md", self.folder / "none.xml"
        output = self.folder / "none.output"
        away = {"TRACEWEIR_URL": f"http://127.0.0.1:{free_port()}", "TRACEWEIR_RETRY_TIME_MAX": "0", "GITHUB_OUTPUT": str(output)}
        for more, code in (([], 4), (["--on-unreachable", "pass"], 0)):
            done = self.gate(self.good, "--markdown", markdown, "--junit", junit, *more, **away | self.github(sha(31), 506))
            self.assertEqual(done.returncode, code)
            text = markdown.read_text()
            self.assertIn("unreachable", text)
            self.assertIn("⚠️ Traceweir: no verdict", text)
            self.assertNotIn("rejected", text)
            self.assertNotRegex(text, r"run ?</sub>|· *</sub>|\]\(")
            self.assertEqual("goes on" in text, code == 0)
            suites = ElementTree.fromstring(junit.read_text())
            self.assertEqual((suites.get("errors"), suites.get("skipped")), ("1", "0") if code else ("0", "1"))
            self.assertIn("::error title=" if code else "::warning title=", done.stdout)
            self.assertNotIn("::warning title=" if code else "::error title=", done.stdout)
            outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
            self.assertEqual((outputs["outcome"], outputs["exit-code"]), ("unreachable", str(code)))
        done = self.gate(self.good, "--markdown", "/nowhere/x.md", "--commit", sha(31))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--markdown", done.stderr)

    def test_variables_that_nobody_reads_are_said(self):
        done = self.gate(self.good, "--workload", "typo", "--commit", sha(32), TRACEWEIR_COMIT="x", TRACEWEIR_SOMETHING="y")
        self.assertIn("TRACEWEIR_COMIT is read by nobody; did you mean TRACEWEIR_COMMIT?", done.stderr)
        self.assertIn("TRACEWEIR_SOMETHING is read by nobody\n", done.stderr)
        self.assertNotIn("TRACEWEIR_RETRY_TIME_MAX", done.stderr)
        for others in (["--explain-ci"], ["--dry-run", self.good], ["/nowhere/trace.json"]):
            said = self.gate(*others, "--commit", sha(32), TRACEWEIR_COMIT="x").stderr
            self.assertEqual(said.count("TRACEWEIR_COMIT is read by nobody; did you mean TRACEWEIR_COMMIT?"), 1, said)

    def certificate(self):
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "2", "-subj", "/CN=traceweir.test", "-addext",
                        "subjectAltName=DNS:traceweir.test,IP:127.0.0.1"], check=True, capture_output=True)
        return certificate, key

    def test_https_by_the_systems_authorities_and_through_a_proxy(self):
        certificate, key = self.certificate()
        options = [self.good, "--workload", "tls", "--commit", sha(33), "--branch", "main"]
        plain = {name: "" for name in ("https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY")}
        secret = "Basic " + base64.b64encode(b"user:pa ss").decode()
        with Tls(self.service.port, certificate, key) as tls, Tunnel(tls.port, secret) as proxy:
            here = plain | {"TRACEWEIR_URL": f"https://127.0.0.1:{tls.port}", "TRACEWEIR_RETRY_TIME_MAX": "0"}
            stranger = self.gate(*options, **here)
            self.assertEqual(stranger.returncode, 4, stranger.stderr)
            self.assertIn("certificate verify failed", stranger.stderr)
            trusted = here | {"SSL_CERT_FILE": str(certificate)}
            self.answer(*options, **trusted)
            far = trusted | {"TRACEWEIR_URL": "https://traceweir.test",
                             "HTTPS_PROXY": f"http://user:pa%20ss@127.0.0.1:{proxy.port}"}
            self.answer(*options, **far)
            self.assertEqual(set(proxy.seen), {"CONNECT traceweir.test:443 HTTP/1.1"})
            proxy.seen.clear()
            self.assertEqual(self.gate(*options, **far | {"NO_PROXY": "localhost,.test"}).returncode, 4)
            self.assertEqual(proxy.seen, [], "a name in NO_PROXY goes without it")
            refused = self.gate(*options, **far | {"HTTPS_PROXY": f"127.0.0.1:{proxy.port}"})
            self.assertEqual(refused.returncode, 4)
            self.assertIn("407", refused.stderr)
            wrong = self.gate(*options, **far | {"HTTPS_PROXY": "socks5://user:hidden@x"})
            self.assertEqual(wrong.returncode, 2)
            self.assertIn("HTTPS_PROXY", wrong.stderr)
            self.assertNotIn("hidden", wrong.stderr)


class Changes(unittest.TestCase):
    """Pull requests in a real repository with a policy in it."""
    numbers = itertools.count(1000)

    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.good, cls.slow = cls.folder / "good.json", cls.folder / "slow.json"
        cls.good.write_bytes(trace("--seed", 1))
        cls.slow.write_bytes(trace("--seed", 2, "--stall-loader", 5))
        cls.repository = repository = Repository(cls.folder)
        git(repository.origin, "checkout", "-q", "main")
        policy = 'version = 1\nworkload = "w"\n[rules."gpu.utilization"]\nworse_by = "3pp"\n'
        cls.base = repository.commit("policy", **{".traceweir.toml": policy})
        git(repository.origin, "checkout", "-q", "-b", "loosened")
        cls.head = repository.commit("looser", **{".traceweir.toml": 'version = 1\n[rules."gpu.utilization"]\nmin = "1%"\n'})
        cls.work = repository.clone(cls.folder / "work", cls.head)
        cls.env = {key: value for key, value in cls.service.environment().items()
                   if not key.startswith(("GITHUB_", "CI_"))}
        cls.token = cls.service.token()
        cls.env |= {"TRACEWEIR_TOKEN": cls.token, "TRACEWEIR_PROJECT": "demo", "GITHUB_ACTIONS": "true",
                    "GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "train"}
        line = git(repository.origin, "rev-list", "--first-parent", "main").split()
        at_main = repository.clone(cls.folder / "at_main", cls.base)
        for number, commit in enumerate(reversed(line)):
            done = run("traceweir", "gate", cls.good, "--workload", "w", env=cls.env | {
                "GITHUB_EVENT_NAME": "push", "GITHUB_SHA": commit, "GITHUB_REF": "refs/heads/main",
                "GITHUB_RUN_ID": str(100 + number)}, cwd=at_main)
            assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()
        shutil.rmtree(cls.folder)

    def pull_request(self, owner, file=None, cwd=None):
        event = {"pull_request": {"number": 3, "head": {"sha": self.head, "ref": "loosened", "repo": {
            "full_name": f"{owner}/llama", "owner": {"login": owner}}}, "base": {"ref": "main"}},
            "repository": {"full_name": "acme/llama"}}
        done = run("traceweir", "gate", file or self.slow, "--json", cwd=cwd or self.work, env=self.env | {
            "GITHUB_RUN_ID": str(next(self.numbers)), "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(event_file(self.folder, event)),
            "GITHUB_SHA": self.repository.merge, "GITHUB_REF": "refs/pull/3/merge", "GITHUB_BASE_REF": "main"})
        return done, json.loads(done.stdout)

    def test_a_pull_request_is_judged_by_the_policy_of_its_base(self):
        done, answer = self.pull_request("acme")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual((answer["workload"], answer["base"], answer["pr"]), ("w", self.base, 3))
        self.assertEqual(answer["verdict"]["policy_source"], "sent", done.stderr)
        self.assertEqual(answer["verdict"]["ancestry"], "known")
        self.assertEqual([rule["tolerance"] for rule in answer["verdict"]["rules"]], ["3pp"])

    def test_a_fork_brings_no_policy_and_enters_no_baseline(self):
        before = self.history()
        done, answer = self.pull_request("eve", self.good)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(answer["fork"])
        self.assertEqual(answer["branch"], "eve:loosened")
        self.assertNotEqual(answer["verdict"]["policy_source"], "sent")
        self.assertIn("forks never bring their own", " ".join(answer["verdict"]["notes"]))
        self.assertEqual(self.history(), before)
        self.assertEqual(self.pull_request("eve")[0].returncode, 1, "the built-in policy judges")

    def test_the_change_that_adds_the_first_policy_says_whose_measurements_these_are(self):
        folder = self.folder / "bootstrap"
        bare = Repository(folder)
        git(bare.origin, "checkout", "-q", "-b", "adopt", "main")
        policy = 'version = 1\nproject = "demo"\nworkload = "adopted"\n[rules."gpu.utilization"]\nmin = "1%"\n'
        head = bare.commit("adopt", **{".traceweir.toml": policy})
        git(bare.origin, "checkout", "-q", "main")
        work = bare.clone(folder / "work", head)
        event = event_file(folder, {"pull_request": {"number": 4, "head": {"sha": head, "ref": "adopt", "repo": {
            "full_name": "acme/llama", "owner": {"login": "acme"}}}, "base": {"ref": "main"}}, "repository": {"full_name": "acme/llama"}})
        environment = {key: value for key, value in self.env.items() if key != "TRACEWEIR_PROJECT"}
        done = run("traceweir", "gate", self.good, "--json", cwd=work, env=environment | {
            "GITHUB_RUN_ID": str(next(self.numbers)), "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(event),
            "GITHUB_SHA": head, "GITHUB_REF": "refs/pull/4/merge", "GITHUB_BASE_REF": "main"})
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["project"], answer["workload"]), ("demo", "adopted"))
        self.assertEqual(answer["verdict"]["policy_source"], "built_in", "a change brought its own rules")

    def history(self):
        path = "/api/v1/projects/demo/history?metric=gpu.utilization&branch=main&workload=w"
        return [point["run"] for point in self.service.call("GET", path, self.token).json["points"]]

    def test_a_shallow_clone_says_that_the_repositorys_policy_is_not_seen(self):
        shallow = self.repository.clone(self.folder / "shallow", self.head, depth=1, branches=False)
        done, answer = self.pull_request("acme", cwd=shallow)
        self.assertIn("fetch-depth: 0", done.stderr)
        self.assertEqual(answer["verdict"]["policy_source"], "built_in")


if __name__ == "__main__":
    unittest.main()
