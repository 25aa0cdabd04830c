#!/usr/bin/env python3
"""Fails when a file includes a room or a third party that its room may not know.

The law: cmake/layers.txt (rooms) and cmake/third_party.txt (libraries). Every #include of every .hpp and .cpp of a room
is looked at, its main.cpp too. `--self-test` proves on made-up rooms that breaches are seen.
"""
import pathlib
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*(?P<form>["<])(?P<path>[^">]+)[">]')
# The beginning of an include's path → the library, longest first.
LIBRARIES = {
    "boost/asio": "boost.asio", "boost/beast": "boost.beast", "boost/url": "boost.url", "boost/math": "boost.math",
    "boost/system": "boost.asio", "boost/": "boost.other", "CLI/": "cli11", "doctest/": "doctest", "fmt/": "fmt",
    "nlohmann/": "nlohmann", "openssl/": "openssl", "pqxx/": "pqxx", "rapidcheck": "rapidcheck", "simdjson": "simdjson",
    "prometheus/": "prometheus", "seccomp.h": "seccomp", "spdlog/": "spdlog", "sqlite3.h": "sqlite", "SQLiteCpp/": "sqlite", "tl/": "tl",
    "toml": "toml", "zlib.h": "zlib", "isa-l/": "isal", "zstd": "zstd",
}
EVERYWHERE = {"fmt", "standard"}


def library_of(path: str) -> str:
    """The third party behind `<path>`: `standard` for C++'s own headers, `posix` for the system's."""
    for prefix in sorted(LIBRARIES, key=len, reverse=True):
        if path.startswith(prefix):
            return LIBRARIES[prefix]
    if path.endswith("intrin.h"):
        return "standard"  # the compiler's own
    return "posix" if path.endswith(".h") else "standard" if "/" not in path else "unknown:" + path


def read_law(path: pathlib.Path) -> dict:
    """`room: word...` lines; # begins a comment."""
    law = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        room, colon, words = line.partition(":")
        if not colon or room.strip() in law:
            sys.exit(f"{path}:{number}: expected one `room: word...` line per room")
        law[room.strip()] = words.split()
    return law


def room_of(path: str, rooms) -> str | None:
    return max((room for room in rooms if path.startswith(room + "/")), key=len, default=None)


class Law:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.rooms = read_law(root / "cmake/layers.txt")
        self.libraries = {}
        for room, words in read_law(root / "cmake/third_party.txt").items():
            self.libraries[room] = {re.split(r"[+=]", word)[0]: word for word in words}
        self.breaches = []
        self.users = {}  # (room, library) → .cpp files that include it

    def check(self) -> list:
        for room, allowed in self.rooms.items():
            for other in allowed:
                if other not in self.rooms:
                    self.breaches.append(f"cmake/layers.txt: {room} names {other}, which is no room")
        for room in self.libraries:
            if room not in self.rooms:
                self.breaches.append(f"cmake/third_party.txt: {room} is no room")
        for room in self.rooms:
            for file in sorted((self.root / room).rglob("*.[hc]pp")):
                self.check_file(room, file)
        for (room, library), files in self.users.items():
            if self.libraries.get(room, {}).get(library, "").endswith("=1") and len(files) > 1:
                self.breaches.append(f"{room}: {library} belongs in one .cpp, found in {', '.join(sorted(files))}")
        return self.breaches

    def check_file(self, room: str, file: pathlib.Path) -> None:
        name = str(file.relative_to(self.root))
        if room_of(name, self.rooms) != room:
            return  # a room inside this one: it has its own line
        for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(text)
            if not match:
                continue
            why = self.breach(room, name, match["form"], match["path"])
            if why:
                self.breaches.append(f"{name}:{number}: {why}")

    def breach(self, room: str, name: str, form: str, path: str) -> str | None:
        if form == '"':
            target = room_of(path, self.rooms)
            if target is None:
                return f"{path} is in no room; includes start at the repository"
            if target != room and target not in self.rooms[room]:
                return f"{room} may not include {target}"
            return None
        library = library_of(path)
        if library in EVERYWHERE:
            return None
        rule = self.libraries.get(room, {}).get(library)
        if rule is None:
            return f"{room} may not include {library} ({path})"
        if name.endswith(".hpp") and not rule.endswith("+hpp"):
            return f"{library} may not be in a header of {room} ({path})"
        self.users.setdefault((room, library), set()).add(name)
        return None


def self_test() -> int:
    files = {
        "cmake/layers.txt": "# law\na:\na/deep: a\nb: a\n",
        "cmake/third_party.txt": "a: tl+hpp zlib\na/deep:\nb: simdjson=1\n",
        "a/good.hpp": "#include <vector>\n#include <tl/expected.hpp>\n",
        "a/good.cpp": '#include "a/good.hpp"\n#include <zlib.h>\n#include <fmt/format.h>\n',
        "a/bad.hpp": '#include <zlib.h>\n#include "b/x.hpp"\n',
        "a/deep/bad.cpp": '#include "a/good.hpp"\n#  include <zlib.h>\n#include "good.hpp"\n',
        "b/main.cpp": '#include "a/good.hpp"\n#include <simdjson.h>\n#include "a/deep/x.hpp"\n#include <unistd.h>\n',
        "b/two.cpp": "#include <simdjson.h>\n#include <strange/thing.hpp>\n",
    }
    wanted = {
        "a/bad.hpp:1: zlib may not be in a header of a (zlib.h)",
        "a/bad.hpp:2: a may not include b",
        "a/deep/bad.cpp:2: a/deep may not include zlib (zlib.h)",
        "a/deep/bad.cpp:3: good.hpp is in no room; includes start at the repository",
        "b/main.cpp:3: b may not include a/deep",
        "b/main.cpp:4: b may not include posix (unistd.h)",
        "b/two.cpp:2: b may not include unknown:strange/thing.hpp (strange/thing.hpp)",
        "b: simdjson belongs in one .cpp, found in b/main.cpp, b/two.cpp",
    }
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = set(Law(root).check())
    for line in sorted(found ^ wanted):
        print(f"check_layers self-test: {'missed' if line in wanted else 'unexpected'}: {line}")
    return 1 if found != wanted else 0


def main() -> int:
    if "--self-test" in sys.argv:
        return self_test()
    breaches = Law(pathlib.Path(__file__).resolve().parent.parent).check()
    print("\n".join(breaches) if breaches else "layers: every include obeys cmake/layers.txt and cmake/third_party.txt")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
