"""CI jobs get a token of minutes for the id token of their CI, bound to what the CI says of them; nobody else gets one."""
import hashlib
import hmac
import json
import time
import unittest

from issuer import AUDIENCE, Issuer, SigningKey, base64url, token_of
from service import Service, sha, trace


def settings(issuer, **more):
    return {"oidc_github_issuers": issuer.url, "oidc_audience": AUDIENCE, "oidc_plain_http": "loopback", "oidc_keys_retry": "0 s",
            "failed_authentications_max": 1000} | more


class Oidc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.issuer = Issuer().__enter__()
        cls.addClassCleanup(cls.issuer.__exit__)
        cls.service = Service(**settings(cls.issuer)).__enter__()
        cls.addClassCleanup(cls.service.__exit__)
        cls.admin = (cls.service.data_dir / "admin-token").read_text().strip()
        cls.trace = trace("--steps", 4)
        cls.trust("demo", [{"issuer": cls.issuer.url, "repository": "acme/llama", "refs": ["refs/heads/*", "refs/pull/*/merge"]}])

    @classmethod
    def trust(cls, project, jobs, service=None):
        admin = cls.admin if service is None else (service.data_dir / "admin-token").read_text().strip()
        answer = (service or cls.service).call("PUT", f"/api/v1/projects/{project}", admin, json.dumps({"trusted_jobs": jobs}).encode())
        assert answer.status == 200, answer
        return answer.json

    def exchange(self, id_token, project="demo", service=None):
        return (service or self.service).call("POST", f"/api/v1/projects/{project}/oidc/token", id_token)

    def test_both_algorithms_give_a_token_that_uploads(self):
        for key in (0, 1):
            answer = self.exchange(self.issuer.token(key=key, sha=sha(10 + key)))
            self.assertEqual(answer.status, 201, answer)
            self.assertEqual((answer.json["project"], answer.json["repository"], answer.json["ref"], answer.json["branch"]),
                             ("demo", "acme/llama", "refs/heads/main", "main"))
            self.assertEqual(answer.headers["cache-control"], "no-store")
            token = answer.json["token"]
            upload = self.service.upload(token, self.trace, sha(10 + key))
            self.assertEqual(upload.status, 201, upload)
            self.assertEqual(self.service.call("GET", upload.json["links"]["self"], token).status, 200)
            self.assertEqual(self.service.call("PUT", "/api/v1/projects/demo/policy", token).status, 403)
            self.assertEqual(self.service.call("GET", "/api/v1/tokens", token).status, 403)
        audit = self.service.call("GET", "/api/v1/projects/demo/audit", self.admin).json["entries"]
        self.assertIn("oidc acme/llama", {entry["actor"] for entry in audit})

    def test_tokens_that_do_not_hold_are_refused(self):
        now = int(time.time())
        stranger = SigningKey(self.issuer.folder, "rsa-2")
        good = self.issuer.token()
        head, claims, signature = good.split(".")
        public = json.dumps(self.issuer.keys[0].public()).encode()
        as_secret = lambda text: hmac.new(public, text, hashlib.sha256).digest()
        rows = {
            "another audience": self.issuer.token(aud="https://other"),
            "no audience": self.issuer.token(aud=None),
            "another issuer": self.issuer.token(iss="https://token.actions.githubusercontent.com"),
            "an issuer with a slash": self.issuer.token(iss=self.issuer.url + "/"),
            "expired": self.issuer.token(exp=now - 61, iat=now - 600),
            "not yet": self.issuer.token(nbf=now + 120),
            "from the future": self.issuer.token(iat=now + 120),
            "too old": self.issuer.token(iat=now - 3700, exp=now + 300),
            "without an end": self.issuer.token(exp=None),
            "no algorithm": token_of({"alg": "none", "kid": "rsa-1"}, self.issuer.claims(), lambda _: b"x"),
            "the public key as a secret": token_of({"alg": "HS256", "kid": "rsa-1"}, self.issuer.claims(), as_secret),
            "an RSA key for ES256": self.issuer.token(head={"alg": "ES256"}),
            "an EC key for RS256": self.issuer.token(key=1, head={"alg": "RS256"}),
            "another key's name": self.issuer.token(head={"kid": "ec-1"}),
            "no key's name": self.issuer.token(head={"kid": None}),
            "its own key": token_of({"alg": "RS256", "kid": "rsa-1", "jwk": stranger.public()}, self.issuer.claims(), stranger.sign),
            "an unknown key": token_of({"alg": "RS256", "kid": "rsa-2"}, self.issuer.claims(), stranger.sign),
            "other claims under the signature": f"{head}.{base64url(json.dumps(self.issuer.claims(ref='refs/heads/x')).encode())}.{signature}",
            "a cut signature": good[:-8],
            "no signature": f"{head}.{claims}.",
            "ECDSA in DER": token_of({"alg": "ES256", "kid": "ec-1"}, self.issuer.claims(), lambda _: b"\x30\x44" + b"\x02\x20" + b"a" * 68),
            "r and s of zero": token_of({"alg": "ES256", "kid": "ec-1"}, self.issuer.claims(), lambda _: b"\0" * 64),
            "no token": "hello",
            "one of ours": self.service.token("demo"),
        }
        for name, token in rows.items():
            with self.subTest(name):
                answer = self.exchange(token)
                self.assertEqual(answer.status, 401, answer)
                self.assertNotIn(token[-20:], answer.body.decode())
        self.assertEqual(self.exchange(None).status, 401)
        self.assertEqual(self.exchange(self.issuer.token(exp=now - 30)).status, 201, "clocks may differ by a minute")

    def test_only_trusted_jobs_get_one_and_nobody_learns_which_projects_there_are(self):
        self.service.call("PUT", "/api/v1/projects/silent", self.admin, b"{}")
        rows = [("demo", {"repository": "mallory/llama"}), ("demo", {"repository": "acme/llama2"}), ("demo", {"ref": "refs/tags/v1"}),
                ("silent", {}), ("nowhere", {})]
        details = set()
        for project, changes in rows:
            answer = self.exchange(self.issuer.token(**changes), project)
            self.assertEqual(answer.status, 403, answer)
            details.add(answer.json["detail"].replace(project, "P"))
        self.assertEqual(len([d for d in details if "acme/llama at refs/heads/main" in d]), 1, details)

    def test_what_a_job_states_must_not_contradict_its_ref(self):
        def push(number):
            return self.exchange(self.issuer.token(sha=sha(number).upper())).json["token"]

        pull = self.exchange(self.issuer.token(ref="refs/pull/12/merge", event_name="pull_request")).json["token"]
        target = self.exchange(self.issuer.token(event_name="pull_request_target")).json["token"]
        rows = [
            ("its branch", push(30), {}, 201), ("another branch", push(31), {"branch": "other"}, 403),
            ("another commit", push(31), {}, 403), ("another commit as a change", push(31), {"fork": "true"}, 403),
            ("a CI that tells no commit", self.exchange(self.issuer.token(sha=None)).json["token"], {}, 201),
            ("a pull request as main", pull, {}, 403), ("another pull request", pull, {"pr": 13}, 403),
            ("its pull request", pull, {"branch": "feature", "pr": 12}, 201),
            ("its pull request as a fork's", pull, {"branch": "feature", "fork": "true"}, 201),
            ("pull_request_target as main", target, {}, 403), ("pull_request_target as a fork's", target, {"fork": "true"}, 201),
        ]
        for number, (name, token, query, status) in enumerate(rows, 30):
            with self.subTest(name):
                answer = self.service.upload(token, self.trace, sha(number), **query)
                self.assertEqual(answer.status, status, answer)
                if status == 403:
                    self.assertIn("acme/llama", answer.json["detail"])

    def test_only_a_job_that_might_have_begun_a_run_finishes_it(self):
        self.trust("ranks", [{"issuer": self.issuer.url, "repository": "acme/llama"}])
        main = self.exchange(self.issuer.token(sha=sha(80)), "ranks").json["token"]
        later = self.exchange(self.issuer.token(sha=sha(81)), "ranks").json["token"]
        pull = self.exchange(self.issuer.token(ref="refs/pull/12/merge", event_name="pull_request"), "ranks").json["token"]
        other = self.exchange(self.issuer.token(ref="refs/pull/13/merge", event_name="pull_request"), "ranks").json["token"]
        half = {"project": "ranks", "ranks": 2, "rank": 0, "wait": 0}
        of_main = self.service.upload(main, self.trace, sha(80), run_key="a", **half).json["id"]
        of_pull = self.service.upload(pull, self.trace, sha(82), run_key="b", branch="feature", pr=12, **half).json["id"]
        finish = lambda token, run: self.service.call("POST", f"/api/v1/projects/ranks/runs/{run}/finish", token).status
        refused = [finish(token, of_main) for token in (pull, other, later)] + [finish(token, of_pull) for token in (main, other)]
        self.assertEqual(refused, [403] * 5)
        self.assertEqual(self.service.call("GET", f"/api/v1/projects/ranks/runs/{of_main}", main).json["status"], "pending")
        self.assertEqual([finish(main, of_main), finish(pull, of_pull)], [200, 200])
        self.assertEqual(finish(pull, "00000000-0000-7000-8000-000000000000"), 404)

    def test_what_a_change_says_of_commits_ends_with_the_branchs_word(self):
        self.trust("graph", [{"issuer": self.issuer.url, "repository": "acme/llama"}])
        path = "/api/v1/projects/graph"
        put = lambda token, parent, author: self.assertEqual(self.service.call("PUT", f"{path}/commits", token, json.dumps(
            [{"sha": sha(91), "parents": [sha(parent)], "committed_at": "2026-11-30T03:20:00Z", "subject": author, "author": author}]).encode()).status, 204)
        pull = self.exchange(self.issuer.token(ref="refs/pull/12/merge", event_name="pull_request"), "graph").json["token"]
        main = self.exchange(self.issuer.token(sha=sha(91)), "graph").json["token"]
        put(pull, 666, "eve")
        put(main, 90, "ann")
        put(pull, 666, "eve")
        measured = self.service.upload(main, self.trace, sha(91), project="graph", parents=sha(90))
        self.assertEqual(measured.status, 201)
        with_parents = self.service.upload(pull, self.trace, sha(92), project="graph", branch="feature", pr=12, parents=sha(91))
        self.assertEqual(with_parents.status, 201)
        history = self.service.call("GET", f"{path}/history?metric=gpu.utilization&branch=main", main).json
        self.assertEqual([point["author"] for point in history["points"]], ["ann"])

    def test_what_a_change_measures_never_moves_what_a_branch_is_judged_by(self):
        self.trust("moved", [{"issuer": self.issuer.url, "repository": "acme/llama"}])
        body = lambda value: json.dumps({"metrics": {"custom.step": {"value": value, "unit": "s", "better": "lower"}}}).encode()
        policy = b'[rules."custom.step"]\nworse_by = "5%"\n'
        self.assertLess(self.service.call("PUT", "/api/v1/projects/moved/policy", self.admin, policy).status, 300)
        pull = self.exchange(self.issuer.token(ref="refs/pull/12/merge", event_name="pull_request"), "moved").json["token"]

        def main(number, value):
            token = self.exchange(self.issuer.token(sha=sha(number)), "moved").json["token"]
            return self.service.upload(token, body(value), sha(number), project="moved", ci_run=number, job="perf", parents=sha(number - 1))

        def change(number, value, **query):
            query = {"ci_run": number, "job": "perf"} | ({} if "fork" in query else {"pr": 12}) | query
            sent = self.service.upload(pull, body(value), sha(number), project="moved", branch="feature", **query)
            self.assertEqual(sent.status, 201, sent)

        for number in range(601, 608):
            self.assertEqual(main(number, 1 + number / 1e5).status, 201)
        for number in range(601, 608):
            change(number, 0.9, attempt=2)
            change(number, 0.9, attempt=2, fork="true")
        points = self.service.call("GET", "/api/v1/projects/moved/history?metric=custom.step&branch=main", self.admin).json["points"]
        self.assertEqual([(point["in_baseline"], point["superseded"]) for point in points], [(True, False)] * 7)
        for _ in range(5):
            change(608, 0.5, ci_run="other")
        slower = main(608, 1.5)
        self.assertEqual(slower.json["verdict"]["outcome"], "fail", slower)
        self.assertEqual(self.service.call("GET", f"/api/v1/projects/moved/commits/{sha(608)}", self.admin).json["outcome"], "fail")

    def test_a_tag_never_measures_for_the_branch_of_its_name(self):
        self.trust("tagged", [{"issuer": self.issuer.url, "repository": "acme/llama"}])
        token = self.exchange(self.issuer.token(ref="refs/tags/main", sha=None), "tagged")
        self.assertEqual(token.json["branch"], "refs/tags/main")
        bound = token.json["token"]
        rows = [("main", 201, "refs/tags/main"), ("refs/tags/main", 201, "refs/tags/main"), ("", 201, ""), ("refs/heads/main", 403, None),
                ("tags/main", 403, None)]
        for number, (stated, status, kept) in enumerate(rows, 60):
            with self.subTest(stated):
                answer = self.service.upload(bound, self.trace, sha(number), project="tagged", branch=stated)
                self.assertEqual(answer.status, status, answer)
                if kept is not None:
                    self.assertEqual(answer.json["branch"] or "", kept)
        of_main = self.service.call("GET", "/api/v1/projects/tagged/runs?branch=main", bound).json["runs"]
        self.assertEqual(of_main, [])

    def test_settings_are_checked(self):
        rows = [[{"issuer": "https://elsewhere.example.com", "repository": "a/b"}], [{"repository": "a/b"}], "all", [{"issuer": self.issuer.url}],
                [{"issuer": self.issuer.url, "repository": "a/b", "refs": ["main"]}], [{"issuer": self.issuer.url, "repository": "a/b"}] * 17]
        for jobs in rows:
            with self.subTest(jobs):
                body = json.dumps({"trusted_jobs": jobs}).encode()
                self.assertEqual(self.service.call("PUT", "/api/v1/projects/demo", self.admin, body).status, 400)
        kept = self.trust("kept", [{"issuer": self.issuer.url, "repository": "a/b", "environment": "gpu"}])
        self.assertEqual(kept["trusted_jobs"], [{"issuer": self.issuer.url, "repository": "a/b", "environment": "gpu"}])
        self.assertEqual(self.service.call("PUT", "/api/v1/projects/kept", self.admin, b'{"mode": "gate"}').json["trusted_jobs"], kept["trusted_jobs"])
        self.assertEqual(self.trust("kept", [])["trusted_jobs"], [])

    def test_no_id_token_and_no_issued_one_is_in_the_log(self):
        id_token = self.issuer.token()
        issued = self.exchange(id_token).json["token"]
        for path in (f"/api/v1/projects/{id_token}", f"/api/v1/projects/demo/oidc/token?id_token={id_token}", f"/{id_token}?a={id_token}"):
            self.assertEqual(self.service.call("GET", path).status, 400)
        self.service.call("GET", "/healthz", headers={"X-Request-Id": "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln"})
        log = self.service.log_path.read_text()
        for part in [*id_token.split("."), "c2ln"]:
            self.assertNotIn(part, log)
        self.assertNotIn(issued.split("_")[2], log)


class Keys(unittest.TestCase):
    """Issuers that change, fail and attack."""

    def open(self, **more):
        issuer = Issuer()
        self.addCleanup(issuer.__exit__)
        service = Service(**settings(issuer, **more)).__enter__()
        self.addCleanup(service.__exit__)
        Oidc.trust("demo", [{"issuer": issuer.url, "repository": "acme/llama"}], service)
        return issuer, lambda token: service.call("POST", "/api/v1/projects/demo/oidc/token", token), service

    def test_a_new_key_is_found_and_an_old_one_forgotten(self):
        issuer, exchange, _ = self.open()
        old = issuer.token()
        self.assertEqual(exchange(old).status, 201)
        issuer.keys = [SigningKey(issuer.folder, "rsa-2")]
        self.assertEqual(exchange(issuer.token()).status, 201)
        self.assertEqual(exchange(old).status, 401)

    def test_unknown_keys_ask_the_issuer_once_in_a_while(self):
        issuer, exchange, _ = self.open(oidc_keys_retry="60 s")
        self.assertEqual(exchange(issuer.token()).status, 201)
        asked = len(issuer.asked)
        for number in range(20):
            self.assertEqual(exchange(issuer.token(head={"kid": f"none-{number}"})).status, 401)
        self.assertEqual(len(issuer.asked), asked)

    def test_keys_are_used_while_the_issuer_is_away_but_not_for_ever(self):
        issuer, exchange, _ = self.open(oidc_keys_refresh="1 ms", oidc_keys_stale_max="2 s")
        self.assertEqual(exchange(issuer.token()).status, 201)
        issuer.behaviour = "gone"
        begun = time.monotonic()
        statuses = {exchange(issuer.token()).status}
        while time.monotonic() - begun < 2.5:
            statuses.add(exchange(issuer.token()).status)
        self.assertIn(201, statuses)
        answer = exchange(issuer.token())
        self.assertEqual((answer.status, "retry-after" in answer.headers), (503, True), answer)

    def test_bad_issuers_are_no_issuers_and_harm_nobody(self):
        issuer, exchange, service = self.open(oidc_fetch_time_max="500 ms")
        for behaviour in ("redirect", "oversized", "other_issuer", "elsewhere", "broken", "gone", "slow"):
            with self.subTest(behaviour):
                issuer.behaviour = behaviour
                begun = time.monotonic()
                answer = exchange(issuer.token())
                self.assertEqual(answer.status, 503, answer)
                self.assertLess(time.monotonic() - begun, 2.5)
                self.assertNotIn("/elsewhere", issuer.asked, "redirects are not followed")
                self.assertEqual(service.call("GET", "/readyz").status, 200)
        issuer.behaviour = "good"
        self.assertEqual(exchange(issuer.token()).status, 201)

    def test_issued_tokens_end(self):
        issuer, exchange, service = self.open(oidc_issued_time_max="1 s")
        answer = exchange(issuer.token())
        deadline = time.monotonic() + 10
        while service.call("GET", "/api/v1/projects/demo/runs", answer.json["token"]).status != 401:
            self.assertLess(time.monotonic(), deadline)

    def test_gitlab_says_it_in_its_own_words(self):
        issuer, _, _ = self.open()
        as_gitlab = {key.replace("github", "gitlab"): value for key, value in settings(issuer).items()}
        with Service(**as_gitlab) as service:
            Oidc.trust("demo", [{"issuer": issuer.url, "repository": "acme/llama"}], service)
            token = issuer.token(repository=None, event_name=None, project_path="acme/llama", ref="main", ref_type="branch",
                                 ref_path="refs/heads/main", pipeline_source="push", pipeline_id="5")
            answer = service.call("POST", "/api/v1/projects/demo/oidc/token", token)
            self.assertEqual((answer.status, answer.json.get("branch")), (201, "main"), answer)

    def test_without_issuers_there_is_no_exchange(self):
        with Service() as service:
            self.assertEqual(service.call("POST", "/api/v1/projects/demo/oidc/token", "a.b.c").status, 403)


if __name__ == "__main__":
    unittest.main()
