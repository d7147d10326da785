"""Kernels by class: operators of PyTorch, one by one, in sequences, and in whole traces."""

import itertools
import json
import math
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

import haul

from . import kernels
from .tool import (MISS_WEIGHT, ROOT, constant_score, gpu_of, held, interval_error, interval_score, logs, median,
                   projected, quantile, random_numbers, read_csv, rows, scratch)

GPUS = {  # by their names in tables: the machine, and its name in the data
    "V100": ("v100-pcie3", "Tesla V100-PCIE-32GB"), "A100": ("a100-pcie4", "NVIDIA A100-PCIE-40GB"),
    "P100": ("p100-pcie3", "Tesla P100-PCIE-16GB"), "T4": ("t4", "Tesla T4"),
    "H100": ("h100-sxm5", "NVIDIA H100 80GB HBM3"),  # docs/measured: nothing was chosen by it
}
PAIRS = list(itertools.permutations(GPUS, 2))
CLASSES = ["product", "streaming", "rows"]
SHAPE = ["grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"]
OPERANDS = ["batch", "rows", "columns", "inner", "operand_bytes", "alignment"]
FP32 = 4


@lru_cache(maxsize=None)
def operators(data):
    """One operator and size in a row, with its operands, sorted by its key; and of each GPU that ran
    it the kernel, its launch and its time: (rows, {GPU: table by key})."""
    files = [data / "kernels" / "modern-ops.csv.gz",
             ROOT / "docs" / "measured" / "h100-operators.csv.gz"]
    sizes = ["b", "m", "n", "k", "h"]
    table = pd.concat([read_csv(file, dtype=dict.fromkeys(sizes, str), keep_default_na=False)
                       for file in files])
    table["key"] = table["op"].str.cat([table[size] for size in sizes], sep=" ").str.rstrip()
    b, m, n, k, h = (pd.to_numeric(table[size]).fillna(0).astype("int64") for size in sizes)
    is_product = table["op"].isin(["bmm", "linear"])  # n is the inner size in this data
    product_bytes = FP32 * b * (m * n + n * k + m * k)
    row_bytes = 2 * FP32 * b * h * table["op"].isin(["softmax", "ln"])
    for name, of in zip(OPERANDS, (b, m, k, n, product_bytes, 4)):
        table[name] = of * is_product
    table["operand_bytes"] += row_bytes
    table = table[table["seconds"] > 0].sort_values("key", kind="stable")
    by_gpu = {gpu: table[table["gpu"] == name].drop_duplicates("key").set_index("key")
              for gpu, (_, name) in GPUS.items()}
    return table.drop_duplicates("key").set_index("key"), by_gpu


@lru_cache(maxsize=None)
def names(data):
    """What a kernel's name tells: its class, and the tile of a product."""
    distinct = pd.unique(pd.concat([of["kernel"] for of in operators(data)[1].values()]))
    found = haul.report("kernel", "class", *distinct)["kernels"]
    return pd.DataFrame(found).drop_duplicates("kernel").set_index("kernel")


@lru_cache(maxsize=None)
def predictions(data, is_sized, other=None):
    """Each operator on each other GPU that ran it, by name and launch, and with the operands'
    sizes: seconds, low_s, high_s, shared, measured; class is that of the name. `other`, a GPU
    and a machine file named as the machine, stands for the catalogue's of that target."""
    _, by_gpu = operators(data)
    found = []
    for source, of in by_gpu.items():
        targets = [gpu for gpu in GPUS if gpu != source]
        columns = ["kernel", "seconds", *SHAPE, *(OPERANDS if is_sized else [])]
        machine = {gpu: str(other[1]) if other and gpu == other[0] else GPUS[gpu][0]
                   for gpu in targets}
        answer = haul.answer(of[columns].reset_index(), "kernel", "scale", "-", "--from",
                             GPUS[source][0], "--to", ",".join(machine.values()))
        answer["class"] = answer["kernel"].map(names(data)["class"])
        for target in targets:
            there = answer[answer["machine"] == Path(machine[target]).stem]
            measured = there["key"].map(by_gpu[target]["seconds"])
            found.append(there.assign(source=source, target=target, measured=measured)[
                measured.notna()])
    table = pd.concat(found).rename(columns={"seconds": "source_s", "predicted_seconds": "seconds"})
    inside = (table["low_s"] <= table["measured"]) & (table["measured"] <= table["high_s"])
    return table.assign(held=inside, error=np.log(table["seconds"] / table["measured"]))


def both(data):
    return predictions(data, False), predictions(data, True)


@lru_cache(maxsize=None)
def by_pair(data, is_sized):
    return dict(list(predictions(data, is_sized).groupby(["source", "target"])))


def relative(error):
    return 100 * np.abs(np.exp(error) - 1)


def mean_of(table, kind=None):
    error = table["error"] if kind is None else table["error"][table["class"] == kind]
    return relative(error).sum() / len(error) if len(error) else math.nan


def share_held(table):
    return 100 * table["held"].sum() / len(table)


def goal_of(source, target):
    if "T4" in (source, target):
        return 15
    if "H100" in (source, target):
        return 10
    return {("V100", "A100"): 8, ("P100", "V100"): 10}.get((source, target))


def against(error, goal):
    return "met" if error <= goal else "missed"


def pair_lines(data):
    for pair in PAIRS:
        named, sized = (by_pair(data, is_sized)[pair] for is_sized in (False, True))
        goal = goal_of(*pair)
        yield [*pair, f"{len(named)}", f"{mean_of(named):.1f} %",
               *(f"{mean_of(named, kind):.1f} %" for kind in CLASSES), f"{share_held(named):.0f} %",
               f"{mean_of(sized):.1f} %",
               *(f"{mean_of(sized, kind):.1f} %" for kind in CLASSES if kind != "streaming"),
               f"{share_held(sized):.0f} %",
               f"{goal} %: {against(mean_of(named), goal)}, {against(mean_of(sized), goal)}"
               if goal else None]


def has_part(table, gpu):
    return (table["source"] == gpu) | (table["target"] == gpu)


def width_without(table, left):
    """The half width that holds 90 of 100 operators from and to each of the GPUs, one left out
    wholly: a GPU that is not known may be as hard as the hardest that is. And the share that it
    holds of those that the GPU left out had."""
    off = np.abs(table["error"])
    out = has_part(table, left)
    parts = [off[has_part(table, gpu) & ~out] for gpu in GPUS if gpu != left]
    width = max(quantile(part, 0.9) for part in parts if len(part))
    return width, 100 * (off[out] <= width).sum() / max(1, out.sum())


def width_lines(data):
    for kind in CLASSES:
        for name, table in zip(("by name", "sizes known"), both(data)):
            if kind == "streaming" and name != "by name":
                continue
            of = table[table["class"] == kind]
            cells = [f"{kind}, {name}", f"{width_without(of, None)[0]:.2f}"]
            for left in GPUS:
                width, inside = width_without(of, left)
                cells += [f"{width:.2f}", f"{inside:.0f} %"]
            yield [*cells, f"{share_held(of):.0f} %"]


# --- sequences

SEQUENCES, LEAST, MOST = 200, 20, 200


def draw(keys, known, random):
    """The operators of a sequence: those that both GPUs ran."""
    length, drawn = LEAST + next(random) % (MOST - LEAST + 1), []
    while len(drawn) < length:
        place = known.get(keys[next(random) % len(keys)])
        if place is not None:
            drawn.append(place)
    return drawn


def sequence_lines(data):
    random = random_numbers(2025)
    keys = operators(data)[0].index.tolist()
    for pair in PAIRS:
        tables = [by_pair(data, is_sized)[pair] for is_sized in (False, True)]
        known = {key: place for place, key in enumerate(tables[0]["key"])}
        columns = [SumColumns(table) for table in tables]
        found = [[], []]
        for _ in range(SEQUENCES):
            drawn = np.array(draw(keys, known, random))
            for sums, of in zip(found, columns):
                sums.append(of.sum_of(drawn))
        cells, means = [], []
        for sums in found:
            errors = [relative(error) for error, _ in sums]
            means.append(sum(error / SEQUENCES for error in errors))
            inside = sum(100.0 * is_held / SEQUENCES for _, is_held in sums)
            cells += [f"{means[-1]:.1f} %", f"{quantile(errors, 0.9):.1f} %", f"{inside:.0f} %"]
        yield [*pair, *cells, ", ".join(against(mean, 6) for mean in means)]


class SumColumns:
    """Predictions of a pair, for sums: of each class a part of the half widths is common to its
    kernels and adds up; the rest adds as squares."""

    def __init__(self, table):
        self.seconds, self.measured = table["seconds"].to_numpy(), table["measured"].to_numpy()
        self.half = {True: (table["high_s"] - table["seconds"]).to_numpy(),
                     False: (table["seconds"] - table["low_s"]).to_numpy()}
        self.shared = table["shared"].to_numpy()
        self.classes = pd.factorize(table["class"])[0]

    def sum_of(self, drawn):
        """The sum's error in the logarithm, and whether its interval holds what was measured."""
        seconds, measured = self.seconds[drawn].sum(), self.measured[drawn].sum()
        half = self.half[bool(measured > seconds)][drawn]
        shared = half * self.shared[drawn]
        common = np.bincount(self.classes[drawn], weights=shared)
        squared = (common**2).sum() + (half**2 - shared**2).sum()
        return math.log(seconds / measured), (measured - seconds) ** 2 <= squared


# --- traces

TRACES = [  # one program on two GPUs, and why it misses where it does
    ("owlv2-h100", "owlv2-mi300x", "h100-sxm5", "mi300x",
     "5185 rows of attention are odd numbers of two bytes: cuBLAS ran kernels without alignment made "
     "for Turing, far below the H100's rate, and hipBLASLt's, which need none, are still half as "
     "fast as the MI300X's memory allows", False),
    ("owlv2-mi300x", "owlv2-h100", "mi300x", "h100-sxm5",
     "the same, the other way: the factor of 2 for odd sizes is the least that is published", False),
    ("recsys-a100", "recsys-v100", "a100-sxm4-40gb", "v100-sxm2",
     "products in TF32 on the A100, in fp32 on the V100, small and some of them bound by latency; "
     "collectives wait for other ranks, which no GPU's rate tells", False),
    ("recsys-v100", "recsys-a100", "v100-sxm2", "a100-sxm4-40gb",
     "products in fp32 on the V100 ran in TF32 on the A100, which the profile does not tell: neither "
     "kernels' names nor its metadata have it, its date, two months after PyTorch 1.12 made fp32 the "
     "default, says the opposite, and `haul project` says beside the kernels' time what TF32 would "
     "make of it", False),
    ("recsys-v100", "recsys-a100", "v100-sxm2", "a100-sxm4-40gb",
     "products so small that latency bounds them, scaled by rates of large ones", True),
]


def project_trace(data, trace, reference, source, target, is_tf32=False):
    folder = data / "traces" / "kineto"
    options = ["--tf32"] if is_tf32 else []
    return projected(folder / f"{trace}.json.gz", "--to", target, "--from", source, "--reference",
                     str(folder / f"{reference}.json.gz"), *options)


def trace_text(data, trace, reference, source, target, cause, is_tf32):
    made = project_trace(data, trace, reference, source, target, is_tf32)
    lines, totals = [["class", "recorded", "predicted", "interval", "measured", "error"],
                     ["---", *["---:"] * 5]], np.zeros(3)
    for of in made["kernel_classes"]:
        recorded, predicted, measured = (of["recorded_s"], of["predicted_s"],
                                         of.get("reference_s") or 0)
        if not (recorded > 0 or measured > 0):
            continue
        low, high = of["interval_s"]
        lines.append([of["class"], ms(recorded), ms(predicted),
                      f"{1e3 * low:.2f} to {1e3 * high:.2f} ms", ms(measured),
                      f"{100 * (predicted / measured - 1):+.0f} %" if measured > 0 else None])
        if of["class"] != "collective":
            totals += (recorded, predicted, measured)
    error = 100 * (totals[1] / totals[2] - 1)
    lines.append(["all but collectives", ms(totals[0]), ms(totals[1]), None, ms(totals[2]),
                  f"{error:+.0f} %"])
    head = f"{trace} to {reference}{', with --tf32' if is_tf32 else ''}:"
    return (f"{head}\n\n{rows(lines)}\n\nGoal 20 %: {against(abs(error), 20)}. What it misses by: "
            f"{cause}.")


def ms(seconds):
    return f"{1e3 * seconds:.2f} ms"


def untold_lines(data):
    """The first program's kernels with the operators' sizes of all launches, of every second and of
    none, as of those in CUDA graphs: the errors of the classes' sums."""
    for trace, reference, source, target, *_ in TRACES[:2]:
        folder, written = data / "traces" / "kineto", scratch() / f"{trace}.json"
        haul._native.run("convert", folder / f"{trace}.json.gz", "-o", written)
        profile = json.loads(written.read_text())
        kernels_of = [event for event in profile["traceEvents"] if event.get("cat") == "kernel"]
        found = []
        for kept in (1, 2, 0):
            for place, event in enumerate(kernels_of):
                if not kept or place % kept:
                    event["args"].pop("haul operands", None)
            other = scratch() / f"{trace}-{kept}.json"
            other.write_text(json.dumps(profile))
            made = projected(other, "--to", target, "--from", source, "--reference",
                             folder / f"{reference}.json.gz")
            found.append({of["class"]: of["predicted_s"] / of["reference_s"]
                          for of in made["kernel_classes"] if of.get("reference_s")})
        for kind in ("product", "rows"):
            yield [f"{trace} to {reference}", kind,
                   *(f"{100 * (ratios[kind] - 1):+.0f} %" for ratios in found)]


def classes(data, board):
    named, sized = both(data)
    board.know(named_mean=f"{mean_of(named):.1f}", sized_mean=f"{mean_of(sized):.1f}")
    return {"pairs": rows(pair_lines(data)), "widths": rows(width_lines(data)),
            "sequences": rows(sequence_lines(data)),
            "traces": "\n\n".join(trace_text(data, *trace) for trace in TRACES),
            "untold": rows(untold_lines(data))}


# --- what bounds these errors


def least_error(ratio):
    """The least sum of |factor x ratio - 1| over all factors. It is at the reciprocal of a ratio,
    for between neighbouring reciprocals the sum is a straight line; and it has one valley."""
    ordered = np.sort(ratio)
    low, high = 0, len(ordered) - 1
    if high < 0:
        return 0

    def error(place):
        return np.abs(ordered / ordered[place] - 1).sum()

    while low < high:
        middle = (low + high) // 2
        if error(middle) <= error(middle + 1):
            high = middle
        else:
            low = middle + 1
    return error(low)


def factor_lines(data):
    for pair in PAIRS:
        named, sized = (by_pair(data, is_sized)[pair] for is_sized in (False, True))
        now, best, count = np.zeros(3), np.zeros(3), 0
        for kind in CLASSES:
            of, known = named[named["class"] == kind], sized[sized["class"] == kind]
            ratios = [(times / of["measured"]).to_numpy() for times in
                      (of["source_s"], of["seconds"], known["seconds"])]
            count += len(of)
            now += [np.abs(ratio - 1).sum() for ratio in ratios]
            best += [least_error(ratio) for ratio in ratios]
        now, best = 100 * now / count, 100 * best / count
        yield [*pair, *(f"{of:.1f} %" for of in (best[0], now[1], best[1], now[2], best[2]))]


NEAREST = 4


def products_of(data, gpu):
    """Matrix products that a GPU ran."""
    of = operators(data)[1][gpu]
    of = of[of["batch"] > 0]
    flops = 2.0 * of["batch"] * of["rows"] * of["columns"] * of["inner"]
    return of.assign(rate=flops / of["seconds"], tile=of["kernel"].map(names(data)["tile"]))


def spread_of_each(of):
    """The error where each product is predicted from the median rate of those nearest in size."""
    size = np.array([[math.log(value) for value in row] for row in
                     of[["batch", "rows", "columns", "inner"]].to_numpy().tolist()])
    rate = of["rate"].to_numpy()
    errors = []
    for at, here in enumerate(size):
        away = ((size - here) ** 2).T
        away = away[0] + away[1] + away[2] + away[3]
        away[at] = math.inf
        nearest = np.argsort(away, kind="stable")[:NEAREST]
        errors.append(100 * abs(rate[at] / median(rate[nearest]) - 1))
    return pd.Series(errors, index=of.index)


@lru_cache(maxsize=None)
def spreads(data, gpu):
    """Of the linear layers and of the batched products that a GPU ran."""
    of = products_of(data, gpu)
    is_batched = of["op"] == "bmm"
    return spread_of_each(of[~is_batched]), spread_of_each(of[is_batched])


def least_by_spread(data, source=None, target=None):
    """The mean spread, on their targets, of the products of a pair, or of all."""
    table = predictions(data, True)
    table = table[table["class"] == "product"]
    if source:
        table = table[(table["source"] == source) & (table["target"] == target)]
    found = [pd.concat(spreads(data, gpu)).reindex(of["key"])
             for gpu, of in table.groupby("target")]
    return pd.concat(found).mean()


def rate_lines(data):
    for gpu in GPUS:
        of = products_of(data, gpu)
        linear = of[of["op"] != "bmm"]
        cells = [gpu, *(f"{errors.mean():.1f} %" for errors in spreads(data, gpu))]
        for inner in (1024, 4096, 16384, 65536):
            near = np.abs(np.log2(linear["inner"] / inner)) <= 0.5
            cells.append(f"{median(1e-12 * linear['rate'][near]):.1f}")
        yield cells


PAGE = 2 << 20


def pages_of(tile_rows, inner, rows_of):
    """Pages of 2 MiB that the rows of one of an operand's panels lie in, on average."""
    panels = rows_of // tile_rows if rows_of > tile_rows else 1
    first = np.arange(panels) * tile_rows * inner * FP32
    last = first + min(tile_rows, rows_of) * inner * FP32 - 1
    return float((last // PAGE - first // PAGE + 1).sum()) / panels


def page_lines(data):
    steps = [0, 3, 4, 6, 12, math.inf]
    for gpu in GPUS:
        linear = products_of(data, gpu)
        linear = linear[(linear["op"] != "bmm") & linear["tile"].notna() & (linear["tile"] != "")]
        pages = []
        for of in linear.itertuples():
            tile = [int(side) for side in of.tile.split("x")]
            pages.append(pages_of(tile[0], of.inner, of.columns)
                         + pages_of(tile[1], of.inner, of.rows))
        pages, rate = np.array(pages), 1e-12 * linear["rate"].to_numpy()
        cells = [gpu]
        for start, end in zip(steps, steps[1:]):
            within = (pages >= start) & (pages < end)
            cells.append(f"{median(rate[within]):.1f} ({within.sum()})")
        yield cells


def hard_lines(data):
    """Products that miss most: errors of all that they are among, of them, and of the others."""
    named, sized = both(data)
    of = operators(data)[0]

    def line(name, table, is_hard):
        alone, others = mean_of(table[is_hard]), mean_of(table[~is_hard])
        return [name, f"{is_hard.sum()} of {len(table)}", f"{mean_of(table):.1f} %",
                f"{alone:.1f} %", f"{others:.1f} %"]

    def traits(table):
        shape = of.loc[table["key"]].set_index(table.index)
        return shape["op"] == "bmm", shape[["rows", "columns"]].min(axis=1), shape["inner"]

    products = named[named["class"] == "product"]
    for pair in (("A100", "H100"), ("H100", "A100")):
        table = products[(products["source"] == pair[0]) & (products["target"] == pair[1])]
        is_batched, side, _ = traits(table)
        yield line(f"products by name, {pair[0]} to {pair[1]}: batched, a side of 64", table,
                   is_batched & (side == 64))
    is_batched, side, inner = traits(sized)
    is_hard = {"batched, to a T4": is_batched & (sized["target"] == "T4"),
               "linear, inner dimension above 12000, to a P100":
                   ~is_batched & (inner > 12000) & (sized["target"] == "P100"),
               "batched, a side below 128, to an A100":
                   is_batched & (side < 128) & (sized["target"] == "A100")}
    for name, wanted in is_hard.items():
        yield line(f"all operators, sizes known: {name}", sized, wanted)
    yield line("all operators, sizes known: these three", sized,
               np.logical_or.reduce(list(is_hard.values())))


def limits(data, _board):
    return {"factors": rows(factor_lines(data)), "rates": rows(rate_lines(data)),
            "least": f"{least_by_spread(data):.1f}",
            "least_a100_h100": f"{least_by_spread(data, 'A100', 'H100'):.1f}",
            "pages": rows(page_lines(data)), "hard": rows(hard_lines(data))}


# --- beside the simplest rule


def score_without_pair(middle, pairs, wanted):
    """The score of a factor up and down that was chosen for each pair of GPUs with the cases of
    pairs that have neither; not a number where there are none."""
    off, of_pair = np.abs(middle), np.array([f"{a}>{b}" for a, b in pairs])
    total, ends = 0, np.array(pairs)
    for pair in np.unique(of_pair[wanted]):
        others = off[~np.isin(ends, pair.split(">")).any(axis=1)]
        if not len(others):
            return math.nan
        most = quantile(others, 0.9)
        of = off[wanted & (of_pair == pair)]
        total += (2 * most + MISS_WEIGHT * np.maximum(0, of - most)).sum()
    return math.exp(total / wanted.sum())


def rule_cells(rules, ours, apart):
    """Errors, then scores: of the rules with one width, of ours as stated, with one width, and with
    one chosen apart."""
    cells = [f"{len(rules[0])}"]
    cells += [f"{interval_error(rule):.1f} %" for rule in rules]
    cells += [f"{interval_error(cases[0]):.1f} %" for cases in ours]
    cells += [f"{constant_score(rule):.2f}" for rule in rules]
    for cases, out in zip(ours, apart):
        cells += [f"{interval_score(cases):.2f}", f"{constant_score(cases[0]):.2f}",
                  "-" if math.isnan(out) else f"{out:.2f}", f"{held(cases):.0f} %"]
    return cells


def cases_of(table):
    return logs(table["seconds"], table["low_s"], table["high_s"], table["measured"])


def operator_ratio(table):
    """Peaks of fp32 for products, nominal bandwidths for all else."""
    def ratios(key):
        return {pair: gpu_of(GPUS[pair[0]][0])[key] / gpu_of(GPUS[pair[1]][0])[key]
                for pair in PAIRS}

    peaks, bandwidths = ratios("fp32_flops"), ratios("memory_bandwidth_Bps")
    pairs = list(zip(table["source"], table["target"]))
    by_peak, by_bandwidth = ([of[pair] for pair in pairs] for of in (peaks, bandwidths))
    ratio = np.where(table["class"] == "product", by_peak, by_bandwidth)
    return np.log(table["source_s"] * ratio / table["measured"])


def operator_lines(data, board):
    named, sized = both(data)
    rule = operator_ratio(named)
    everything = np.ones(len(named), bool)

    def line(name, wanted, among):
        """`among`: the cases with which a width is chosen apart."""
        pairs = list(zip(named["source"][among], named["target"][among]))
        apart = [score_without_pair(of["error"][among].to_numpy(), pairs, wanted[among])
                 for of in (named, sized)]
        return [name, *rule_cells([rule.to_numpy()[wanted]],
                                  [cases_of(of[wanted]) for of in (named, sized)], apart)]

    for source, target in PAIRS:
        wanted = (named["source"] == source) & (named["target"] == target)
        yield line(f"{source} to {target}", wanted.to_numpy(), everything)
    for kind in CLASSES:
        is_kind = (named["class"] == kind).to_numpy()
        yield line(f"{kind}, all pairs", is_kind, is_kind)
        for gpu in GPUS:
            yield line(f"{kind}, from and to {gpu}", is_kind & has_part(named, gpu).to_numpy(),
                       is_kind)
    board.add("operators by name", cases_of(named), named["target"])
    board.add("operators, sizes known", cases_of(sized), sized["target"])


def gpu_lines(data, board):
    table = kernels.across(data)
    launches = pd.concat(of.assign(program=program, source=machine)
                         for (program, machine), of in kernels.series(data).items())
    table = table.merge(launches[["program", "source", "size", "blocks", "block"]],
                        on=["program", "source", "size"])
    scaled = kernels.scale(table.assign(seconds=table["source_s"]))
    keys = ["program", "source", "machine", "size"]
    table, scaled = (of.sort_values(keys, kind="stable") for of in (table, scaled))
    is_alike = np.array([(a in kernels.MAXWELL) == (b in kernels.MAXWELL)
                         for a, b in zip(table["source"], table["machine"])])
    pairs = list(zip(table["source"], table["machine"]))
    rules = []
    for key in ("fp32_flops", "memory_bandwidth_Bps"):
        ratio = [gpu_of(a)[key] / gpu_of(b)[key] for a, b in pairs]
        rules.append(np.log(table["source_s"] * ratio / table["measured"]).to_numpy())
    sets = {name: np.array([pair in of_group for pair in pairs])
            for name, (_, of_group) in kernels.GROUPS.items() if name != "Kepler and Maxwell"}
    sets["between Kepler and Maxwell"] = ~is_alike
    for name, wanted in sets.items():
        ours = [cases_of(of[wanted]) for of in (table, scaled)]
        if name.startswith(("within", "between")):
            board.add("kernels within an architecture" if name.startswith("within")
                      else "kernels across architectures", ours[0],
                      table["machine"][wanted])
        of_set = [pair for pair, is_wanted in zip(pairs, wanted) if is_wanted]
        apart = [score_without_pair(cases[0], of_set, np.ones(len(of_set), bool)) for cases in ours]
        yield [name, *rule_cells([rule[wanted] for rule in rules], ours, apart)]


OURS, LEFT_OUT = (6, 10), (8, 12)  # places of the scores in a line of operators


def rules(data, board):
    lines = list(operator_lines(data, board))
    worse = [", ".join(line[0] for line in lines if float(line[ours]) > 1.01 * float(line[apart]))
             for ours, apart in zip(OURS, LEFT_OUT)]
    return {"operators": rows(lines), "gpus": rows(gpu_lines(data, board)),
            "worse_named": worse[0] or "none", "worse_sized": worse[1] or "none"}


# --- products that were measured on the target

MEASURED_PRODUCTS = 64  # as many as a machine file may have


def with_products(machine, table):
    """A machine of the catalogue, with products that were measured on it; returns its path."""
    items = [f"  - {{from: measured, source: a row of the data, precision: fp32, batch: {of.batch}, "
             f"rows: {of.rows}, columns: {of.columns}, inner: {of.inner}, time: {of.seconds!r} s}}"
             for of in table.itertuples()]
    file = scratch() / f"{machine}-measured.yaml"
    text = (ROOT / "machines" / f"{machine}.yaml").read_text()
    file.write_text(text + "\nproducts:\n" + "\n".join(items) + "\n")
    return file


def measured_lines(data):
    """Each GPU as a target: its products but some, evenly over the table, from all others."""
    _, by_gpu = operators(data)
    sized = predictions(data, True)
    for target, (machine, _) in GPUS.items():
        there = by_gpu[target]
        there = there[there["batch"] > 0]
        chosen = there.iloc[[i * len(there) // MEASURED_PRODUCTS
                             for i in range(MEASURED_PRODUCTS)]]
        file = with_products(machine, chosen)
        found = []
        for source in (gpu for gpu in GPUS if gpu != target):
            of = by_gpu[source].reset_index()
            of = of[of["key"].isin(there.index.difference(chosen.index))]
            answer = haul.answer(of[["key", "kernel", "seconds", *SHAPE, *OPERANDS]], "kernel",
                                 "scale", "-", "--from", GPUS[source][0], "--to", str(file))
            found.append(answer.assign(measured=answer["key"].map(there["seconds"])))
        ours = pd.concat(found).drop(columns="seconds").rename(
            columns={"predicted_seconds": "seconds"})
        before = sized[(sized["target"] == target) & sized["key"].isin(ours["key"])]
        cells = [target, f"{len(chosen)}", f"{len(ours)}"]
        for cases in (cases_of(before), cases_of(ours)):
            cells += [f"{interval_error(cases[0]):.1f} %", f"{interval_score(cases):.2f}",
                      f"{held(cases):.0f} %"]
        yield cells


MEASURED_WHOLE = ("H100", ROOT / "docs" / "measured" / "h100-80gb-hbm3.yaml")


def whole_lines(data):
    """The GPU that `haul measure` measured, as a target of all others: its classes by the
    catalogue's file and by the measured one."""
    target = MEASURED_WHOLE[0]
    for sizes, is_sized in (("by name", False), ("sizes known", True)):
        before = predictions(data, is_sized)
        before = before[before["target"] == target]
        after = predictions(data, is_sized, MEASURED_WHOLE)
        after = after[after["target"] == target]
        for kind in CLASSES:
            cells = []
            for table in (before, after):
                of = table[table["class"] == kind]
                cells += [f"{mean_of(of):.1f} %", f"{interval_score(cases_of(of)):.2f}",
                          f"{share_held(of):.0f} %"]
            yield [f"{kind}, {sizes}", f"{(before['class'] == kind).sum()}", *cells]


def measured(data, _board):
    return {"targets": rows(measured_lines(data)), "whole": rows(whole_lines(data))}
