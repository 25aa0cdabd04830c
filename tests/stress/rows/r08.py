"""R8: damaged uploads: bits, bytes, pages, rows, tokens and cuts, by seeded chance, of traces of both formats, plain and packed.
Each is read or refused: no crash, no mutant over 5 s in process, no answer over 10 s through HTTP; what is not what its
announced SHA-256 says is refused, always."""
import concurrent.futures
import gzip
import hashlib
import json
import pathlib
import shutil
import subprocess

from hostile_uploads import send
from service import Service, sha, trace
from stress import Failed, check

SECONDS_MAX = 5
ANSWER_SECONDS_MAX = 10
SENDERS = 4
PER_BATCH = 250  # few enough for a small disk


def inputs(folder: pathlib.Path) -> list:
    """Real shapes, small: both formats, and the one packed in either way."""
    small = ("--steps", 2, "--buckets", 2)
    kineto = trace(*small)
    packed = subprocess.run(["zstd", "-qc"], input=kineto, capture_output=True, check=True).stdout
    made = {"kineto.json": kineto, "nsys.sqlite": trace(*small, "--format", "nsys", name="t.sqlite"),
            "kineto.json.gz": gzip.compress(kineto, mtime=0), "kineto.json.zst": packed}
    for name, content in made.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in made]


def in_process(stress, file: pathlib.Path, count: int) -> dict:
    """One process reads all mutants of a file: a crash ends it."""
    done = subprocess.run([stress.bin / "mutants", file, "--count", str(count)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{file.name}: exit code {done.returncode}: {done.stderr[-300:]}")
    tally = json.loads(done.stdout)
    check(tally["read"] + tally["refused"] == count, f"{file.name}: {tally}")
    check(tally["read"] > 0 and tally["refused"] > 0, f"{file.name}: mutants are not what they should be: {tally}")
    check(tally["slowest_ms"] <= SECONDS_MAX * 1000, f"{file.name}: mutant {tally['slowest']}: {tally['slowest_ms']} ms")
    return tally


def answers_of(stress, service, token, file: pathlib.Path, first: int, count: int) -> list:
    """Writes mutants and sends them, several at a time."""
    folder = stress.folder / "mutants"
    folder.mkdir()
    subprocess.run([stress.bin / "mutants", file, "--first", str(first), "--count", str(count), "--write", folder],
                   capture_output=True, check=True)
    with concurrent.futures.ThreadPoolExecutor(SENDERS) as pool:
        sent = [pool.submit(send, service, token, path, sha(int(path.name))) for path in sorted(folder.iterdir())]
        answers = [one.result() for one in sent]
    shutil.rmtree(folder)
    return answers


def through_http(stress, service, token, files: list, count: int) -> str:
    process = service.process.pid
    answers = []
    batch = min(PER_BATCH, count // len(files))
    for begin in range(0, count, batch):
        file = files[begin // batch % len(files)]
        answers += answers_of(stress, service, token, file, 1_000_000 + begin, min(batch, count - begin))
    odd = [a for a in answers if a.status != 201 and not 400 <= a.status < 500]
    check(not odd, f"{len(odd)} of {len(answers)} answers are no answer to an upload: {odd[:1]}")
    check(service.process.poll() is None and service.process.pid == process, "the service ended")
    slowest = max(answer.seconds for answer in answers)
    check(slowest <= ANSWER_SECONDS_MAX, f"an answer took {slowest:.1f} s")
    judged = sum(answer.status == 201 for answer in answers)
    return f"{len(answers)} through HTTP, {judged} judged, {len(answers) - judged} refused, slowest {slowest:.1f} s"


def wrong_hashes(stress, service, token, file: pathlib.Path, count: int) -> str:
    """Copies with one bit flipped, under the hash of the original."""
    original = file.read_bytes()
    announced = hashlib.sha256(original).hexdigest()
    damaged = stress.folder / "damaged"
    for number in range(count):
        content = bytearray(original)
        content[number * 7919 % len(content)] ^= 1 << number % 8
        damaged.write_bytes(content)
        answer = send(service, token, damaged, sha(2_000_000 + number), **{"X-Content-SHA256": announced})
        check(answer.status == 422 and answer.json["type"] == "hash_mismatch", f"a wrong SHA-256: {answer}")
    damaged.write_bytes(original)
    answer = send(service, token, damaged, sha(3_000_000), **{"X-Content-SHA256": announced})
    check(answer.status == 201, f"the right SHA-256: {answer}")
    return f"{count} of {count} wrong SHA-256 refused"


def run(stress) -> str:
    files = inputs(stress.folder)
    tallies = [in_process(stress, file, stress.count(10_000, 150)) for file in files]
    read, refused = sum(t["read"] for t in tallies), sum(t["refused"] for t in tallies)
    with Service() as service:
        token = service.token()
        sent = through_http(stress, service, token, files, stress.count(10_000, 40))
        hashes = wrong_hashes(stress, service, token, files[1], stress.count(100, 8))
    slowest = max(t["slowest_ms"] for t in tallies)
    return f"{read + refused} mutants, {read} read, {refused} refused, 0 crashes, slowest {slowest} ms; {sent}; {hashes}"
