"""R6: a thousand clients that send a byte a second, a third of them heads, the others bodies, plain or in chunks: /healthz stays fast, each of them is
dropped by its timer, and memory does not grow with them."""
import resource
import selectors
import socket
import threading
import time

from service import Service
from stress import check, percentile, resident_bytes

alone = True
MIB = 1 << 20


def raise_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else max(soft, 65536), hard))


class Health(threading.Thread):
    """Asks /healthz again and again, and keeps how long each answer took."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.seconds, self.rss, self.ended = service, [], 0, threading.Event()

    def run(self):
        while not self.ended.wait(0.02):
            begun = time.monotonic()
            with socket.create_connection(("127.0.0.1", self.service.port), timeout=30) as connection:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                status = connection.recv(4096)
            self.seconds.append(time.monotonic() - begun if b" 200 " in status[:20] else 60)
            self.rss = max(self.rss, resident_bytes(self.service.process.pid))


def slow_clients(service, count: int) -> dict:
    """socket → what it sends byte by byte."""
    token = service.token("demo", "upload")
    head = b"GET /healthz HTTP/1.1\r\nHost: h\r\nX-Slow: " + b"x" * 500
    upload = f"POST /api/v1/projects/demo/runs?commit={'0' * 40} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\n"
    openings = ["", upload + "Content-Length: 100000\r\n\r\n", upload + "Transfer-Encoding: chunked\r\n\r\n186a0\r\n"]
    clients = {}
    for number in range(count):
        connection = socket.create_connection(("127.0.0.1", service.port), timeout=30)
        connection.sendall(openings[number % 3].encode())
        connection.setblocking(False)
        clients[connection] = iter(b"y" * 100000 if number % 3 else head)
    return clients


def drop_times(clients: dict, seconds_max: float) -> list:
    """How long each was let; those that are still connected in the end are not in the list."""
    begun, next_byte, times = time.monotonic(), 0.0, []
    with selectors.DefaultSelector() as selector:
        for connection in clients:
            selector.register(connection, selectors.EVENT_READ)
        while clients and time.monotonic() - begun < seconds_max:
            for key, _ in selector.select(0.1):
                try:
                    ended = key.fileobj.recv(65536) == b""
                except BlockingIOError:
                    continue
                except OSError:
                    ended = True
                if ended:
                    selector.unregister(key.fileobj)
                    clients.pop(key.fileobj)
                    key.fileobj.close()
                    times.append(time.monotonic() - begun)
            if time.monotonic() - begun >= next_byte:
                next_byte += 1
                for connection, rest in clients.items():
                    try:
                        connection.send(bytes([next(rest, 120)]))
                    except OSError:
                        pass  # its end is read above
    for connection in clients:
        connection.close()
    return times


def run(stress) -> str:
    raise_descriptors()
    count, seconds_max = stress.count((1000, 45), (100, 9))
    timers = stress.count({}, {"header_time_max": "2 s", "body_grace": "2 s", "idle_time_max": "2 s"})
    # One address plays a thousand.
    with Service(connections_per_address_max=2000, connections_max=2000, **timers) as service:
        service.call("GET", "/healthz")
        before = resident_bytes(service.process.pid)
        health = Health(service)
        clients = slow_clients(service, count)
        health.start()
        times = drop_times(clients, seconds_max)
        health.ended.set()
        health.join()
        growth = (health.rss - before) / MIB
        p99 = percentile(health.seconds, 0.99) * 1000
        figures = (f"{len(times)} of {count} slow clients dropped, the last after {max(times, default=0):.1f} s; healthz p99 {p99:.1f} ms of "
                   f"{len(health.seconds)}; {growth:.1f} MiB more memory")
        check(len(times) == count and p99 < 100 and growth < 64 and len(health.seconds) > 20, figures)
        return figures
