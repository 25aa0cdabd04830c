"""The dashboard in a real browser: a service with a month of history, and pages.mjs, which looks at every page of it.

Arguments are patterns of tests to run; without any, all are. Screenshots stay in build/web-shots. The browser is Debian's chromium; the packages are those of server/web/package-lock.json.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from seed import Seeded
from service import trace

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main() -> int:
    seeded = Seeded()
    try:
        seeded.fill()
        with tempfile.TemporaryDirectory() as folder:
            dropped = pathlib.Path(folder) / "trace.json"
            dropped.write_bytes(trace("--steps", 8))
            facts = pathlib.Path(folder) / "facts.json"
            facts.write_text(json.dumps(seeded.facts() | {"trace": str(dropped)}))
            environment = os.environ | {"TRACEWEIR_WEB_FACTS": str(facts), "TRACEWEIR_WEB_SHOTS": str(ROOT / "build/web-shots")}
            patterns = [f"--test-name-pattern={pattern}" for pattern in sys.argv[1:]]
            return subprocess.run(["node", *patterns, ROOT / "tests/web/pages.mjs"], env=environment, timeout=580).returncode
    finally:
        seeded.service.__exit__()


if __name__ == "__main__":
    sys.exit(main())
