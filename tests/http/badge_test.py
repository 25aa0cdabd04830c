"""The badge: what it says and how long it may be kept, who may see it, that no text gets out of the picture."""
import unittest
import xml.etree.ElementTree

from service import Service, sha, trace

SVG = "{http://www.w3.org/2000/svg}"


class Badge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service().__enter__()
        cls.token = cls.service.token()
        cls.admin = (cls.service.data_dir / "admin-token").read_text().strip()
        cls.service.upload(cls.token, trace("--seed", 1), sha(1))

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__()

    def badge(self, query="", token="", project="demo"):
        return self.service.call("GET", f"/api/v1/projects/{project}/badge.svg{query}", token or self.token)

    def texts(self, answer):
        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "image/svg+xml"), answer)
        root = xml.etree.ElementTree.fromstring(answer.body)
        self.assertEqual({element.tag for element in root.iter()}, {SVG + name for name in ("svg", "title", "rect", "g", "text")})
        return [element.text for element in root.iter(SVG + "text")]

    def test_the_newest_value(self):
        self.service.upload(self.token, trace("--seed", 2), sha(2), parents=sha(1))
        newest = self.service.call("GET", "/api/v1/projects/demo/history?metric=gpu.utilization&branch=main", self.token).json["points"][-1]
        label, message = self.texts(self.badge("?metric=gpu.utilization"))
        self.assertEqual(label, "gpu.utilization")
        self.assertRegex(message, r"^\d+\.\d %$")
        self.assertAlmostEqual(float(message.split()[0]) / 100, newest["value"], places=3)

    def test_the_newest_outcome_without_a_metric(self):
        self.assertEqual(self.texts(self.badge()), ["traceweir", "inconclusive"])

    def test_nothing_measured_is_said(self):
        for query in ("?metric=gpu.utilization&workload=none", "?branch=none"):
            self.assertEqual(self.texts(self.badge(query))[1], "no data")

    def test_texts_of_the_request_are_escaped(self):
        answer = self.badge("?branch=%3Cscript%3E%22%27%26%01")
        self.texts(answer)
        self.assertNotIn(b"<script", answer.body)

    def test_a_metric_of_ones_own_has_its_unit(self):
        own = b'{"metrics": {"custom.tokens": {"value": 1250, "unit": "MB", "better": "higher"}}}'
        self.assertEqual(self.service.upload(self.token, own, sha(3), workload="own").status, 201)
        label, message = self.texts(self.badge("?metric=custom.tokens&workload=own"))
        self.assertEqual(label, "custom.tokens")
        self.assertRegex(message, "B$")

    def test_who_may_read_may_see_it_and_keep_it_for_a_minute(self):
        self.service.token("shown")
        self.assertEqual(self.service.call("GET", "/api/v1/projects/shown/badge.svg").status, 401)
        self.assertEqual(self.badge(project="shown").status, 403)
        self.assertEqual(self.badge().headers["cache-control"], "private, max-age=60")
        self.service.call("PUT", "/api/v1/projects/shown", self.admin, b'{"read_access": "public"}')
        public = self.service.call("GET", "/api/v1/projects/shown/badge.svg")
        self.assertEqual((public.status, public.headers["cache-control"]), (200, "public, max-age=60"))
        self.assertIn("default-src 'none'", public.headers["content-security-policy"])

    def test_questions_that_are_refused(self):
        for query in ("?metric=gpu.utilisation", "?metric=", "?metrics=gpu.idle", "?branch=a&branch=b"):
            with self.subTest(query):
                self.assertEqual(self.badge(query).status, 400)


if __name__ == "__main__":
    unittest.main()
