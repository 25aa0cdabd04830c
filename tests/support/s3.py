"""A small S3: it checks each signature itself, keeps objects as files, and misbehaves on request.

As a program, `s3.py FOLDER [--tls CERT KEY]` prints its port and serves until its stdin ends. Everything that a test sees
or sets lies in the folder, so that tests in any language can use it:
  objects/<key>   an object; its time is when it was last modified, so that a test can make it older
  parts/<id>/     the parts of an upload that is not complete
  faults          what goes wrong, a line each: `METHOD KIND`, or `* KIND`; each is done once, in order, `!METHOD KIND` for
                  ever
  requests        what was asked, a line each: METHOD PATH?QUERY STATUS
Kinds: a status (`500`, `503 SlowDown`, `403 AccessDenied`, …); `cut` (the answer ends in the middle), `hang` (no answer), `late`
(after a second), `slow` (a byte every 50 ms), `wrong` (other bytes), `redirect`, `lost` (done, but the answer is not), `late_error` (200 with an error in
it).
"""
import datetime
import hashlib
import hmac
import http.server
import os
import pathlib
import shutil
import ssl
import sys
import threading
import time
import urllib.parse
import uuid
import xml.sax.saxutils

KEY_ID, SECRET, REGION, BUCKET = "AKIDEXAMPLE", "wJalrXUtnFEMI+K7MDENG/bPxRfiCYEXAMPLEKEY", "eu-test-1", "traces"
SKEW_SECONDS_MAX = 900
PART_BYTES_MIN = 5 << 20


class Refused(Exception):
    def __init__(self, status, code):
        super().__init__(code)
        self.status, self.code = status, code


def quoted(text, safe="-_.~"):
    return urllib.parse.quote(text, safe=safe)


class State:
    def __init__(self, folder):
        self.folder, self.lock = pathlib.Path(folder), threading.Lock()
        for part in ("objects", "parts"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        (self.folder / "faults").touch()

    def fault(self, method):
        """What goes wrong with this request; what is done once is struck off."""
        with self.lock:
            path = self.folder / "faults"
            lines = path.read_text().splitlines()
            for number, line in enumerate(lines):
                who, _, kind = line.partition(" ")
                if who.removeprefix("!") in (method, "*"):
                    if not who.startswith("!"):
                        path.write_text("".join(f"{other}\n" for other in lines[:number] + lines[number + 1:]))
                    return kind
            return ""

    def note(self, line):
        with self.lock, open(self.folder / "requests", "a", encoding="utf-8") as out:
            out.write(line + "\n")


def signature(request, headers, query, payload):
    """What the signature must be. Source: AWS, Signature Version 4."""
    fields = dict(part.strip().split("=", 1) for part in headers["authorization"].partition(" ")[2].split(","))
    key_id, day, region, service, end = fields["Credential"].split("/")
    if key_id != KEY_ID:
        raise Refused(403, "InvalidAccessKeyId")
    if (region, service, end) != (REGION, "s3", "aws4_request"):
        raise Refused(400, "AuthorizationHeaderMalformed")
    names = fields["SignedHeaders"].split(";")
    if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(names):
        raise Refused(403, "AccessDenied")
    canonical = "\n".join([
        request.command, quoted(urllib.parse.unquote(request.path.partition("?")[0]), "/-_.~"),
        "&".join(f"{quoted(k)}={quoted(v)}" for k, v in sorted(query)),
        *(f"{name}:{headers[name].strip()}" for name in names), "", ";".join(names), payload])
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], f"{day}/{region}/s3/aws4_request",
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for part in (day, region, service, end):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), fields["Signature"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: State

    def log_message(self, *_):
        pass

    def serve(self):
        self.close_connection = True
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        kind = self.state.fault(self.command)
        try:
            status, headers, answer = self.answer(kind, body)
        except Refused as refused:
            status, headers = refused.status, {}
            answer = f"<?xml version=\"1.0\"?><Error><Code>{refused.code}</Code><Message>no</Message></Error>".encode()
        self.state.note(f"{self.command} {self.path} {status}")
        if kind in ("hang", "late"):
            time.sleep(60 if kind == "hang" else 1)
        if kind in ("hang", "lost"):
            return
        self.write(kind, status, headers, answer)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = serve

    def write(self, kind, status, headers, answer):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if kind == "wrong" and answer:
            answer = bytes([answer[0] ^ 1]) + answer[1:]
        if kind == "slow":
            for byte in answer:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(0.05)
        else:
            self.wfile.write(answer[:len(answer) // 2] if kind == "cut" else answer)

    def answer(self, kind, body):
        if kind == "redirect":
            return 307, {"Location": "http://169.254.169.254/latest/meta-data/"}, b""
        if kind[:1].isdigit():
            raise Refused(int(kind[:3]), kind[4:] or "InternalError")
        path, _, query_text = self.path.partition("?")
        query = urllib.parse.parse_qsl(query_text, keep_blank_values=True)
        self.check(query, body)
        bucket, _, key = urllib.parse.unquote(path)[1:].partition("/")
        if bucket != BUCKET:
            raise Refused(404, "NoSuchBucket")
        return self.verb(key, dict(query), body, kind)

    def check(self, query, body):
        headers = {name.lower(): value for name, value in self.headers.items()}
        if "authorization" not in headers:
            raise Refused(403, "AccessDenied")
        sent = datetime.datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if abs((datetime.datetime.now(datetime.timezone.utc) - sent).total_seconds()) > SKEW_SECONDS_MAX:
            raise Refused(403, "RequestTimeTooSkewed")
        payload = headers["x-amz-content-sha256"]
        if hashlib.sha256(body).hexdigest() != payload:
            raise Refused(400, "XAmzContentSHA256Mismatch")
        wanted, given = signature(self, headers, query, payload)
        if wanted != given:
            raise Refused(403, "SignatureDoesNotMatch")

    def verb(self, key, query, body, kind):
        if not key:
            return (200, {}, b"") if self.command == "HEAD" else self.list(query)
        if "uploads" in query or "uploadId" in query:
            return self.parts(key, query, body, kind)
        place = self.state.folder / "objects" / key
        if self.command == "PUT":
            return self.keep(place, body)
        if self.command == "DELETE":
            place.unlink(missing_ok=True)
            return 204, {}, b""
        if not place.is_file():
            raise Refused(404, "NoSuchKey")
        return self.give(place)

    def keep(self, place, body):
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(place.name + ".part")
        part.write_bytes(body)
        part.rename(place)
        return 200, {"ETag": f'"{hashlib.md5(body).hexdigest()}"'}, b""

    def give(self, place):
        whole = place.read_bytes()
        if self.command == "HEAD":
            return 200, {"Content-Length": str(len(whole))}, b""
        first, _, last = self.headers.get("range", f"bytes=0-{len(whole)}").removeprefix("bytes=").partition("-")
        return 206, {}, whole[int(first):int(last) + 1]

    def parts(self, key, query, body, kind):
        if "uploads" in query:
            upload = uuid.uuid4().hex
            (self.state.folder / "parts" / upload).mkdir()
            return 200, {}, f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>".encode()
        folder = self.state.folder / "parts" / query["uploadId"]
        if not folder.is_dir():
            raise Refused(404, "NoSuchUpload")
        if self.command == "PUT":
            return self.keep(folder / f"{int(query['partNumber']):05}", body)
        if self.command == "DELETE":
            shutil.rmtree(folder)
            return 204, {}, b""
        return self.complete(key, folder, body, kind)

    def complete(self, key, folder, body, kind):
        if kind == "late_error":
            return 200, {}, b"<?xml version=\"1.0\"?><Error><Code>InternalError</Code></Error>"
        parts = [part.read_bytes() for part in sorted(folder.iterdir())]
        if any(len(part) < PART_BYTES_MIN for part in parts[:-1]):
            raise Refused(400, "EntityTooSmall")
        for number, part in enumerate(parts, 1):
            wanted = f'<PartNumber>{number}</PartNumber><ETag>"{hashlib.md5(part).hexdigest()}"</ETag>'
            if wanted.encode() not in body:
                raise Refused(400, "InvalidPart")
        self.keep(self.state.folder / "objects" / key, b"".join(parts))
        shutil.rmtree(folder)
        return 200, {}, b"<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>"

    def list(self, query):
        """A page of at most three, so that every test sees pages."""
        root = self.state.folder / "objects"
        keys = sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.suffix != ".part")
        keys = [k for k in keys if k.startswith(query.get("prefix", "")) and k > query.get("continuation-token", "")]
        xml = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        for key in keys[:3]:
            try:
                about = (root / key).stat()
            except FileNotFoundError:
                continue  # removed meanwhile
            when = datetime.datetime.fromtimestamp(about.st_mtime, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            xml += (f"<Contents><Key>{xml_text(key)}</Key><LastModified>{when}</LastModified>"
                    f"<ETag>&quot;e&quot;</ETag><Size>{about.st_size}</Size></Contents>")
        more = len(keys) > 3
        xml += f"<IsTruncated>{str(more).lower()}</IsTruncated>"
        xml += f"<NextContinuationToken>{xml_text(keys[2])}</NextContinuationToken>" if more else ""
        return 200, {}, (xml + "</ListBucketResult>").encode()


xml_text = xml.sax.saxutils.escape


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients that have had enough close."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class StandIn:
    """The same inside a test; a context manager. `port` 0: any that is free."""

    def __init__(self, folder, port=0, tls=None):
        self.state = State(folder)
        handler = type("Handler", (Handler,), {"state": self.state})
        self.server = Server(("127.0.0.1", port), handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def fail(self, *faults):
        """From now on these go wrong, and no others."""
        with self.state.lock:
            (self.state.folder / "faults").write_text("".join(f"{fault}\n" for fault in faults))

    def objects(self):
        """All but the name of the store that they belong to."""
        root = self.state.folder / "objects"
        return sorted(path for path in root.rglob("*") if path.is_file() and path.name != ".store")

    def settings(self, prefix="t/blobs") -> dict:
        """Configuration keys of a service that keeps its blobs here."""
        credentials = self.state.folder / "credentials"
        credentials.write_text(f"[default]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\n")
        return {"blobs": f"s3://{BUCKET}/{prefix}", "s3_endpoint": f"http://127.0.0.1:{self.port}", "s3_region": REGION,
                "s3_credentials_file": credentials, "s3_pause": "10 ms"}


def variables() -> dict:
    return {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET}


def main():
    tls = sys.argv[3:5] if "--tls" in sys.argv else None
    with StandIn(sys.argv[1], tls=tls) as stand_in:
        print(stand_in.port, flush=True)
        while os.read(0, 1024):
            pass


if __name__ == "__main__":
    main()
