"""An OpenID Connect issuer of the test's own, as GitHub and GitLab are ones: keys of both kinds, and every way to be a bad one."""
import base64
import http.server
import json
import pathlib
import shutil
import tempfile
import threading
import time

from authority import openssl

AUDIENCE = "https://gate.example.com"


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class SigningKey:
    """RS256 or ES256; the private half is a file in `folder`."""

    def __init__(self, folder, kid: str, algorithm="RS256"):
        self.kid, self.algorithm, self.path = kid, algorithm, pathlib.Path(folder) / f"{kid}.key"
        kind = ("RSA", "rsa_keygen_bits:2048") if algorithm == "RS256" else ("EC", "ec_paramgen_curve:P-256")
        openssl("genpkey", "-algorithm", kind[0], "-pkeyopt", kind[1], "-out", self.path)

    def public(self) -> dict:
        head = {"kid": self.kid, "use": "sig", "alg": self.algorithm}
        if self.algorithm == "RS256":
            modulus = openssl("rsa", "-in", self.path, "-noout", "-modulus").decode().strip().partition("=")[2]
            return head | {"kty": "RSA", "n": base64url(bytes.fromhex(modulus)), "e": "AQAB"}
        point = openssl("pkey", "-in", self.path, "-pubout", "-outform", "DER")[-64:]
        return head | {"kty": "EC", "crv": "P-256", "x": base64url(point[:32]), "y": base64url(point[32:])}

    def sign(self, text: bytes) -> bytes:
        signature = openssl("dgst", "-sha256", "-sign", self.path, data=text)
        return signature if self.algorithm == "RS256" else raw_of(signature)


def raw_of(der: bytes) -> bytes:
    """r and s of an ECDSA signature in DER, 32 bytes each."""
    at, parts = 2, []
    for _ in range(2):
        length = der[at + 1]
        parts.append(int.from_bytes(der[at + 2:at + 2 + length], "big").to_bytes(32, "big"))
        at += 2 + length
    return b"".join(parts)


def token_of(head: dict, claims: dict, sign) -> str:
    text = base64url(json.dumps(head).encode()) + "." + base64url(json.dumps(claims).encode())
    return text + "." + base64url(sign(text.encode()))


class Issuer:
    """Use as a context manager. `behaviour`: good, slow, redirect, oversized, other_issuer, elsewhere, broken, gone."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="traceweir-issuer-"))
        self.keys = [SigningKey(self.folder, "rsa-1"), SigningKey(self.folder, "ec-1", "ES256")]
        self.behaviour, self.asked = "good", []
        issuer = self

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.asked.append(self.path)
                issuer.answer(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def document(self, path: str) -> dict:
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.url + ("x" if self.behaviour == "other_issuer" else ""),
                    "jwks_uri": "http://127.0.0.1:1/keys" if self.behaviour == "elsewhere" else self.url + "/keys"}
        padding = "x" * (300 << 10) if self.behaviour == "oversized" else ""
        return {"keys": [key.public() for key in self.keys], "padding": padding}

    def answer(self, request):
        if self.behaviour == "slow":
            time.sleep(3)
        status = {"redirect": 302, "gone": 500}.get(self.behaviour, 200)
        body = b"{" if self.behaviour == "broken" else json.dumps(self.document(request.path)).encode()
        try:
            request.send_response(status)
            request.send_header("Location", self.url + "/elsewhere")
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body)
        except OSError:
            pass  # the service did not wait

    def claims(self, **changes) -> dict:
        """Of a push to main at GitHub; None takes a claim away."""
        now = int(time.time())
        claims = {"iss": self.url, "aud": AUDIENCE, "iat": now, "nbf": now, "exp": now + 300, "repository": "acme/llama",
                  "repository_id": "7", "ref": "refs/heads/main", "event_name": "push", "run_id": "99", "sha": "0" * 40} | changes
        return {key: value for key, value in claims.items() if value is not None}

    def token(self, key=0, head=None, **changes) -> str:
        signing = self.keys[key]
        full_head = {"alg": signing.algorithm, "kid": signing.kid, "typ": "JWT"} | (head or {})
        return token_of({k: v for k, v in full_head.items() if v is not None}, self.claims(**changes), signing.sign)
