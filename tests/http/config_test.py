"""`traceweird config check` and `token`: what the service would refuse is refused before, and no password is shown."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest
import unittest.mock

from service import BIN, Service

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = Service.environment


def traceweird(*arguments, **variables):
    """With these variables of ours, and none that the tests were started with."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("TRACEWEIR_")}
    return subprocess.run([BIN / "traceweird", *map(str, arguments)], env=clean | variables, capture_output=True,
                          text=True, timeout=30)


class Config(unittest.TestCase):
    def test_what_the_service_refuses_is_refused(self):
        rows = [
            (["--store", "mysql://u:hunter2@db/runs"], '"mysql"'),
            (["--store", "host=db user=u password=hunter2"], "store"),
            (["--store", "postgresql://u:hunter2@x@db/runs"], "percent-encoded"),
            (["--store", "sqlite:"], "path"),
            (["--store", "sqlite::memory:"], "path"),
            (["--analysis-program", "/nowhere/hunter"], "cannot be run"),
            (["--upload-bytes-max", "0 B"], "at least 1 B"),
            (["--header-bytes-max", "0"], "at least 1 B"),
            (["--analysis-time-max", "0 s"], "at least 1 ms"),
            (["--run-complete-time-max", "500 ms"], "at least 1 s"),
            (["--resume-pause", "0 s"], "at least 1 ms"),
            (["--blobs", "s3://u:hunter2@bucket/x"], "s3://BUCKET/PREFIX"),
            (["--blobs", "s3://bucket/x"], "AWS_ACCESS_KEY_ID"),
            (["--blobs", "s3://bucket/x", "--s3-credentials-file", "/nowhere/x"], "cannot be read"),
            (["--s3-endpoint", "https://u:hunter2@s3.example.com"], "https://HOST"),
            (["--s3-endpoint", "http://169.254.169.254"], "link-local"),
            (["--s3-region", "us east"], "us-east-1"),
            (["--s3-part-bytes", "1 MiB"], "5 MiB to 1 GiB"),
            (["--s3-part-bytes", "2 GiB"], "5 MiB to 1 GiB"),
            (["--trace-retention", "90 days"], "such as '120 s'"),
            (["--listen", "1:2:3"], "--listen = '1:2:3': a numeric address and a port were expected"),
            (["--listen", "gate.example.com:8080"], "of names localhost alone is known"),
            (["--listen", "::1:8080"], "[::1]:8080"),
            (["--listen", ""], "127.0.0.1:8080"),
            (["--worker-listen", "9100"], "worker_listen = '9100': a numeric address"),
        ]
        for flags, part in rows:
            with self.subTest(flags):
                done = traceweird("config", "check", *flags)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn("bad_config", done.stderr)
                self.assertIn(part, done.stderr)
                self.assertNotIn("hunter2", done.stderr + done.stdout)
        by_variable = traceweird("config", "check", TRACEWEIR_STORE="host=db password=hunter2")
        self.assertEqual(by_variable.returncode, 2, by_variable)
        self.assertNotIn("hunter2", by_variable.stderr + by_variable.stdout)
        self.assertEqual(traceweird("config", "check").returncode, 0)
        for address in ("[::1]:8080", "localhost:18981", ":8080", "0.0.0.0:0"):
            self.assertEqual(traceweird("config", "check", "--listen", address, "--worker-listen", address).returncode, 0)

    def test_what_cannot_start_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            for command in ("serve", "worker"):
                done = traceweird("--data-dir", folder, "--listen", "1:2:3", command)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn("listen = '1:2:3'", done.stderr)
                self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_localhost_is_listened_on(self):
        with Service() as service:
            service.stop(signal.SIGTERM)
            service.settings["listen"] = f"localhost:{service.port}"
            service.start()
            self.assertEqual(service.logged(event="started")[-1]["listen"], f"127.0.0.1:{service.port}")

    def test_misspelt_variables_are_said(self):
        typo = "the variable TRACEWEIR_UPLOAD_BYTES_MX is read by nobody; did you mean TRACEWEIR_UPLOAD_BYTES_MAX?"
        done = traceweird("config", "check", TRACEWEIR_UPLOAD_BYTES_MX="1", TRACEWEIR_SOMETHING_ELSE="1")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stderr.splitlines(), ["traceweird: the variable TRACEWEIR_SOMETHING_ELSE is read by nobody",
                                                    f"traceweird: {typo}"])
        self.assertNotIn("is read by nobody", done.stdout)
        with tempfile.TemporaryDirectory() as folder:
            for command in (["token", "list"], ["migrate"], ["backup", folder + "/backup.tar"],
                            ["copy-store", "--to", f"sqlite:{folder}/copy.db"]):
                done = traceweird("--data-dir", folder, *command, TRACEWEIR_UPLOAD_BYTES_MX="1")
                self.assertIn(typo, done.stderr, command)
        with Service() as service, unittest.mock.patch.object(Service, "environment", lambda self: ENVIRONMENT(self) | {
                "TRACEWEIR_UPLOAD_BYTES_MX": "1"}):
            self.assertEqual(service.logged(least=0, event="variable_unread"), [], "a service that is set right says nothing")
            service.stop(signal.SIGTERM)
            service.start()
            self.assertEqual([line["detail"] for line in service.logged(event="variable_unread")], [typo])

    def test_variables_of_our_other_programs_are_no_misspelt_keys(self):
        quoted, bare = r'"(TRACEWEIR_[A-Z0-9_]+)"', r"\b(TRACEWEIR_[A-Z0-9_]+)\b"
        places = {"cli/*.cpp": quoted, "server/app/*.cpp": quoted, "ci-templates/**/*": bare, "docker-compose.yml": bare}
        names = {name for files, pattern in places.items() for path in ROOT.glob(files) if path.is_file()
                 for name in re.findall(pattern, path.read_text())}
        keys = {f"TRACEWEIR_{key.upper()}" for key in re.findall(r"^(\w+) +=", traceweird("config", "check").stdout, re.M)}
        others = names - keys
        self.assertLessEqual({"TRACEWEIR_TOKEN", "TRACEWEIR_URL", "TRACEWEIR_COMMIT", "TRACEWEIR_COPY_TO"}, others)
        self.assertEqual(traceweird("config", "check", **dict.fromkeys(others, "x")).stderr, "")

    def test_the_table_has_straight_columns(self):
        done = traceweird("config", "check", "--data-dir", "/somewhere/" + "x" * 100)
        lines = done.stdout.splitlines()
        self.assertEqual(len({line.index(" = ") for line in lines}), 1, done.stdout)
        self.assertEqual(len({line.index(" # ") for line in lines}), 1, done.stdout)

    def test_credentials_of_the_environment_are_found_and_not_shown(self):
        done = traceweird("config", "check", "--blobs", "s3://bucket/x", AWS_ACCESS_KEY_ID="AKIDHUNTER", AWS_SECRET_ACCESS_KEY="hunter2")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("s3://bucket/x", done.stdout)
        self.assertNotIn("hunter", (done.stdout + done.stderr).lower())

    def test_every_key_is_in_the_docs_and_no_other(self):
        shown = traceweird("config", "check").stdout
        keys = set(re.findall(r"^([a-z0-9_]+) +=", shown, re.M))
        page = (ROOT / "docs/operations.md").read_text()
        table = page[page.index("| key | default |"):].split("\n\n")[0]
        documented = {name for row in table.splitlines()[2:] for name in re.findall(r"`([a-z0-9_]+)`", row.split("|")[1])}
        self.assertGreater(len(keys), 30)
        self.assertEqual(keys, documented)

    def test_a_token_that_would_never_be_valid_is_not_made(self):
        with tempfile.TemporaryDirectory() as folder:
            past = traceweird("--data-dir", folder, "token", "create", "--project", "p", "--expires", "2020-01-31")
            self.assertEqual((past.returncode, past.stdout), (2, ""), past)
            self.assertIn("--expires", past.stderr)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_the_end_of_a_token_is_in_its_projects_audit_log(self):
        with Service() as service:
            admin, token = service.token("demo", "admin"), service.token()
            token_id = token.split("_")[1]
            done = subprocess.run([BIN / "traceweird", "token", "revoke", token_id], env=service.environment(),
                                  capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 0, done.stderr)
            audit = service.call("GET", "/api/v1/projects/demo/audit", admin)
            self.assertEqual(audit.status, 200, audit)
            self.assertIn("token_revoked", audit.body.decode())
            self.assertIn(token_id, audit.body.decode())


if __name__ == "__main__":
    unittest.main()
