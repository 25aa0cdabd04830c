"""TLS of the service's own: modern versions only, renewed while it runs, and the same limits as without."""
import http.client
import pathlib
import re
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import warnings

from authority import Authority
from service import BIN, Answer, Service, run, sha, trace


class SecureService(Service):
    """One that speaks TLS with a certificate of `authority`."""

    def __init__(self, authority, **settings):
        self.authority = authority
        certificate, key = authority.issue()
        super().__init__(tls_certificate=certificate, tls_key=key, **settings)

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def context(self):
        return ssl.create_default_context(cafile=self.authority.certificate)

    def connect(self, context=None) -> ssl.SSLSocket:
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        return (context or self.context()).wrap_socket(plain, server_hostname="localhost")

    def call(self, method, path, token=None, body=b"", headers=None):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=self.context())
        fields = dict(headers or {}) | ({"Authorization": f"Bearer {token}"} if token else {})
        try:
            connection.request(method, path, body=body if method in ("POST", "PUT") else None, headers=fields)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.authority = Authority(cls.folder)
        cls.service = SecureService(cls.authority, tls_reload_pause="50 ms", handshake_time_max="500 ms", idle_time_max="700 ms")
        cls.service.__enter__()
        cls.addClassCleanup(cls.service.__exit__)
        cls.trace = trace("--steps", 4)

    def test_everything_is_as_without_and_browsers_stay(self):
        token = self.service.token()
        self.assertEqual(self.service.upload(token, self.trace, sha(1)).status, 201)
        large = self.service.upload(token, trace("--steps", 400), sha(2))
        self.assertEqual(large.status, 201, large)
        health = self.service.call("GET", "/healthz")
        self.assertEqual(health.headers["strict-transport-security"], "max-age=31536000")
        self.assertNotIn("127.0.0.1", health.headers.get("location", ""))
        with Service() as plain:
            self.assertNotIn("strict-transport-security", plain.call("GET", "/healthz").headers)

    def test_our_client_gets_its_verdict(self):
        path = self.folder / "trace.json"
        path.write_bytes(self.trace)
        environment = self.service.environment() | {"TRACEWEIR_TOKEN": self.service.token(), "SSL_CERT_FILE": str(self.authority.certificate)}
        gate = lambda env: run("traceweir", "gate", path, "--project", "demo", "--commit", sha(3), "--branch", "main", "--retry-time-max", 0, env=env)
        done = gate(environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        untrusting = gate({key: value for key, value in environment.items() if key != "SSL_CERT_FILE"})
        self.assertEqual(untrusting.returncode, 4, untrusting.stderr)

    def test_requests_follow_one_another_on_a_connection(self):
        with self.service.connect() as connection:
            for _ in range(3):
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
                self.assertIn(b"200 OK", connection.recv(65536))
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            rest = b""
            while piece := connection.recv(65536):
                rest += piece
            self.assertIn(b"200 OK", rest, "and it ends as TLS ends, not by a cut")

    def test_old_versions_and_weak_ciphers_are_refused(self):
        warnings.simplefilter("ignore", DeprecationWarning)  # that they are old is the point
        for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            context = self.service.context()
            context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.maximum_version = version
            with self.assertRaises(OSError):
                self.service.connect(context)
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.service.context()
            context.minimum_version = context.maximum_version = version
            with self.service.connect(context) as connection:
                self.assertTrue(connection.version().endswith(version.name[-1]))
        for cipher in ("AES128-SHA", "ECDHE-ECDSA-AES128-SHA"):
            context = self.service.context()
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            context.set_ciphers(cipher)
            with self.assertRaises(OSError):
                self.service.connect(context)

    def test_who_does_not_shake_hands_is_dropped(self):
        for opening in (b"", b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n", b"\x16\x03\x01\x02\x00", b"\x00" * 1000):
            with self.subTest(opening), socket.create_connection(("127.0.0.1", self.service.port), timeout=10) as plain:
                begun = time.monotonic()
                plain.sendall(opening)
                try:
                    said = plain.recv(65536)
                    while said and plain.recv(65536):
                        pass
                except ConnectionResetError:
                    said = b""
                self.assertNotIn(b"HTTP/1.1 200", said)
                self.assertLess(time.monotonic() - begun, 8)

    def test_an_idle_connection_ends(self):
        with self.service.connect() as connection:
            self.assertEqual(connection.recv(1), b"")

    def test_a_renewed_certificate_is_shown_and_a_broken_one_is_not(self):
        def shown() -> bytes:
            with self.service.connect() as connection:
                return connection.getpeercert(binary_form=True)

        before = shown()
        certificate, key = self.authority.issue()
        deadline = time.monotonic() + 10
        while shown() == before:
            self.assertLess(time.monotonic(), deadline)
        after = shown()
        key.write_text("no key\n")
        deadline = time.monotonic() + 10
        while not any(line["event"] == "certificate_not_renewed" for line in self.service.log()):
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(shown(), after)
        self.authority.issue()
        while shown() == after:
            self.assertLess(time.monotonic(), deadline + 10)

    def test_files_that_are_no_pair_are_refused_at_the_start(self):
        certificate, key = self.authority.issue("one")
        other, other_key = self.authority.issue("other")
        locked = self.folder / "locked.key"
        subprocess.run(["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", locked], check=True)
        rows = [((certificate, other_key), "tls_key"), ((key, key), "tls_certificate"), ((certificate, "/nowhere"), "tls_key"),
                (("/nowhere", key), "tls_certificate"), ((certificate, locked), "tls_key"), ((certificate, ""), "tls_key")]
        for (first, second), named in rows:
            with self.subTest(named):
                done = subprocess.run([BIN / "traceweird", "config", "check"], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
                                      env={"TRACEWEIR_TLS_CERTIFICATE": str(first), "TRACEWEIR_TLS_KEY": str(second)})
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(named, done.stderr)
                self.assertIsNone(re.search("BEGIN", done.stderr))


if __name__ == "__main__":
    unittest.main()
