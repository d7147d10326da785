#!/usr/bin/env python3
"""Counts, bytes and nanoseconds of Kineto traces, by Python's own JSON: the figures that
tests/unit/test_kineto_data.c keeps. usage: kineto_figures.py FILE.json.gz..."""
import collections
import gzip
import json
import os
import re
import sys
from decimal import Decimal


def nanoseconds(value):
    return int((Decimal(value) * 1000).to_integral_value(rounding="ROUND_HALF_UP"))


def group_of(event):
    category = event.get("cat")
    if category == "gpu_memcpy":
        found = re.match(r"Memcpy (\w+) \((.+) -> (.+)\)", event["name"])
        direction, source, target = found.groups()
        memory = {"HtoD": source, "DtoH": target}.get(direction, "Device")
        return f"{direction} {memory.lower()}"
    return {"kernel": "kernels", "gpu_memset": "memsets", "cuda_runtime": "calls",
            "cuda_driver": "calls", "user_annotation": "ranges"}.get(category)


for path in sys.argv[1:]:
    with gzip.open(path) as stream:
        trace = json.load(stream, parse_float=Decimal)
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    # roctracer's older traces leave a copy's bytes to its call
    sizes = {event["args"].get("correlation"): int(event["args"]["size"])
             for event in events if "size" in event.get("args", {})}
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for event in events:
        group = group_of(event)
        if group:
            row = sums[group]
            row[0] += 1
            args = event["args"]
            if group not in ("calls", "ranges", "kernels"):
                row[1] += args["bytes"] if "bytes" in args else sizes[args["correlation"]]
            row[2] += nanoseconds(event["dur"])
    for group in sorted(sums):
        count, size, time = sums[group]
        print(f'{{"{os.path.basename(path)}", "{group}", {count}, {size}, {time}}},')
