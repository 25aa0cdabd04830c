#!/usr/bin/env python3
"""openapi_json.py SOURCE.yaml [TARGET.cpp]: the contract as one JSON document, as the service serves it.

Schemas that lie in files of their own are put in (`$ref: ../report.schema.json`), so that the document stands alone. With a target the
JSON is written as a C++ source that defines `traceweir::api::openapi_json`; without one it goes to stdout. Anchors are resolved, and
x-scenario, which only the test reads, stays.
"""
import json
import pathlib
import sys

import yaml

LINE_BYTES = 16_000  # compilers need not take longer string literals


def standing_alone(document: dict, folder: pathlib.Path) -> dict:
    """Replaces schemas that refer to a file by the file; references inside it get their new place."""
    for name, schema in document["components"]["schemas"].items():
        reference = schema.get("$ref", "")
        if not reference.endswith(".json"):
            continue
        text = (folder / reference).read_text(encoding="utf-8").replace('"#/', f'"#/components/schemas/{name}/')
        inner = json.loads(text)
        for key in ("$schema", "$id"):
            inner.pop(key, None)
        document["components"]["schemas"][name] = inner
    return document


def as_source(text: str) -> str:
    """Raw string literals that lie side by side are one."""
    pieces = [text[at:at + LINE_BYTES] for at in range(0, len(text), LINE_BYTES)]
    literals = "\n".join(f'R"openapi({piece})openapi"' for piece in pieces)
    return ("// Made from schema/http/openapi.yaml by tools/openapi_json.py.\n#include \"server/api/contract.hpp\"\n\n"
            f"namespace traceweir::api {{\nconst std::string_view openapi_json =\n{literals};\n}}  // namespace traceweir::api\n")


def main():
    source = pathlib.Path(sys.argv[1])
    document = standing_alone(yaml.safe_load(source.read_text(encoding="utf-8")), source.parent)
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(as_source(text), encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
