"""A disk that fills up: refused before the body and within it, nothing by halves, and well again when there is room."""
import hashlib
import http.client
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from service import BIN, Service, sha, trace

MIB = 1 << 20
GIB = 1024 * MIB
# A file system in memory, where nobody else writes while the free space is counted.
PLACE = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Disk(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(dir=PLACE))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        headroom = free_bytes(self.place) - 96 * MIB
        self.service = Service(data_dir=self.place / "data", disk_headroom_bytes=f"{headroom} B")
        self.service.data_dir = self.place / "data"
        self.addCleanup(self.service.__exit__)
        self.service.start()
        self.token = self.service.token()
        self.trace = trace("--steps", 4)

    def fill(self):
        with open(self.place / "filler", "wb") as filler:
            for _ in range(128):
                filler.write(b"x" * MIB)

    def parts(self):
        return list((self.service.data_dir / "spool" / "incoming").glob("*.part"))

    def test_without_headroom_it_is_not_ready_and_takes_nothing_until_there_is_room(self):
        before = self.service.upload(self.token, self.trace, sha(1))
        self.assertEqual(before.status, 201, before)
        self.fill()
        ready = self.service.call("GET", "/readyz")
        self.assertEqual((ready.status, ready.json["status"]), (503, "not_ready"))
        self.assertIn("disk_headroom_bytes", ready.json["disk"])
        refused = self.service.upload(self.token, self.trace, sha(2))
        self.assertEqual((refused.status, refused.json["type"]), (507, "disk_full"), refused)
        self.assertEqual(self.parts(), [])
        self.assertEqual(self.service.call("GET", before.json["links"]["self"], self.token).status, 200, "reading goes on")
        (self.place / "filler").unlink()
        self.assertEqual(self.service.call("GET", "/readyz").status, 200)
        self.assertEqual(self.service.upload(self.token, self.trace, sha(2)).status, 201)

    def test_an_announced_size_that_does_not_fit_is_refused_before_its_body(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
        self.addCleanup(connection.close)
        self.begin(connection, "Content-Length", str(200 * MIB))
        answer = connection.getresponse()
        self.assertEqual(answer.status, 507)
        self.assertEqual(self.parts(), [])

    def test_a_body_that_runs_into_the_headroom_is_stopped_and_leaves_nothing(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
        self.addCleanup(connection.close)
        self.begin(connection, "Transfer-Encoding", "chunked")
        chunk = b"%x\r\n" % MIB + b" " * MIB + b"\r\n"
        try:
            for _ in range(300):
                connection.send(chunk)
        except OSError:
            pass  # stopped in the middle, as it should be
        answer = connection.getresponse()
        self.assertEqual(answer.status, 507)
        self.assertIn(b"disk_full", answer.read())
        self.assertEqual(self.parts(), [])
        listed = self.service.call("GET", "/api/v1/projects/demo/runs", self.token).json["runs"]
        self.assertEqual(listed, [], "nothing by halves")
        self.assertEqual(self.service.upload(self.token, self.trace, sha(3)).status, 201)

    def begin(self, connection, header, value):
        connection.putrequest("POST", f"/api/v1/projects/demo/runs?commit={sha(9)}")
        connection.putheader("Authorization", f"Bearer {self.token}")
        connection.putheader(header, value)
        connection.endheaders()


def free_bytes(place) -> int:
    about = os.statvfs(place)
    return about.f_bavail * about.f_frsize


def has_other_disk() -> bool:
    """Whether blobs can have a file system of their own, with less room than the data directory's."""
    return PLACE is not None and os.stat(PLACE).st_dev != os.stat(tempfile.gettempdir()).st_dev \
        and GIB < free_bytes(PLACE) < free_bytes(tempfile.gettempdir())


@unittest.skipUnless(has_other_disk(), "no /dev/shm beside the folder of temporary files, with less room than that")
class BlobsOnAnotherDisk(unittest.TestCase):
    def setUp(self):
        self.disk = pathlib.Path(tempfile.mkdtemp(dir=PLACE))
        self.addCleanup(shutil.rmtree, self.disk, ignore_errors=True)
        self.headroom = free_bytes(PLACE) - 512 * MIB  # others use that disk meanwhile
        self.service = Service(disk_headroom_bytes=f"{self.headroom} B")
        self.addCleanup(self.service.__exit__)
        self.service.data_dir.mkdir(parents=True)
        (self.service.data_dir / "blobs").symlink_to(self.disk)
        self.service.start()
        self.token = self.service.token()
        self.trace = trace("--steps", 4)

    def kept(self):
        return sorted(path.name for path in self.disk.glob("*/*"))

    def left(self):
        return list((self.service.data_dir / "spool" / "incoming").iterdir()) + list(self.disk.glob("*.part"))

    def test_an_upload_is_kept_given_back_backed_up_and_restored(self):
        run = self.service.upload(self.token, self.trace, sha(1))
        self.assertEqual(run.status, 201, run)
        self.assertEqual(self.kept(), [hashlib.sha256(self.trace).hexdigest()])
        self.assertEqual(self.left(), [])
        self.assertEqual(self.service.call("GET", run.json["links"]["self"] + "/traces/0", self.token).body, self.trace)
        self.assertEqual(self.service.call("GET", "/readyz").status, 200)
        file = self.service.folder / "backup.tar"
        self.command("backup", file)
        self.assertEqual(self.service.stop(), 0)
        self.service.forget()
        shutil.rmtree(self.disk / self.kept()[0][:2])
        self.command("restore", file)
        self.assertEqual(self.kept(), [hashlib.sha256(self.trace).hexdigest()])
        self.service.start()
        self.assertEqual(self.service.call("GET", run.json["links"]["self"] + "/traces/0", self.token).body, self.trace)

    def test_without_room_there_nothing_is_taken_until_there_is(self):
        before = free_bytes(PLACE)
        with open(self.disk / "filler", "wb") as filler:
            while free_bytes(PLACE) + 64 * MIB > self.headroom:
                filler.write(bytes(32 * MIB))
                filler.flush()
        ready = self.service.call("GET", "/readyz")
        self.assertEqual((ready.status, ready.json["blobs"]), (503, "ok"), ready)
        self.assertIn("the disk of the traces has", ready.json["disk"])
        free = re.search(rb"^traceweir_disk_free_bytes (\S+)", self.service.call("GET", "/metrics").body, re.MULTILINE)
        self.assertLess(float(free[1]), before)
        # Announced: before the body. Not announced: when all of it is there, and before it is copied.
        for body in (self.trace, iter([self.trace])):
            refused = self.service.upload(self.token, body, sha(2))
            self.assertEqual((refused.status, refused.json["type"]), (507, "disk_full"), refused)
        self.assertEqual((self.kept(), self.left()), ([], []))
        (self.disk / "filler").unlink()
        self.assertEqual(self.service.call("GET", "/readyz").status, 200)
        self.assertEqual(self.service.upload(self.token, self.trace, sha(2)).status, 201)

    def command(self, *arguments):
        done = subprocess.run([BIN / "traceweird", *arguments], env=self.service.environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
