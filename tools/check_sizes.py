#!/usr/bin/env python3
"""Fails when a file has more than 400 lines or a C++ function more than 60 (signature to closing brace).

The rows of a table that is written inside a function (`const Row rows[] = {…};`) are data and do not count.

Comments, strings and preprocessor lines are blanked before braces are matched, so only code is counted as structure.
`--self-test` proves on made-up sources that breaches are seen.
"""
import pathlib
import re
import sys

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60
FOLDERS = ["analyzer", "gate", "server", "cli", "tools", "tests", "ci-templates"]
SUFFIXES = {".cpp", ".hpp", ".py", ".sh", ".ts", ".tsx", ".mjs", ".css"}

# Comments, raw strings, strings, characters, preprocessor lines (with continuations).
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
TYPE = re.compile(r"\b(?:class|struct|union|enum)\b[^()=]*$")
CONTROL = re.compile(r"^\s*(?:if|else|for|while|switch|do|try|catch|return)\b")


def blanked(text: str) -> str:
    """The same text with everything that is no structure replaced by spaces; line breaks stay."""
    return NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def kind_of(statement: str) -> str:
    """What a `{` opens, told by the text since the last `;`, `{` or `}`."""
    if re.search(r"\bnamespace\b|\bextern\b\s*$", statement):
        return "namespace"
    if TYPE.search(statement) and ")" not in statement:
        return "type"
    if re.search(r"\]\s*=\s*$", statement):
        return "table"
    if ")" in statement and not CONTROL.match(statement) and not re.search(r"[^=!<>]=\s*$", statement):
        return "function"
    return "other"


def functions(text: str):
    """(first line, lines, signature) of every function at namespace or class level."""
    code = blanked(text)
    scopes = []  # (kind, offset of the statement's first character, statement, offset of the brace)
    table_lines = 0  # inside the function that is open
    begin = 0
    for index, char in enumerate(code):
        if char == "{":
            statement = code[begin:index]
            outer = all(kind in ("namespace", "type") for kind, *_ in scopes)
            kind = kind_of(statement)
            if kind == "function" and not outer:
                kind = "other"
            first = begin + len(statement) - len(statement.lstrip())
            scopes.append((kind, first, statement.strip(), index))
        elif char == "}" and scopes:
            kind, first, statement, brace = scopes.pop()
            if kind == "table":
                table_lines += code.count("\n", brace, index)
            elif kind == "function":
                yield code.count("\n", 0, first) + 1, code.count("\n", first, index) + 1 - table_lines, statement
                table_lines = 0
        if char in ";{}":
            begin = index + 1


def check_file(name: str, text: str) -> list:
    breaches = []
    lines = text.count("\n")
    if lines > FILE_LINES_MAX:
        breaches.append(f"{name}: {lines} lines, {FILE_LINES_MAX} are allowed")
    if name.endswith((".cpp", ".hpp")):
        for first, length, signature in functions(text):
            if length > FUNCTION_LINES_MAX:
                words = " ".join(signature.split())[:60]
                breaches.append(f"{name}:{first}: {length} lines, {FUNCTION_LINES_MAX} are allowed: {words}")
    return breaches


def self_test() -> int:
    body = "  f(\"{\", '{');  // }\n" * 58
    good = ("namespace a {\nconst int rows[] = {\n" + "  1,\n" * 70 + "};\nclass B : public C<int> {\n  int x_{0};\n"
            "  B(int a)\n      : x_{a}, y_(R\"({)\") {\n" + body[:-100] + "  }\n" + "  int f();\n" * 70 + "};\n}\n")
    bad = "namespace {\n\n// why\nint f(int a) const {\n  if (a) {\n" + body + "  }\n}\n}\n"
    lines = "int x;\n" * 401
    wanted = {"bad.cpp:4: 62 lines, 60 are allowed: int f(int a) const",
              "long.cpp: 401 lines, 400 are allowed"}
    found = set(check_file("good.cpp", good) + check_file("bad.cpp", bad) + check_file("long.cpp", lines) +
                check_file("fits.cpp", "int x;\n" * 400) +
                check_file("sixty.cpp", "int f() {\n" + body + "}\n") +
                check_file("table.cpp", "int f() {\n  const int rows[] = {\n" + "    1,\n" * 80 + "  };\n}\n"))
    for line in sorted(found ^ wanted):
        print(f"check_sizes self-test: {'missed' if line in wanted else 'unexpected'}: {line}")
    return 1 if found != wanted else 0


def main() -> int:
    if "--self-test" in sys.argv:
        return self_test()
    root = pathlib.Path(__file__).resolve().parent.parent
    files = [root / "dev", root / ".ci/run"]
    for folder in FOLDERS:
        files += sorted(file for file in (root / folder).rglob("*") if file.suffix in SUFFIXES)
    breaches = []
    for file in files:
        breaches += check_file(str(file.relative_to(root)), file.read_text(encoding="utf-8"))
    print("\n".join(breaches) if breaches else f"sizes: {len(files)} files within {FILE_LINES_MAX} lines, "
          f"functions within {FUNCTION_LINES_MAX}")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
