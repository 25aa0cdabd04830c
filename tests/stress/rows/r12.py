"""R12: JSON of an enemy: a million brackets, objects 100,000 deep, numbers beyond every type, lone surrogates, strings of 100 MB,
5 million keys, keys twice. Each is answered within 5 s; a refusal is valid JSON of less than 4 KB."""
import json

from hostile_files import TEXTS
from hostile_uploads import send
from service import Service, sha, trace
from stress import check

alone = True
SECONDS_MAX = 5
REFUSAL_BYTES_MAX = 4096


def answered(service, token, case, path, number: int):
    answer = send(service, token, path, sha(number))
    refused = answer.status != 201
    document = json.loads(answer.body)
    word = document["type"] if refused else "judged"
    check(word in case.words and case.part in answer.body.decode(), f"{case.name}: {answer}")
    check(answer.seconds <= SECONDS_MAX, f"{case.name}: {answer.seconds:.1f} s")
    check(not refused or len(answer.body) < REFUSAL_BYTES_MAX, f"{case.name}: an answer of {len(answer.body)} bytes")
    return answer


def run(stress) -> str:
    path = stress.folder / "upload"
    answers = []
    with Service() as service:
        token = service.token()
        for number, case in enumerate(TEXTS, 1):
            case.make(path)
            answers.append(answered(service, token, case, path, number))
        path.write_bytes(trace("--steps", 6))
        check(send(service, token, path, sha(1000)).status == 201, "the next upload was not judged")
        check(service.process.poll() is None, "the service ended")
    refused = [answer for answer in answers if answer.status != 201]
    return (f"{len(answers)} texts, {len(refused)} refused, 0 crashes, slowest {max(a.seconds for a in answers):.1f} s, "
            f"refusals of at most {max(len(a.body) for a in refused)} bytes")
