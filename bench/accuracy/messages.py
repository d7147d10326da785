"""Messages: fits beside the published tables, our own fits, and the regret of choosing a way of an
all-to-all by the model."""

from functools import lru_cache

import numpy as np
import pandas as pd

import haul

from .operators import TRACES
from .tool import quantile, read_csv, rows, scratch

# Bienz et al. (HPEC 2021), Tables I and II, seconds and seconds a byte. A row of Table I: the name,
# the system, whose buffers, the piece of a curve; then by reach the switches, alpha and beta.
REACHES = {"on-socket": "socket", "on-node": "node", "off-node": "network"}
SUMMIT, LASSEN = "256,16384", ("131072", "131072", "8192")
LASSEN_GPU = ("131072", "131072", "4096")
TABLE_I = [
    ("Summit CPU short", "summit", "host", 0, [SUMMIT] * 3,
     [(3.51e-7, 2.62e-10), (9.08e-7, 1.46e-9), (1.38e-6, 3.82e-10)]),
    ("Summit CPU eager", "summit", "host", 1, [SUMMIT] * 3,
     [(4.73e-7, 6.95e-11), (1.17e-6, 2.16e-10), (1.85e-6, 2.93e-10)]),
    ("Summit CPU rendezvous", "summit", "host", 2, [SUMMIT] * 3,
     [(2.46e-6, 3.31e-11), (5.81e-6, 1.46e-10), (6.56e-6, 8.51e-11)]),
    ("Summit GPU", "summit", "device", 0, ["none"] * 3,
     [(1.68e-5, 1.86e-11), (1.80e-5, 2.09e-11), (4.96e-6, 1.69e-10)]),
    ("Lassen CPU eager", "lassen_mvapich", "host", 0, LASSEN,
     [(3.99e-7, 5.59e-11), (7.07e-7, 2.23e-10), (1.53e-6, 4.38e-10)]),
    ("Lassen CPU rendezvous", "lassen_mvapich", "host", 1, LASSEN,
     [(3.62e-6, 3.71e-11), (1.07e-5, 1.42e-10), (6.90e-6, 4.63e-11)]),
    ("Lassen GPU eager", "lassen_mvapich", "device", 0, LASSEN_GPU,
     [(7.09e-7, 5.79e-11), (1.04e-6, 2.15e-10), (2.11e-6, 4.91e-10)]),
    ("Lassen GPU rendezvous", "lassen_mvapich", "device", 1, LASSEN_GPU,
     [(6.39e-6, 3.38e-11), (2.61e-5, 4.59e-13), (6.87e-6, 4.73e-11)]),
]
TABLE_II = [
    ("Summit", "summit", "HtoD near", 1.09e-5, 2.38e-11),
    ("Summit", "summit", "DtoH near", 1.09e-5, 2.36e-11),
    ("Summit", "summit", "HtoD far", 1.26e-5, 2.71e-11),
    ("Summit", "summit", "DtoH far", 1.25e-5, 2.72e-11),
    ("Lassen", "lassen_mvapich", "HtoD near", 1.33e-5, 1.80e-11),
    ("Lassen", "lassen_mvapich", "DtoH near", 1.35e-5, 1.75e-11),
    ("Lassen", "lassen_mvapich", "HtoD far", 1.42e-5, 2.84e-11),
    ("Lassen", "lassen_mvapich", "DtoH far", 1.40e-5, 2.83e-11),
]
GOAL = 2  # percent


@lru_cache(maxsize=None)
def fit(data, system, files, *options):
    """The pieces of each curve of a system."""
    paths = [data / "mpi" / file for file in files]
    made = haul.report("comm", "fit", *paths, "--system", system, *options)
    curves = {}
    for piece in made["pieces"]:
        curves.setdefault(piece["curve"], []).append(piece)
    return curves


def compare(figures):
    """Figures off by more than the goal as rows, and how many are not."""
    off = [(name, of, published, fitted, 100 * (fitted / published - 1))
           for name, of, published, fitted in figures]
    missed = [one for one in off if abs(one[4]) > GOAL]
    return ([[name, of, f"{published:.3g}", f"{fitted:.3g}", f"{by:+.1f} %"]
             for name, of, published, fitted, by in missed],
            f"{len(off) - len(missed)} of {len(off)}")


def figures_of(name, alpha, beta, piece):
    yield name, "alpha, s", alpha, piece["latency_s"]
    yield name, "beta, s/B", beta, piece["per_byte_s"]


def table_one(data):
    for name, system, memory, place, switches, published in TABLE_I:
        for (reach, curve), switch, (alpha, beta) in zip(REACHES.items(), switches, published):
            curves = fit(data, system, ("ping_pong.csv",), "--switches", switch, "--residuals",
                         "absolute")
            yield from figures_of(f"{name}, {reach}", alpha, beta,
                                  curves[f"{memory} {curve}"][place])


def table_two(data):
    for name, system, curve, alpha, beta in TABLE_II:
        curves = fit(data, system, ("memcpy.csv",), "--switches", "none", "--residuals", "absolute")
        yield from figures_of(f"{name} {curve}", alpha, beta, curves[curve][0])


def own_fits(data):
    for system in ("summit", "lassen_spectrum", "lassen_mvapich"):
        curves = fit(data, system, ("ping_pong.csv", "memcpy.csv"), "--breaks", "3")
        ends = [(of[0]["median_percent"], of[0]["p90_percent"]) for of in curves.values()]
        yield [system, f"{len(curves)}", f"{sum(len(of) for of in curves.values())}",
               f"{max(of[0] for of in ends):.1f} %", f"{max(of[1] for of in ends):.1f} %",
               f"{sum(of[0] <= 3 and of[1] <= 10 for of in ends)}"]


def path_of(strategy):
    if "Extra" in strategy:
        return "extra-message"
    if "Duplicate" in strategy:
        return "duplicate-pointer"
    return "gpudirect" if "Cuda" in strategy else "3-step"


def measured_exchanges(data):
    """What each way took, by collective, nodes and size. Extra-message rows of MPI_Alltoall of up to
    16 bytes are left out: fewer numbers than cores share them there, and the benchmark sent none."""
    table = read_csv(data / "mpi" / "collectives.csv")
    table = table[table["collective"].isin(["all_to_all", "all_to_all_v"])]
    table = table.assign(path=table["strategy"].map(path_of))
    empty = ((table["collective"] == "all_to_all") & (table["bytes_per_dest"] <= 16)
             & (table["path"] == "extra-message"))
    cases = {}
    for of in table[~empty].itertuples():
        cases.setdefault((of.collective, of.nodes, of.bytes_per_dest), {})[of.path] = of.min_s
    return cases


CORES = 40  # that the benchmark ran on


class MaxRate:
    """The postal and max-rate models alone (eqs. 1 to 3), as a script of a few lines has them: a
    latency for each message, the node's one rate, pairs for every all-to-all."""

    def __init__(self, machine):
        of = haul.report("machine", "show", machine)
        self.messages, self.copies = of["messages"], of["copies"]
        self.gpus = of["gpu"]["count"]["value"]
        self.rates = {memory: max(one["rate_Bps"]["value"] for one in of["injection"]
                                  if one["memory"] == memory) for memory in ("host", "device")}

    def message(self, memory, reach, size):
        of = [one for one in self.messages if one["memory"] == memory and one["reach"] == reach
              and one["above_bytes"]["value"] <= size][-1]
        return of["latency_s"]["value"], 1 / of["rate_Bps"]["value"] if of["rate_Bps"] else 0

    def sent(self, memory, count, size, processes):
        latency, each = self.message(memory, "network", size)
        return count * latency + count * size * max(each, processes / self.rates[memory])

    def copied(self, size):
        near = [of for of in self.copies if of["memory"] == "pinned" and of["locality"] == "near"]
        return sum(of["latency_s"]["value"] + of["call_latency_s"]["value"]
                   + size / of["rate_Bps"]["value"] for of in near)

    def shared(self, processes, size):
        near = [of for of in self.copies if of["memory"] == "pinned" and of["locality"] == "near"]
        return self.copied(0) + sum((processes - 1) * of["shared_latency_s"]["value"]
                                    + size / of["shared_rate_Bps"]["value"] for of in near)

    def times(self, nodes, size, is_v):
        cores, others = CORES // self.gpus, self.gpus * (nodes - 1)
        whole = self.gpus * nodes * size
        count = -(-others // cores) if is_v else others
        split = self.sent("host", count, others * size / cores / count, self.gpus * cores)
        latency, each = self.message("host", "socket", whole / cores)
        return {"gpudirect": self.sent("device", others, size, self.gpus),
                "3-step": self.copied(whole) + self.sent("host", others, size, self.gpus),
                "extra-message": self.copied(whole) + split
                + 2 * (cores - 1) * (latency + each * whole / cores),
                "duplicate-pointer": self.shared(cores, whole) + split}


def predicted(machine, script, collective, nodes, size):
    """The ways by haul, by their time with its interval, and by the script."""
    is_v = collective.endswith("_v")
    paths = haul.report("comm", "predict", machine, "--all-to-allv" if is_v else "--all-to-all",
                        "--nodes", nodes, "--cores", CORES, "--bytes", size)["paths"]
    ours = {of["path"]: (of["time_s"], *of["interval_s"]) for of in paths if not of.get("missing")}
    by_script = script.times(nodes, size, is_v)
    return ours, {way: (time,) for way, time in by_script.items()}


def choose(times, measured):
    """The measured time of the way chosen, of the faster of the first two, of GPUDirect, each by the
    best, and of each way by its prediction."""
    known = sorted((way for way in times if measured.get(way, 0) > 0), key=times.get)
    taken = [measured[way] for way in known]
    best = min(taken)
    return (taken[0] / best, min(taken[:2]) / best, measured["gpudirect"] / best,
            [measured[way] / times[way][0] for way in known],
            [times[way][1] <= measured[way] <= times[way][2] for way in known if times[way][1:]])


def choices(data, board):
    files = ["ping_pong.csv", "memcpy.csv", "maxrate.csv", "mult_pong.csv", "memcpy_mult.csv"]
    machine = scratch() / "summit-fitted.yaml"
    haul.report("comm", "fit", *(data / "mpi" / file for file in files), "--system", "summit",
                "--machine", "summit", "--breaks", "3", "-o", machine)
    script = MaxRate(machine)
    cases = measured_exchanges(data)
    for collective, name in (("all_to_all", "all-to-all"), ("all_to_all_v", "all-to-all-v")):
        both = [(predicted(machine, script, *key), of) for key, of in cases.items()
                if key[0] == collective]
        for which, model in enumerate(("haul", "max-rate script")):
            made = [choose(times[which], of) for times, of in both]
            regret, duel, direct = (np.array(column) for column in list(zip(*made))[:3])
            ratios = np.concatenate([of[3] for of in made])
            hold = [one for of in made for one in of[4]]
            if not which:
                board.facts["regret"] = " and ".join(
                    filter(None, [board.facts.get("regret"), f"{regret.mean():.3f}"]))
            yield [name, model, f"{len(made)}", f"{(regret == 1).sum()}", f"{regret.mean():.3f}",
                   f"{regret.max():.2f}", f"{duel.mean():.3f}", f"{direct.mean():.2f}",
                   f"{quantile(ratios, 0.1):.2f} to {quantile(ratios, 0.9):.2f}",
                   f"{100 * np.mean(hold):.0f} %" if hold else ""]


# BenchPress's all-to-alls on 32 nodes of Lassen: the machine of the catalogue, the collective, bytes
# to each GPU, the way that was best and by how much faster than GPUDirect.
LASSEN_BEST = [
    ("lassen", "all_to_all_v", 32, "extra-message", 4.6),
    ("lassen", "all_to_all_v", 4096, "duplicate-pointer", 3.3),
    ("lassen", "all_to_all_v", 131072, "duplicate-pointer", 1.9),
    ("lassen", "all_to_all", 8192, "duplicate-pointer", 2.3),
    ("lassen-mvapich", "all_to_all_v", 4096, "duplicate-pointer", 15.1),
    ("lassen-mvapich", "all_to_all_v", 8192, "duplicate-pointer", 11.5),
    ("lassen-mvapich", "all_to_all_v", 131072, "duplicate-pointer", 3.0),
    ("lassen-mvapich", "all_to_all", 4096, "duplicate-pointer", 2.6),
]


def lassen():
    """What haul and the script choose among the measured ways."""
    for machine, collective, size, best, factor in LASSEN_BEST:
        both = predicted(machine, MaxRate(machine), collective, 32, size)
        ours, script = (min((way for way in both[1] if way in times), key=times.get)
                        for times in both)
        yield [machine, collective.replace("_", "-"), f"{size}", best, f"{factor}", ours, script]


# --- sizes that a fit has not seen


def every_other(data, system, file):
    """The sizes of a system's rows but the ends, every other one, and a file of the others' rows."""
    table = read_csv(data / "mpi" / file)
    table = table[(table["system"] == system) & (table.get("kind", table["system"]) != "d2d")]
    tested = sorted(table["bytes"].unique())[1:-1:2]
    path = scratch() / f"{system}-{file}"
    table[~table["bytes"].isin(tested)].to_csv(path, index=False)
    return table[table["bytes"].isin(tested)], path


def copies_between(data, system):
    """Percent, of the sizes of copies that were not fitted."""
    tested, path = every_other(data, system, "memcpy.csv")
    pieces = {}
    for piece in haul.report("comm", "fit", path, "--breaks", "3")["pieces"]:
        pieces.setdefault(piece["curve"], []).append(piece)
    for of in tested.itertuples():
        place = "near" if of.locality == "on" else "far"
        piece = [one for one in pieces[f"{of.kind[0].upper()}to{of.kind[2].upper()} {place}"]
                 if one["from_bytes"] <= of.bytes][-1]
        time = piece["latency_s"] + piece["per_byte_s"] * of.bytes
        yield 100 * abs(time / of.min_s - 1)


def messages_between(data, system):
    """Likewise of messages, as the fitted machine predicts them."""
    tested, path = every_other(data, system, "ping_pong.csv")
    machine = scratch() / f"{system.replace('_', '-')}-between.yaml"
    haul.report("comm", "fit", path, "--breaks", "3", "-o", machine)
    times = {of["bytes"]: of for of in haul.report("comm", "curves", machine)["pairs"]}
    for of in tested.itertuples():
        memory = "host" if of.mem == "cpu" else "device"
        yield 100 * abs(times[of.bytes][f"{memory}_{of.locality}_s"] / of.min_s - 1)


def unseen(data):
    for system in ("summit", "lassen_spectrum", "lassen_mvapich"):
        for name, errors_of in (("messages", messages_between), ("copies", copies_between)):
            errors = np.array(list(errors_of(data, system)))
            yield [system, name, f"{len(errors)}", f"{np.median(errors):.1f} %",
                   f"{quantile(errors, 0.9):.1f} %", f"{errors.max():.0f} %"]


# --- nccl-tests


def nccl_rows(data):
    """Lines of the log before its rows, and its rows with their size and time."""
    lines = (data / "mpi" / "nccl-tests-alltoall.log").read_text().splitlines()
    found = [line for line in lines if line.split() and line.split()[0].isdigit()]
    rows_of = [(int(line.split()[0]), float(line.split()[4 - (len(line.split()) == 11)]) * 1e-6,
                line) for line in found if int(line.split()[0]) > 0]
    return [line for line in lines if line.startswith("#")], rows_of


def collective_times(machine, sizes):
    for size in sizes:
        made = haul.report("comm", "predict", machine, "--collective", "all-to-all", "--gpus", 8,
                           "--bytes", size)
        best = min((of for of in made["ways"] if of["is_library"]), key=lambda of: of["time_s"])
        yield best["time_s"], best["interval_s"]


def collective_tables(data):
    """An all-to-all of 8 A100 without a fit, and with a fit to every other size."""
    head, table = nccl_rows(data)
    path, machine = scratch() / "nccl-half.log", scratch() / "nccl-half.yaml"
    path.write_text("\n".join(head + [line for _, _, line in table[::2]]) + "\n")
    haul.report("comm", "fit", path, "--machine", "a100-sxm4-40gb", "-o", machine)
    for name, of, rows_of in (("the catalogue's a100-sxm4-40gb", "a100-sxm4-40gb", table),
                              ("fitted to every other size", machine, table[1::2])):
        made = list(collective_times(of, [size for size, _, _ in rows_of]))
        for label, least, most in (("to 1 MiB", 0, 1 << 20), ("above", 1 << 20, 1 << 40)):
            part = [(100 * (time / took - 1), low <= took <= high)
                    for (time, (low, high)), (size, took, _) in zip(made, rows_of)
                    if least < size <= most]
            errors = np.array([error for error, _ in part])
            yield [name, label, f"{len(part)}", f"{np.median(errors):+.1f} %",
                   f"{errors[np.abs(errors).argmax()]:+.1f} %",
                   f"{sum(holds for _, holds in part)} of {len(part)}"]


def collectives(data):
    """NCCL's kernels of profiles, by their sizes."""
    for name in ("recsys-a100", "recsys-v100", "nccl-arguments"):
        path = data / "traces" / "kineto" / f"{name}.json.gz"
        made = haul.report("project", path, "--to", "h100-sxm5")
        for of in made["self_check"]["collectives"]:
            yield [name, of["operation"], f"{of['ranks']}", f"{of['count']}", f"{of['wape']:.1f} %",
                   f"{of['noise_floor']:.1f} %"]


def messages(data, board):
    missed_one, one = compare(table_one(data))
    missed_two, two = compare(table_two(data))
    return {"published": rows(missed_one + missed_two), "one": one, "two": two,
            "fits": rows(own_fits(data)), "choices": rows(choices(data, board)), "lassen": rows(lassen()),
            "unseen": rows(unseen(data)), "tables": rows(collective_tables(data)),
            "collectives": rows(collectives(data))}
