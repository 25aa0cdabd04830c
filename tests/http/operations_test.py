"""docs/operations.md has what there is: every configuration key with its default, every fixed limit with its value, every event of
the log, every reason of /readyz."""
import math
import os
import pathlib
import re
import subprocess
import unittest

from service import BIN, Service

TEXT = pathlib.Path("docs/operations.md").read_text()
SOURCES = {path: path.read_text() for path in sorted(pathlib.Path("server").rglob("*.[ch]pp"))}
# Keys whose default follows the host, or another key.
FOLLOWS = {"store", "analysis_program", "analysis_workers", "data_dir"}
# Row of "Every limit" → the numbers in it, as the sources name them.
LIMITS = {
    "threads for the store": ["store_threads", "requests_waiting_max"],
    "requests that wait for the store": ["requests_waiting_max"],
    "threads that move traces": ["transfer_threads", "requests_waiting_max"],
    "exchanges of id tokens": ["exchange_threads", "exchanges_waiting_max"],
    "questions to a worker (`worker_listen`)": ["monitoring_threads", "questions_waiting_max"],
    "uploads of the queue that are listed": ["listed_jobs_max"],
    "addresses that are remembered": ["addresses_max"],
    "valid tokens that a neighbour's wrong ones do not shut out": ["known_tokens_max"],
    "one body in all, however fast it is": ["http:body_time_max"],
    "what is read of a body behind an answer that came early": ["linger_bytes_max", "linger_time_max"],
    "deletion of a project in one request": ["deletion_time_max"],
    "backtests": ["trial_threads", "trials_waiting_max"],
    "readers of the embedded store": ["reader_count", "turn_time_max"],
    "wait for a lock of the embedded store": ["lock_time_max"],
    "ranks of a run": ["ranks_max"],
    "commits in one PUT": ["commits_max"],
    "values of finished runs that are remembered, on PostgreSQL": ["store:values_max", "store:age_max"],
    "reports of runs that were judged a moment ago": ["pipeline:runs_max"],
    "depth of a JSON document in a request": ["json_depth_max"],
    "tries to send a notice": ["notify:tries_max"],
    "stop after `stop_time_max`": ["abandon_time"],
    "tries of a run that fails for our reasons": ["pipeline:tries_max"],
    "part of a backup that is read": ["part_bytes_max"],
}


def section(title: str) -> str:
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)[1]


def rows(text: str) -> list:
    """The cells of every row of every table in `text`, without its head."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    heads = {at - 1 for at, cells in enumerate(lines) if set("".join(cells)) <= set("- ")}
    return [cells for at, cells in enumerate(lines) if at not in heads and at - 1 not in heads]


def defaults() -> dict:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("TRACEWEIR_")}
    done = subprocess.run([BIN / "traceweird", "config", "check"], env=clean, capture_output=True, text=True, check=True)
    return dict(re.findall(r"^(\w+) += (.*?) +#", done.stdout, re.MULTILINE))


def value_of(name: str) -> str:
    """A constant of the sources, as a number; times in seconds."""
    room, _, name = name.rpartition(":")
    for path, text in SOURCES.items():
        found = re.search(rf"\b{name} ?(?:=|\{{) ?(std::size_t\{{1\}} << )?([\d'][\d' *]*)", text) if room in path.parts or not room else None
        if found:
            number = math.prod(int(factor.replace("'", "")) for factor in found[2].split("*"))
            if f"milliseconds {name}" in text:
                return f"{number / 1000:g}"
            return "1 GiB" if found[1] and number == 30 else f"{number >> 20} MiB" if found[2].endswith("1024 * 1024") else str(number)
    raise AssertionError(f"no constant {name}")


class Operations(unittest.TestCase):
    def test_every_key_has_its_row_and_every_row_its_key(self):
        known = defaults()
        self.assertGreater(len(known), 30)
        documented = {cells[0].strip("`"): cells for cells in rows(TEXT) if re.fullmatch(r"`[a-z_0-9]+`", cells[0])}
        self.assertEqual(set(known) - set(documented), set())
        for cells in rows(section("Configuration")):
            key = cells[0].strip("`")
            with self.subTest(key):
                self.assertIn(key, known)
                if key not in FOLLOWS:
                    shown = cells[1].strip("`")
                    self.assertEqual("" if shown == "–" else plain(shown), plain(known[key]))

    def test_every_fixed_limit_has_its_value(self):
        table = {cells[0]: cells for cells in rows(section("Every limit"))}
        self.assertEqual(set(table), set(LIMITS))
        for label, names in LIMITS.items():
            for name in names:
                with self.subTest(label, name=name):
                    numbers = re.findall(r"\d+(?:\.\d+)?(?: [GM]iB)?", " ".join(table[label][1:]).replace(",", ""))
                    self.assertIn(value_of(name), numbers)

    def test_every_event_of_the_log_says_what_to_do(self):
        events = {name for text in SOURCES.values() for name in re.findall(r'\blog\(LogLevel::\w+,\s*"(\w+)"', text)}
        events |= {"notice_failed", "notice_dropped"}
        self.assertGreater(len(events), 10)
        documented = {name for cells in rows(section("Troubleshooting")) for name in re.findall(r"`(\w+)`", cells[0])}
        self.assertEqual(events - documented, set())

    def test_every_reason_of_a_failed_try_is_there_from_the_start_and_explained(self):
        with Service() as service:
            text = service.call("GET", "/metrics").body.decode()
        codes = dict(re.findall(r'^traceweir_run_errors_total\{code="(\w+)"\} (\S+)$', text, re.MULTILINE))
        self.assertGreater(len(codes), 5)
        self.assertEqual(set(codes.values()), {"0"})
        counted = next(cells for cells in rows(section("Watching it")) if "traceweir_run_errors_total" in cells[0])
        logged = next(cells for cells in rows(section("Troubleshooting")) if "`run_failed`" in cells[0])
        for code in codes:
            self.assertIn(f"`{code}`", counted[1])
            self.assertIn(f"`{code}`", logged[2])

    def test_links_lead_somewhere(self):
        anchors = {re.sub(r"[^\w\- ]", "", line.strip("# \n").lower()).replace(" ", "-")
                   for line in TEXT.splitlines() if line.startswith("#")}
        for anchor in re.findall(r"\]\(#([^)]+)\)", TEXT):
            self.assertIn(anchor, anchors)
        for file in re.findall(r"\]\(([^#)]+)\)", TEXT):
            self.assertTrue("://" in file or (pathlib.Path("docs") / file.split("#")[0]).exists(), file)

    def test_a_store_that_is_gone_says_so_in_readyz(self):
        with Service() as service:
            if "TRACEWEIR_STORE" in service.store:
                return  # the other store's reasons: postgres_restarts_test.py
            (service.data_dir / "traceweir.db").rename(service.data_dir / "elsewhere.db")
            answer = service.call("GET", "/readyz")
            self.assertEqual(answer.status, 503)
            self.assertIn("its file was moved or deleted", answer.json["store"])
            self.assertIn("its file was moved or deleted", section("Troubleshooting"))


def plain(value: str) -> str:
    """A time in seconds, whatever it is spelt in; anything else as it is."""
    time = re.fullmatch(r"(\d+) (s|min)", value)
    return f"{int(time[1]) * (60 if time[2] == 'min' else 1)} s" if time else value


if __name__ == "__main__":
    unittest.main()
