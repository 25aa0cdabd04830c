"""`traceweird backup`, `restore` and `copy-store`: a service's copy answers what the service answers, on either store."""
import json
import os
import pathlib
import signal
import subprocess
import tarfile
import tempfile
import threading
import time
import unittest

from copies import (Sealed, answers_of, blobs_of, command, differences, manifest_of, runs_of, tables_of, with_traces_of)
from service import BIN, STORE, Service, cluster, sha, stand_in, trace

POLICY = b'[rules."step.time_p50"]\nworse_by = "5%"\n'


def store_urls():
    """An empty store of each kind: None is the one in the data folder."""
    return {"sqlite": None, "postgres": cluster().new_database()}


class Backup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A service with something of everything, which is only read from then on."""
        cls.folder = tempfile.TemporaryDirectory()
        cls.service = Service().__enter__()
        cls.admin = cls.service.token(None, "admin,read,upload")
        cls.token = cls.service.token()
        cls.fill()
        cls.answers = answers_of(cls.service, cls.admin)
        cls.file = pathlib.Path(cls.folder.name, "backup.tar")
        cls.done = command(cls.service, "backup", cls.file)
        if cls.done.returncode != 0:
            raise RuntimeError(cls.done.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()
        cls.folder.cleanup()

    @classmethod
    def fill(cls):
        call, at = cls.service.call, "/api/v1/projects/demo"
        call("PUT", f"{at}/policy", cls.admin, POLICY)
        graph = [{"sha": sha(n), "parents": [sha(n - 1)], "subject": f"n° {n}"} for n in range(2, 9)]
        put = call("PUT", f"{at}/commits", cls.token, json.dumps(graph).encode())
        if put.status != 204:
            raise RuntimeError(put)
        for number in range(1, 9):
            slow = ("--slow-kernel", 2) if number == 8 else ()
            body = trace("--steps", 5, "--seed", number, *slow)
            last = cls.service.upload(cls.token, body, sha(number), headers={"Idempotency-Key": f"key-{number}"})
            if last.status != 201:
                raise RuntimeError(last)
        accepted = call("POST", f"{at}/runs/{last.json['id']}/accept", cls.admin,
                        json.dumps({"metrics": ["step.time_p50"], "reason": "known"}).encode())
        if accepted.status != 201:
            raise RuntimeError(accepted)
        cls.service.upload(cls.token, b"no trace", sha(20))

    def check_copy(self, copy: Service):
        """Started, it answers the same, and goes on."""
        copy.start()
        self.assertEqual(differences(self.answers, answers_of(copy, self.admin)), [])
        again = copy.upload(self.token, trace("--steps", 5, "--seed", 3), sha(3), headers={"Idempotency-Key": "key-3"})
        self.assertIn(again.status, (200, 201), again)
        self.assertEqual(len(runs_of(copy, self.admin, "demo")), len(runs_of(self.service, self.admin, "demo")))
        added = copy.upload(self.token, trace("--steps", 5, "--seed", 30), sha(30))
        self.assertEqual(added.status, 201, added)
        self.assertEqual(runs_of(copy, self.admin, "demo")[0]["id"], added.json["id"], "the order of receipt goes on")

    def test_a_backup_restored_answers_the_same_on_either_store(self):
        for kind, url in store_urls().items():
            with self.subTest(kind), Sealed(url) as copy:
                done = command(copy, "restore", self.file)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(blobs_of(copy), blobs_of(self.service))
                second = pathlib.Path(self.folder.name, f"{kind}.tar")
                self.assertEqual(command(copy, "backup", second).returncode, 0)
                self.assertEqual(tables_of(second), tables_of(self.file))
                self.check_copy(copy)

    def test_a_copied_store_answers_the_same_on_either_store(self):
        for kind, url in store_urls().items():
            with self.subTest(kind), Sealed(url) as copy:
                with_traces_of(self.service, copy)
                to = url or f"sqlite:{copy.data_dir}/traceweir.db"
                done = command(self.service, "copy-store", "--to", to)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("rows in", done.stdout)
                self.assertIn("table measurement: ", done.stderr)
                again = command(self.service, "copy-store", "--to", to)
                self.assertEqual(again.returncode, 3, "it is not empty any more")
                self.assertIn("not empty", again.stderr)
                self.check_copy(copy)

    def test_what_it_says_and_holds(self):
        self.assertRegex(self.done.stdout, r"^.*backup\.tar: \d+ rows in \d+ tables, \d+ traces \(.*\), taken at 20")
        self.assertEqual(oct(self.file.stat().st_mode & 0o777), "0o600")
        manifest = manifest_of(self.file)
        self.assertEqual((manifest["schema"], manifest["missing"], manifest["damaged"]), ("traceweir.backup/1", [], []))
        with tarfile.open(self.file) as archive:
            names = archive.getnames()
            held = {name.removeprefix("blobs/") for name in names if name.startswith("blobs/")}
            seal = archive.extractfile("manifest.sha256").read().decode()
            tokens = archive.extractfile("store/token/00000001").read().decode()
        self.assertEqual(held, blobs_of(self.service))
        self.assertTrue(seal.endswith("  manifest.json\n"))
        secret = self.token.split("_")[2]
        self.assertNotIn(secret, tokens, "a backup holds hashes of tokens")
        self.assertEqual(command(self.service, "restore", "--check", self.file).returncode, 0)

    def test_nothing_is_replaced(self):
        before = self.file.read_bytes()
        done = command(self.service, "backup", self.file)
        self.assertEqual(done.returncode, 3, done)
        self.assertIn("conflict", done.stderr)
        self.assertEqual(self.file.read_bytes(), before)
        full = command(self.service, "restore", self.file)
        self.assertEqual(full.returncode, 3, full)
        self.assertIn("not empty" if STORE == "postgres" else "another service", full.stderr)

    def test_damage_is_found_before_anything_is_written(self):
        whole = self.file.read_bytes()
        damaged = pathlib.Path(self.folder.name, "damaged.tar")
        row = whole.index(b"store/measurement/") + 512 + 10
        trace_byte = whole.index(b"blobs/") + 512 + 100
        for what, text in (("row", flipped(whole, row)), ("trace", flipped(whole, trace_byte)), ("end", whole[:-4000])):
            damaged.write_bytes(text)
            for kind, url in store_urls().items():
                with self.subTest(what, kind=kind), Sealed(url) as copy:
                    done = command(copy, "restore", damaged)
                    self.assertEqual(done.returncode, 3, done)
                    self.assertRegex(done.stderr, "damaged|no backup")
                    self.assertEqual(command(copy, "restore", self.file).returncode, 0, "the place is still empty")

    def test_without_traces_those_of_unfinished_runs_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            analyzer = stand_in(folder, f'exec {BIN / "traceweir"} "$@"')
            with Service(analysis_program=analyzer, stop_time_max="1 s") as service:
                token = service.token()
                service.upload(token, trace("--steps", 5), sha(1))
                analyzer.write_text("#!/bin/sh\n[ -n \"$(head -c 1)\" ] || exit 0\nexec sleep 600\n")
                waiting = service.upload(token, trace("--steps", 6), sha(2), wait=0).headers["location"]
                file = pathlib.Path(folder, "small.tar")
                self.assertEqual(command(service, "backup", "--no-traces", file).returncode, 0)
                self.assertEqual(manifest_of(file)["blobs"], 1)
            with Sealed(store_urls()[STORE]) as copy:
                self.assertEqual(command(copy, "restore", file).returncode, 0)
                copy.start()
                deadline = time.monotonic() + 60
                while copy.call("GET", waiting, token).json["status"] == "analysing" and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.assertEqual(copy.call("GET", waiting, token).json["status"], "judged")
                self.assertEqual(len(runs_of(copy, token, "demo")), 2)

    def test_a_lost_and_a_changed_trace_are_told_of(self):
        with Service() as service:
            token = service.token()
            for number in range(3):
                service.upload(token, trace("--steps", 5, "--seed", number), sha(number))
            lost, changed, _ = sorted((service.data_dir / "blobs").glob("*/*"))
            lost.unlink()
            changed.write_bytes(flipped(changed.read_bytes(), 10))
            file = service.folder / "backup.tar"
            done = command(service, "backup", file)
            self.assertEqual(done.returncode, 3, done)
            self.assertIn(f"1 trace lost when the backup was taken: kept, as the store says, and not there. The first: {lost.name}", done.stderr)
            self.assertIn(changed.name, done.stderr)
            manifest = manifest_of(file)
            self.assertEqual((manifest["missing"], manifest["damaged"]), ([lost.name], [changed.name]))
            with Sealed(store_urls()[STORE]) as copy:
                command(copy, "restore", file)
                self.assertEqual(len(blobs_of(copy)), 1)
                copy.start()
                self.assertEqual(len(runs_of(copy, token, "demo")), 3)

    def test_mistakes_are_told_at_once(self):
        elsewhere = os.environ | {"TRACEWEIR_DATA_DIR": str(pathlib.Path(self.folder.name, "nowhere"))}
        rows = [(["backup"], 2, "FILE"), (["copy-store"], 2, "--to"), (["backup", "x.tar"], 3, "store"),
                (["copy-store", "--to", "mysql://u:hunter2@h/d"], 2, "mysql"), (["restore", "/nowhere/x"], 3, "opening")]
        for arguments, code, word in rows:
            with self.subTest(arguments):
                done = subprocess.run([BIN / "traceweird", *arguments], env=elsewhere, capture_output=True, text=True,
                                      cwd=self.folder.name)
                self.assertEqual(done.returncode, code, done)
                self.assertIn(word, done.stderr + done.stdout)
                self.assertNotIn("hunter2", done.stderr + done.stdout)
        self.assertEqual(list(pathlib.Path(self.folder.name).glob("x.tar*")), [], "nothing is left behind")

    def test_an_interrupted_backup_leaves_no_file_and_the_next_one_works(self):
        file = pathlib.Path(self.folder.name, "interrupted.tar")
        process = subprocess.Popen([BIN / "traceweird", "backup", file], env=self.service.environment(),
                                   stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        part = file.with_name(file.name + ".part")
        deadline = time.monotonic() + 30
        while not part.exists() and process.poll() is None and time.monotonic() < deadline:
            pass
        process.send_signal(signal.SIGINT)
        if process.wait(timeout=30) == 0:
            file.unlink()  # it was faster
        self.assertFalse(file.exists())
        self.assertEqual(command(self.service, "backup", file).returncode, 0)
        self.assertFalse(part.exists())

    def test_under_uploads_every_row_has_its_trace(self):
        with Service() as service:
            token, ended = service.token(), threading.Event()
            threads = [threading.Thread(target=upload_until, args=(service, token, ended, start)) for start in (100, 500)]
            for thread in threads:
                thread.start()
            files = [service.folder / f"{number}.tar" for number in range(3)]
            done = [command(service, "backup", file) for file in files]
            ended.set()
            for thread in threads:
                thread.join()
            self.assertEqual([each.returncode for each in done], [0] * 3, done)
            for file in files:
                manifest = manifest_of(file)
                self.assertEqual(manifest["missing"], [])
                self.assertEqual(command(service, "restore", "--check", file).returncode, 0)


def upload_until(service, token, ended, number):
    while not ended.is_set():
        number += 1
        service.upload(token, trace("--steps", 3, "--seed", number), sha(number))


def flipped(text: bytes, at: int) -> bytes:
    return text[:at] + bytes([text[at] ^ 1]) + text[at + 1:]


if __name__ == "__main__":
    unittest.main()
