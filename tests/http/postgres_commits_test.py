"""Commits whose answer is lost: an upload that is sent again with its key is there once, whatever became of the commit.

About Postgres alone: the embedded store's commits are calls of a function. Between the service and Postgres stands a
proxy that cuts connections at the word COMMIT: before the server hears it, or after it has done it.
"""
import collections
import concurrent.futures
import itertools
import pathlib
import shutil
import socket
import tempfile
import threading
import time
import unittest

from service import Service, cluster, sha, trace

UPLOADS = 100
CUT_EVERY = 3
RUNS = "/api/v1/projects/demo/runs"
SOCKET = ".s.PGSQL.5432"


class Proxy:
    """Use as a context manager. It listens like a server in `folder`, and is deaf to all but COMMIT."""

    def __init__(self, server: pathlib.Path):
        self.server = server
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="traceweir-proxy-"))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / SOCKET))
        self.listener.listen(64)
        self.commits, self.cut = itertools.count(1), collections.Counter()
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self.server / SOCKET))
            silent = threading.Event()
            threading.Thread(target=self.forward, args=(client, server, silent), daemon=True).start()
            threading.Thread(target=self.answer, args=(server, client, silent), daemon=True).start()

    def forward(self, client, server, silent):
        """What the service says. Every third COMMIT is cut, in turn before and after."""
        try:
            while said := client.recv(65536):
                if said == b"Q\0\0\0\x0bCOMMIT\0" and (number := next(self.commits)) % CUT_EVERY == 0:
                    if number % (2 * CUT_EVERY) == 0:
                        self.cut["before"] += 1
                        break
                    self.cut["after"] += 1
                    silent.set()
                server.sendall(said)
        except OSError:
            pass
        if not silent.is_set():
            self.close(client, server)

    def answer(self, server, client, silent):
        """What Postgres says; its answer to a COMMIT that is cut ends the connection instead."""
        try:
            while said := server.recv(65536):
                if silent.is_set():
                    break
                client.sendall(said)
        except OSError:
            pass
        self.close(client, server)

    def close(self, *ends):
        for end in ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class PostgresCommits(unittest.TestCase):
    def test_a_lost_answer_makes_no_second_run(self):
        body, statuses = trace("--steps", 3), collections.Counter()
        with Proxy(cluster().folder) as proxy, Service() as service:
            token = service.token()
            service.stop()
            service.store["TRACEWEIR_STORE"] = service.store["TRACEWEIR_STORE"].replace(str(cluster().folder), str(proxy.folder))
            service.start()

            def upload(number):
                deadline = time.monotonic() + 60
                while time.monotonic() < deadline:
                    answer = service.upload(token, body, sha(number), headers={"Idempotency-Key": f"k{number}"})
                    statuses[answer.status] += 1
                    if answer.status == 201:
                        return answer.json["id"]
                    self.assertIn(answer.status, (202, 503), answer)
                raise AssertionError("never acknowledged")

            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                acknowledged = dict(enumerate(pool.map(upload, range(UPLOADS))))
            runs, path = collections.defaultdict(list), RUNS + "?limit=200"
            while path:
                page = service.call("GET", path, token).json
                for run in page["runs"]:
                    runs[run["commit"]].append((run["id"], run["status"]))
                path = page["next"]
            self.assertEqual(len(runs), UPLOADS)
            for number, run in acknowledged.items():
                self.assertEqual(runs[sha(number)], [(run, "judged")])
            self.assertGreater(proxy.cut["before"], 20)
            self.assertGreater(proxy.cut["after"], 20)
            print(f"postgres: {UPLOADS} uploads, commits cut {dict(proxy.cut)}: {UPLOADS} runs, each once; "
                  f"answers {dict(statuses)}")


if __name__ == "__main__":
    unittest.main()
