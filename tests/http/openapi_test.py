"""The contract that the service serves is the service: every route is in it, every example of it is replayed, and each answer
follows its schema. How a step is read: schema/http/openapi.yaml."""
import hashlib
import json
import pathlib
import re
import unittest
import urllib.parse

import jsonschema

from service import Service

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What stands for its kind in an example.
KINDS = [re.compile(pattern) for pattern in (
    r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", r"\d{4}-\d\d-\d\dT[\d:.]+Z", r"[0-9a-f]{64}")]
VERBS = {"get", "put", "post", "delete", "patch"}


def disagreement(expected, actual, where="$") -> str:
    """Empty where the answer says what the example says."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        missing = [key for key in expected if key not in actual]
        found = (disagreement(value, actual[key], f"{where}.{key}") for key, value in expected.items() if key in actual)
        return f"{where}: no {missing}" if missing else next((text for text in found if text), "")
    if isinstance(expected, list) and isinstance(actual, list):
        if len(actual) < len(expected):
            return f"{where}: {len(actual)} items, expected at least {len(expected)}"
        return next((text for i, value in enumerate(expected) if (text := disagreement(value, actual[i], f"{where}[{i}]"))), "")
    if isinstance(expected, str) and isinstance(actual, str):
        for kind in KINDS:
            if kind.fullmatch(expected):
                return "" if kind.fullmatch(actual) else f"{where}: {actual!r} is not of the kind of {expected!r}"
    same = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
    return "" if same else f"{where}: {actual!r}, expected {expected!r}"


class OpenApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.stop, 9)
        cls.service.start()
        cls.tokens = {"nobody": None, "client": cls.service.token("llama"), "admin": (cls.service.data_dir / "admin-token").read_text().strip()}
        cls.contract = cls.service.call("GET", "/openapi.json").json
        cls.operations = {operation["operationId"]: (path, verb, item.get("parameters", []) + operation.get("parameters", []), operation)
                          for path, item in cls.contract["paths"].items() for verb, operation in item.items() if verb in VERBS}

    def resolved(self, value: dict) -> dict:
        while "$ref" in value:
            found = self.contract
            for part in value["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            value = found
        return value

    def examples_of(self, operation: dict):
        """(kind, name) of every example: of the body, and of each answer."""
        for content in operation.get("requestBody", {}).get("content", {}).values():
            yield from (("body", name) for name in content.get("examples", {}))
        for answer in operation["responses"].values():
            for content in self.resolved(answer).get("content", {}).values():
                yield from (("answer", name) for name in content.get("examples", {}))

    def body_of(self, operation: dict, name: str) -> bytes:
        for content in operation.get("requestBody", {}).get("content", {}).values():
            if name in content.get("examples", {}):
                return self.bytes_of(content["examples"][name])
        return b""

    def bytes_of(self, example: dict) -> bytes:
        if "externalValue" in example:
            return (ROOT / example["externalValue"]).read_bytes()
        value = example["value"]
        return value.encode() if isinstance(value, str) else json.dumps(value).encode()

    def check_answer(self, operation: dict, step: dict, answer):
        self.assertIn(str(step["status"]), operation["responses"], "a status that the contract does not have")
        contents = self.resolved(operation["responses"][str(step["status"])]).get("content", {})
        media = answer.headers.get("content-type", "").partition(";")[0]
        if not contents:
            return self.assertEqual(answer.body, b"")
        self.assertIn(media, contents)
        content = contents[media]
        if media.endswith("json") and "schema" in content:
            schema = {**content["schema"], "components": self.contract["components"]}
            jsonschema.Draft202012Validator(schema).validate(answer.json)
        example = content.get("examples", {}).get(step.get("example"))
        if example is None:
            return None
        if media.endswith("json"):
            return self.assertEqual(disagreement(example["value"], answer.json), "")
        return self.assertEqual(answer.body, self.bytes_of(example))

    def play(self, step: dict, kept: dict):
        path, verb, parameters, operation = self.operations[step["do"]]
        body = self.body_of(operation, step.get("example_body", step.get("example", "")))
        places = {"project": "llama", **kept, **step.get("path", {})}
        places = {key: hashlib.sha256(body).hexdigest() if value == "body" else value for key, value in places.items()}
        query = {key: kept.get(value.strip("{}"), value) if isinstance(value, str) else value for key, value in step.get("query", {}).items()}
        known = {self.resolved(parameter)["name"] for parameter in parameters}
        if not step.get("example") == "typo":
            self.assertLessEqual(set(query) | set(step.get("headers", {})), known, "a parameter that the contract does not have")
        target = path.format(**{key: urllib.parse.quote(str(value), safe="") for key, value in places.items()})
        answer = self.service.call(verb.upper(), f"{target}?{urllib.parse.urlencode(query)}" if query else target,
                                   self.tokens[step["as"]], body, step.get("headers"))
        self.assertEqual(answer.status, step["status"], answer)
        self.check_answer(operation, step, answer)
        if step.get("keep"):
            kept[step["keep"]] = places["sha256"] if step["keep"] == "policy" else answer.json["id"]

    def test_every_example_is_replayed(self):
        kept, played = {}, {}
        for number, step in enumerate(self.contract["x-scenario"]):
            with self.subTest(step=number, do=step["do"], example=step.get("example")):
                self.play(step, kept)
            played.setdefault(step["do"], set()).update({step.get("example"), step.get("example_body")})
        shared = {"stranger", "uploader"}  # of answers that many operations have: once is enough
        for name, (_, _, _, operation) in self.operations.items():
            self.assertIn(name, played, "an operation that no step tries")
            unplayed = {example for _, example in self.examples_of(operation)} - played[name] - shared
            self.assertEqual(unplayed, set(), f"{name}: examples that no step replays")
        self.assertLessEqual(shared, set().union(*played.values()))

    def test_the_contract_has_every_route_and_no_other(self):
        rows = re.findall(r"\{Verb::(\w+),\s*\"([^\"]+)\"", (ROOT / "server/api/routes.cpp").read_text())
        routes = {("delete" if verb == "del" else verb, pattern) for verb, pattern in rows}
        self.assertGreater(len(routes), 10)
        self.assertEqual(routes, {(verb, path) for path, verb, _, _ in self.operations.values()})

    def test_the_schemas_are_schemas(self):
        for name, schema in self.contract["components"]["schemas"].items():
            with self.subTest(schema=name):
                jsonschema.Draft202012Validator.check_schema(schema)


if __name__ == "__main__":
    unittest.main()
