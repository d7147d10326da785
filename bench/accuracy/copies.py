"""Copies: curves, the self-check of profiles, machines of the catalogue."""

import math
from functools import lru_cache

import numpy as np
import pandas as pd

import haul

from .tool import (MISS_WEIGHT, bullets, copy_name, event, gpu_of, interval_score, logs, machine_for,
                   median, profiles, projected, quantile, read_csv, rows, run_of, score, scratch,
                   write_trace)

LEAST_ROWS = 8
KEY = ["gpu", "node", "direction", "host_memory"]


@lru_cache(maxsize=None)
def measured_copies(data):
    """Rows of transfers.csv, in the order of the file, by group in the order in which groups first
    occur. SCOPE's benchmarks of an AC922 name the NUMA node and the GPU: GPU 2 hangs on the other
    socket. Those rows are a second time in a group of both nodes."""
    table = read_csv(data / "transfers" / "transfers.csv", keep_default_na=False)
    place = table["source"].str.extract(r"#([^#]*)$")[0]
    table["node"] = place.map({"0/0": "near", "0/2": "far"}).fillna("")
    table["bytes"] = table["bytes"].astype("int64")
    table["seconds"] = table["median_us"] * 1e-6
    table["range"] = (100 * (table["max_us"] - table["min_us"]) / table["median_us"]).where(
        table["n"] > 1)
    table["order"] = 2 * np.arange(len(table))
    both = table[table["node"] != ""].assign(node="both")
    both["order"] += 1
    return pd.concat([table, both]).sort_values("order", kind="stable")


def groups_of(table):
    return list(table.groupby(KEY, sort=False))


def name_of(key):
    gpu, node, direction, memory = key
    return (f"{gpu}, {node}" if node else gpu), f"{direction} {memory}"


# --- curves fitted to half of the rows


class Curve:
    """A line or a curve of `haul machine fit`."""

    def __init__(self, fit):
        self.points = [(point["bytes"], point["time_s"]) for point in fit.get("points", [])]
        self.latency_s, self.rate_Bps = fit.get("latency_s", 0), fit.get("rate_Bps")

    def seconds(self, size):
        """The time of a size; outside the points a piece that falls is not followed."""
        points = self.points
        if not points:
            return self.latency_s + size / self.rate_Bps
        if len(points) == 1:
            beyond = size > points[0][0] > 0
            return points[0][1] * (size / points[0][0] if beyond else 1)
        right = 1
        while right + 1 < len(points) and size > points[right][0]:
            right += 1
        (a, a_s), (b, b_s) = points[right - 1], points[right]
        rise = (b_s - a_s) / (b - a) if b > a else 0
        if size < a or size > b:
            rise = max(rise, 0)
        start, start_s = (b, b_s) if size > b else (a, a_s)
        return max(start_s + rise * (size - start), 0)


def fit(table):
    """Fits of copies by direction and memory: of each the fits by name."""
    file = scratch() / "copies.csv"
    table[["direction", "host_memory", "bytes", "seconds"]].to_csv(file, index=False)
    made = haul.report("machine", "fit", file, "-o", scratch() / "fitted.yaml")
    return {(group["direction"], group["memory"]):
            {of["fit"]: of for of in group["fits"]} for group in made["groups"]}


def miss(errors):
    return median(errors), quantile(errors, 0.9)


def errors_of(tested, seconds):
    predicted = np.array([seconds(size) for size in tested["bytes"].tolist()])
    times = tested["seconds"].to_numpy()
    return 100 * np.abs(predicted - times) / times


def interpolation(fitted):
    """Straight between the medians of all fitted sizes."""
    sizes = fitted.groupby("bytes").seconds.median()
    points = [{"bytes": size, "time_s": time} for size, time in sizes.items()]

    def seconds(size):
        right = 1
        if len(points) == 1:
            return points[0]["time_s"]
        while right + 1 < len(points) and size > points[right]["bytes"]:
            right += 1
        a, b = points[right - 1], points[right]
        share = (size - a["bytes"]) / (b["bytes"] - a["bytes"])
        return a["time_s"] + share * (b["time_s"] - a["time_s"])

    return seconds


def try_halves(table):
    """Rows 1, 3, 5 ... of each group are fitted, rows 2, 4, 6 ... tested."""
    trials = {}
    halves = {key: (group.iloc[::2], group.iloc[1::2]) for key, group in groups_of(table)}
    for place in dict.fromkeys(key[:2] for key in halves):
        fits = fit(pd.concat([half[0] for key, half in halves.items() if key[:2] == place]))
        for key, (fitted, tested) in halves.items():
            if key[:2] != place:
                continue
            of = fits[key[2:]]
            curve = errors_of(tested, Curve(of["curve"]).seconds)
            trials[key] = {
                "line": miss(errors_of(tested, Curve(of["weighted line"]).seconds)),
                "curve": miss(curve), "errors": curve,
                "interpolated": miss(errors_of(tested, interpolation(fitted))),
                "outside": int(((tested["bytes"] < fitted["bytes"].min())
                                | (tested["bytes"] > fitted["bytes"].max())).sum())}
    return trials


def spread(ordered, share):
    """Of rows whose sizes differ by at most `share`, about their median; None where none do."""
    sizes, times = ordered["bytes"].to_numpy(), ordered["seconds"].to_numpy()
    errors, i = [], 0
    while i < len(sizes):
        end = i + 1
        while end < len(sizes) and sizes[end] <= sizes[i] * (1 + share):
            end += 1
        if end - i > 1:
            middle = median(times[i:end])
            errors.extend(100 * np.abs(times[i:end] - middle) / middle)
        i = end
    return miss(errors) if errors else None


def cause(key, group, trial, goal):
    """Why a group misses, from its numbers."""
    ordered = group.sort_values(["bytes", "seconds"])
    half_tick = 100 * 0.5e-6 / median(group["seconds"])
    tested = len(group) // 2
    # the median of an even number of copies may have half of a tick
    is_coarse = all(abs(math.remainder(time, 0.5e-6)) <= 1e-9 for time in group["seconds"])
    programs = int((group["source"] != group["source"].shift()).sum())
    equal, near = spread(ordered, 0), spread(ordered, 0.01)
    ranges = group["range"].dropna()
    wide = median(ranges) if len(ranges) else 0
    sizes = np.unique(group["bytes"])
    steps = (sizes[1:] / np.maximum(sizes[:-1], 1))[sizes[:-1] > 0]
    step = median(steps) if len(steps) else 1
    name, kind = name_of(key)
    parts = [f"{trial['curve'][0]:.2f} %"]
    if is_coarse and half_tick > goal:
        parts.append(f"its clock ticks in 1 us, half of it is {half_tick:.1f} % of the median time")
    if equal and equal[0] > goal and programs > 1:
        parts.append(f"rows of one size, from {programs} programs, lie {equal[0]:.1f} % from their "
                     "median")
    elif near and near[0] > goal:
        parts.append(f"rows whose sizes differ by less than 1 % lie {near[0]:.1f} % from their "
                     "median")
    if wide > goal:
        parts.append(f"the copies behind a row range over {wide:.0f} % of its time")
    if tested < 10:
        parts.append(f"only {tested} rows are tested")
    if trial["outside"] > 1:
        parts.append(f"{trial['outside']} of {tested} tested rows are larger or smaller than all "
                     "fitted")
    if step >= 1.5 and wide <= goal:
        parts.append(f"sizes lie a factor of {step:.3g} apart, and every second is fitted")
    last = f"straight lines between all fitted sizes give {trial['interpolated'][0]:.2f} %"
    if trial["interpolated"][0] <= goal:
        last += ": 4 points are too few for its shape"
    return f"{name} | {kind}: " + "; ".join([*parts, last])


def transfers(data, board):
    table = measured_copies(data)
    table = table[table.groupby(KEY)["bytes"].transform("size") >= LEAST_ROWS]
    by_file = try_halves(table)
    by_size = try_halves(table.sort_values(["bytes", "seconds"], kind="stable"))
    goals = {"pinned": 0.5, "pageable": 3.0}
    lines, misses, pools = [], [], {memory: [] for memory in goals}

    def say(pair):
        return f"{pair[0]:.2f} / {pair[1]:.1f}"

    for key, group in groups_of(table):
        trial, ordered = by_file[key], by_size[key]
        equal = spread(group.sort_values(["bytes", "seconds"]), 0)
        lines.append([*name_of(key), f"{len(group)}", f"{group['bytes'].nunique()}",
                      *(say(of[what]) for of in (trial, ordered)
                        for what in ("line", "curve", "interpolated")),
                      say(equal) if equal else "-"])
        goal = goals.get(key[3])
        if goal is None or key[1] == "both":
            continue
        pools[key[3]].append(trial)
        if trial["curve"][0] > goal:
            misses.append(cause(key, group, trial, goal))
    for memory, trials in pools.items():
        middle = median([trial["curve"][0] for trial in trials])
        board.know(**{f"{memory}_median": f"{middle:.1f}"})
    return {"groups": rows(lines), "misses": bullets(misses), "pools": bullets(
        pool_text(memory, goals[memory], trials) for memory, trials in pools.items() if trials)}


def pool_text(memory, goal, trials):
    errors = np.concatenate([trial["errors"] for trial in trials])
    medians = [trial["curve"][0] for trial in trials]
    reached = sum(of <= goal for of in medians)
    reachable = sum(trial["interpolated"][0] <= goal for trial in trials)
    return (f"{memory}: goal {goal:.1f} %, reached by {reached} of {len(trials)} groups (by "
            f"{reachable} with straight lines between all fitted sizes); median of the groups "
            f"{median(medians):.2f} %; over all {len(errors)} tested rows median "
            f"{median(errors):.2f} %, 90th percentile {quantile(errors, 0.9):.1f} %.")


# --- machines of the catalogue


def profile_copies(path):
    """A profile's copies, by direction, memory and size; equal ones in the order of their starts."""
    copies = run_of(path).copies
    return copies.assign(host_memory=copies["memory"], bytes=copies["bytes"].astype("int64"),
                         seconds=copies["time_s"]).sort_values(
                             ["direction", "memory", "bytes"], kind="stable")


@lru_cache(maxsize=None)
def contests(data):
    """Copies of one GPU, direction and memory: (name, kind, machine, is it of the host's clock,
    locality, table)."""
    found = []
    for path in profiles(data, "nsys", "nvprof"):
        names = [device["name"] for device in run_of(path).analysis["devices"] if device["name"]]
        gpu = names[0] if names else path.name
        for (direction, memory), group in profile_copies(path).groupby(
                ["direction", "memory"], observed=True, sort=True):
            found.append((path.name, f"{direction} {memory}", machine_for(gpu), False, "near", group))
    for key, group in groups_of(measured_copies(data)):
        if key[1] != "both":
            found.append((*name_of(key), machine_for(key[0]),
                          group["tool"].iloc[0].startswith("commscope"),
                          "far" if key[1] == "far" else "near", group))
    return found


@lru_cache(maxsize=None)
def machine_times(data, model):
    """The contests' copies on their machines by a model: a table or an error's text for each. All
    of one machine are asked at once, unless one cannot be predicted."""
    answers = {}
    asked = contests(data)
    for place in dict.fromkeys((of[2], of[4]) for of in asked if of[2]):
        here = [i for i, of in enumerate(asked) if (of[2], of[4]) == place]
        try:
            together = pd.concat([asked[i][5][COPY].assign(contest=i) for i in here])
            answered = times_on(place, model, together)
            answers.update({i: of for i, of in answered.groupby("contest", sort=False)})
        except haul.InputError:
            for i in here:
                try:
                    answers[i] = times_on(place, model, asked[i][5][COPY])
                except haul.InputError as error:
                    answers[i] = str(error)[str(error).index("machine '"):]
    return answers


COPY = ["direction", "host_memory", "bytes"]


def times_on(place, model, table):
    machine, locality = place
    return haul.answer(table, "machine", "time", machine, "--csv", "-", "--locality", locality,
                       "--model", model)


@lru_cache(maxsize=None)
def call_latency(machine, kind, locality):
    """What a host's clock sees beside a copy."""
    for curve in haul.report("machine", "show", machine)["copies"]:
        if (f"{curve['direction']} {curve['memory']}" == kind
                and (curve["locality"] or "near") == locality):
            return (curve.get("call_latency_s") or {"value": 0})["value"]
    return 0


def score_fitted(group):
    """What a fit to copies 1, 3, 5 ... says of copies 2, 4, 6 ...; None where there are too few."""
    if len(group) < LEAST_ROWS:
        return None
    fitted, tested = group.iloc[::2], group.iloc[1::2]
    curve = Curve(next(iter(fit(fitted).values()))["curve"])
    return score(tested["seconds"], [curve.seconds(size) for size in tested["bytes"].tolist()])


def baselines(data, board):
    models = ["auto", "latency-bandwidth-bound", "bandwidth-bound"]
    lines, notes, errors = [], [], []
    worse, fitted_count, fitted_best = {model: 0 for model in models}, 0, 0
    for i, (name, kind, machine, host_clock, locality, group) in enumerate(contests(data)):
        if not machine:
            notes.append(f"{name}: no machine of the catalogue is near")
            continue
        answers = [machine_times(data, model)[i] for model in models]
        missing = [answer for answer in answers if isinstance(answer, str)]
        if missing:
            notes.append(f"{name}: {missing[0]}")
            continue
        call_s = call_latency(machine, kind, locality) if host_clock else 0
        scores = [score(group["seconds"],
                        answer["seconds"] + (call_s if model != "bandwidth-bound" else 0))
                  for model, answer in zip(models, answers)]
        fitted = score_fitted(group)
        errors.append(scores[0][0])
        lines.append([name, kind, machine, f"{len(group)}",
                      *(f"{of[0]:.1f} / {of[1]:.1f}" for of in scores),
                      f"{fitted[0]:.1f} / {fitted[1]:.1f}" if fitted else "-"])
        fitted_count += fitted is not None
        fitted_best += fitted is not None and all(fitted[0] < of[0] for of in scores[1:])
        for model, of in zip(models[1:], scores[1:]):
            if of[0] > scores[0][0]:
                worse[model] += 1
            else:
                notes.append(f"{name}, {kind}: `{model}` {of[0]:.1f} %, ours {scores[0][0]:.1f} %")
    board.know(catalogue_median=f"{median(errors):.0f}")
    return {"groups": rows(lines), "notes": bullets(notes), "count": len(lines),
            "worse_latency": worse[models[1]], "worse_bandwidth": worse[models[2]],
            "fitted": fitted_count, "fitted_best": fitted_best}


PATHS = ["over the link", "through the host", "inside the GPU"]
SOLDERED = ["v100-nvlink2"]  # of the contests' machines
COSTS_SHOWN = 6


def path_of(kind):
    if kind.startswith("DtoD"):
        return PATHS[2]
    return PATHS[1] if kind.endswith(" pageable") else PATHS[0]


def held_groups(data):
    """Groups of transfers.csv as sums: measured, predicted and its interval, in seconds."""
    found = []
    for i, (name, kind, machine, host_clock, locality, group) in enumerate(contests(data)):
        if "tool" not in group or not machine:
            continue
        answer = machine_times(data, "auto")[i]
        if isinstance(answer, str):
            continue
        call_s = call_latency(machine, kind, locality) if host_clock else 0
        found.append({"name": name, "kind": kind, "machine": machine, "path": path_of(kind),
                      "model": answer["model"].iloc[-1], "measured": group["seconds"].sum(),
                      **{end: (answer[end] + call_s).sum() for end in ("seconds", "low_s", "high_s")}})
    table = pd.DataFrame(found)
    table["held"] = (table["measured"] >= table["low_s"]) & (table["measured"] <= table["high_s"])
    table["miss"] = np.abs(np.log(table["measured"] / table["seconds"]))
    return table


def in_own_slot(data, machine, gpu):
    """The copies of a GPU as a profile, projected onto its machine: by direction and memory, in the
    slot that they show; empty where they show none."""
    table = measured_copies(data)
    table = table[(table["gpu"] == gpu) & (table["node"] != "both")]
    events, now_ns = [], 0
    for number, copy in enumerate(table.itertuples(), 1):
        taken_ns = round(1e9 * copy.seconds)
        events.append(event("gpu_memcpy", copy_name(copy.direction, copy.host_memory), 0, 7, now_ns,
                            taken_ns, {"device": 0, "stream": 7, "correlation": number,
                                       "bytes": copy.bytes}))
        now_ns += taken_ns
    made = haul.report("project", write_trace("copies", events, gpu_of(machine)["name"]), "--to",
                       machine)
    if not made.get("own_slot_generation"):
        return {}
    return {f"{row['direction']} {row['memory']}": row for row in made["rows"]
            if "least_bytes" not in row}


def told_slots(data, table):
    """Groups over the link whose GPU's own large pinned copies tell the slot."""
    found = []
    of_gpu = {}
    for of in table[table["path"] == PATHS[0]].to_dict("records"):
        gpu = of["name"].split(", near")[0].split(", far")[0]
        if gpu not in of_gpu:
            of_gpu[gpu] = in_own_slot(data, of["machine"], gpu)
        row = of_gpu[gpu].get(of["kind"])
        if row:
            low_s, high_s = row["interval_s"]
            found.append({**of, "model": row["model"], "seconds": row["predicted_s"],
                          "low_s": low_s, "high_s": high_s,
                          "held": low_s <= of["measured"] <= high_s})
    return pd.DataFrame(found)


def group_lines(table):
    for of in table.itertuples():
        yield [of.name, of.kind, of.machine, of.model, f"{of.measured / of.seconds:.2f}",
               f"{of.low_s / of.seconds:.2f} to {of.high_s / of.seconds:.2f}",
               "yes" if of.held else "**no**"]


def cost_lines(table):
    """What each group adds to the sum of which the score is made, the most first: its width and its
    miss, in the logarithm."""
    cases = logs(table["seconds"], table["low_s"], table["high_s"], table["measured"])
    widths = cases[2] - cases[1]
    misses = MISS_WEIGHT * (np.maximum(0, cases[1]) + np.maximum(0, -cases[2]))
    costs = widths + misses
    order = np.argsort(-costs, kind="stable")
    shown, rest = order[:COSTS_SHOWN], order[COSTS_SHOWN:]
    for i in shown:
        yield [table["name"].iloc[i], table["kind"].iloc[i], f"{widths[i]:.2f}", f"{misses[i]:.2f}",
               f"{100 * costs[i] / costs.sum():.0f} %"]
    yield [f"{len(rest)} others", None, f"{widths[rest].sum():.2f}", f"{misses[rest].sum():.2f}",
           f"{100 * costs[rest].sum() / costs.sum():.0f} %"]


def score_with_slots(table, factor):
    """The score where all copies over PCIe might take so many times as long as predicted."""
    over_pcie = (table["path"] == PATHS[0]) & ~table["machine"].isin(SOLDERED)
    high_s = np.where(over_pcie, np.maximum(table["high_s"], factor * table["seconds"]),
                      table["high_s"])
    return interval_score(logs(table["seconds"], table["low_s"], high_s, table["measured"]))


def least_factor(misses):
    """That holds at least 90 of 100, in the logarithm."""
    return sorted(misses)[math.ceil(0.9 * len(misses)) - 1] if len(misses) else 0


def intervals(data, board):
    table = held_groups(data)
    told = told_slots(data, table)
    paths, held_out = [], 0
    for path in PATHS:
        of = table[table["path"] == path]
        inside = sum(row.miss <= least_factor(of["miss"][of["machine"] != row.machine])
                     * (1 + 1e-12) for row in of.itertuples())
        held_out += inside
        paths.append([path, f"{len(of)}", f"{of['held'].sum()}",
                      f"{math.exp(least_factor(of['miss'])):.2f}", f"{inside}"])
    over_link, *others = [(f"- {path}", table[table["path"] == path]) for path in PATHS]
    for name, of in [("copies on machines of the catalogue", table), over_link,
                     (f"{over_link[0]}, the slot told by own copies", told), *others]:
        board.add(name, logs(of["seconds"], of["low_s"], of["high_s"], of["measured"]),
                  of["machine"])
    held = int(table["held"].sum())
    return {"groups": rows(group_lines(table)), "told": rows(group_lines(told)),
            "paths": rows(paths), "count": len(table), "held": held,
            "share": f"{100 * held / len(table):.0f}", "held_out": held_out,
            "share_out": f"{100 * held_out / len(table):.0f}", "costs": rows(cost_lines(table)),
            "with_slots": f"{score_with_slots(table, 3.2):.2f}"}


# --- the self-check of profiles

LEAST_COPIES = 20
ANY_TARGET = "h100-sxm5"  # the self-check does not depend on it


def line_wape(path):
    """Of a line through the copies of each direction and memory; of their median where all are of
    one size."""
    copies = profile_copies(path)
    fits = fit(copies)
    missed = total = 0
    for (direction, memory), group in copies.groupby(["direction", "memory"], observed=True):
        line = fits[(direction, memory)].get("weighted line")
        times = group["seconds"].to_numpy()
        missed += (0.01 * line["wape"] * times.sum() if line
                   else np.abs(times - median(times)).sum())
        total += times.sum()
    return 100 * missed / total if total > 0 else 0


def self_check(data, board):
    lines, notes, gaps, errors = [], [], [], []
    for path in profiles(data, "nsys", "nvprof"):
        check = projected(path, "--to", ANY_TARGET)["self_check"]
        if check["copies"] < LEAST_COPIES:
            continue
        gap = check["wape"] - check["noise_floor"]
        gaps.append(gap)
        errors.append(check["wape"])
        lines.append([path.name, f"{check['copies']}", f"{check['noise_floor']:.2f}",
                      f"{line_wape(path):.2f}", f"{check['wape_without_contention']:.2f}",
                      f"{check['wape']:.2f}", f"{gap:+.2f}"])
        for group in check["groups"]:
            if not group["contended"]:
                continue
            met = (f"{path.name}, {group['direction']} {group['memory']}: {group['contended']} of "
                   f"{group['copies']} copies met one of the other direction, ")
            notes.append(met + (
                f"and kept {100 * group['busy_speed']:.0f} % of their speed: {group['wape']:.2f} % "
                f"instead of {group['wape_without_contention']:.2f} %." if group["busy_speed"] < 1
                else "which does not explain their spread beyond chance."))
    board.know(self_check_least=f"{min(errors):.2f}", self_check_most=f"{max(errors):.1f}",
               self_check_gap=f"{max(gaps) + 0:.1f}")
    return {"profiles": rows(lines), "contended": bullets(notes), "siblings": siblings(data),
            "verdict": verdict(gaps)}


def verdict(gaps):
    middle, worst = median(gaps), max(gaps)
    return (f"Profiles with at least {LEAST_COPIES} copies: {len(gaps)}. Above the floor: "
            f"{middle:.2f} points at the median (goal 0.5: "
            f"{'reached' if middle <= 0.5 else 'missed'}), {worst:.2f} at the worst (goal 4: "
            f"{'reached' if worst <= 4 else 'missed'}).")


# Profiles of one machine: the link fitted to the one predicts the other.
SIBLINGS = [
    ("gtx1060-concurrent-s4.sqlite", "gtx1060-concurrent-s16.sqlite"),
    ("gtx1060-concurrent-s16.sqlite", "gtx1060-concurrent-s4.sqlite"),
    ("h100-2gpu-training-1s.sqlite", "h100-2gpu-training-before.sqlite"),
    ("h100-2gpu-training-before.sqlite", "h100-2gpu-training-1s.sqlite"),
]


def siblings(data):
    of_name = {path.name: path for path in profiles(data, "nsys", "nvprof")}
    return rows(
        [fitted, tested, f"{group['direction']} {group['memory']}", f"{group['copies']}",
         f"{group['noise_floor']:.2f}", f"{group['wape']:.2f}", f"{group['median']:.2f}"]
        for fitted, tested in SIBLINGS
        for group in projected(of_name[tested], "--to", ANY_TARGET, "--link-of",
                               str(of_name[fitted]))["self_check"]["groups"]
        if group["copies"] and group["points"] > 1)
