"""A stand-in for GitHub's API: comments, check runs and pull requests of one repository, as far as our scripts use them."""
import http.server
import json
import re
import threading
import urllib.parse


class Forge:
    def __init__(self, repository: str, token: str):
        self.repository, self.token = repository, token
        self.comments, self.checks, self.pulls, self.refused = [], [], [], []
        self.broken = set()  # first parts of paths that are answered with 403
        forge = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                status, value = forge.answer(self.command, self.path, self.headers.get("Authorization"), body)
                text = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = answer

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, verb: str, target: str, authorization: str, body):
        if authorization != f"Bearer {self.token}":
            self.refused.append((verb, target))
            return 401, {"message": "Bad credentials"}
        path, _, query = target.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        part = path.removeprefix(f"/repos/{self.repository}/")
        if part.partition("/")[0] in self.broken:
            return 403, {"message": "Resource not accessible by integration"}
        if verb == "GET" and part == "pulls":
            return 200, [pull for pull in self.pulls if pull["head"]["label"] == query["head"]]
        if match := re.fullmatch(r"issues/(\d+)/comments", part):
            return self.on_comments(verb, int(match[1]), query, body)
        if (match := re.fullmatch(r"issues/comments/(\d+)", part)) and verb == "PATCH":
            comment = next(one for one in self.comments if one["id"] == int(match[1]))
            comment["body"] = body["body"]
            return 200, comment
        if part == "check-runs" and verb == "POST":
            self.checks.append(body)
            return 201, {"html_url": "https://github.example/check"}
        return 404, {"message": "Not Found"}

    def on_comments(self, verb: str, number: int, query: dict, body):
        mine = [one for one in self.comments if one["issue"] == number]
        if verb == "GET":
            begin = 100 * (int(query["page"]) - 1)
            return 200, mine[begin:begin + 100]
        return 201, self.comment(number, body["body"], "Bot")

    def comment(self, number: int, text: str, kind: str) -> dict:
        made = {"id": len(self.comments) + 1, "issue": number, "body": text, "user": {"type": kind}, "html_url": "https://github.example/comment"}
        self.comments.append(made)
        return made
