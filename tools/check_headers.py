#!/usr/bin/env python3
"""Fails when a header does not say what it promises.

1. Every header begins with a comment that says what it is for and not for (`// For:` … `Not for:`).
2. Every function that a header declares to return a Result (or an awaitable of one) has `Errors:` in the comment above
   it. Functions that follow one another without a blank line share the comment of the first; overrides have their
   base's; private members need none.
3. Every row of the metric table names its unit.
`--self-test` proves on made-up headers that breaches are seen.
"""
import pathlib
import re
import sys

FOLDERS = ["analyzer", "gate", "server", "cli", "tools"]
COMMENT = re.compile(r"^\s*//")
RESULT = re.compile(r"^\s*(?:\[\[nodiscard\]\]\s*)?(?:(?:static|virtual|inline|constexpr|friend)\s+)*"
                    r"(?:[\w:]*awaitable<)?(?:traceweir::)?Result<")
METRIC_ROW = re.compile(r'\b\w*row\(\s*"(?P<id>[a-z_0-9.]+)"\s*,\s*(?P<unit>[\w:]*)')
METRIC_TABLE = "analyzer/metrics/metric_table.cpp"
UNITS = {"ratio", "ns", "count", "bytes", "gb_per_s"}


def after_type(text: str) -> str:
    """What follows the type that `text` begins with: ` name(…` of `Result<std::vector<int>> name(…`."""
    depth = 0
    for index, char in enumerate(text):
        if char == "<":
            depth += 1
        elif char == ">":
            depth -= 1
            if depth == 0:
                return text[index + 1:]
    return ""


def declared_function(lines: list, index: int) -> str | None:
    """The name of the function whose declaration starts at this line and returns a Result."""
    if not RESULT.match(lines[index]):
        return None
    text = " ".join(line.strip() for line in lines[index:index + 4])
    start = re.search(r"(?:[\w:]*awaitable<)?(?:traceweir::)?Result<", text)
    match = re.match(r"\s*(?P<name>[\w:]+|operator\S+)\s*\(", after_type(text[start.start():]))
    if not match:
        return None  # a member, or a pointer to a function
    declaration = text[:text.find(";") + 1] or text
    return None if re.search(r"\boverride\b|= delete", declaration) else match["name"]


def comment_above(lines: list, index: int) -> str:
    """The comment that belongs to line `index`: above it, or above the declarations that it directly follows."""
    at = index - 1
    while at >= 0 and lines[at].strip() and not COMMENT.match(lines[at]) and not lines[at].rstrip().endswith("{"):
        at -= 1
    block = []
    while at >= 0 and COMMENT.match(lines[at]):
        block.insert(0, lines[at])
        at -= 1
    return "\n".join(block)


def check_header(name: str, text: str) -> list:
    lines = text.splitlines()
    breaches = []
    head = []
    for line in lines:
        if not COMMENT.match(line):
            break
        head.append(line)
    head = "\n".join(head)
    if not re.match(r"// For: ", head):
        breaches.append(f"{name}:1: does not begin with `// For: `")
    elif not re.search(r"\bNot for:", head):
        breaches.append(f"{name}:1: does not say what it is `Not for:`")
    private = False
    for index, line in enumerate(lines):
        if re.match(r"\s*(?:private|protected):", line):
            private = True
        elif re.match(r"\s*public:|\};", line):
            private = False
        function = None if private else declared_function(lines, index)
        if function and "Errors:" not in comment_above(lines, index):
            breaches.append(f"{name}:{index + 1}: {function} returns a Result and its comment has no `Errors:`")
    return breaches


def check_metric_table(name: str, text: str) -> list:
    rows = list(METRIC_ROW.finditer(text))
    if not rows:
        return [f"{name}: no rows of metrics found"]
    return [f"{name}: metric {row['id']} has no unit" for row in rows if row["unit"].removeprefix("Unit::") not in UNITS]


SAMPLE_GOOD = """// For: a sample.
// Not for: the rest.
#pragma once
/// Errors: usage.
Result<int> one();
[[nodiscard]] static Result<std::vector<int>> two(
    int x);

/// Errors: io_failed.
asio::awaitable<Result<void>> three();

struct Row {
  Result<int> (*read)(int);
  Result<int> four(int x) override;
};
"""
SAMPLE_BAD = """// For: a sample.
#pragma once
/// Makes one.
Result<int> one();

class Box {
 public:
  virtual Result<std::map<int, int>>
  two() const = 0;

 private:
  Result<int> five();
};
Result<int> six();
"""


def self_test() -> int:
    wanted = {"bad.hpp:1: does not say what it is `Not for:`",
              "bad.hpp:4: one returns a Result and its comment has no `Errors:`",
              "bad.hpp:8: two returns a Result and its comment has no `Errors:`",
              "bad.hpp:14: six returns a Result and its comment has no `Errors:`",
              "empty.hpp:1: does not begin with `// For: `",
              "metric_table.cpp: metric gpu.idle has no unit",
              "empty_table.cpp: no rows of metrics found"}
    found = set(check_header("good.hpp", SAMPLE_GOOD) + check_header("bad.hpp", SAMPLE_BAD) +
                check_header("empty.hpp", "#pragma once\n") +
                check_metric_table("metric_table.cpp", 'rank_row("gpu.idle", lower, "x"),\nkind_row("a", ns, none),') +
                check_metric_table("empty_table.cpp", "int x;"))
    for line in sorted(found ^ wanted):
        print(f"check_headers self-test: {'missed' if line in wanted else 'unexpected'}: {line}")
    return 1 if found != wanted else 0


def main() -> int:
    if "--self-test" in sys.argv:
        return self_test()
    root = pathlib.Path(__file__).resolve().parent.parent
    breaches = []
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.hpp")):
            breaches += check_header(str(file.relative_to(root)), file.read_text(encoding="utf-8"))
    table = root / METRIC_TABLE
    breaches += check_metric_table(METRIC_TABLE, table.read_text(encoding="utf-8"))
    print("\n".join(breaches) if breaches else "headers: for, not for, errors and units are said")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
