"""The command lines of both programs, walked from end to end: help with examples that are right, completion in three shells, pages of man."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from service import BIN, run

PROGRAMS = {"traceweir": "1", "traceweird": "8"}
ENVIRONMENT = {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TERM": "dumb"}


def candidates(program, *words) -> list:
    done = run(program, "__complete", *words, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return [line.partition("\t")[0] for line in done.stdout.splitlines()]


def help_of(program, *path) -> str:
    done = run(program, *path, "--help", env=ENVIRONMENT)
    assert done.returncode == 0, (path, done.stderr)
    return done.stdout


def commands_in(text: str) -> list:
    return re.findall(r"^  (\w[\w-]*) ", text.partition("\nSubcommands:\n")[2].partition("\n\n")[0], flags=re.M)


def walk(program, path=()):
    """Every command of the program, itself first."""
    yield path
    for name in commands_in(help_of(program, *path)):
        yield from walk(program, (*path, name))


COMMANDS = [(program, path) for program in PROGRAMS for path in walk(program)]


def examples_in(text: str) -> list:
    """Lines below "Examples:", joined where a line ends with a pipe."""
    block = re.split(r"^Examples?:\n", text, flags=re.M)[1]
    lines = re.match(r"(?:  .*\n?)+", block)[0]
    return [line.strip() for line in re.sub(r"\|\n\s+", "| ", lines).splitlines()]


def commands_of(line: str):
    """The words of each command of a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&")
    lexer.whitespace_split = True
    command = []
    for word in lexer:
        if set(word) <= set("|;&"):
            yield command
            command = []
        else:
            command.append(word)
    yield command


def words_of(page: str) -> list:
    """The command that a page of man is about: `traceweird-copy-store.8` is of `copy-store`."""
    words = page.partition(".")[0].replace("copy-store", "copy~store").split("-")[1:]
    return [word.replace("~", "-") for word in words]


class CommandLine(unittest.TestCase):
    def test_there_are_commands(self):
        self.assertGreater(len(COMMANDS), 15)

    def test_every_help_has_examples_of_its_own_command(self):
        for program, path in COMMANDS:
            with self.subTest(" ".join((program, *path))):
                examples = examples_in(help_of(program, *path))
                self.assertTrue(any(" ".join((program, *path)) in re.sub(r" --\w[\w-]* \S+(?= [a-z])", "", line) for line in examples), examples)

    def test_examples_name_commands_and_options_that_there_are(self):
        for program, path in COMMANDS:
            for line in examples_in(help_of(program, *path)):
                with self.subTest(line):
                    for command in commands_of(line):
                        self.check_example(command)

    def check_example(self, words):
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words.pop(0)
        if not words or words[0] not in PROGRAMS:
            return
        for number, word in enumerate(words):
            if word.startswith("--"):
                known = candidates(words[0], *words[1:number], "--")
                self.assertIn(word.partition("=")[0], known)

    def test_options_of_help_are_completed(self):
        for program, path in COMMANDS:
            options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", help_of(program, *path), flags=re.M))
            with self.subTest(" ".join((program, *path))):
                self.assertLessEqual(options, set(candidates(program, *path, "--")))
                self.assertLessEqual(set(commands_in(help_of(program, *path))), set(candidates(program, *path, "")))

    def test_values(self):
        self.assertEqual(candidates("traceweir", "gate", "--on-unreachable", ""), ["fail", "pass"])
        self.assertIn("gpu.utilization", candidates("traceweir", "history", "gpu.u"))
        self.assertEqual(candidates("traceweir", "gate", ""), [":files"])

    def script(self, shell) -> pathlib.Path:
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        path = folder / "script"
        path.write_text(run("traceweir", "completion", shell, env=ENVIRONMENT).stdout)
        return path

    def shell(self, *command) -> list:
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout.split()

    def test_bash(self):
        ask = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { echo files; }; '
               '_traceweir traceweir; printf "%s\\n" "${COMPREPLY[@]}"')
        script = self.script("bash")
        self.assertEqual(self.shell("bash", "-c", ask, "-", script, "traceweir", "gate", "--on-unreachable", ""), ["fail", "pass"])
        self.assertEqual(self.shell("bash", "-c", ask, "-", script, "traceweir", "gate", "--on-unreachable", "=", "p"), ["pass"])
        self.assertEqual(self.shell("bash", "-c", ask, "-", script, "traceweir", "gate", ""), ["files"])
        self.assertIn("history", self.shell("bash", "-c", ask, "-", script, "traceweir", ""))

    def test_zsh(self):
        ask = ('compdef() { print $1 }; _describe() { print -l -- "${(@P)2}" }; _files() { print files }; source $1; shift; '
               'words=("$@"); CURRENT=$#; _traceweir')
        script = self.script("zsh")
        found = self.shell("zsh", "-fc", ask, "-", script, "traceweir", "gate", "--on-unreachable", "")
        self.assertEqual(found, ["_traceweir", "fail:", "pass:"])
        self.assertEqual(self.shell("zsh", "-fc", ask, "-", script, "traceweir", "gate", ""), ["_traceweir", "files"])

    def test_fish(self):
        script = self.script("fish")
        ask = 'source $argv[1]; complete -C $argv[2]'
        self.assertEqual(self.shell("fish", "--no-config", "-c", ask, script, "traceweir gate --on-unreachable "), ["fail", "pass"])
        self.assertIn("gpu.utilization", self.shell("fish", "--no-config", "-c", ask, script, "traceweir history gpu.utiliz"))
        self.assertIn("/etc/passwd", self.shell("fish", "--no-config", "-c", ask, script, "traceweir gate /etc/passw"))

    def test_pages_of_man(self):
        for program, section in PROGRAMS.items():
            with tempfile.TemporaryDirectory() as folder:
                self.assertEqual(run(program, "man", "--folder", folder, env=ENVIRONMENT).returncode, 0)
                pages = {path.name: path for path in pathlib.Path(folder).iterdir()}
                wanted = {"-".join((program, *path)) + f".{section}" for of, path in COMMANDS if of == program and len(path) < 2}
                self.assertEqual(set(pages), wanted)
                for name, path in pages.items():
                    with self.subTest(name):
                        self.check_page(path, help_of(program, *words_of(name)))

    def check_page(self, path, text):
        shown = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-rHY=0", "-P-cbou", path], capture_output=True, text=True, check=True)
        self.assertEqual(shown.stderr, "")
        for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, flags=re.M):
            self.assertIn(option, shown.stdout)
        for line in examples_in(text):
            self.assertIn(" ".join(line.split()), " ".join(shown.stdout.split()))

    def test_a_wrong_shell_or_folder_is_an_error(self):
        self.assertEqual(run("traceweir", "completion", "tcsh", env=ENVIRONMENT).returncode, 2)
        self.assertNotEqual(run("traceweir", "man", "--folder", "/proc/none", env=ENVIRONMENT).returncode, 0)


if __name__ == "__main__":
    unittest.main()
