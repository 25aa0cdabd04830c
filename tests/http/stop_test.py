"""How the service ends: a second signal, a signal that does not end it, and a database that hangs. What it finishes and hands
back at the first one: restarts_test.py."""
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from postgres import Cluster
from service import BIN, STORE, Service, sha, stand_in, trace


def events(service) -> list:
    return [line["event"] for line in service.log()]


def wait_for(what, seconds=30):
    deadline = time.monotonic() + seconds
    while not what() and time.monotonic() < deadline:
        time.sleep(0.01)


class Stop(unittest.TestCase):
    def setUp(self):
        self.trace = trace("--steps", 3)

    def test_a_second_signal_waits_for_nobody(self):
        with tempfile.TemporaryDirectory() as folder:
            for_ever = stand_in(folder, "exec sleep 600")
            with Service(stop_time_max="60 s", analysis_program=for_ever) as service:
                token, answers = service.token(), []
                upload = threading.Thread(target=lambda: answers.append(service.upload(token, self.trace, sha(1))))
                upload.start()
                wait_for(lambda: list((service.data_dir / "blobs").glob("*/*")))
                service.process.send_signal(signal.SIGTERM)
                wait_for(lambda: "stopping" in events(service))
                self.assertIsNone(service.process.poll(), "it waits for the analysis")
                begun = time.monotonic()
                self.assertEqual(service.stop(signal.SIGTERM), 0)
                self.assertLess(time.monotonic() - begun, 10)
                upload.join()
                self.assertEqual([answer.status for answer in answers], [202])
                self.assertEqual(events(service)[-1], "stopped")
                self.assertIn("stopping_at_once", events(service))

    def test_a_hang_up_is_noted_and_ends_nothing(self):
        with Service() as service:
            service.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "not_reloaded" in events(service))
            self.assertEqual(service.call("GET", "/healthz").status, 200)
            self.assertEqual(service.stop(signal.SIGTERM), 0)
            self.assertEqual([event for event in events(service) if event in ("not_reloaded", "stopped")],
                             ["not_reloaded", "stopped"])

    def test_every_other_command_ends_at_ctrl_c(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)  # reading the configuration waits for somebody who writes it
            process = subprocess.Popen([BIN / "traceweird", "--config", pipe, "config", "check"], stdout=subprocess.DEVNULL)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            try:
                self.assertEqual(process.wait(timeout=20), -signal.SIGINT)
            finally:
                process.kill()

    @unittest.skipIf(STORE != "postgres", "a database that hangs is one of another process")
    def test_a_database_that_hangs_keeps_it_for_a_moment_only(self):
        with Cluster() as cluster, Service(stop_time_max="1 s") as service:
            service.stop(signal.SIGKILL)
            service.store = {"TRACEWEIR_STORE": cluster.new_database()}
            service.start()
            token = service.token()
            kept = service.upload(token, self.trace, sha(1))
            self.assertEqual(kept.status, 201)
            servers = [cluster.process.pid, *children(cluster.process.pid)]
            try:
                for pid in servers:
                    os.kill(pid, signal.SIGSTOP)
                upload = threading.Thread(target=self.try_upload, args=(service, token))
                upload.start()
                time.sleep(0.5)
                begun = time.monotonic()
                self.assertEqual(service.stop(signal.SIGTERM), 0)
                took = time.monotonic() - begun
            finally:
                for pid in servers:
                    os.kill(pid, signal.SIGCONT)
            upload.join()
            self.assertLess(took, 1 + 4.5 + 2)
            self.assertEqual(events(service)[-1], "stop_abandoned")
            service.start()
            self.assertEqual(service.call("GET", kept.json["links"]["self"], token).json["status"], "judged")

    def try_upload(self, service, token):
        try:
            service.upload(token, self.trace, sha(2))
        except OSError:
            pass  # it is left without an answer


def children(pid: int) -> list:
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


if __name__ == "__main__":
    unittest.main()
