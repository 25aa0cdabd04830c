"""What one address may cost: connections, requests and guesses, with and without a proxy whose word is taken."""
import resource
import socket
import time
import unittest

from service import Service, run, sha, trace

RUNS = "/api/v1/projects/demo/runs"


def is_served(service) -> bool:
    """What is turned away may find its connection reset."""
    try:
        return service.call("GET", "/healthz").status == 200
    except OSError:
        return False


class Limits(unittest.TestCase):
    def test_requests_of_an_address_behind_a_trusted_proxy(self):
        with Service(trusted_proxies="127.0.0.0/8", requests_per_address_max=1) as service:
            ask = lambda address: service.call("GET", "/healthz", headers={"X-Forwarded-For": f"6.6.6.6, {address}"})
            statuses = [ask("203.0.113.9").status for _ in range(40)]
            self.assertEqual((statuses[0], 429 in statuses), (200, True), statuses)
            refused = next(answer for answer in (ask("203.0.113.9") for _ in range(40)) if answer.status == 429)
            self.assertGreaterEqual(int(refused.headers["retry-after"]), 1)
            self.assertEqual(refused.headers["content-type"], "application/problem+json")
            self.assertEqual(ask("203.0.113.10").status, 200, "a neighbour is not concerned")
            self.assertTrue(service.logged(remote="203.0.113.9"))
            self.assertNotIn("6.6.6.6", {line.get("remote") for line in service.log()})

    def test_nobody_else_is_believed_about_who_asks(self):
        with Service() as service:
            service.call("GET", "/healthz", headers={"X-Forwarded-For": "203.0.113.9"})
            self.assertTrue(service.logged(event="request", remote="127.0.0.1"))
            self.assertEqual({line["remote"] for line in service.log() if line["event"] == "request"}, {"127.0.0.1"})

    def test_guesses_end_and_good_tokens_do_not(self):
        with Service() as service:
            good, fresh = service.token(), service.token()
            self.assertEqual(service.call("GET", RUNS, good).status, 200)
            guess = lambda n: service.call("GET", RUNS, f"twr_{n:016x}_{n:064x}")
            begun = time.monotonic()
            statuses = [guess(n).status for n in range(200)]
            self.assertLess(time.monotonic() - begun, 50)
            self.assertLessEqual(statuses.count(401), 20)
            self.assertEqual(statuses.count(401) + statuses.count(429), 200)
            self.assertEqual(service.call("GET", RUNS, good).status, 200, "it was good before")
            refused = service.call("GET", RUNS, fresh)
            self.assertEqual(refused.status, 429)
            self.assertIn("failed_authentications_max", refused.json["detail"])
            self.assertEqual(service.call("GET", "/healthz").status, 200)
            service.call("GET", "/healthz", good)  # where no token is asked for, none is found good
            junk = f"twr_{7:016x}_{7:064x}"
            service.call("GET", "/healthz", junk)
            self.assertEqual(service.call("GET", RUNS, junk).status, 429)

    def test_connections_of_an_address_and_in_all(self):
        for settings, limit in (({"connections_per_address_max": 5}, "connections_per_address_max"),
                                ({"connections_per_address_max": 100, "connections_max": 5}, "connections_max"),
                                ({"connections_max": 5, "trusted_proxies": "127.0.0.1"}, "connections_max")):
            with self.subTest(settings), Service(**settings) as service:
                time.sleep(0.3)  # until the connection that asked whether it is there has ended
                open_ones = [socket.create_connection(("127.0.0.1", service.port), timeout=10) for _ in range(5)]
                for connection in open_ones:
                    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
                    self.assertIn(b" 200 ", connection.recv(65536))
                with socket.create_connection(("127.0.0.1", service.port), timeout=10) as extra:
                    answer = extra.recv(65536)
                self.assertTrue(answer.startswith(b"HTTP/1.1 503 ") and limit.encode() in answer, answer)
                for connection in open_ones:
                    connection.close()
                deadline = time.monotonic() + 10
                while not is_served(service):
                    self.assertLess(time.monotonic(), deadline)

    def test_without_descriptors_it_waits_and_goes_on(self):
        with Service(connections_per_address_max=1000) as service:
            open_files = len(list(service.descriptors()))
            soft, hard = resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (open_files + 20, hard))
            crowd = [socket.create_connection(("127.0.0.1", service.port), timeout=10) for _ in range(60)]
            time.sleep(0.3)
            self.assertIsNone(service.process.poll())
            for connection in crowd:
                connection.close()
            resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (soft, hard))
            deadline = time.monotonic() + 20
            while not is_served(service):
                self.assertLess(time.monotonic(), deadline)
            self.assertEqual(service.upload(service.token(), trace("--steps", 4), sha(1)).status, 201)

    def test_settings_are_checked(self):
        for flag, value in (("--trusted-proxies", "proxy.example.com"), ("--trusted-proxies", "10.0.0.0/40"), ("--connections-per-address-max", "0"),
                            ("--failed-authentications-max", "0"), ("--oidc-github-issuers", "http://issuer.example.com"), ("--oidc-plain-http", "always"),
                            ("--oidc-gitlab-issuers", "https://gitlab.example.com")):
            done = run("traceweird", "config", "check", flag, value)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("bad_config", done.stderr)


if __name__ == "__main__":
    unittest.main()
