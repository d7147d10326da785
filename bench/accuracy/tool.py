"""What all topics use: the data's files, quantiles, rows of Markdown, files for the program."""

import atexit
import json
import math
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

import haul

ROOT = Path(__file__).resolve().parents[2]

# A profile's or a table's GPU, by how its name begins: the machine of the catalogue nearest to the
# one that was measured, the same GPU, or one of its time on a link of its generation. A profile
# that does not name its GPU goes by its file's name.
NEAREST = {
    "AMD Instinct MI300X": "mi300x", "GTX-680": "gtx-680", "GTX-750": "gtx-titan",
    "GTX-970": "gtx-titan", "Titan": "gtx-titan", "Tesla-K40": "k40",
    "GeForce GTX 1060": "gtx-1060", "NVIDIA A100-PG509": "a100-pcie4",
    "NVIDIA A100-SXM4-40GB": "a100-sxm4-40gb", "NVIDIA A100": "a100-sxm4", "A100": "a100-sxm4",
    "NVIDIA GeForce RTX 3080": "rtx-3080", "NVIDIA H100": "h100-sxm5", "h100-2gpu": "h100-sxm5",
    "Tesla V100-SXM2": "v100-sxm2", "V100 NVLink2": "v100-nvlink2", "Tesla T4": "t4",
}


def machine_for(gpu):
    """The machine of the catalogue nearest to a measured GPU; None where none is near."""
    return next((machine for start, machine in NEAREST.items() if gpu.startswith(start)), None)


@lru_cache(maxsize=None)
def scratch():
    """A folder for files that the program reads; it goes when this program ends."""
    folder = Path(tempfile.mkdtemp(prefix="haul-accuracy-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@lru_cache(maxsize=None)
def gpu_of(machine):
    """The parameters of a machine's GPU by their keys, values in base units."""
    of = haul.report("machine", "show", machine)["gpu"]
    return {key: value["value"] if isinstance(value, dict) else value for key, value in of.items()}


@lru_cache(maxsize=None)
def profiles(data, *folders):
    """The data's profiles in folders of its traces, by folder and name, without what another tool
    that looked at one may have left beside it: locks, empty or hidden files."""
    return sorted(path for folder in folders for path in (data / "traces" / folder).iterdir()
                  if not path.name.startswith(".") and path.stat().st_size
                  and path.suffix != ".lock")


@lru_cache(maxsize=None)
def run_of(path):
    return haul.read(path)


@lru_cache(maxsize=None)
def projected(path, *options):
    return haul.report("project", path, *options)


@lru_cache(maxsize=None)
def replays(path):
    """The replay of a profile with calls as recorded, and with threads simulated; and the machine of
    the catalogue with its GPU."""
    return haul.report("analyze", path, "--replay")


def read_csv(path, **options):
    return pd.read_csv(path, float_precision="round_trip", **options)


def event(category, name, process, thread, start_ns, duration_ns, args):
    """An event of PyTorch's profiler, whose times are us, as decimals of ns."""
    return {"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread,
            "ts": round(start_ns / 1000, 3), "dur": round(duration_ns / 1000, 3), "args": args}


def copy_name(direction, memory):
    ends = {"H": memory.capitalize(), "D": "Device"}
    return f"Memcpy {direction} ({ends[direction[0]]} -> {ends[direction[-1]]})"


def write_trace(name, events, gpu=None):
    """A trace of PyTorch's profiler; returns its path."""
    file = scratch() / f"{name}.json"
    devices = [{"id": 0, "name": gpu}] if gpu else []
    file.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": devices,
                                "traceEvents": events}))
    return file


def quantile(values, q):
    """By linear interpolation between order statistics (Hyndman and Fan 1996, type 7)."""
    ordered = np.sort(np.asarray(values, float))
    at = q * (len(ordered) - 1)
    below = math.floor(at)
    if below + 1 >= len(ordered):
        return float(ordered[-1])
    return float(ordered[below] + (at - below) * (ordered[below + 1] - ordered[below]))


def median(values):
    return quantile(values, 0.5)


def score(measured, predicted):
    """Sum of |t - predicted| by sum of t, and the median relative error, in percent."""
    measured, predicted = np.asarray(measured, float), np.asarray(predicted, float)
    off = np.abs(measured - predicted)
    return (100 * off.sum() / max(measured.sum(), 1e-9),
            100 * median(off / np.maximum(measured, 1e-9)))


def rows(lines):
    """Rows of a table, each a list of cells; None: the column does not apply."""
    return "\n".join("|" + "".join(" |" if cell is None else f" {cell} |" for cell in line)
                     for line in lines)


def bullets(lines):
    return "\n".join("- " + line for line in lines)


def random_numbers(seed):
    """Knuth's multiplicative generator (MMIX), so that what is drawn is the same everywhere."""
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield seed >> 33


class Board:
    """What all topics have in common: interval scores, and figures for the page that sums up."""

    def __init__(self):
        self.lines = []
        self.facts = {}

    def know(self, **facts):
        """Figures for the page that sums up, as they are printed there."""
        self.facts.update(facts)

    def add(self, name, cases, apart):
        """`cases` has predicted, low and high by measured, in logarithms, a column each; `apart`
        the machine or program of each, of which all cases are left out at once."""
        if len(cases[0]):
            self.lines.append((name, len(cases[0]), held(cases), width(cases), interval_score(cases),
                               constant_score(cases[0]), constant_score_apart(cases[0], apart)))


def logs(seconds, low, high, measured):
    """Cases of Board.add from times."""
    measured = np.asarray(measured, float)
    return tuple(np.log(np.asarray(of, float) / measured) for of in (seconds, low, high))


MISS_WEIGHT = 20  # 2 / (1 - 0.9): half of the intervals that are to miss, to each side


def interval_error(middle):
    return 100 * np.abs(np.exp(middle) - 1).sum() / len(middle)


def interval_score(cases):
    """Gneiting and Raftery (2007), eq. 43, of intervals that are to hold 90 of 100, in the
    logarithm: exp of the mean of log(high / low) plus 20 times the log distance of a miss."""
    _, low, high = cases
    missed = np.maximum(0, low) + np.maximum(0, -high)
    return math.exp((high - low + MISS_WEIGHT * missed).sum() / len(low))


def constant_score_apart(middle, apart):
    """The score of a factor up and down that was chosen with the cases of the other machines or
    programs; not a number where there is one alone."""
    apart, off = np.asarray(apart), np.abs(middle)
    total = 0
    for key in np.unique(apart):
        others = off[apart != key]
        if not len(others):
            return math.nan
        most = quantile(others, 0.9)
        total += (2 * most + MISS_WEIGHT * np.maximum(0, off[apart == key] - most)).sum()
    return math.exp(total / len(off))


def constant_score(middle):
    """The least score of one factor up and down for all cases, chosen with hindsight. It falls with
    the width while more than a tenth of the cases miss."""
    off = np.abs(middle)
    most = quantile(off, 0.9)
    return math.exp((2 * most + MISS_WEIGHT * np.maximum(0, off - most)).sum() / len(off))


def width(cases):
    return math.exp(median(cases[2] - cases[1]))


def held(cases):
    return 100 * ((cases[1] <= 0) & (cases[2] >= 0)).sum() / len(cases[0])
