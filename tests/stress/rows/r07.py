"""R7: thousands of idle connections, from one address and from many: no more than an address may have, no more than all may have, a
bounded number of descriptors, and room again once they have gone."""
import resource
import select
import socket
import time

from service import Service
from stress import check, descriptors

SPARE = 64


def raise_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else max(soft, 65536), hard))


def connect(service, address: str) -> socket.socket:
    connection = socket.socket()
    connection.settimeout(30)
    connection.bind((address, 0))
    connection.connect(("127.0.0.1", service.port))
    return connection


def still_open(connections: list, service) -> list:
    """Those that are neither answered nor closed. The service has looked at all of them once it has answered one more, or refused it."""
    deadline = time.monotonic() + 10
    quiet = time.monotonic()
    left, before = connections, -1
    while time.monotonic() < deadline and time.monotonic() - quiet < 0.5:
        poll = select.poll()
        by_number = {connection.fileno(): connection for connection in left}
        for number in by_number:
            poll.register(number, select.POLLIN)
        ready = {number for number, _ in poll.poll(50)}
        for number in ready:
            by_number[number].close()
        left = [connection for connection in left if connection.fileno() >= 0]
        if len(left) != before:
            before, quiet = len(left), time.monotonic()
    return left


def run(stress) -> str:
    raise_descriptors()
    per_address, in_all, crowd, addresses = stress.count((256, 1024, 5000, 50), (40, 100, 600, 20))
    with Service(connections_max=in_all, connections_per_address_max=per_address, idle_time_max="60 s") as service:
        # Not the address that asked whether the service is ready: its last connection may still be open there.
        one = still_open([connect(service, "127.0.0.2") for _ in range(2 * per_address)], service)
        from_one, most = len(one), descriptors(service.process.pid)
        many = one
        for number in range(crowd):
            many = many + [connect(service, f"127.0.1.{1 + number % addresses}")]
            if number % 500 == 499:
                many = still_open(many, service)
                most = max(most, descriptors(service.process.pid))
        many = still_open(many, service)
        from_all = len(many)
        most = max(most, descriptors(service.process.pid))
        for connection in many:
            connection.close()
        deadline, served = time.monotonic() + 10, False
        while not served and time.monotonic() < deadline:
            try:
                served = service.call("GET", "/healthz").status == 200
            except OSError:
                pass  # turned away
        figures = (f"{crowd} connects: {from_one} of one address stay, {from_all} in all; {most} descriptors at most, "
                   f"{in_all} + {SPARE} are allowed; {'served' if served else 'not served'} afterwards")
        check(from_one == per_address and from_all == in_all and most <= in_all + SPARE and served, figures)
        return figures
