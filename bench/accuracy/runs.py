"""Whole runs: replays of profiles, projections onto machines that ran them too, gaps of kernels."""

import numpy as np

from . import operators
from .tool import bullets, gpu_of, logs, profiles, quantile, replays, rows, run_of

NONE = 0xFFFFFFFF

# --- from one kernel to the next

QUEUED_NS = 10000  # a call that returned so long before has surely put its kernel in the queue
LEAST_PAIRS = 20


def gaps_us(arrays, of_kernels):
    """The time between two operations in a row of one stream where the second was queued: of
    kernels, or where one is a memset or a copy within the GPU."""
    ops, kernel = arrays["ops"], kind_of(arrays, "kernel")
    directions = [text_of(arrays, text) for text in arrays["directions"]]
    in_memory = (ops["kind"] == kind_of(arrays, "memset")) | (
        (ops["kind"] == kind_of(arrays, "copy")) & (ops["direction"] == directions.index("DtoD")))
    inside = in_memory | (ops["kind"] == kernel)
    later = np.flatnonzero(inside & (ops["stream_prev"] != NONE) & (ops["thread"] != NONE))
    before = ops["stream_prev"][later]
    are_kernels = ~in_memory[before] & ~in_memory[later]
    is_asked = inside[before] & (are_kernels == of_kernels)
    before, later = ops[before], ops[later]
    end_ns = before["start_ns"] + before["dur_ns"]
    gap_us = 1e-3 * (later["start_ns"] - end_ns)
    is_queued = later["call_ns"] + later["call_dur_ns"] + QUEUED_NS <= end_ns
    return gap_us[is_queued & is_asked & (gap_us >= 0)]


def kind_of(arrays, name):
    words = [text_of(arrays, text) for text in arrays["kinds"]]
    return words.index(name)


def text_of(arrays, text):
    text, ends = int(text), arrays["string_ends"]
    begin = int(ends[text - 1]) if text else 0
    return arrays["string_bytes"][begin:int(ends[text])].tobytes().decode("utf-8", "replace")


def run_us(arrays):
    ops = arrays["ops"]
    return 1e-3 * ((ops["start_ns"] + ops["dur_ns"]).max() - ops["start_ns"].min())


def gpu_cells(path, key):
    """The GPU, and what the machine file of the catalogue says of it."""
    machine = replays(path)["machine"]
    if not machine:
        return ["", None]
    gap_s = gpu_of(machine).get(key)
    return [gpu_of(machine)["name"], f"{1e6 * gap_s:.2f}" if gap_s else None]


def gap_lines(data, of_kernels):
    lines = []
    for path in profiles(data, "nsys", "nvprof") + profiles(data, "kineto"):
        run = run_of(path)
        found = gaps_us(run.arrays, of_kernels)
        if len(found) < LEAST_PAIRS:
            continue
        middle = quantile(found, 0.5)
        lines.append([path.name, *gpu_cells(path, "kernel_gap_s" if of_kernels else "memory_gap_s"),
                      f"{len(found)}",
                      f"{quantile(found, 0.1):.2f}", f"{middle:.2f}", f"{quantile(found, 0.9):.2f}",
                      f"{100 * middle * len(found) / run_us(run.arrays):.1f} %"])
    return rows(lines)


def gaps(data, _board):
    return {"profiles": gap_lines(data, True), "memory": gap_lines(data, False)}


# --- replays

CALLS = {"recorded": "recorded calls", "simulated": "simulated threads"}
GOAL = 1  # percent

# Why a replay misses, found by looking at the profile; names begin so.
CAUSES = {
    "gtx1060-concurrent":
        "Recorded on Windows, whose driver (WDDM) hands work over in batches that do not overlap: "
        "before the first wait a copy back waits, its engine idle, until the next stream's kernel has "
        "ended too, and copies of one direction never start in another order than that of their calls "
        "(on a T4 under Linux they do). Where a batch ends is the driver's secret, so neither is "
        "modelled",
}


def cause_of(name):
    return next((cause for start, cause in CAUSES.items() if name.startswith(start)),
                "The cause is not known")


def replay_table(paths):
    """Rows of a table, and what they say."""
    lines, notes, errors = [], [], {calls: [] for calls in CALLS}
    for path in paths:
        for of in replays(path)["replays"]:
            calls = CALLS[of["calls"]]
            errors[of["calls"]].append(abs(of["error"]))
            lines.append([path.name, calls, f"{of['operations']}", f"{of['uncalled']}",
                          f"{1e3 * of['recorded_s']:.3f}", f"{1e3 * of['makespan_s']:.3f}",
                          f"{of['error']:+.3f}", *(f"{1e6 * of[f'start_{part}_s']:.1f}"
                                                   for part in ("median", "p90", "worst"))])
            if abs(of["error"]) > GOAL:
                notes.append(
                    f"{path.name}, {calls}, misses by "
                    f"{1e3 * abs(of['makespan_s'] - of['recorded_s']):.3f} ms: half of its starts "
                    f"are off by {1e3 * of['start_median_s']:.3f} ms or more, so what comes too "
                    f"early once goes on to the end. {cause_of(path.name)}.")
    verdicts = [f"With {CALLS[calls]}: {sum(error <= GOAL for error in of)} of {len(of)} profiles "
                f"within {GOAL} %; the worst is {max(of):.2f} % off." for calls, of in errors.items()]
    return rows(lines), bullets(verdicts + notes)


# as `haul` judges it: a replay this much off is refused, not used
SOUND = 10
WELL = 5


def sound_replays(data, board):
    """Over every profile of the data: how many are sound, and how many of those replay well."""
    rocm = data / "traces" / "rocpd"
    paths = profiles(data, "nsys", "nvprof", "kineto") + [
        rocm / "matmul-v2.rpd", rocm / "rocprofv3-csv" / "kernel_trace.csv"]
    made = [replays(path)["replays"] for path in paths]
    # with threads, where the profile has calls of the devices' work
    errors = [abs(of[of[0]["uncalled"] < of[0]["operations"]]["error"]) for of in made]
    sound = [error for error in errors if error <= SOUND]
    board.know(replays_all=str(len(errors)), replays_sound=str(len(sound)),
               replays_well=str(sum(error <= WELL for error in sound)))


def timeline(data, board):
    sound_replays(data, board)
    for calls in CALLS:
        worst = max(abs(of["error"]) for path in profiles(data, "nsys", "nvprof", "kineto")
                    for of in replays(path)["replays"] if of["calls"] == calls)
        board.know(**{f"replay_{calls}": f"{worst:.1f}"})
    table, verdict = replay_table(profiles(data, "nsys", "nvprof"))
    kineto, kineto_verdict = replay_table(profiles(data, "kineto"))
    return {"profiles": table, "verdict": verdict, "kineto": kineto,
            "kineto_verdict": kineto_verdict}


# --- projections


def off_percent(predicted, reference):
    return 100 * (predicted / reference - 1)


def runs(data, board):
    lines, parts, cases, programs = [], [], [], []
    kineto = data / "traces" / "kineto"
    for trace, reference, source, target, _, is_tf32 in operators.TRACES:
        run = operators.project_trace(data, trace, reference, source, target, is_tf32)["run"]
        recorded, made, there = (run[part] for part in ("recorded", "target", "reference"))
        truth_s, (low_s, high_s) = there["makespan_s"], run["interval_s"]
        if not is_tf32:  # what no profile tells is no prediction from it
            cases.append((made["makespan_s"], low_s, high_s, truth_s))
            programs.append(trace.split("-")[0])
        trace_name = f"{trace}, with --tf32" if is_tf32 else trace
        replayed = [replays(kineto / f"{name}.json.gz")["replays"][1] for name in (trace, reference)]
        outside = "" if low_s <= truth_s <= high_s else ", outside"
        lines.append([
            trace_name, target, f"{replayed[0]['operations']} / {replayed[1]['operations']}",
            f"{run['replay']['error']:+.2f}", f"{1e3 * recorded['makespan_s']:.1f}",
            f"{1e3 * made['makespan_s']:.1f} ({1e3 * low_s:.1f} to {1e3 * high_s:.1f})",
            f"{1e3 * truth_s:.1f}", f"{off_percent(made['makespan_s'], truth_s):+.1f}{outside}",
            f"{off_percent(recorded['makespan_s'], truth_s):+.1f}"])
        cells = [trace_name, target]
        for part in (lambda of: of["makespan_s"] - of["host_alone_s"],
                     lambda of: of["host_alone_s"]):
            times = [part(of) for of in (recorded, made, there)]
            cells += [*(f"{1e3 * time:.1f}" for time in times), f"{off_percent(*times[1:]):+.1f}"]
        parts.append(cells)
    off = [off_percent(made_s, truth_s) for made_s, _, _, truth_s in cases]
    board.know(runs_errors=", ".join(f"{of:+.0f}" for of in off))
    board.add("makespans", logs(*(np.array(column) for column in zip(*cases))), programs)
    return {"runs": rows(lines), "parts": rows(parts)}
