"""Times PyTorch's operators in fp32 of the sizes in a CSV of op,b,m,n,k,h (n is the inner size of products), as the rows of
docs/measured/h100-operators.csv.gz: the longest kernel of an operator, the median of three runs, by PyTorch's profiler.

usage: h100_operators.py SIZES.csv OUT.csv
"""
import bisect
import collections
import csv
import json
import sys

import torch
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile, record_function

torch.backends.cuda.matmul.allow_tf32 = False
UNARY = {"addu": lambda x: x + 1.5, "divu": lambda x: x / 1.5, "mulu": lambda x: x * 1.5, "powu": lambda x: x**3,
         "gelu": F.gelu, "relu": F.relu, "tanh": torch.tanh}
BINARY = {"add": torch.add, "div": torch.div, "mul": torch.mul, "pow": torch.pow}
AT_ONCE = 150


def made(op, b, m, n, k, h):
    rand = lambda *sides: torch.rand(*sides, device="cuda")
    if op == "linear":
        x, weight, bias = rand(m, n) if b == 1 else rand(b, m, n), rand(k, n), rand(k)
        return lambda: F.linear(x, weight, bias)
    if op == "bmm":
        x, y = rand(b, m, n), rand(b, n, k)
        return lambda: torch.bmm(x, y)
    x = rand(b, h)
    if op == "softmax":
        return lambda: torch.softmax(x, -1)
    if op == "ln":
        weight, bias = rand(h), rand(h)
        return lambda: F.layer_norm(x, (h,), weight, bias)
    if op in UNARY:
        return lambda: UNARY[op](x)
    y = rand(b, h)
    return lambda: BINARY[op](x, y)


def longest(rows):
    """The longest kernel of each run of each operator, by its number."""
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as of:
        for i, row in enumerate(rows):
            run = made(row[0], *(int(x) if x else 0 for x in row[1:6]))
            run()
            torch.cuda.synchronize()
            for _ in range(3):
                with record_function(f"op{i}"):
                    run()
            torch.cuda.synchronize()
    of.export_chrome_trace("/tmp/operators.json")
    with open("/tmp/operators.json") as file:
        events = json.load(file)["traceEvents"]
    kernels = sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])
    starts = [e["ts"] for e in kernels]
    found = collections.defaultdict(list)
    for e in events:
        if e.get("cat") == "gpu_user_annotation" and e["name"].startswith("op"):
            within = kernels[bisect.bisect_left(starts, e["ts"] - 0.01):bisect.bisect_right(starts, e["ts"] + e["dur"])]
            if within:
                found[int(e["name"][2:])].append(max(within, key=lambda k: k["dur"]))
    return found


rows = list(csv.reader(open(sys.argv[1])))
out = csv.writer(open(sys.argv[2], "w"))
out.writerow("gpu,op,b,m,n,k,h,kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z,seconds".split(","))
for at in range(0, len(rows), AT_ONCE):
    part = rows[at:at + AT_ONCE]
    for i, runs in sorted(longest(part).items()):
        kernel = sorted(runs, key=lambda k: k["dur"])[len(runs) // 2]
        out.writerow([torch.cuda.get_device_name(), *part[i][:6], kernel["name"], *kernel["args"]["grid"],
                      *kernel["args"]["block"], "%.9g" % (kernel["dur"] * 1e-6)])
    torch.cuda.empty_cache()
