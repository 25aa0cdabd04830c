"""What lies between a client and the service when things go wrong: a forwarder that loses answers, and a proxy that
opens tunnels. Each runs in threads of its own until it is closed."""
import contextlib
import socket
import ssl
import threading


def pump(source, sink):
    with contextlib.suppress(OSError):
        while part := source.recv(65536):
            sink.sendall(part)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


class Listener:
    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.seen = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.socket.accept()
                threading.Thread(target=self.guarded, args=(client,), daemon=True).start()

    def guarded(self, client):
        with client, contextlib.suppress(OSError, ssl.SSLError):
            self.serve(client)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def join(self, client, upstream):
        there = threading.Thread(target=pump, args=(client, upstream), daemon=True)
        there.start()
        pump(upstream, client)
        there.join(timeout=10)


class LosesAnswers(Listener):
    """Forwards everything; the answers of the first `count` uploads are read and thrown away."""

    def __init__(self, port, count):
        self.target, self.left = port, count
        super().__init__()

    def serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(65536)
        with socket.create_connection(("127.0.0.1", self.target)) as upstream:
            upstream.sendall(head)
            upload = head.startswith(b"POST ")
            self.seen.append(head.split(b"\r\n")[0])
            if upload and self.left > 0:
                self.left -= 1
                threading.Thread(target=pump, args=(client, upstream), daemon=True).start()
                while upstream.recv(65536):
                    pass
                client.shutdown(socket.SHUT_RDWR)  # the other thread still reads: closing alone would not be seen
                return
            self.join(client, upstream)


class Tls(Listener):
    """The service behind https, with a certificate of its own."""

    def __init__(self, port, certificate, key):
        self.target = port
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        super().__init__()

    def serve(self, client):
        with self.context.wrap_socket(client, server_side=True) as inner:
            with socket.create_connection(("127.0.0.1", self.target)) as upstream:
                self.join(inner, upstream)


class Tunnel(Listener):
    """An HTTP proxy that knows CONNECT, to whatever address, but leads to `port`; wants credentials where it is given
    some."""

    def __init__(self, port, credentials=None):
        self.target, self.credentials = port, credentials
        super().__init__()

    def serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(1)
        self.seen.append(head.split(b"\r\n")[0].decode())
        if self.credentials and f"Proxy-Authorization: {self.credentials}".encode() not in head:
            client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            return
        with socket.create_connection(("127.0.0.1", self.target)) as upstream:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self.join(client, upstream)


class CutsCommits(Listener):
    """Before Postgres, whose socket is at `path`: when it is armed, the connection that sends the n-th COMMIT from then on
    is cut. The server may have seen that COMMIT or not; its answer is lost in any case."""

    def __init__(self, path):
        self.target, self.lock = str(path), threading.Lock()
        self.left, self.forwards, self.cuts = 0, True, {True: 0, False: 0}
        super().__init__()

    def arm(self, commits, forwards):
        with self.lock:
            self.left, self.forwards = commits, forwards

    def is_armed(self):
        return self.left > 0

    def is_the_one(self, part):
        with self.lock:
            if self.left == 0 or b"COMMIT\0" not in part.upper():
                return False
            self.left -= 1
            if self.left == 0:
                self.cuts[self.forwards] += 1
            return self.left == 0

    def serve(self, client):
        with socket.socket(socket.AF_UNIX) as upstream:
            upstream.connect(self.target)
            threading.Thread(target=pump, args=(upstream, client), daemon=True).start()
            while part := client.recv(65536):
                if self.is_the_one(part):
                    client.shutdown(socket.SHUT_RDWR)  # first, so that no answer overtakes it
                    if self.forwards:
                        upstream.sendall(part)
                    upstream.shutdown(socket.SHUT_RDWR)
                    return
                upstream.sendall(part)
