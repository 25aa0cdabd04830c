"""Postgres for tests: throw-away clusters in temporary folders, on Unix sockets, gone with the tests however they end.

Postgres refuses root, so as root it runs as the user `postgres`. Nothing is skipped: without Postgres the tests fail.
Cluster is one of the test's own, to be stopped and killed. Shared is one for all tests that run at about the same time:
a keeper holds it until nobody has used it for a while. As a program (`python3 postgres.py`) this file joins the shared
one, prints its folder, and ends with its stdin.
Roles: `postgres` (superuser) and `traceweir`, which owns the databases and is nothing more, as in production.
"""
import atexit
import contextlib
import ctypes
import fcntl
import hashlib
import itertools
import os
import pathlib
import pwd
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 60
LINGER_SECONDS = 10
FOLDER_PREFIX = "traceweir-postgres-"
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


def sweep_clusters():
    """Removes the folders of tests that were killed: a name has its test's process id. The servers ended with them."""
    for folder in pathlib.Path(tempfile.gettempdir()).glob(FOLDER_PREFIX + "*"):
        process = folder.name.removeprefix(FOLDER_PREFIX).split("-")[0]
        if process.isdigit() and not pathlib.Path("/proc", process).exists():
            shutil.rmtree(folder, ignore_errors=True)


class Databases:
    """What a test wants of a running server: databases. `folder` has its socket."""

    def __init__(self, folder: pathlib.Path):
        self.folder, self.numbers = folder, itertools.count(1)
        self.environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8", "TZ": "UTC"}

    def run(self, program: str, *arguments, text: str = "") -> str:
        done = subprocess.run([programs() / program, *map(str, arguments)], cwd=self.folder, env=self.environment,
                              input=text, capture_output=True, text=True, timeout=START_SECONDS_MAX, **account())
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stderr}{self.log()}")
        return done.stdout

    def psql(self, sql: str, database="postgres") -> str:
        return self.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "postgres", "-d",
                        database, text=sql).strip()

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"store_{os.getpid()}_{next(self.numbers)}"
        self.psql(f"CREATE DATABASE {name} OWNER traceweir")
        return self.url(name)

    def url(self, database: str, user="traceweir") -> str:
        return f"postgresql:///{database}?host={self.folder}&user={user}"

    def log(self) -> str:
        return ""


class Cluster(Databases):
    """Use as a context manager. It is ready when start() returns; what it acknowledged lasts, unless `fsync` is off."""

    def __init__(self, fsync="on"):
        sweep_clusters()
        super().__init__(pathlib.Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-")))
        self.data, self.log_path = self.folder / "data", self.folder / "log"
        self.process, self.fsync = None, fsync
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
                    "shared_buffers": "32MB", "fsync": self.fsync, "max_wal_size": "512MB",
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

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")[-4000:] if self.log_path.exists() else ""


class Meeting:
    """Where tests and the keeper of the shared cluster meet: a folder of this checkout's own, with a lock and a socket.

    Tests join with the lock held, and the keeper leaves with it held, so nobody joins one that is leaving.
    """

    def __init__(self):
        name = hashlib.sha256(str(pathlib.Path(__file__).resolve()).encode()).hexdigest()[:12]
        self.folder = pathlib.Path(tempfile.gettempdir()) / f"traceweir-shared-{os.getuid()}-{name}"
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if self.folder.is_symlink() or self.folder.stat().st_uid != os.getuid():
            raise RuntimeError(f"{self.folder} is not ours")
        self.socket = self.folder / "socket"

    @contextlib.contextmanager
    def locked(self):
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Shared(Databases):
    """The shared cluster, held until this program ends, and started if it is not there."""

    def __init__(self):
        meeting = Meeting()
        with meeting.locked():
            connection = self.join(meeting) or self.start_keeper() or self.join(meeting)
        atexit.register(connection.close)
        greeting = b""
        while not greeting.endswith(b"\n"):
            greeting += connection.recv(4096)
        super().__init__(pathlib.Path(greeting.decode().strip()))

    def join(self, meeting: Meeting):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(meeting.socket))
            return connection
        except OSError:
            connection.close()
            return None

    def start_keeper(self):
        """Returns when the keeper is ready. It outlives this test, since it goes into the background."""
        done = subprocess.run([sys.executable, str(pathlib.Path(__file__).resolve()), "keep"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, start_new_session=True, cwd="/")
        if done.stdout != "ready\n":
            raise RuntimeError(f"the shared Postgres did not start: {done.stderr}")


def keep():
    """Holds the shared cluster until nobody has used it for LINGER_SECONDS. Started with the meeting's lock held.

    Without fsync, since nobody stops it while it is used: what it acknowledged need not outlive it.
    """
    if os.fork() != 0:
        os._exit(0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    meeting = Meeting()
    meeting.socket.unlink(missing_ok=True)  # of a keeper that was killed
    with Cluster(fsync="off") as cluster, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(meeting.socket))
        listener.listen(64)
        print("ready", flush=True)
        os.dup2(os.open(os.devnull, os.O_RDWR), sys.stdout.fileno())
        os.dup2(sys.stdout.fileno(), sys.stderr.fileno())
        serve(meeting, listener, f"{cluster.folder}\n".encode())


def serve(meeting: Meeting, listener: socket.socket, greeting: bytes):
    users = []
    while True:
        ready, _, _ = select.select([listener, *users], [], [], None if users else LINGER_SECONDS)
        for source in ready:
            if source is listener:
                users.append(listener.accept()[0])
                users[-1].sendall(greeting)
            else:
                users.remove(source)  # they never speak: the end
                source.close()
        if not users and not ready:
            with meeting.locked():
                if not select.select([listener], [], [], 0)[0]:
                    meeting.socket.unlink()
                    return


def main():
    if sys.argv[1:] == ["keep"]:
        return keep()
    print(Shared().folder, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
