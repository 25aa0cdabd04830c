"""What two programs would read in two ways is refused, the connection closed, and a hidden request never answered."""
import unittest

import smuggling
from service import Service


class Smuggling(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service(header_time_max="1 s", body_grace="1 s").__enter__()
        cls.addClassCleanup(cls.service.__exit__)
        cls.token = cls.service.token("demo", "read")

    def test_each_case_directly(self):
        self.assertGreaterEqual(len(smuggling.cases(self.token)), 40)
        self.assertEqual(smuggling.direct(self.service, self.token), {})
        seen = [line for line in self.service.log() if line.get("path") == "/smuggled" and not line["request_id"].startswith("proxied-")]
        self.assertEqual(seen, [])

    def test_behind_the_proxies_that_are_here(self):
        for name in smuggling.PROXIES:
            if smuggling.program_of(name):
                with self.subTest(name):
                    self.assertEqual(smuggling.behind(name, self.service, self.token), {})

    def test_a_good_request_and_the_next_one_are_two(self):
        answer = smuggling.talk(self.service.port, smuggling.head("GET /healthz HTTP/1.1") + smuggling.head("GET /healthz HTTP/1.1", "Connection: close"))
        self.assertEqual(answer.count(b"HTTP/1.1 200 OK"), 2)


if __name__ == "__main__":
    unittest.main()
