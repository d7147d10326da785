"""Copies overlapped with kernels: products in tiles, advice, and what followed it."""

import math
import re

import numpy as np

import haul

from .tool import (ROOT, bullets, copy_name, event, median, quantile, read_csv, rows, scratch,
                   write_trace)

# --- products in tiles

# The program that was measured is p-anastas/CoCopeLia_gemm, read at 99ac2b5, whose version is that
# of the log that the data is from. lib/CoCopeLia_Dgemm.cu has its edges (what is left of a dimension
# is a tile of its own above T/2, else the last tile is longer) and the order of its work;
# lib/CoCopeLia_subkernels.cu its three streams; CoCoModel_choose_transfer_mode3 of
# lib/CoCopeLia_Model.cpp when copies back wait.
SCHEDULES = [  # edge_alone, and whether copies back are held where the program holds them
    ("each rest a tile of its own", 0, False),
    ("rests up to half a tile in the last one", 0.5, False),
    ("the same, copies back held where the program holds them", 0.5, True),
]
PUBLISHED = {"CCGrid 2014's forms": "werkhoven_published_s", "CoCoPeLia": "cocopelia_published_s"}


def tiled_runs(data):
    """Measured products with what a tile's copies and product take, and the sums of all tiles."""
    table = read_csv(data / "overlap" / "k40-dgemm-tiled.csv")
    kernels = read_csv(data / "overlap" / "k40-dgemm-kernel.csv")
    copies = read_csv(data / "transfers" / "bidirectional-k40.csv")
    table["kernel_s"] = table["tile"].map(kernels.drop_duplicates("m").set_index("m")["avg_s"])
    for direction, name in (("HtoD", "in"), ("DtoH", "out")):
        of = copies[copies["direction"] == direction].drop_duplicates("bytes").set_index("bytes")
        size = table["tile"] ** 2 * 8
        table[f"{name}_s"] = size.map(of["alone_s"])
        table[f"{name}_busy_s"] = size.map(of["while_opposite_busy_s"])
    m, n, k = (table[side] / table["tile"] for side in "mnk")
    table["all_in_s"] = table["in_s"] * (table["a_on_host"] * m * k + table["b_on_host"] * k * n
                                         + table["c_on_host"] * m * n)
    table["all_out_s"] = table["out_s"] * table["c_on_host"] * m * n
    table["all_kernel_s"] = table["kernel_s"] * m * n * k
    table["waits"] = table["all_kernel_s"] >= table["all_in_s"] + table["all_out_s"]
    return table


def predicted(table, edge_alone, may_wait):
    asked = table[["m", "n", "k", "tile", "kernel_s", "in_s", "in_busy_s", "out_s", "out_busy_s",
                   "a_on_host", "b_on_host", "c_on_host"]]
    asked = asked.assign(edge_alone=edge_alone,
                         out_after_in=(table["waits"] & may_wait).astype(int))
    return haul.answer(asked, "overlap", "--tiles", "product", "--csv", "-")["seconds"].to_numpy()


def error_cells(name, off):
    sizes = np.abs(off)
    worst = off[np.argmax(sizes)]
    return [name, f"{len(off)}", f"{median(sizes):.2f}", f"{quantile(sizes, 0.9):.2f}",
            f"{median(off):+.2f}", f"{worst:+.1f}"]


def groups_of(table):
    """Which runs a row of the table is of, by its name."""
    on_host = table["a_on_host"] + table["b_on_host"]
    has_c, is_square = table["c_on_host"] == 1, table["m"] == table["k"]
    is_even = table["m"] % 32 == 0  # columns of A and C begin at multiples of 256 bytes
    is_let_go = has_c & ~table["waits"]
    is_behind = is_let_go & (table["all_kernel_s"] > table["all_in_s"])
    return {
        "all": table["m"] > 0,
        "m = n = k, C on the device": ~has_c,
        "m = n = k, C on the host": has_c & is_square & (on_host == 0),
        "m = n = k, C and A or B on the host": has_c & is_square & (on_host == 1),
        "m = n = k, all on the host": has_c & is_square & (on_host == 2),
        "k < m = n, all on the host": table["k"] < table["m"],
        "k > m = n, all on the host, m a multiple of 32": (table["k"] > table["m"]) & is_even,
        "k > m = n, all on the host, m not": (table["k"] > table["m"]) & ~is_even,
        "C on the host, copies back held": has_c & table["waits"],
        "C on the host, not held, products take less than copies in": is_let_go & ~is_behind,
        "C on the host, not held, products take longer than copies in": is_behind,
    }


def products(data, board):
    table = tiled_runs(data)
    measured = table["measured_s"].to_numpy()
    offs = {name: 100 * (predicted(table, *how) / measured - 1) for name, *how in SCHEDULES}
    last = offs[SCHEDULES[-1][0]]
    offs.update({name: 100 * (table[column].to_numpy() / measured - 1)
                 for name, column in PUBLISHED.items()})
    board.know(tiles_median=f"{median(np.abs(last)):.1f}",
               tiles_p90=f"{quantile(np.abs(last), 0.9):.1f}")
    lines = []
    for name, off in offs.items():
        is_reached = median(np.abs(off)) <= 1.4 and quantile(np.abs(off), 0.9) <= 7
        lines.append([*error_cells(name, off), "yes" if is_reached else "**no**"])
    groups = groups_of(table)
    sums = table[["all_in_s", "all_kernel_s", "all_out_s"]]
    full_s, none_s = sums.max(axis=1), sums.sum(axis=1)
    behind = list(groups.values())[-1]
    in_a_row = (table["all_kernel_s"] + table["all_out_s"])[behind] / table["measured_s"][behind]
    return {"schedules": rows(lines),
            "groups": rows(error_cells(name, last[of.to_numpy()]) for name, of in groups.items()),
            "below": (table["measured_s"] < full_s).sum(), "count": len(table),
            "lowest": f"{100 * (1 - (table['measured_s'] / full_s).min()):.1f}",
            "above": (table["measured_s"] > none_s).sum(),
            "hardly": f"{median(100 * (in_a_row - 1)):.1f}"}


# --- advice


def serial_runs(data):
    """Products that copy something, one after the other, with the best of the same products with
    copies overlapped."""
    key = ["m", "n", "k", "a_on_host", "b_on_host", "c_on_host"]
    serial = read_csv(data / "overlap" / "k40-dgemm-serial.csv")
    tiled = read_csv(data / "overlap" / "k40-dgemm-tiled.csv")
    best = tiled.loc[tiled.groupby(key)["measured_s"].idxmin(), [*key, "tile", "measured_s"]]
    serial = serial[serial[["a_on_host", "b_on_host", "c_on_host"]].sum(axis=1) > 0]
    return serial.reset_index().merge(best, on=key).sort_values("index", kind="stable")


def busy_machine(data):
    """The K40 of the catalogue with what its copies keep of their rate while the other direction is
    busy, the median over sizes."""
    measured = read_csv(data / "transfers" / "bidirectional-k40.csv")
    share = (measured["alone_s"] / measured["while_opposite_busy_s"]).clip(upper=1)
    text = (ROOT / "machines" / "k40.yaml").read_text()
    for curve in haul.report("machine", "show", "k40")["copies"]:
        direction, memory = curve["direction"], curve["memory"]
        if memory == "pinned" and direction in ("HtoD", "DtoH"):
            rate = curve["rate_Bps"]["value"] * median(share[measured["direction"] == direction])
            text = re.sub(rf"(- direction: {direction}\n    memory: pinned\n(?:    .*\n)*?)"
                          r"    busy_rate:\n(?:      .*\n)*",
                          rf"\1    busy_rate: {{value: {rate!r} B/s, from: published}}\n", text)
    file = scratch() / "k40-busy.yaml"
    file.write_text(text)
    return file


def profile_of(run):
    """The run as a trace of PyTorch's profiler: blocking copies of pinned memory and a kernel on one
    stream, which takes what the copies leave of the total; calls take no time but that for which
    they wait."""
    elements = [run.m * run.k, run.k * run.n, run.m * run.n]
    on_host = [run.a_on_host, run.b_on_host, run.c_on_host]
    total = sum(here * size for here, size in zip(on_host, elements))
    work = [("HtoD", size, run.send_s * size / total) for here, size in zip(on_host, elements)
            if here]
    work.append((None, 0, run.total_s - run.send_s - run.get_s))
    if run.c_on_host:
        work.append(("DtoH", elements[2], run.get_s))
    events, host_ns, device_ns = [], 0, 0
    for number, (direction, size, seconds) in enumerate(work, 1):
        taken_ns = math.floor(1e9 * seconds + 0.5)
        name = copy_name(direction, "pinned") if direction else "product"
        args = {"device": 0, "stream": 7, "correlation": number}
        if direction:
            args["bytes"] = 8 * size
        events.append(event("gpu_memcpy" if direction else "kernel", name, 0, 7, device_ns, taken_ns,
                            args))
        device_ns += taken_ns
        returned_ns = device_ns if direction else host_ns
        events.append(event("cuda_runtime", "cudaMemcpy" if direction else "cudaLaunchKernel", 1, 1,
                            host_ns, returned_ns - host_ns, {"correlation": number}))
        host_ns = returned_ns
    return write_trace("serial", events)


def advice(data, board):
    machine, lines, offs, gains = busy_machine(data), [], [], []
    for run in serial_runs(data).itertuples():
        made = haul.report("advise", profile_of(run), "--from", machine)
        after_s = made["run_s"] - made["together"]["saved_s"]
        change = next((of["change"] for of in made["advice"]
                       if not of["apart"] and of["certainty"] != "speculative"), "none")
        offs.append(100 * (after_s / run.measured_s - 1))
        gains.append(run.total_s / run.measured_s)
        on_host = "".join(name for name, here in zip(
            "ABC", (run.a_on_host, run.b_on_host, run.c_on_host)) if here)
        lines.append([f"{run.m} x {run.n} x {run.k}", on_host, f"{run.total_s:.4f}", change,
                      f"{after_s:.4f}", f"{run.measured_s:.4f}", f"{run.tile}", f"{offs[-1]:+.1f}"])
    sizes = np.abs(offs)
    board.know(advice_median=f"{median(offs):+.1f}",
               advice_worst=f"{offs[int(np.argmax(sizes))]:+.0f}")
    return {"products": rows(lines), "summary": bullets([
        f"{len(offs)} products; overlap gained {min(gains):.2f} to {max(gains):.2f} times, "
        f"{median(gains):.2f} at the median.",
        f"The run after the change: median error {median(offs):+.1f} %, |error| {median(sizes):.1f} "
        f"at the median, {quantile(sizes, 0.9):.1f} at the 90th percentile, {max(sizes):.1f} at "
        "worst."])}


# --- figures of programs that ran: not made from public measurements

# Advice followed by hand: a run of bench/advice_followed on two cores of a Xeon (Skylake) with PoCL
# 3.1, 22 November 2026. A picture's side; plain and overlapped, ms; percent of the run: predicted,
# least and most of seven recordings, measured, and with the kernels' time of the second way in both,
# with the least and most of 16 rounds.
FOLLOWED = [
    (1024, 385.9, 265.1, 25.2, 22.8, 26.4, 28.9, 23.7, 15.1, 34.9),
    (2048, 795.2, 513.8, 23.1, 22.1, 24.6, 35.2, 21.6, 17.3, 24.8),
    (4096, 1264, 972.4, 21.1, 20.4, 21.8, 22.9, 16.8, 13.4, 18.0),
]

# Plans of tiles: two runs of bench/plans_followed on two cores of an EPYC (Zen 5) with PoCL 3.1, 29
# November 2026. Predicted, recorded and by the program's clock, ms.
PLANS = [
    ("128^3, 96, all", 72.4, 74.5, 75.2), ("128^3, 96, 12 MB", 97.6, 119.7, 120.5),
    ("192^3, 64, 40 MB", 250.6, 271.6, 273.2), ("128^3, 96, all", 72.6, 75.4, 76.2),
    ("128^3, 96, 12 MB", 88.7, 119.1, 120.4), ("192^3, 64, 40 MB", 190.4, 259.5, 261.1),
]


def followed(_data, _board):
    lines, within, within_alike = [], 0, 0
    for side, plain, overlapped, saving, least, most, measured, alike, *rounds in FOLLOWED:
        off, off_alike = 100 * (saving / measured - 1), 100 * (saving / alike - 1)
        within += abs(off) <= 20
        within_alike += abs(off_alike) <= 20
        lines.append([f"{side} x {side}", f"{plain:.1f}", f"{overlapped:.1f}", "stream",
                      f"{saving:.1f}", f"{least:.1f} to {most:.1f}", f"{measured:.1f}",
                      f"{off:+.1f}", f"{alike:.1f}", f"{rounds[0]:.1f} to {rounds[1]:.1f}",
                      f"{off_alike:+.1f}"])
    return {"pictures": rows(lines), "within": within, "within_alike": within_alike,
            "count": len(lines)}


def plans(_data, _board):
    return {"programs": rows(
        [program, f"{predicted_ms:.1f}", f"{recorded_ms:.1f}", f"{took_ms:.1f}",
         f"{100 * (predicted_ms / recorded_ms - 1):+.1f} %"]
        for program, predicted_ms, recorded_ms, took_ms in PLANS)}
