#!/usr/bin/env python3
"""embed_web.py FOLDER TARGET.cpp: every file of FOLDER as a constant of the program, plain and gzip, with its hash.

The source defines `traceweir::web::files()` (server/web/files.hpp). The same folder gives the same bytes.
"""
import gzip
import hashlib
import pathlib
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
BYTES_PER_LINE = 4000  # compilers need not take longer string literals


def literal(data: bytes) -> str:
    """Octal escapes of three digits end by themselves, whatever comes behind them; `?` could begin a trigraph."""
    def escaped(byte: int) -> str:
        return chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
    pieces = [data[at:at + BYTES_PER_LINE] for at in range(0, len(data), BYTES_PER_LINE)] or [b""]
    return "\n".join('"' + "".join(map(escaped, piece)) + '"' for piece in pieces)


def row(folder: pathlib.Path, file: pathlib.Path) -> str:
    plain = file.read_bytes()
    packed = gzip.compress(plain, 9, mtime=0)
    texts = ", ".join(f"std::string_view({literal(data)}, {len(data)})" for data in (plain, packed))
    name = file.relative_to(folder).as_posix()
    return f'    {{"{name}", "{TYPES[file.suffix]}", "{hashlib.sha256(plain).hexdigest()[:16]}", {texts}}},\n'


def main():
    folder, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    rows = "".join(row(folder, file) for file in sorted(folder.rglob("*")) if file.is_file())
    target.write_text("// Made by tools/embed_web.py.\n#include \"server/web/files.hpp\"\n\nnamespace traceweir::web {\nnamespace {\n\n"
                      f"constexpr File rows[] = {{\n{rows}}};\n\n}}  // namespace\n\n"
                      "std::span<const File> files() { return rows; }\n\n}  // namespace traceweir::web\n", encoding="utf-8")


if __name__ == "__main__":
    main()
