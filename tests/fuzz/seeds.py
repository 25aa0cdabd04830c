#!/usr/bin/env python3
"""Gathers the seeds of every fuzz target: `seeds.py FOLDER` writes FOLDER/TARGET/….

They are the files of tests/fuzz/corpus/TARGET, and inputs of golden cases: databases are built from their SQL, with small
pages, so that a fuzzer has little to carry. Standard library only.
"""
import gzip
import pathlib
import shutil
import sqlite3
import sys

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "golden"
BYTES_MAX = 48 << 10
# Target → patterns of golden inputs.
FROM_GOLDEN = {
    "any_upload": ["kineto/bare_array/input*", "nsys_stats/*/input*", "metrics_json/*/input*", "nsys/empty_tables/input*"],
    "kineto_json": ["kineto/*/input*.json"],
    "sqlite_trace": ["nsys/*/input*", "rocpd/*/input*"],
    "nsys_stats": ["nsys_stats/*/input*"],
    "metrics_json": ["metrics_json/*/input*"],
}
PACKED = ["kineto/bare_array/input.json", "kineto/annotations_are_no_work/input.json"]


def database(sql: str) -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.executescript("PRAGMA page_size = 512;" + sql)
    image = connection.serialize()
    connection.close()
    return image


def bytes_of(path: pathlib.Path) -> bytes:
    return database(path.read_text()) if path.suffix == ".sql" else path.read_bytes()


def gather(target: pathlib.Path) -> None:
    for path in sorted((HERE / "corpus" / target.name).glob("*")):
        shutil.copyfile(path, target / path.name)
    for pattern in FROM_GOLDEN.get(target.name, []):
        for path in sorted(GOLDEN.glob(pattern)):
            content = bytes_of(path)
            if len(content) <= BYTES_MAX:
                (target / f"golden_{path.parent.name}_{path.stem}").write_bytes(content)
    if target.name in ("inflate", "any_upload"):
        for path in PACKED:
            content = (GOLDEN / path).read_bytes()
            packed = gzip.compress(content, mtime=0)
            (target / f"{pathlib.Path(path).parent.name}.gz").write_bytes(packed)
            (target / f"{pathlib.Path(path).parent.name}_twice.gz").write_bytes(packed + packed)


def main() -> None:
    out = pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    for name in sorted({path.name for path in (HERE / "corpus").iterdir()} | set(FROM_GOLDEN)):
        target = out / name
        target.mkdir(parents=True)
        gather(target)
        if not any(target.iterdir()):
            sys.exit(f"{name}: no seeds")


if __name__ == "__main__":
    main()
