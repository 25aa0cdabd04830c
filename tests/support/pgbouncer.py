"""PgBouncer in transaction mode in front of a throw-away Postgres, on a Unix socket: each transaction may get another session
of the server, and nothing is carried between them."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from postgres import START_SECONDS_MAX, Databases, account, end_with_parent

SETTINGS = """[databases]
* = host={server} user=traceweir
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = {folder}
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 400
server_reset_query =
logfile = {folder}/log
pidfile = {folder}/pid
"""


def program() -> str:
    found = shutil.which("pgbouncer", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not found:
        raise RuntimeError("no PgBouncer is installed (package pgbouncer): ./dev setup installs it")
    return found


class PgBouncer:
    """Use as a context manager. `sessions`: fewer than its clients, so that they have to share."""

    def __init__(self, databases: Databases, sessions=4):
        self.databases = databases
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="traceweir-pgbouncer-"))
        (self.folder / "ini").write_text(SETTINGS.format(server=databases.folder, folder=self.folder, sessions=sessions))
        self.process = None

    def __enter__(self):
        if account():
            shutil.chown(self.folder, account()["user"], account()["group"])
        self.process = subprocess.Popen([program(), "-q", self.folder / "ini"], stdin=subprocess.DEVNULL,
                                        preexec_fn=end_with_parent, **account())
        deadline = time.monotonic() + START_SECONDS_MAX
        while not (self.folder / ".s.PGSQL.6432").exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("PgBouncer did not start")
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=START_SECONDS_MAX)
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database_url: str) -> str:
        """The same database, through the pooler."""
        name = database_url.split("/")[3].split("?")[0]
        return f"postgresql:///{name}?host={self.folder}&port=6432&user=traceweir"
