#!/usr/bin/env python3
"""The peers of bench_kineto on the same trace, each in a process of its own: time and peak memory.

Python's json parses it; HolisticTraceAnalysis (pip install HolisticTraceAnalysis, or traceinsight, as
it is named since 0.6: both are the module hta), where it is installed, answers haul analyze's question,
time by kind; haul answers it too.

usage: kineto_peers.py HAUL TRACE.json[.gz]
"""
import os
import shutil
import subprocess
import sys
import tempfile

JSON = """
import gzip, json, sys
with (gzip.open if sys.argv[1].endswith('.gz') else open)(sys.argv[1]) as stream:
    json.load(stream)
"""
HTA = """
import sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_dir=sys.argv[2])
analysis.get_temporal_breakdown(visualize=False)
analysis.get_gpu_kernel_breakdown(visualize=False)
"""


def took(name, command):
    before = os.times()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    words = child.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(child.pid, 0)
    after = os.times()
    if status:
        print(f"{name:28} failed: {words.strip().splitlines()[-1:]}")
        return
    print(f"{name:28} {after.elapsed - before.elapsed:7.1f} s  cpu {usage.ru_utime + usage.ru_stime:7.1f} s  "
          f"peak {usage.ru_maxrss / 1000:8.0f} MB", flush=True)


def main():
    haul, trace = sys.argv[1:3]
    took("haul analyze", [haul, "analyze", trace])
    took("Python's json", [sys.executable, "-c", JSON, trace])
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(trace, folder)
        took("HolisticTraceAnalysis", [sys.executable, "-c", HTA, trace, folder])


main()
