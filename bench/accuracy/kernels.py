"""Programs whose source is known: kernels/gpuperfpredict-times.csv and what is beside it. What a
program does is in its kernel file (kernels/)."""

import itertools
import math
import re
from functools import lru_cache

import numpy as np
import pandas as pd

import haul

from .tool import (ROOT, bullets, gpu_of, median, quantile, random_numbers, read_csv, rows, scratch)

GPUS = {"gtx-680": "GTX-680", "gtx-titan": "Titan", "k40": "Tesla-K40", "gtx-750": "GTX-750",
        "gtx-970": "GTX-970"}  # machines, and their names in the data
MAXWELL = ("gtx-750", "gtx-970")
PROGRAMS = {
    "dotProd": "dot-product", "matMul_gpu": "matmul-global",
    "matMul_gpu_sharedmem": "matmul-shared",
    "matMul_gpu_sharedmem_uncoalesced": "matmul-shared-uncoalesced",
    "matMul_gpu_uncoalesced": "matmul-global-uncoalesced", "matrix_sum_coalesced": "matrix-add",
    "matrix_sum_normal": "matrix-add-uncoalesced", "quicksort": "quicksort",
    "subSeqMax": "max-subarray", "vectorAdd": "vector-add"}  # and their kernel files
PAIRS = list(itertools.permutations(GPUS, 2))


def times_file(data):
    return data / "kernels" / "gpuperfpredict-times.csv"


@lru_cache(maxsize=None)
def series(data):
    """Times of a program on a machine, ascending in size: {(program, machine): table}."""
    table = read_csv(times_file(data))
    table["machine"] = table["gpu"].map({name: machine for machine, name in GPUS.items()})
    table["blocks"] = table["grid_x"] * table["grid_y"]
    table["block"] = table["block_x"] * table["block_y"]
    table = table.sort_values("n", kind="stable").rename(columns={"n": "size",
                                                                  "kernel_s": "seconds"})
    of = dict(list(table.groupby(["program", "machine"])))
    return {(program, machine): of[program, machine].reset_index(drop=True)
            for program in PROGRAMS for machine in GPUS}


@lru_cache(maxsize=None)
def is_alike(data, program, a, b):
    """Whether two GPUs ran it with launches alike: programs whose launches differ are two
    programs."""
    both = series(data)[program, a].merge(series(data)[program, b], on="size")
    return both.empty or (both.loc[0, "blocks_x"] == both.loc[0, "blocks_y"]
                          and both.loc[0, "block_x_x"] * both.loc[0, "block_y_x"]
                          == both.loc[0, "block_x_y"] * both.loc[0, "block_y_y"])


def kernel_text(program):
    return (ROOT / "kernels" / f"{PROGRAMS[program]}.yaml").read_text()


def write_fitted(name, text, machine, samples):
    """A kernel file with measured times, as `haul kernel fit -o` writes it, once; returns its path."""
    file = scratch() / f"{name}.yaml"
    if file.exists():
        return str(file)
    lines = "".join(f"    - {{size: {size!r}, seconds: {seconds!r}}}\n" for size, seconds in
                    zip(samples["size"].tolist(), samples["seconds"].tolist()))
    file.write_text(f"{text}measured:\n  machine: {machine}\n  sizes:\n{lines}")
    return str(file)


def predict(asked, *options):
    """Predictions of a table of fitted, machine, size: seconds, low_s, high_s are added."""
    return haul.answer(asked, "kernel", "predict", "--csv", "-", *options)


def uncertainty(table):
    """|log (predicted / measured)| by the half width of the stated interval: up to 1 it held."""
    return np.abs(np.log(table["ratio"])) / np.log(table["high_s"] / table["seconds"])


def held(table):
    return 100 * (table["uncertainty"] <= 1).sum() / len(table)


def held_out(table, *parts):
    """In percent: held, had the intervals' width been fitted anew for each program (or GPU, as
    source and as target) to what it had no part in. NaN where nothing is left without it."""
    inside = tested = 0
    for group in dict.fromkeys(np.concatenate([table[part].unique() for part in parts])):
        of_it = np.logical_or.reduce([(table[part] == group).to_numpy() for part in parts])
        others = table["uncertainty"][~of_it]
        if len(others) and of_it.any():
            tested += of_it.sum()
            inside += (table["uncertainty"][of_it] <= quantile(others, 0.9)).sum()
    return 100 * inside / tested if tested else math.nan


def percent(value):
    return "-" if math.isnan(value) else f"{value:.1f} %"


def mean_error(ratio):
    """The mean of 100 |predicted / measured - 1|."""
    return (100 * np.abs(ratio - 1)).sum() / max(1, len(ratio))


# --- other sizes on the same GPU

SELECTIONS = [
    ("one lambda, from the middle size", "one", [0.5]),
    ("three sizes: 5 %, half and 95 % along the list", "by-size", [0.05, 0.5, 0.95]),
    ("three sizes: 10 %, half and 90 % along the list", "by-size", [0.1, 0.5, 0.9]),
    ("three sizes drawn at random, 30 times", "by-size", None),
]
DRAWS = 30


def picks(places, count, random):
    """Places of the fitted sizes in a list, for each draw."""
    if places:
        return [[int(place * (count - 1) + 0.5) for place in places]]
    drawn = []
    while len(drawn) < DRAWS:
        picked = [next(random) % count for _ in range(3)]
        if len(set(picked)) == 3:
            drawn.append(picked)
    return drawn


def try_selection(data, number):
    _, calibration, places = SELECTIONS[number]
    random, asked = random_numbers(1), []
    for (program, machine), of in series(data).items():
        for draw, picked in enumerate(picks(places, len(of), random)):
            file = write_fitted(f"sizes-{number}-{program}-{machine}-{draw}", kernel_text(program),
                                machine, of.iloc[sorted(picked)])
            asked.append(of.drop(index=picked).assign(fitted=file, source=machine))
    table = pd.concat(asked)[["program", "machine", "source", "fitted", "size", "seconds"]]
    table = predict(table.rename(columns={"seconds": "measured"}), "--calibration", calibration)
    table["ratio"] = table["seconds"] / table["measured"]
    return table.assign(uncertainty=uncertainty(table))


def sizes(data, board):
    lines, misses = [], []
    for number, (name, _, _) in enumerate(SELECTIONS):
        table = try_selection(data, number)
        off = np.abs(table["ratio"] - 1)
        if number == 1:
            board.know(sizes_5=f"{100 * (off <= 0.05).sum() / len(table):.0f}",
                       sizes_10=f"{100 * (off <= 0.1).sum() / len(table):.0f}",
                       sizes_hold=f"{held(table):.0f}")
        lines.append([name, f"{len(table)}", *(percent(100 * (off <= share).sum() / len(table))
                                               for share in (0.05, 0.1)),
                      percent(held(table)), percent(held_out(table, "program")),
                      percent(held_out(table, "machine", "source"))])
        for (program, machine), of in table.groupby(["program", "machine"], sort=False):
            within = (np.abs(of["ratio"] - 1) <= 0.1).sum()
            if number == 1 and within * 10 < len(of) * 8:
                misses.append(f"{program} on {machine}: {within} of {len(of)} rows, predicted / "
                              f"measured {of['ratio'].min():.2f} to {of['ratio'].max():.2f}")
    return {"selections": rows(lines), "misses": bullets(misses)}


# --- other GPUs

KEPLER = [("gtx-titan", "k40"), ("k40", "gtx-titan"), ("gtx-680", "gtx-titan"),
          ("gtx-titan", "gtx-680"), ("gtx-680", "k40"), ("k40", "gtx-680")]
BETWEEN = [("gtx-680", "gtx-750"), ("gtx-680", "gtx-970"), ("gtx-titan", "gtx-750"),
           ("gtx-titan", "gtx-970"), ("k40", "gtx-750"), ("k40", "gtx-970"),
           ("gtx-750", "gtx-680"), ("gtx-970", "gtx-680"), ("gtx-750", "gtx-titan"),
           ("gtx-970", "gtx-titan"), ("gtx-750", "k40"), ("gtx-970", "k40")]
OF_MAXWELL = [MAXWELL, MAXWELL[::-1]]
GROUPS = {  # with the goal of the mean error
    "compute capability 3.5": (9, KEPLER[:2]),
    "Maxwell": (9, OF_MAXWELL),
    "all of Kepler": (12, KEPLER),
    "within an architecture": (None, KEPLER + OF_MAXWELL),
    "Kepler and Maxwell": (21, BETWEEN),
}


@lru_cache(maxsize=None)
def across(data, model="roofline", launch="alike"):
    """Fitted on one GPU with all its sizes, each program on each other GPU that ran it with
    launches alike (or launched otherwise), at all its sizes."""
    asked = []
    for program, (source, target) in itertools.product(PROGRAMS, PAIRS):
        if is_alike(data, program, source, target) == (launch == "alike"):
            of, there = series(data)[program, source], series(data)[program, target]
            file = write_fitted(f"all-{program}-{source}", kernel_text(program), source, of)
            asked.append(there.assign(
                fitted=file, source=source, beyond=(there["size"] < of["size"].min())
                | (there["size"] > of["size"].max())))
    table = pd.concat(asked).rename(columns={"seconds": "measured"})
    table = predict(table[["program", "source", "machine", "fitted", "size", "measured", "beyond"]],
                    "--model", model)
    table["beyond"] = table["beyond"].astype(str) == "True"
    at_source = predict(table[["fitted", "source", "size"]].rename(columns={"source": "machine"}))
    table["source_s"] = at_source["seconds"]
    table["ratio"] = table["seconds"] / table["measured"]
    return table.assign(uncertainty=uncertainty(table))


def of_pair(table, pair):
    return table[(table["source"] == pair[0]) & (table["machine"] == pair[1])]


def of_pairs(table, pairs):
    return pd.concat([of_pair(table, pair) for pair in pairs])


def ratios_of_rates(pair):
    """R P, bandwidth and clock, source by target."""
    a, b = gpu_of(pair[0]), gpu_of(pair[1])
    clock = a["clock_Hz"] / b["clock_Hz"]
    return [clock * (a["multiprocessors"] * a["cores"] / (b["multiprocessors"] * b["cores"])),
            a["memory_bandwidth_Bps"] / b["memory_bandwidth_Bps"], clock]


def with_rules(table, pair):
    """Adds the source's time by R P, and by the ratio that is best for each program, with
    hindsight."""
    found = []
    for _, of in table.groupby("program", sort=False):
        by = [of["source_s"] * ratio / of["measured"] for ratio in ratios_of_rates(pair)]
        best = min(by, key=lambda one: np.abs(one - 1).sum())
        found.append(of.assign(naive=by[0], best=best))
    return pd.concat(found)


def error_cells(name, goal, of):
    inside = of[~of["beyond"]]
    return [name, f"{len(of)}", percent(mean_error(of["ratio"])), goal,
            percent(mean_error(inside["ratio"])), percent(100 * median(np.abs(of["ratio"] - 1))),
            percent(mean_error(of["naive"])), percent(mean_error(of["best"])), percent(held(of))]


@lru_cache(maxsize=None)
def scaled_launches(data):
    """Rows measured on both GPUs, scaled by their time and launch alone."""
    found = []
    for program, (source, target) in itertools.product(PROGRAMS, PAIRS):
        if is_alike(data, program, source, target):
            both = series(data)[program, source].merge(
                series(data)[program, target][["size", "seconds"]].rename(
                    columns={"seconds": "measured"}), on="size")
            found.append(both.assign(source=source, machine=target))
    table = scale(pd.concat(found))
    end = table["high_s"].where(table["seconds"] < table["measured"], table["low_s"])
    table["ratio"] = table["seconds"] / table["measured"]
    return table.assign(uncertainty=np.abs(np.log(table["ratio"]) / np.log(end / table["seconds"])))


def scale(table):
    """By launches and times alone: `seconds` of `source` becomes that of `machine`."""
    found = []
    for (source, target), of in table.groupby(["source", "machine"], sort=False):
        asked = pd.DataFrame({"kernel": "", "seconds": of["seconds"], "grid_x": of["blocks"],
                              "block_x": of["block"]})
        answer = haul.answer(asked, "kernel", "scale", "-", "--from", source, "--to", target)
        found.append(of.assign(seconds=answer["predicted_seconds"].to_numpy(),
                               low_s=answer["low_s"].to_numpy(),
                               high_s=answer["high_s"].to_numpy()))
    return pd.concat(found)


def gpus(data, board):
    table, apart = across(data), across(data, launch="apart")
    lines, of_group = [], {}
    for name, (goal, pairs) in GROUPS.items():
        parts = [with_rules(of_pair(table, pair), pair) for pair in pairs]
        of_group[name] = whole = pd.concat(parts)
        if goal:
            lines += [[*error_cells(f"{pair[0]} to {pair[1]}", "", of), None, None]
                      for pair, of in zip(pairs, parts)]
        lines.append([*error_cells(f"**{name}**", f"{goal} %" if goal else "", whole),
                      percent(held_out(whole, "program")),
                      percent(held_out(whole, "machine", "source"))])
    board.know(within_mean=f"{mean_error(of_group['within an architecture']['ratio']):.1f}",
               across_mean=f"{mean_error(of_group['Kepler and Maxwell']['ratio']):.1f}")
    others = []
    for by, of_all in (("times and launches alone", scaled_launches(data)),
                       ("bsp", across(data, model="bsp"))):
        for name in list(GROUPS)[-2:]:
            of = of_pairs(of_all, GROUPS[name][1])
            others.append([by, name, f"{len(of)}", percent(mean_error(of["ratio"])),
                           percent(100 * median(np.abs(of["ratio"] - 1))), percent(held(of)),
                           percent(held_out(of, "program")),
                           percent(held_out(of, "machine", "source"))])
    return {"pairs": rows(lines), "others": rows(others),
            "misses": bullets(missed(of_group)), "without": bullets(without(of_group)),
            "apart": bullets(said_apart(of_group, apart))}


def missed(of_group):
    for name, of in of_group.items():
        for program in PROGRAMS:
            ratio = of["ratio"][of["program"] == program]
            if len(ratio) and mean_error(ratio) > 25:
                yield (f"{name}, {program}: mean |error| {mean_error(ratio):.0f} %, predicted / "
                       f"measured {ratio.min():.2f} to {ratio.max():.2f}")


def without(of_group):
    """How much of a group's error hangs on one program."""
    for name, of in of_group.items():
        means = {program: mean_error(of["ratio"][of["program"] != program])
                 for program in PROGRAMS}
        hardest = min(means, key=means.get)
        yield f"{name}: {means[hardest]:.1f} % (without {hardest}) to {max(means.values()):.1f} %"


def said_apart(of_group, apart):
    """Launched in another way on the two GPUs: left out above."""
    for name, same in of_group.items():
        of = of_pairs(apart, GROUPS[name][1])
        if len(of):
            yield (f"{name}: {len(of)} rows, mean |error| {mean_error(of['ratio']):.0f} %; "
                   f"{mean_error(pd.concat([of, same])['ratio']):.1f} % with all the others")


# --- other measurements


def counted(data):
    """Each shape of block of the profiler's rows fitted on one GPU, predicted on the others at the
    same sizes."""
    machines = [machine for machine in GPUS if machine != "gtx-750"]
    asked = []
    for program in PROGRAMS:
        if program == "quicksort":
            continue  # has none
        shapes = {(machine, shape): of for machine in machines for shape, of in
                  counter_rows(data, program, machine).groupby("shape", sort=False)}
        fitted = {key: fit_shape(data, program, *key) for key in shapes}
        for (source, shape), (file, sizes_there) in fitted.items():
            for target in machines:
                if target != source and (target, shape) in shapes:
                    of = shapes[target, shape]
                    known = sizes_there & fitted[target, shape][1]
                    asked.append(of[of["size"].isin(known)].assign(
                        fitted=file, source=source, machine=target))
    return scored(pd.concat(asked))


def fit_shape(data, program, machine, shape):
    """The file of the fit of a block's shape, and the sizes of which counters tell enough."""
    file = scratch() / f"counted-{program}-{machine}-{shape}.yaml"
    made = haul.report("kernel", "fit", counter_file(data, program, machine), "--machine", machine,
                       "--block", shape, "-o", file)["fits"][0]
    shared = re.search(r"(?m)^shared_bytes: ([^#\n]*)", kernel_text(program))
    if shared:  # which a profile has and these tables lack
        file.write_text(re.sub(r"(?<=[ {])threads: ", f"shared_bytes: {shared[1].strip()}, threads: ",
                               file.read_text()))
    return file, {size["size"] for size in made["sizes"]}


def scored(asked):
    table = predict(asked)
    table["ratio"] = table["seconds"] / table["measured"]
    return table.assign(uncertainty=uncertainty(table))


def counter_file(data, program, machine):
    return data / "kernels" / "counters" / f"{program}-{GPUS[machine]}.csv"


def counter_rows(data, program, machine):
    table = read_csv(counter_file(data, program, machine), low_memory=False)
    return pd.DataFrame({
        "size": table["Input.Size"], "measured": table["Duration"],
        "shape": table["Block.X"].astype(str) + "x" + table["Block.Y"].astype(str)})


PAPER_GPUS = ["gt-630", "gtx-660", "gtx-680"]
PAPER_KERNELS = {"matMul-Gm-Un-SP": "matMul_gpu_uncoalesced", "matMul-Gm-SP": "matMul_gpu",
                 "matMul-Sm-Un-SP": "matMul_gpu_sharedmem_uncoalesced", "SubSeqMax": "subSeqMax"}


def paper_rows(data):
    table = read_csv(data / "kernels" / "bsp-measured.csv")
    table = table[table["gpu"].isin(PAPER_GPUS)].rename(columns={"n": "size"})
    return table.assign(seconds=table["median_ms"] / 1e3, program=table["kernel"].map(PAPER_KERNELS))


def of_paper(data):
    """The paper's GPUs, with the kernel files that come with haul."""
    of = dict(list(paper_rows(data).groupby(["program", "gpu"])))
    asked = []
    for program, (source, target) in itertools.product(PAPER_KERNELS.values(),
                                                       itertools.permutations(PAPER_GPUS, 2)):
        if (program, source) in of and (program, target) in of:
            fitted = write_fitted(f"paper-{program}-{source}", kernel_text(program), source,
                                  of[program, source])
            there = of[program, target]
            there = there[there["size"].isin(of[program, source]["size"])]
            asked.append(there[["program", "size"]].assign(
                measured=there["seconds"], fitted=fitted, source=source, machine=target))
    return scored(pd.concat(asked))


def unseen(data, _board):
    from_counters, from_paper = counted(data), of_paper(data)
    sets = [
        ("counters", "compute capability 3.5", from_counters, KEPLER[:2]),
        ("counters", "all of Kepler", from_counters, KEPLER),
        ("counters", "Kepler and Maxwell", from_counters,
         [pair for pair in BETWEEN if "gtx-970" in pair]),
        ("bsp-measured.csv", "GTX 660 and GTX 680 (Kepler)", from_paper,
         [("gtx-660", "gtx-680"), ("gtx-680", "gtx-660")]),
        ("bsp-measured.csv", "GT 630 (Fermi) and those two", from_paper,
         [("gt-630", "gtx-660"), ("gt-630", "gtx-680"), ("gtx-660", "gt-630"),
          ("gtx-680", "gt-630")])]
    lines = []
    for name, of_gpus, table, pairs in sets:
        of = of_pairs(table, pairs)
        lines.append([f"`{name}`", of_gpus, f"{len(of)}", percent(mean_error(of["ratio"])),
                      percent(100 * median(np.abs(of["ratio"] - 1))), percent(held(of))])
    return {"sets": rows(lines)}


# --- choices


def with_parameter(text, key, value):
    """A machine file with another value of a parameter of its GPU; None: without it."""
    line = f"  {key}: {value}\n" if value is not None else ""
    changed, count = re.subn(rf"(?m)^  {key}:.*\n(?:    .*\n)*", line, text)
    return changed if count else text


def base_clock(machine, text):
    return with_parameter(text, "clock", f"{gpu_of(machine)['base_clock_Hz']!r} Hz")


def bandwidth(value):
    return lambda machine, text: (with_parameter(text, "memory_bandwidth", f"{value!r} B/s")
                                  if machine == "gtx-970" else text)


def no_ecc(machine, text):
    return with_parameter(text, "inline_ecc", 0) if machine == "k40" else text


def no_partitions(_machine, text):
    return with_parameter(text, "memory_partitions", None)


def squares(program, text):
    if program != "quicksort":
        return text
    return re.sub(r"(?m)^(comp|loads_global):.*$", r"\1: N^2", text)


def no_shared(_program, text):
    return re.sub(r"(?m)^shared_bytes:.*\n", "", text)


PAPER_Bps = 224.3e9
CHOICES = [  # each with the changes of machines, and of kernels, that undo it
    ("as predicted", "", [], []),
    ("the base clocks, not those with boost",
     "boost is as heat and power allow; a GTX TITAN's counters say its base clock, a GTX 680's more "
     "than its boost; on boards that are not these the base clocks do worse", [base_clock], []),
    ("the GTX 970's memory as on paper, 224.3 GB/s",
     "both of the next two, published by its maker and by its users", [bandwidth(PAPER_Bps)], []),
    ("the same, seven of its eight channels alone", "programs keep to 3.5 of the 4 GiB",
     [bandwidth(PAPER_Bps * 7 / 8)], []),
    ("the same, its clock for CUDA programs alone", "performance state P2: 3004 of 3505 MHz",
     [bandwidth(PAPER_Bps * 3004 / 3505)], []),
    ("the K40's memory without ECC", "on as the GPU is sold", [no_ecc], []),
    ("quicksort of N^2 loads", "counted by running its loops on what it sorts", [], [squares]),
    ("shared memory limits no blocks at once",
     "its array and Kepler's 48 KB: nvprof's occupancy is two of its blocks on a multiprocessor", [],
     [no_shared]),
    ("conflicts in L2 go to every GPU",
     "strides of powers of two fall on three of six partitions, on one of four", [no_partitions],
     []),
    ("none of the choices", "", [bandwidth(PAPER_Bps), no_ecc, no_partitions], [squares, no_shared]),
]


def undone(data, number):
    """Predictions with a choice undone."""
    _, _, changes, kernel_changes = CHOICES[number]
    files = {}
    for machine in GPUS:
        text = (ROOT / "machines" / f"{machine}.yaml").read_text()
        for change in changes:
            text = change(machine, text)
        files[machine] = scratch() / f"choice-{number}-{machine}.yaml"
        files[machine].write_text(text)
    asked = []
    for program, (source, target) in itertools.product(PROGRAMS, PAIRS):
        if not is_alike(data, program, source, target):
            continue
        text = kernel_text(program)
        for change in kernel_changes:
            text = change(program, text)
        fitted = write_fitted(f"choice-{number}-{program}-{source}", text, files[source],
                              series(data)[program, source])
        there = series(data)[program, target]
        asked.append(pd.DataFrame({"fitted": fitted, "machine": files[target], "size": there["size"],
                                   "source": source, "target": target,
                                   "measured": there["seconds"]}))
    table = predict(pd.concat(asked))
    return table.assign(machine=table["target"],
                        error=100 * np.abs(table["seconds"] / table["measured"] - 1))


def choices(data, _board):
    tables = [undone(data, number) for number in range(len(CHOICES))]
    goals = {name: goal for name, (goal, _) in GROUPS.items() if goal}
    lines, left = [], []
    kinds = {"within": KEPLER + OF_MAXWELL, "between": BETWEEN}
    for (name, grounds, _, _), table in zip(CHOICES, tables):
        cells = []
        for group, goal in goals.items():
            mean = of_pairs(table, GROUPS[group][1])["error"].mean()
            mark = "**" if mean > goal else ""
            cells.append(f"{mark}{mean:.1f} %{mark}")
        lines.append([name, *cells, grounds])
        changes = [mean_without(of_pairs(table, pairs), gpu)
                   - mean_without(of_pairs(tables[0], pairs), gpu)
                   for pairs in kinds.values() for gpu in GPUS]
        if table is not tables[0]:
            left.append([name, *(f"{change:+.1f}" for change in changes)])
    heads = [f"{kind}, without {gpu}" for kind in kinds for gpu in GPUS]
    return {"choices": rows(lines), "left_out": rows(left),
            "left_heads": rows([["instead", *heads], ["---", *["---:"] * len(heads)]])}


def mean_without(table, gpu):
    return table["error"][(table["source"] != gpu) & (table["machine"] != gpu)].mean()


# --- bounds, lambdas, widths


@lru_cache(maxsize=None)
def fits(data):
    """What `haul kernel fit` says of each kernel and machine."""
    options = [option for machine in GPUS for option in ("--machine", machine)]
    made = haul.report("kernel", "fit", times_file(data), *options)["fits"]
    return {(of["kernel"], of["machine"]): of for of in made}


def counters(data, _board):
    lines, agreed, pairs = [], 0, 0
    for program, file in PROGRAMS.items():
        if program == "quicksort":
            continue  # has none
        cells = []
        for machine in (machine for machine in GPUS if machine != "gtx-750"):
            of, gpu = fits(data)[file, machine], gpu_of(machine)
            seconds = series(data)[program, machine]["seconds"]
            # the fit's share is of the time beside launches
            expressed = of["memory_share"] * (seconds - of["launch_s"]).sum() / seconds.sum()
            table = read_csv(counter_file(data, program, machine), low_memory=False)[[
                "Device.Memory.Read.Transactions", "Device.Memory.Write.Transactions", "Duration"]]
            table = table.apply(pd.to_numeric, errors="coerce").dropna()
            table = table[(table >= 0).all(axis=1)]
            rate = gpu["memory_bandwidth_Bps"] * (0.8 if (gpu.get("inline_ecc") or 0) > 0 else 1)
            counted_share = (32 * table.iloc[:, :2].sum(axis=1)).sum() / table["Duration"].sum() / rate
            pairs += 1
            agreed += (expressed >= 0.5) == (counted_share >= 0.5)
            cells.append(f"{expressed:.2f} / {counted_share:.2f}")
        lines.append([program, *cells])
    return {"programs": rows(lines), "agreed": agreed, "pairs": pairs}


TITLES = ["matrix product, #1 global, not coalesced", "matrix product, #2 global",
          "matrix product, #3 shared, not coalesced", "maximum subarray"]
TABLE_II = {"gt-630": [3.5, 37, 22, 1.1], "gtx-660": [4.8, 21, 20, 0.61],
            "gtx-680": [4.15, 24, 20, 0.76]}
LATER = {  # gtx-680, gtx-titan, k40
    "matMul_gpu_uncoalesced": (TITLES[0], [4.15, 4.5, 4.65]),
    "matMul_gpu": (TITLES[1], [24, 22, 24]),
    "matMul_gpu_sharedmem_uncoalesced": (TITLES[2], [20, 18, 19.5]),
    "matMul_gpu_sharedmem": ("matrix product, #4 shared", [72, 52, 65]),
    "subSeqMax": (TITLES[3], [0.76, 0.55, 0.52])}


def authors_file(machine, title):
    """What the authors count (their scripts, which differ from the paper): 2N global loads in all
    matrix products, tiled or not, 2N shared ones where tiled, two cycles a step (one on the GT
    630), hits in L2 for 2 % of the loads; and, on the GT 630 alone, whose L1 caches global loads,
    hits in it for 10 %. Maximum subarray: 4096 threads, 100 cycles, a global and a shared load an
    element."""
    l1 = 0.1 if machine == "gt-630" else 0
    if title == TITLES[3]:
        counts = {"threads": 4096, "block": 128, "comp": "100*N/4096", "loads_global": "N/4096",
                  "stores_global": 0, "loads_shared": "N/4096", "l1_hits": f"{l1}*N/4096"}
    else:
        counts = {"threads": "N*N", "block": 256, "comp": "N" if machine == "gt-630" else "2*N",
                  "loads_global": "2*N", "stores_global": 1, "l2_hits": "0.02*(2*N)",
                  "l1_hits": f"{l1}*(2*N)"}
        if title == TITLES[2]:
            counts["loads_shared"] = "2*N+1"
    lines = "".join(f"{key}: {value}\n" for key, value in counts.items())
    file = scratch() / f"authors-{machine}.yaml"
    file.write_text("haul_kernel: 1\nname: authors\nsummary: as the authors count\n"
                    f"variable: {{name: N, from: 1, to: 2^40}}\n{lines}")
    return file


def lambda_line(machine, title, table_ii, samples, of):
    """Lambda as the paper has it: without a launch, at the largest size."""
    seconds = dict(zip(samples["size"].astype(float), samples["seconds"]))
    found = [size["calibration"] * (seconds[size["size"]] - of["launch_s"]) / seconds[size["size"]]
             for size in of["sizes"]]
    off = 100 * (found[-1] / table_ii - 1)
    mark = "**" if abs(off) > 10 else ""
    return [machine, title, f"{table_ii:.3g}", f"{found[-1]:.3g}", f"{mark}{off:+.0f} %{mark}",
            f"{min(found):.3g} to {max(found):.3g}",
            f"{min(found) / table_ii:.2f} to {max(found) / table_ii:.2f}",
            f"{sum(one / table_ii for one in found) / len(found):.2f}"]


def published(data, _board):
    of = dict(list(paper_rows(data).groupby(["gpu", "kernel"])))
    first, later = [], []
    for machine, table_ii in TABLE_II.items():
        for kernel, title, value in zip(PAPER_KERNELS, TITLES, table_ii):
            samples = of[machine, kernel]
            samples = samples[samples["size"] >= 256]
            file = scratch() / "paper.csv"
            samples[["size", "seconds"]].to_csv(file, index=False)
            made = haul.report("kernel", "fit", file, "--machine", machine, "--kernel",
                               authors_file(machine, title))["fits"][0]
            first.append(lambda_line(machine, title, value, samples, made))
    for place, machine in enumerate(list(GPUS)[:3]):
        for program, (title, table_ii) in LATER.items():
            later.append(lambda_line(machine, title, table_ii[place],
                                     series(data)[program, machine],
                                     fits(data)[PROGRAMS[program], machine]))
    return {"first": rows(first), "later": rows(later)}


BOUNDS = [("inside, one architecture", True, False), ("memory, one architecture", True, True),
          ("inside, another architecture", False, False),
          ("memory, another architecture", False, True)]


def has_part(table, gpu):
    return (table["source"] == gpu) | (table["machine"] == gpu)


def hardest(table):
    """The half width that holds 90 of 100 from and to each GPU: a GPU that is not known may be as
    hard as the hardest that is."""
    parts = [table["off"][has_part(table, gpu)] for gpu in GPUS]
    return max((quantile(part, 0.9) for part in parts if len(part)), default=0)


def widths(data, _board):
    table = across(data)
    table = table.assign(
        off=np.abs(np.log(table["ratio"])), half=np.log(table["high_s"] / table["seconds"]),
        alike=[gpu_of(a)["architecture"] == gpu_of(b)["architecture"]
               for a, b in zip(table["source"], table["machine"])],
        memory=[fits(data)[PROGRAMS[program], source]["memory_share"] >= 0.5
                for program, source in zip(table["program"], table["source"])])
    lines = []
    for name, alike, memory in BOUNDS:
        of = table[(table["alike"] == alike) & (table["memory"] == memory)]
        cells = [name, f"{quantile(of['off'], 0.9):.2f}", f"{hardest(of):.2f}"]
        for gpu in GPUS:
            part = has_part(of, gpu)
            width = hardest(of[~part])
            inside = 100 * (of["off"][part] <= width).sum() / part.sum() if part.any() else math.nan
            cells.append(f"{width:.2f}, {inside:.0f} %" if width > 0 else "-")
        lines.append([*cells, f"{100 * (of['off'] <= of['half']).sum() / len(of):.0f} %"])
    return {"bounds": rows(lines)}
