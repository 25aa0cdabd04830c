"""What the check puts on its network of its own: a DNS server that knows one name, and TLS in front of the service.

For: the check of a client that must find names and trust certificates without the machine's libraries.
"""
import contextlib
import pathlib
import socket
import ssl
import subprocess
import threading

DNS_NAME = "gate.example"


def dns_answer(question: bytes) -> bytes:
    """A for DNS_NAME is 127.0.0.1; of that name there is nothing else, and other names do not exist."""
    end = question.index(b"\0", 12) + 5
    labels, at = [], 12
    while question[at]:
        labels.append(question[at + 1:at + 1 + question[at]].decode())
        at += question[at] + 1
    known, wants_a = ".".join(labels).lower() == DNS_NAME, question[end - 4:end - 2] == b"\0\1"
    flags = b"\x81\x80" if known else b"\x81\x83"
    record = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1" if known and wants_a else b""
    return question[:2] + flags + b"\0\1" + (b"\0\1" if record else b"\0\0") + b"\0\0\0\0" + question[12:end] + record


def serve_dns():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))

    def answer():
        while True:
            question, caller = server.recvfrom(1500)
            server.sendto(dns_answer(question), caller)

    threading.Thread(target=answer, daemon=True).start()


def make_authority(folder: pathlib.Path) -> pathlib.Path:
    """A certificate for DNS_NAME, signed by itself; whoever trusts it trusts the service."""
    folder.mkdir(parents=True, exist_ok=True)
    certificate, key = folder / "authority.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={DNS_NAME}", "-addext", f"subjectAltName=DNS:{DNS_NAME}", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return certificate


def forward(source: socket.socket, target: socket.socket):
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def serve_tls(certificate: pathlib.Path, port: int, service_port: int):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    listener = socket.create_server(("127.0.0.1", port))

    def take(plain: socket.socket):
        with contextlib.suppress(OSError), context.wrap_socket(plain, server_side=True) as client:
            with socket.create_connection(("127.0.0.1", service_port)) as service:
                up = threading.Thread(target=forward, args=(client, service), daemon=True)
                up.start()
                forward(service, client)
                up.join()

    def listen():
        while True:
            threading.Thread(target=take, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=listen, daemon=True).start()
