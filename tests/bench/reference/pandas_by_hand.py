#!/usr/bin/env python3
"""R5: the same by hand of an Nsight Systems export, with pandas: read_sql, a union by numpy, a groupby."""
import json
import sqlite3
import sys

import numpy
import pandas


def union(begin, end):
    order = numpy.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    until = numpy.maximum.accumulate(end)
    before = numpy.concatenate(([begin[0]], until[:-1]))
    return int(numpy.maximum(0, end - numpy.maximum(begin, before)).sum())


def main(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    kernels = pandas.read_sql(
        "SELECT k.start, k.end, k.deviceId, k.streamId, s.value AS name FROM CUPTI_ACTIVITY_KIND_KERNEL k "
        "JOIN StringIds s ON s.id = k.demangledName", database)
    copies = pandas.read_sql("SELECT start, end, deviceId, bytes, copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY", database)
    kernels["dur"] = kernels["end"] - kernels["start"]
    is_comm = kernels["name"].str.contains("nccl", case=False)
    result = {}
    for device, mine in kernels.groupby("deviceId"):
        comm = is_comm[mine.index]
        parts = {"compute_ns": mine[~comm], "comm_ns": mine[comm],
                 "busy_ns": pandas.concat([mine, copies[copies["deviceId"] == device]])}
        result[str(device)] = {word: union(rows["start"].to_numpy(), rows["end"].to_numpy())
                               for word, rows in parts.items() if len(rows)}
    top = kernels.groupby("name")["dur"].agg(["count", "sum", "median", "max"]).sort_values("sum", ascending=False)
    print(json.dumps({"kernels": len(kernels), "kernel_ns": int(kernels["dur"].sum()), "devices": result,
                      "top": int(top["count"].head(10).sum())}))


if __name__ == "__main__":
    main(sys.argv[1])
