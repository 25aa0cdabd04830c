"""The dashboard as files: which addresses are pages, how they are cached and packed, and what the browser is told to forbid."""
import gzip
import re
import unittest

from service import Service

PAGES = ("/", "/projects", "/projects/demo", "/projects/demo/runs", "/projects/demo/runs/0197", "/projects/demo/compare?base=a&head=b", "/analyze",
         "/projects/%3Cimg%20src%3Dx%3E")
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; "
          "base-uri 'none'; form-action 'self'")


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def get(self, path, verb="GET", **headers):
        return self.service.call(verb, path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def assets(self) -> list:
        return re.findall(r'"(/assets/[^"]+)"', self.get("/").body.decode())

    def test_every_address_of_a_page_is_the_same_page_without_a_token(self):
        first = self.get("/")
        self.assertEqual(first.headers["content-type"], "text/html; charset=utf-8")
        for path in PAGES:
            answer = self.get(path)
            self.assertEqual((answer.status, answer.body), (200, first.body), path)
        for path in ("/projects/demo/else", "/projects/demo/runs/a/b", "/index.html", "/assets", "/assets/../index.html"):
            self.assertIn(self.get(path).status, (400, 404), path)
        self.assertEqual(self.get("/", "POST").status, 405)

    def test_what_the_browser_is_told(self):
        for path in ("/", *self.assets()):
            headers = self.get(path).headers
            self.assertEqual(headers["content-security-policy"], POLICY)
            self.assertEqual(headers["x-content-type-options"], "nosniff")
            self.assertEqual(headers["referrer-policy"], "no-referrer")
            self.assertEqual(headers["cross-origin-opener-policy"], "same-origin-allow-popups")
        self.assertEqual(self.get("/healthz").headers["cross-origin-opener-policy"], "same-origin", "only pages open windows")
        page = self.get("/").body.decode()
        self.assertNotRegex(page, r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=", "nothing that the policy would have to allow")
        self.assertNotRegex(page, r"https?:", "nothing comes from elsewhere")

    def test_pages_are_asked_for_again_and_assets_never(self):
        page = self.get("/")
        self.assertEqual(page.headers["cache-control"], "no-cache")
        again = self.get("/", If_None_Match=page.headers["etag"])
        self.assertEqual((again.status, again.body), (304, b""))
        self.assertEqual(self.get("/", If_None_Match='"other"').status, 200)
        self.assertGreater(len(self.assets()), 1)
        for path in self.assets():
            answer = self.get(path)
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.headers["cache-control"], "public, max-age=31536000, immutable")
        self.assertEqual(self.get("/assets/app-000000000000.js").status, 404)
        head = self.get("/", "HEAD")
        self.assertEqual((head.status, head.body, head.headers["content-length"]), (200, b"", str(len(page.body))))

    def test_gzip_is_for_those_who_take_it(self):
        plain = self.get("/")
        self.assertNotIn("content-encoding", plain.headers)
        for accepted in ("gzip", "br, gzip;q=0.5", "GZIP"):
            packed = self.get("/", Accept_Encoding=accepted)
            self.assertEqual(packed.headers["content-encoding"], "gzip")
            self.assertEqual(packed.headers["vary"], "Accept-Encoding")
            self.assertEqual(gzip.decompress(packed.body), plain.body)
            self.assertNotEqual(packed.headers["etag"], plain.headers["etag"])
        for accepted in ("br", "gzip;q=0", "gzip; q=0.000", "x-gzipped"):
            self.assertNotIn("content-encoding", self.get("/", Accept_Encoding=accepted).headers, accepted)


if __name__ == "__main__":
    unittest.main()
