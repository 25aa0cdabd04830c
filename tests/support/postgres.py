"""A Postgres cluster of the test's own: in a temporary folder, on a Unix socket, gone with the test however it ends.

Postgres refuses root, so as root it runs as the user `postgres`. Nothing is skipped: without Postgres the tests fail.
As a program (`python3 postgres.py`) it prints the socket's folder when the cluster is ready, and ends with its stdin.
Roles: `postgres` (superuser) and `traceweir`, which owns the databases and is nothing more, as in production.
"""
import ctypes
import itertools
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 60
PR_SET_PDEATHSIG = 1


def programs() -> pathlib.Path:
    """The newest server's programs; Debian keeps them off the PATH."""
    folders = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda p: int(p.parts[-3]))
    if folders:
        return folders[-1].parent
    on_path = shutil.which("postgres")
    if not on_path:
        raise RuntimeError("no PostgreSQL server is installed (package postgresql): ./dev setup installs it")
    return pathlib.Path(on_path).parent


def account() -> dict:
    """How subprocess starts a program that refuses root."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def end_with_parent():
    """Postgres stops at once (SIGQUIT) when the test is killed. Runs in the child, after it gave up root."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)


class Cluster:
    """Use as a context manager. It is ready when start() returns; fsync is on."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="traceweir-postgres-"))
        self.data, self.log_path = self.folder / "data", self.folder / "log"
        self.process, self.numbers = None, itertools.count(1)
        self.environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        try:
            if account():
                shutil.chown(self.folder, account()["user"], account()["group"])
            self.run("initdb", "-D", self.data, "--no-sync", "--no-instructions", "--auth=trust", "--username=postgres",
                     "--encoding=UTF8", "--locale=C.UTF-8")
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def __enter__(self):
        try:
            self.start()
            self.psql("CREATE ROLE traceweir LOGIN")
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, program: str, *arguments, text: str = "") -> str:
        done = subprocess.run([programs() / program, *map(str, arguments)], cwd=self.folder, env=self.environment,
                              input=text, capture_output=True, text=True, timeout=START_SECONDS_MAX, **account())
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stderr}{self.log()}")
        return done.stdout

    def psql(self, sql: str, database="postgres") -> str:
        return self.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "postgres", "-d",
                        database, text=sql).strip()

    def start(self):
        """Starts the server. After a kill its children may live a moment longer, and it refuses to start beside them."""
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            self.launch()
            while self.process.poll() is None:
                if self.is_ready():
                    return
                if time.monotonic() > deadline:
                    raise RuntimeError(f"Postgres is not ready in time: {self.log()}")
                time.sleep(0.005)
            if time.monotonic() > deadline:
                raise RuntimeError(f"Postgres did not start: {self.log()}")

    def launch(self):
        settings = {"listen_addresses": "", "unix_socket_directories": self.folder, "max_connections": 300,
                    "shared_buffers": "32MB", "fsync": "on", "max_wal_size": "512MB",
                    "recovery_init_sync_method": "syncfs"}
        flags = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([programs() / "postgres", "-D", self.data, *flags], cwd=self.folder,
                                            env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=end_with_parent, start_new_session=True, **account())

    def is_ready(self) -> bool:
        """What pg_ctl looks at: the last line of the server's own file, written by this server."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) >= 8 and lines[0] == str(self.process.pid) and lines[7].strip() == "ready"

    def stop(self, how=signal.SIGQUIT):
        """SIGQUIT: immediate, as a crash; SIGINT: fast; SIGKILL: the postmaster alone."""
        if self.process is None:
            return
        self.process.send_signal(how)
        self.process.wait(timeout=STOP_SECONDS_MAX)

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"store_{os.getpid()}_{next(self.numbers)}"
        self.psql(f"CREATE DATABASE {name} OWNER traceweir")
        return self.url(name)

    def url(self, database: str, user="traceweir") -> str:
        return f"postgresql:///{database}?host={self.folder}&user={user}"

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")[-4000:] if self.log_path.exists() else ""


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with Cluster() as cluster:
        print(cluster.folder, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
