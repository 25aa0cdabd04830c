"""Uploads of an enemy, made while a test runs: each maker writes one file. Python's own sqlite3, gzip and the zstd tool."""
import gzip
import os
import pathlib
import sqlite3
import subprocess

MIB = 1 << 20
TABLES = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, graphNodeId INTEGER);
"""
STRINGS = "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
KERNEL = 'CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL'


def rows(count: int) -> str:
    values = ",".join(f"({i * 100},{i * 100 + 50},0,1,7,{i},281475077570560,1,1,NULL)" for i in range(count))
    return f"INSERT INTO StringIds VALUES (1,'gemm'); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES {values};"


def database(path: pathlib.Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA synchronous=OFF; PRAGMA page_size=512;" + sql)
    connection.close()


def patched(path: pathlib.Path, sql: str, patch) -> None:
    """A database whose bytes are changed afterwards."""
    database(path, sql)
    data = bytearray(path.read_bytes())
    patch(data)
    path.write_bytes(data)


def page_count(data: bytearray) -> None:
    data[28:32] = b"\xff\xff\xff\xfe"  # and the stamp that says it is valid
    data[92:96] = data[24:28]


def own_child(data: bytearray) -> None:
    """An interior page whose right-most child is itself."""
    for page in range(1, len(data) // 512):
        if data[page * 512] == 5:
            data[page * 512 + 8:page * 512 + 12] = (page + 1).to_bytes(4, "big")
            return
    raise AssertionError("no interior page")


def own_overflow(data: bytearray) -> None:
    """The last but one page of a long value names itself as the next."""
    page = len(data) // 512 - 2
    data[page * 512:page * 512 + 4] = (page + 1).to_bytes(4, "big")


def bomb(path: pathlib.Path, head: str, mib: int, packer: str) -> None:
    """Text that begins like a trace and goes on with one byte for ever. Made by tools, so that this process stays small."""
    command = f"(printf '{head}'; head -c {mib * MIB} /dev/zero | tr '\\0' x) | {packer}"
    with open(path, "wb") as out:
        subprocess.run(command, shell=True, stdout=out, check=True)


def members(path: pathlib.Path, head: str, packer: str, count: int) -> None:
    """Small members one after another, of 1 MiB each."""
    bomb(path, "", 1, packer)
    more = path.read_bytes()
    bomb(path, head, 0, packer)
    with open(path, "ab") as out:
        for _ in range(count):
            out.write(more)


def zstd_window(path: pathlib.Path, log: int) -> None:
    """A frame of one raw block that asks for a window of 2^log bytes. RFC 8878, sections 3.1.1.1 and 3.1.1.2."""
    block = b'{"traceEvents": []}'
    header = ((len(block) << 3) | 1).to_bytes(3, "little")
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00" + bytes([(log - 10) << 3]) + header + block)


def written(path: pathlib.Path, *pieces) -> None:
    """Pieces of text; (text, n) is n times the text."""
    with open(path, "wb") as out:
        for piece in pieces:
            text, times = piece if isinstance(piece, tuple) else (piece, 1)
            while times > 0:
                step = min(times, max(1, MIB // len(text)))
                out.write(text.encode() * step)
                times -= step


def keys(path: pathlib.Path, count: int) -> None:
    with open(path, "w", encoding="ascii") as out:
        out.write('{"traceEvents": [{"ph": "X", "args": {')
        for begin in range(0, count, 50_000):
            out.write(",".join(f'"k{i}":0' for i in range(begin, begin + 50_000)) + ("," if begin + 50_000 < count else ""))
        out.write("}}]}")


GOOD = '{"ph":"X","cat":"kernel","name":"good","pid":0,"tid":7,"ts":1000,"dur":10,"args":{"device":0,"stream":7}}'


def kernel(**fields) -> str:
    event = {"ts": "1", "dur": "1", "name": '"k"'} | fields
    return '{"ph":"X","cat":"kernel","pid":0,"tid":7,' + ",".join(f'"{k}":{v}' for k, v in event.items()) + "}"


def events(*rows_of_text: str) -> str:
    return '{"traceEvents": [' + ",".join(rows_of_text) + "]}"


class Case:
    """`words`: how it may be answered, one of these; `judged`: read, with what is wrong counted as a finding."""

    def __init__(self, name: str, make, words: str, part: str = ""):
        self.name, self.make, self.words, self.part = name, make, words.split(), part

# What is no trace at all, or ends at once.
NO_TRACES = [
    Case("nothing", lambda p: p.write_bytes(b""), "empty_upload"),
    Case("gzip of nothing", lambda p: p.write_bytes(gzip.compress(b"")), "empty_upload", "after decompression"),
    Case("random bytes", lambda p: p.write_bytes(b"\x07" + os.urandom(MIB)), "unknown_format"),
    Case("JSON without an event", lambda p: written(p, '{"a": 1}'), "not_a_trace", "its keys: a"),
    Case("no event at all", lambda p: written(p, '{"traceEvents":[]}'), "not_a_trace", "no event that can be read"),
    Case("an object that is no event", lambda p: written(p, '[{"a":1}]'), "not_a_trace"),
    Case("1 M empty objects", lambda p: written(p, '{"traceEvents":[', ("{},", 999_999), "{}]}"), "not_a_trace", "no event that"),
    Case("one event without a time", lambda p: written(p, events(kernel(ts="NaN"))), "malformed_trace", "no event that"),
    Case("JSON without a whole event", lambda p: written(p, '{"traceEvents": [{"ph": "X", "ts'), "malformed_trace", "byte"),
    Case("a report without end", lambda p: written(p, '{"schema": "traceweir.report/1", "x": "', ("y", 64 * MIB)), "bad_body"),
    Case("gzip cut in its first block", lambda p: p.write_bytes(gzip.compress(events(GOOD).encode())[:20]), "malformed_trace"),
]

BOMBS = [
    Case("gzip of zeros", lambda p: bomb(p, "", 0, "head -c 134217728 /dev/zero | gzip"), "unknown_format"),
    Case("zstd of zeros", lambda p: bomb(p, "", 0, "head -c 536870912 /dev/zero | zstd -qc"), "unknown_format"),
    *[Case(f"a bomb in {packer}: {head[:9]}", lambda p, head=head, packer=packer: bomb(p, head, 128, packer), "trace_too_large",
           "inflate_ratio_max")
      for packer in ("gzip -9", "zstd -qc") for head in ('{"a":"', '{"traceEvents":[{"a":"', "SQLite format 3\\0")],
    *[Case(f"a bomb in members of {packer}", lambda p, packer=packer: members(p, '{"a":"', packer, 500), "trace_too_large",
           "inflate_ratio_max") for packer in ("gzip -9", "zstd -qc")],
    *[Case(f"zstd with a window of 2^{log}", lambda p, log=log: zstd_window(p, log), "trace_too_large", "window")
      for log in (26, 27, 31)],
]

DATABASES = [
    Case("no tables of ours", lambda p: database(p, "CREATE TABLE cookies (a);"), "not_a_trace", "cookies"),
    Case("a view without end", lambda p: database(p, STRINGS + "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(i) AS "
                                                  "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS end FROM n;"),
         "malformed_trace", "not a plain table"),
    Case("generated columns of 100 MB", lambda p: database(
        p, STRINGS + f"{KERNEL} (start INTEGER, end INTEGER, streamId AS (hex(zeroblob(50000000))) VIRTUAL);"),
        "malformed_trace", "generated column"),
    Case("a value of 100 MB", lambda p: database(p, STRINGS + "INSERT INTO StringIds VALUES (1, printf('%.*c', 100000000, 'x'));"),
         "malformed_trace", "larger than we read"),
    Case("a trigger", lambda p: database(p, TABLES + "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END;"),
         "malformed_trace", "trigger"),
    *[Case(f"a table of {module}", lambda p, module=module: database(
        p, STRINGS + f"CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_KERNEL USING {module};"), "malformed_trace", "virtual table")
      for module in ("fts3(start, end)", "fts4(start, end)", "fts5(start, end)", "rtree(start, a, end)")],
    Case("a partial index with functions", lambda p: database(
        p, TABLES + rows(10) + "CREATE INDEX i ON StringIds (value) WHERE abs(id) > length(hex(value));"), "judged malformed_trace"),
    Case("a WAL header", lambda p: patched(p, TABLES, lambda d: d.__setitem__(slice(18, 20), b"\x02\x02")), "unsupported_format", "WAL"),
    Case("60,000 tables", lambda p: database(
        p, "CREATE TABLE t (a); PRAGMA writable_schema=ON; INSERT INTO sqlite_master "
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) "
        "SELECT 'table', 't' || i, 't' || i, 2, 'CREATE TABLE t' || i || '(a)' FROM n;"),
         "malformed_trace", "more than 2000"),
    Case("a huge page count", lambda p: patched(p, TABLES, page_count), "malformed_trace", "cut off"),
    Case("a page that is its own child", lambda p: patched(p, TABLES + rows(2000), own_child), "malformed_trace", "damaged"),
    Case("an overflow that names itself", lambda p: patched(
        p, TABLES + "INSERT INTO StringIds VALUES (1, printf('%.*c', 20000, 'x'));", own_overflow), "malformed_trace", "damaged"),
    Case("a view over its own table", lambda p: database(
        p, STRINGS + "CREATE TABLE k (a); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT hex(zeroblob(400000000)) AS start FROM k;"),
         "malformed_trace", "not a plain table"),
    Case("an index on an expression", lambda p: database(
        p, TABLES + rows(10) + "CREATE INDEX i ON StringIds (hex(zeroblob(id * 1000)));"), "judged"),
    Case("a check that costs 200 MB", lambda p: database(
        p, STRINGS + f"{KERNEL} (start INTEGER CHECK (length(hex(zeroblob(100000000))) > 0), end INTEGER);"), "judged"),
    Case("tables without row ids", lambda p: database(
        p, STRINGS + f"{KERNEL} (start INTEGER PRIMARY KEY, end INTEGER, deviceId INTEGER) WITHOUT ROWID;"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0);"), "judged"),
    Case("a table of 402 columns", lambda p: database(
        p, STRINGS + f"{KERNEL} (start INTEGER, end INTEGER, " + ", ".join(f"c{i}" for i in range(400)) + ");"),
         "malformed_trace", "too many columns"),
    Case("a schema row without a root page", lambda p: database(
        p, TABLES + "PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage = 0 WHERE name LIKE 'CUPTI%';"), "malformed_trace"),
    Case("two tables on one page", lambda p: database(
        p, TABLES + rows(10) + "PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage = 2;"), "malformed_trace", "reference to page"),
    Case("a root page behind the end", lambda p: database(
        p, TABLES + rows(10) + "PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage = 4000000000;"), "malformed_trace"),
    Case("SQL that is none in the schema", lambda p: database(
        p, TABLES + "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = 'CREATE TABLE ' || hex(zeroblob(90000));"),
         "malformed_trace"),
    Case("statistics of an enemy", lambda p: database(
        p, TABLES + rows(10) + "CREATE INDEX i ON StringIds (value); ANALYZE; UPDATE sqlite_stat1 SET stat = '-1 1e999 x unordered';"),
         "judged"),
    Case("UTF-16", lambda p: database(p, "PRAGMA encoding='UTF-16'; " + TABLES + rows(10)), "judged"),
    Case("pages of which nothing is left", lambda p: patched(p, TABLES, lambda d: d.__setitem__(20, 255)), "malformed_trace"),
    Case("a page size of 1", lambda p: patched(p, TABLES, lambda d: d.__setitem__(slice(16, 18), b"\0\1")), "malformed_trace"),
    Case("a file format of the future", lambda p: patched(p, TABLES, lambda d: d.__setitem__(slice(18, 20), b"\3\3")),
         "malformed_trace", "unknown file version"),
    Case("a database of which the half is missing", lambda p: patched(p, TABLES + rows(2000), lambda d: d.__delitem__(
        slice(len(d) // 2, None))), "malformed_trace", "cut off"),
]

STATS = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n100.0,5,1,5.0,5.0,5,5,0.0,k"
TEXTS = [
    Case("a name of 10 M commas", lambda p: written(p, STATS, (",", 10_000_000)), "judged"),
    Case("brackets in front of 10 M blanks", lambda p: written(p, STATS, "\n\n", ("[x\n", 1_000_000), (" ", 10_000_000)), "judged"),
    Case("5 M empty tables", lambda p: written(p, STATS, "\n", ("[]\n", 5_000_000)), "malformed_trace", "tables"),
    Case("1 M nested arrays", lambda p: written(p, ("[", 1_000_000)), "malformed_trace", "nested"),
    Case("objects 100k deep", lambda p: written(p, ('{"a":', 100_000), "1", ("}", 100_000)), "malformed_trace", "nested"),
    Case("events 100k deep", lambda p: written(p, '{"traceEvents": [', ('{"a":', 100_000), "1", ("}", 100_000), "]}"),
         "malformed_trace", "nested"),
    Case("a string of 100 MB", lambda p: written(p, events(GOOD)[:-2], ',{"ph":"X","name":"', ("x", 100 * MIB), '"}]}'),
         "judged malformed_trace trace_too_large"),
    Case("a string of 100 MB outside", lambda p: written(p, '{"a":"', ("x", 100 * MIB), '"}'), "not_a_trace"),
    Case("5 M keys", lambda p: keys(p, 5_000_000), "judged malformed_trace trace_too_large not_a_trace"),
    Case("NaN and Infinity", lambda p: written(p, events(kernel(ts="NaN"), kernel(dur="Infinity"), kernel(x="-Infinity"), GOOD)), "judged"),
    Case("numbers beyond every type", lambda p: written(p, events(
        kernel(ts="1e999"), kernel(ts="1" + "0" * 30), kernel(dur="-1" + "0" * 30), kernel(x="1" + "0" * 30), GOOD)), "judged"),
    Case("lone surrogates", lambda p: written(p, events(kernel(name='"\\ud800"'), kernel(name='"\\udc00x"'), GOOD)), "judged"),
    Case("keys twice", lambda p: written(p, events(kernel(ts='5,"ts":6'), GOOD)), "judged"),
    Case("traceEvents a thousand times", lambda p: written(p, "{", ('"traceEvents":[' + GOOD + "],", 1000), '"a":1}'), "judged"),
]

CASES = NO_TRACES + BOMBS + DATABASES + TEXTS
