#!/usr/bin/env python3
"""R1: what a person writes to look at a trace: json.load, a loop, a union of intervals. Prints one line of JSON."""
import gzip
import json
import sys
from collections import defaultdict


def union(intervals):
    total = 0
    until = float("-inf")
    for begin, end in sorted(intervals):
        if end > until:
            total += end - max(begin, until)
            until = end
    return total


def main(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")) as file:
        events = json.load(file)["traceEvents"]
    busy, compute, comm = defaultdict(list), defaultdict(list), defaultdict(list)
    names = defaultdict(lambda: [0, 0.0])
    kernels = 0
    for event in events:
        category = event.get("cat")
        if category not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        begin, time = float(event["ts"]), float(event["dur"])
        device = event["args"].get("device", event["pid"])
        busy[device].append((begin, begin + time))
        if category != "kernel":
            continue
        kernels += 1
        name = event["name"]
        names[name][0] += 1
        names[name][1] += time
        (comm if "nccl" in name.lower() else compute)[device].append((begin, begin + time))
    result = {device: {"busy_us": union(busy[device]), "compute_us": union(compute[device]),
                       "comm_us": union(comm[device]),
                       "both_us": union(compute[device]) + union(comm[device]) - union(compute[device] + comm[device])}
              for device in busy}
    top = sorted(names.items(), key=lambda item: -item[1][1])[:10]
    print(json.dumps({"kernels": kernels, "events": len(events), "devices": result,
                      "top": [[name[:40], count] for name, (count, _) in top]}))


if __name__ == "__main__":
    main(sys.argv[1])
