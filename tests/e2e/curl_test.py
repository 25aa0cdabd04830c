"""curl alone is a full client: eight uploads, the seventh fails, the history has eight points, a kill loses nothing."""
import json
import pathlib
import signal
import subprocess
import tempfile
import unittest

from service import Service, sha, trace


def curl(*arguments) -> str:
    done = subprocess.run(["curl", "--silent", "--show-error", "--fail-with-body", *map(str, arguments)],
                          capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


class CurlAlone(unittest.TestCase):
    def test_eight_commits(self):
        with Service() as service, tempfile.TemporaryDirectory() as folder:
            header = f"Authorization: Bearer {service.token('llama')}"
            runs_url = f"{service.url}/api/v1/projects/llama/runs"
            file = pathlib.Path(folder) / "trace.json"
            outcomes = []
            for number in range(1, 9):
                file.write_bytes(trace("--seed", number, *(["--stall-loader", 5] if number == 7 else [])))
                query = f"workload=ddp-8gpu&commit={sha(number)}&branch=main"
                answer = curl("-H", header, "--data-binary", f"@{file}", "--write-out", "\n%{http_code}", f"{runs_url}?{query}")
                body, status = answer.rsplit("\n", 1)
                self.assertEqual(status, "201")
                outcomes.append(json.loads(body)["verdict"]["outcome"])
            self.assertEqual(outcomes[5:], ["pass", "fail", "pass"])

            history_url = f"{service.url}/api/v1/projects/llama/history?metric=gpu.utilization&branch=main&workload=ddp-8gpu"
            points = json.loads(curl("-H", header, history_url))["points"]
            self.assertEqual([p["commit"] for p in points], [sha(n) for n in range(1, 9)])

            service.stop(signal.SIGKILL)
            service.start()
            self.assertEqual(json.loads(curl("-H", header, history_url))["points"], points)
            self.assertEqual(len(json.loads(curl("-H", header, runs_url))["runs"]), 8)


if __name__ == "__main__":
    unittest.main()
