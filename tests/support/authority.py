"""A certificate authority of the test's own. Programs trust it by SSL_CERT_FILE."""
import pathlib
import subprocess


def openssl(*arguments, data=b"") -> bytes:
    done = subprocess.run(["openssl", *map(str, arguments)], input=data, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return done.stdout


class Authority:
    """`certificate` is what to trust; issue() makes certificates for 127.0.0.1 and localhost."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.certificate, self.key = self.folder / "authority.pem", self.folder / "authority.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key, "-out",
                self.certificate, "-days", 2, "-subj", "/CN=test authority")
        self.issued = 0

    def issue(self, name="service", days=2) -> tuple:
        """(certificate with chain, key); the same name again renews the files."""
        self.issued += 1
        certificate, key, request, extra = (self.folder / f"{name}{end}" for end in (".pem", ".key", ".csr", ".ext"))
        extra.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        fresh_key = self.folder / f"{name}.{self.issued}.key"
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", fresh_key, "-out", request,
                "-subj", f"/CN={name}-{self.issued}")
        leaf = openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-set_serial", 1000 + self.issued,
                       "-days", days, "-extfile", extra)
        fresh_key.replace(key)
        certificate.write_bytes(leaf + self.certificate.read_bytes())
        return certificate, key
