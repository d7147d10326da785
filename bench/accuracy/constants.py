"""Constants of the kernel models, each with another value: haul built anew in a copy of the sources,
and the errors over all pairs of GPUs, and with each GPU left out as source and as target.

usage: python3 -m accuracy.constants DATA PAGE

PAGE is a table in Markdown; rows are printed as they come. It takes as long as building the program
and, of each value, a quarter of a minute of an idle machine, so `accuracy` does not run it.
HAUL_PROGRAM is not asked; the folders are on PYTHONPATH as the program `accuracy` has them.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .tool import ROOT, rows

PREDICT, OPERANDS, RATES, ROOFLINE, SCALE = (f"src/kernel/{name}.c" for name in (
    "kernel_predict", "kernel_operands", "gpu_rates", "kernel_roofline", "kernel_scale"))
PRODUCTS, PRODUCTS_BY_NAME = "product, sizes known", "product, by name"
STREAMING, ROWS, ROWS_BY_NAME = "streaming, by name", "rows, sizes known", "rows, by name"
WITHIN, BETWEEN = "within an architecture", "between Kepler and Maxwell"
ALONE = ["times and launches alone, within", "times and launches alone, between"]

# The constant, the basis of its value, its file and text, other values of the text with what they
# are, and the errors that it is of.
CONSTANTS = [
    ("16 x 16 threads of a block load a tile's operands",
     "256 threads a block, as kernels for fp32 are launched", OPERANDS, ".threads = 16,",
     {"8 x 8": ".threads = 8,", "32 x 32": ".threads = 32,"}, [PRODUCTS]),
    ("16 steps fill and empty a tile's pipeline", "names of kernels: two of 8", OPERANDS,
     ".filling = 2 * 8,", {"8": ".filling = 8,", "32": ".filling = 32,"}, [PRODUCTS]),
    ("the rate is that of tiles of 128 x 128", "the usual tile of large products", OPERANDS,
     "(1 + 2 * by->threads / 128)", {"256 x 128": "(1 + 1.5 * by->threads / 128)",
                                     "128 x 64": "(1 + 3 * by->threads / 128)"}, [PRODUCTS]),
    ("rows far apart take up to 1.2 times as long", "address translation, fitted on these GPUs",
     OPERANDS, "slower_far = 1.2;", {"1": "slower_far = 1.0;", "1.4": "slower_far = 1.4;"},
     [PRODUCTS]),
    ("from more than three pages a tile on rows are far apart", "the same", OPERANDS,
     "pages_at_once = 3;", {"two": "pages_at_once = 2;", "six": "pages_at_once = 6;"}, [PRODUCTS]),
    ("few tiles take from the sustained rate on", "slices of the inner dimension", PREDICT,
     "tiles->is_full ? tiles->in_waves_s : best_s", {"whole waves": "tiles->in_waves_s"}, [PRODUCTS]),
    ("tiny products wait up to a launch of the target", "an empty kernel's time", PREDICT,
     "fmax(most_s, hl_kernel_gpu_launch(&to->gpu))",
     {"not": "most_s", "two": "fmax(most_s, 2 * hl_kernel_gpu_launch(&to->gpu))"}, [PRODUCTS]),
    ("a launch takes half of a kernel's time at most", "no work is negative", PREDICT,
     "hl_kernel_gpu_launch(gpu), each_s / 2);",
     {"a quarter": "hl_kernel_gpu_launch(gpu), each_s / 4);",
      "all but a hundredth": "hl_kernel_gpu_launch(gpu), each_s * 0.99);"},
     [PRODUCTS, STREAMING, ROWS]),
    ("a tile loads each side for half of its multiply-adds' time", "two operands a step", OPERANDS,
     "(1 / across + 1 / down) / 2 /", {"a quarter": "(1 / across + 1 / down) / 4 /",
                                       "all": "(1 / across + 1 / down) /"}, [PRODUCTS_BY_NAME]),
    ("half of an L2 holds data surely", "an A100's L2 is two copies", RATES, "2 * share - 1",
     {"a quarter": "4 * share - 1", "a whole one": "share"}, [STREAMING, ROWS]),
    ("a grid of a quarter of a GPU's threads leaves it empty", "a wave of a scheduler's warps",
     RATES, "* threads / 4;", {"an eighth": "* threads / 8;", "a half": "* threads / 2;"},
     [STREAMING, ROWS]),
    ("half of the caches hold rows surely, one and a half never", "around one, as of L2", OPERANDS,
     "2 * at_work * row_bytes / cache - 0.5", {"a quarter, 1.25": "2 * at_work * row_bytes / cache - 0.25",
                                               "a whole, two": "2 * at_work * row_bytes / cache - 1.0"},
     [ROWS]),
    ("a multiprocessor of GP100 keeps loads in 24 KB of L1", "Pascal Tuning Guide", OPERANDS,
     "OF_GP100 = 24 * 1024", {"none": "OF_GP100 = 0", "48 KB": "OF_GP100 = 48 * 1024"}, [ROWS]),
    ("rows that keep less than half of the memory busy are bound inside, too", "half", PREDICT,
     "static const double busy = 0.5;", {"a quarter": "static const double busy = 0.25;",
                                         "all": "static const double busy = 1;"}, [ROWS]),
    ("those lie half way", "between two bounds", PREDICT, "log(inside / out->ratio) / 2;",
     {"a quarter": "log(inside / out->ratio) / 4;", "wholly inside": "log(inside / out->ratio);"},
     [ROWS]),
]

ROOFLINE_CONSTANTS = [
    ("memory bounds from shares of 0.4 to 0.6 on", "around half", ROOFLINE,
     "bound_from = 0.4;\nstatic const double bound_full = 0.6;",
     {"0.2 to 0.8": "bound_from = 0.2;\nstatic const double bound_full = 0.8;",
      "0.3 to 0.5": "bound_from = 0.3;\nstatic const double bound_full = 0.5;",
      "0.5 to 0.7": "bound_from = 0.5;\nstatic const double bound_full = 0.7;"}, None),
    ("kernels that issue 0.6 of what they can gain nothing from shorter waits", "the same", ROOFLINE,
     "return pow(waits, -hl_kernel_bound_weight(what->fit->issue_share));",
     {"they gain all": "return 1;"}, None),
    ("three warps a scheduler take the time of one", "each waits for its own results", RATES,
     "WARPS_UNFELT = 3 *", {"one": "WARPS_UNFELT = 1 *", "six": "WARPS_UNFELT = 6 *"}, None),
    ("a load out of L2 takes 250 cycles", "HiPC 2015, section VI", RATES, "CYCLES_L2 = 250",
     {"125": "CYCLES_L2 = 125", "500": "CYCLES_L2 = 500"}, None),
    ("lone warps wait for loads of L2 as long on all GPUs", "the same", ROOFLINE,
     "return hl_kernel_lone_wait_ratio(from, to, &what->counts) / waits;",
     {"as for instructions": "return 1;"}, None),
    ("ECC on GDDR leaves 0.8 of the memory's rate", "CUDA C++ Best Practices Guide", RATES,
     "left_by_ecc = 0.8;", {"0.7": "left_by_ecc = 0.7;", "0.9": "left_by_ecc = 0.9;"}, None),
    ("sizes conflict in a cache from 0.05 on", "noise and slow bends", "src/kernel/kernel_fit.c",
     "rough_enough = 0.05;", {"0.02": "rough_enough = 0.02;", "0.2": "rough_enough = 0.2;"}, None),
    ("a thread moves 8 bytes at the least", "a value of four bytes read, one written", SCALE,
     "least_of_thread = 8;", {"none": "least_of_thread = 0;", "4": "least_of_thread = 4;",
                              "16": "least_of_thread = 16;"}, ALONE),
    ("what lies under no roof of the target", "memory and arithmetic take what they take", ROOFLINE,
     "keep_under_roof(what, source_work_s, &self);", {"all": "(void)keep_under_roof;"}, None),
]


def measured(data):
    """The errors of the program that HAUL_PROGRAM names: {what: {GPU left out or "": mean}}."""
    from . import kernels, operators

    found = {}
    for name, table in zip(("by name", "sizes known"), operators.both(data)):
        for kind in operators.CLASSES:
            of = table[table["class"] == kind]
            found[f"{kind}, {name}"] = {"": operators.mean_of(of)} | {
                gpu: operators.mean_of(of[~operators.has_part(of, gpu)]) for gpu in operators.GPUS}
    for table, names in ((kernels.across(data), (WITHIN, BETWEEN)),
                         (kernels.scaled_launches(data), ALONE)):
        error = abs(table["seconds"] / table["measured"] - 1) * 100
        within = table["source"].isin(kernels.MAXWELL) == table["machine"].isin(kernels.MAXWELL)
        for name, wanted in zip(names, (within, ~within)):
            found[name] = {"": error[wanted].mean()} | {
                gpu: error[wanted & (table["source"] != gpu) & (table["machine"] != gpu)].mean()
                for gpu in kernels.GPUS}
    return found


class Copy:
    """A copy of the sources with a build of the program."""

    def __init__(self, folder):
        self.sources, self.build = folder / "sources", folder / "build"
        shutil.copytree(ROOT, self.sources,
                        ignore=shutil.ignore_patterns("build", ".git", "shared"))
        for name, _, file, text, _, _ in [*CONSTANTS, *ROOFLINE_CONSTANTS]:
            if (self.sources / file).read_text().count(text) != 1:
                sys.exit(f"constants: {name}: '{text}' is not once in {file}")
        options = [f"-D{name}=OFF" for name in ("HAUL_TESTS", "HAUL_BENCH", "HAUL_EXAMPLES")]
        self.run("cmake", "-G", "Ninja", "-S", self.sources, "-B", self.build,
                 "-DCMAKE_BUILD_TYPE=Release", *options)

    def run(self, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            sys.exit(f"constants: {' '.join(map(str, command))}: {done.stdout}{done.stderr}")
        return done.stdout

    def measured(self, data):
        self.run("cmake", "--build", self.build, "--target", "haul-cli", "--parallel", "2")
        program = self.build / "src" / "haul"
        environment = {**os.environ, "HAUL_PROGRAM": str(program)}
        done = subprocess.run([sys.executable, "-m", "accuracy.constants", str(data), "--measure"],
                              capture_output=True, text=True, env=environment, check=True)
        return json.loads(done.stdout)

    def with_text(self, data, file, text, other):
        path = self.sources / file
        kept = path.read_text()
        path.write_text(kept.replace(text, other))
        try:
            return self.measured(data)
        finally:
            path.write_text(kept)


def cells_of(stated, other, gpus):
    """The errors, then what the other value adds to them with each GPU left out."""
    added = [other[gpu] - stated[gpu] for gpu in gpus]
    return [f"{stated['']:.1f} %", f"{other['']:.1f} %", *(f"{of:+.1f}" for of in added)], added


def verdict(added):
    felt = [of for of in added if abs(of) >= 0.05]
    if not felt:
        return "not felt"
    if all(of > 0 for of in felt):
        return "worse"
    return "better" if all(of < 0 for of in felt) else "mixed"


def lines_of(copy, data, constants, stated, gpus):
    for name, basis, file, text, others, kinds in constants:
        for value, other in others.items():
            found = copy.with_text(data, file, text, other)
            for kind in kinds or (WITHIN, BETWEEN):
                cells, added = cells_of(stated[kind], found[kind], gpus)
                row = [name, basis, value, kind, *cells, verdict(added)]
                print(" | ".join(row), flush=True)
                yield row


def write_page(data, page):
    from . import kernels, operators

    folder = Path(tempfile.mkdtemp(prefix="haul-constants-"))
    try:
        copy = Copy(folder)
        stated = copy.measured(data)
        parts = [HEAD]
        for constants, gpus in ((CONSTANTS, operators.GPUS), (ROOFLINE_CONSTANTS, kernels.GPUS)):
            heads = ["constant", "basis", "instead", "errors of", "stated", "instead",
                     *(f"without {gpu}" for gpu in gpus), "the other value is"]
            lines = list(lines_of(copy, data, constants, stated, gpus))
            parts.append(rows([heads, ["---"] * 4 + ["---:"] * (2 + len(gpus)) + ["---"], *lines]))
        page.write_text("\n\n".join(parts) + "\n")
    finally:
        shutil.rmtree(folder)


HEAD = """## Kernels: each constant, with another value

haul built with another value of one constant of the kernel models, of those that times rest on: the mean
error over all pairs, then by how many points the other value changes it with each GPU left out wholly, as
source and as target. A value that is better with some GPU left out and worse with another is not told by
these measurements. Written by `python3 -m accuracy.constants`, apart from the other tables."""


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[2] == "--measure":
        print(json.dumps(measured(Path(sys.argv[1]))))
    else:
        write_page(Path(sys.argv[1]), Path(sys.argv[2]))
