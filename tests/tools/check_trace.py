#!/usr/bin/env python3
"""Holds a trace against Chrome's Trace Event Format, and what Perfetto makes of it: slices of one
thread that overlap without one inside the other are dropped there, as are arrows whose end is in no
slice. usage: check_trace.py TRACE.json"""

import bisect
import json
import sys
from decimal import Decimal

REQUIRED = {
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "M": {"name", "pid", "args"},
    "s": {"name", "cat", "id", "pid", "tid", "ts"},
    "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"},
    "i": {"name", "s", "pid", "tid", "ts"},
}


def ns(us):
    value = us * 1000
    assert value == int(value) and value >= 0, us
    return int(value)


def check_slices(events):
    rows = {}
    for event in events:
        start = ns(event["ts"])
        rows.setdefault((event["pid"], event["tid"]), []).append((start, start + ns(event["dur"])))
    for row in rows.values():
        row.sort()
        assert all(a[1] <= b[0] for a, b in zip(row, row[1:])), "slices overlap"
    return rows


def inside(rows, event):
    row = rows[(event["pid"], event["tid"])]
    at = ns(event["ts"])
    found = bisect.bisect_right(row, (at, 1 << 63)) - 1
    return found >= 0 and row[found][0] <= at and (at < row[found][1] or row[found][0] == at)


def check_arrows(rows, begins, ends):
    by_id = {event["id"]: event for event in begins}
    assert len(by_id) == len(begins) == len(ends), "arrows without a partner"
    for end in ends:
        begin = by_id[end["id"]]
        assert (begin["name"], begin["cat"]) == (end["name"], end["cat"])
        assert ns(begin["ts"]) <= ns(end["ts"]), "an arrow back in time"
        assert inside(rows, begin) and inside(rows, end), "an arrow's end in no slice"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file, parse_float=Decimal)
    assert set(trace) == {"displayTimeUnit", "otherData", "traceEvents"}
    by_phase = {phase: [] for phase in REQUIRED}
    for event in trace["traceEvents"]:
        assert REQUIRED[event["ph"]] <= set(event), event
        by_phase[event["ph"]].append(event)
    rows = check_slices(by_phase["X"])
    check_arrows(rows, by_phase["s"], by_phase["f"])
    names = {
        what: {event["pid" if what == "process_name" else "tid"]
               for event in by_phase["M"] if event["name"] == what}
        for what in ("process_name", "thread_name")
    }
    assert names["process_name"] == {pid for pid, _ in rows}, "processes without a name"
    assert names["thread_name"] == {tid for _, tid in rows}, "threads without a name"
    merged = [event for event in by_phase["X"] if event["cat"] == "merged"]
    together = sum(int(event["name"].split()[0]) for event in merged)
    print(f"{len(rows)} threads, {len(by_phase['X'])} slices, {together} operations in "
          f"{len(merged)} of them, {len(by_phase['f'])} arrows")


main()
