"""The Python package on the tests' profile: frames against the program's own sums, answers against
its JSON, errors as it says them. usage: check_package.py HAUL PACKAGE_FOLDER PROFILE, or
check_package.py installed installed PROFILE"""

import contextlib
import doctest
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import zipfile
from pathlib import Path
from unittest import mock

try:
    import numpy as np
    import pandas as pd
except ImportError as reason:
    print(f"skipped: {reason} (python3-pandas)")
    sys.exit(77)

program, folder, profile = sys.argv[1:4]
if program != "installed":
    os.environ["HAUL_PROGRAM"] = program
    sys.path.insert(0, folder)
import haul
from haul import _native, _reports, demo


def trace(folder, events):
    path = Path(folder) / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


class Frames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = haul.read(profile)

    def test_sums_are_those_of_analyze(self):
        run, analysis = self.run_, self.run_.analysis
        kernels = run.kernels[~run.kernels.is_collective]
        self.assertEqual(len(kernels), analysis["kernels"]["count"])
        self.assertAlmostEqual(kernels.time_s.sum(), analysis["kernels"]["time_s"], 9)
        self.assertAlmostEqual(run.memsets.time_s.sum(), analysis["memsets"]["time_s"], 9)
        self.assertAlmostEqual(run.idle.time_s.sum(), analysis["idle_s"], 9)
        copies = run.copies.groupby(["direction", "memory"], observed=True)
        for row in analysis["copies"]:
            of = copies.get_group((row["direction"], row["memory"]))
            self.assertEqual((len(of), int(of.bytes.sum())), (row["count"], row["bytes"]))
            self.assertAlmostEqual(of.time_s.sum(), row["time_s"], 9)

    def test_columns(self):
        kernels = self.run_.kernels
        self.assertEqual(kernels.start_s.min() >= 0, True)
        self.assertEqual(kernels.name.notna().all() and (kernels.block_x > 0).all(), True)
        self.assertEqual(set(self.run_.tables()),
                         {"kernels", "copies", "memsets", "calls", "ranges", "idle"})
        self.assertTrue(self.run_.format.startswith("nsys"))
        self.assertEqual(self.run_.losses, [])

    def test_the_innermost_range_is_named(self):
        def span(name, start, duration, tid=1):
            return {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": tid,
                    "ts": start, "dur": duration}

        def launch(at, number, tid=1):
            return [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                     "tid": tid, "ts": at, "dur": 1, "args": {"correlation": number}},
                    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": at + 5,
                     "dur": 2, "args": {"correlation": number, "stream": 7, "device": 0}}]
        events = [span("outer", 0, 100), span("inner", 20, 30), span("other", 0, 500, tid=2)]
        for number, (at, tid) in enumerate(((10, 1), (30, 1), (60, 1), (150, 1), (40, 2)), 1):
            events += launch(at, number, tid)
        with tempfile.TemporaryDirectory() as where:
            kernels = haul.read(trace(where, events)).kernels.sort_values("call_start_s")
        found = ["" if pd.isna(name) else name for name in kernels.range]
        self.assertEqual(found, ["outer", "inner", "other", "outer", ""])

    def test_a_profile_without_device_work(self):
        call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaFree", "pid": 1, "tid": 1, "ts": 1,
                "dur": 2}
        with tempfile.TemporaryDirectory() as where:
            run = haul.read(trace(where, [call]))
            self.assertEqual([len(table) for table in run.tables().values()], [0, 0, 0, 1, 0, 0])

    def test_arrays_are_an_archive_without_faults(self):
        with tempfile.TemporaryDirectory() as where:
            path = Path(where) / "run.npz"
            subprocess.run([_native.program(), "convert", profile, "-o", path], check=True)
            self.assertIsNone(zipfile.ZipFile(path).testzip())
            with np.load(path) as arrays:
                self.assertEqual(arrays["ops"].dtype.itemsize, 64)
                self.assertTrue((np.diff(arrays["ops"]["start_ns"]) >= 0).all())


def has(package):
    return importlib.util.find_spec(package) is not None


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = haul.read(profile)

    @unittest.skipUnless(has("openpyxl"), "no openpyxl")
    def test_excel_has_a_sheet_for_each_table(self):
        with tempfile.TemporaryDirectory() as where:
            for of in (self.run_, haul.analyze(self.run_), haul.project(profile, to="gh200")):
                of.to_excel(Path(where) / "run.xlsx")
                sheets = pd.read_excel(Path(where) / "run.xlsx", sheet_name=None)
                self.assertEqual({name: len(sheet) for name, sheet in sheets.items()},
                                 {name: len(table) for name, table in of.tables().items()})

    @unittest.skipUnless(has("pyarrow"), "no pyarrow")
    def test_parquet_has_every_value(self):
        with tempfile.TemporaryDirectory() as where:
            for of in (self.run_, haul.analyze(self.run_), haul.advise(profile)):
                of.to_parquet(Path(where) / "run")
                for name, table in of.tables().items():
                    back = pd.read_parquet(Path(where) / "run" / f"{name}.parquet")
                    self.assertEqual(list(back.columns), list(table.columns))
                    # what is missing is None there, NaN here
                    same = (back.astype(object) == table.astype(object)) | (back.isna() & table.isna())
                    self.assertTrue(same.all(axis=None), name)
        self.assertEqual(self.run_.to_arrow()["copies"].num_rows, len(self.run_.copies))


class Manners(unittest.TestCase):
    def test_long_work_shows_how_far_it_is(self):
        class Bar:
            made = []

            def __init__(self, total, **described):
                self.total, self.n, self.described = total, 0, described
                Bar.made.append(self)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                self.closed = True

            def update(self, more):
                self.n += more

            refresh = __enter__

        tqdm = {"tqdm": types.ModuleType("tqdm"), "tqdm.auto": types.SimpleNamespace(tqdm=Bar)}
        with mock.patch.object(_native, "PROGRESS_AFTER_S", 0), mock.patch.dict(sys.modules, tqdm), \
             mock.patch.object(sys, "stderr", mock.Mock(isatty=lambda: False)):
            haul.read(profile) # a log, which nobody watches
        self.assertEqual(Bar.made, [])
        with mock.patch.object(_native, "PROGRESS_AFTER_S", 0), mock.patch.dict(sys.modules, tqdm), \
             mock.patch.object(sys, "stderr", mock.Mock(isatty=lambda: True)):
            haul.read(profile)
        (bar,) = Bar.made
        self.assertEqual((bar.total, bar.n, bar.closed), (os.path.getsize(profile),) * 2 + (True,))
        self.assertEqual(bar.described["desc"], "haul convert")
        with mock.patch.object(_native, "PROGRESS_AFTER_S", 0), \
             mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}), \
             mock.patch.object(sys, "stderr", mock.Mock(isatty=lambda: True)):
            self.assertGreater(len(haul.read(profile).copies), 0) # nor is it asked for

    def test_long_work_gets_all_that_it_is_to_read(self):
        copies = pd.DataFrame({"bytes": range(1, 40_001), "direction": "HtoD",
                               "host_memory": "pinned"}) # more than a pipe holds
        with mock.patch.object(_native, "PROGRESS_AFTER_S", 0):
            times = _native.answer(copies, "machine", "time", "k40", "--csv", "-")
        self.assertEqual(len(times), len(copies))

    def test_a_program_that_cannot_run_is_absent(self):
        with mock.patch.dict(os.environ, HAUL_PROGRAM="/nowhere/haul"), \
             self.assertRaises(haul.AbsentError) as caught:
            haul.machines()
        self.assertIn("/nowhere/haul", str(caught.exception))

    def test_what_is_not_installed_is_named_with_its_extra(self):
        run = haul.read(profile)
        for package, extra, call in (("pandas", "pandas", lambda: run.kernels),
                                     ("pandas", "pandas", lambda: haul.machines()),
                                     ("numpy", "pandas", lambda: haul.read(profile)),
                                     ("pyarrow", "parquet", lambda: haul.analyze(run).to_parquet("x")),
                                     ("openpyxl", "excel", lambda: haul.analyze(run).to_excel("x"))):
            with mock.patch.dict(sys.modules, {package: None}), self.assertRaises(ImportError) as caught:
                call()
            self.assertIn(f"pip install 'haul[{extra}]'", str(caught.exception))

    def test_the_module_is_the_program(self):
        environment = {**os.environ, "PYTHONPATH": str(Path(haul.__file__).parents[1])}
        printed = subprocess.run([sys.executable, "-m", "haul", "--version"], env=environment, check=True,
                                 capture_output=True, text=True).stdout
        self.assertEqual(printed.split()[:2], ["haul", haul.__version__])
        self.assertRaises(AttributeError, lambda: haul.nothing)

    def test_the_demo_asks_three_questions(self):
        with tempfile.TemporaryDirectory() as where, contextlib.redirect_stdout(io.StringIO()) as out:
            path = f"{where}/demo.json"
            with mock.patch.object(sys, "argv", ["haul-demo", path]):
                self.assertEqual(demo.main(), 0)
            printed = out.getvalue()
            for said in (f"haul analyze {path}", f"haul advise {path}", "pin the host buffers of 24", "faster ("):
                self.assertIn(said, printed)
            # what the demo is to show: copies exposed, and a change that hides them
            advice = haul.advise(path)
            self.assertEqual(set(advice.changes.change) >= {"pin", "stream"}, True)
            self.assertEqual(haul.read(path).losses, [])
        with mock.patch.object(sys, "argv", ["haul-demo", "/nowhere/demo.json"]), \
             contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(demo.main(), 3)
        self.assertIn("cannot write '/nowhere/demo.json'", err.getvalue())

    def test_what_is_public_has_type_hints(self):
        for name in haul.__all__:
            of = getattr(haul, name)
            if not isinstance(of, type):
                self.assertIn("return", of.__annotations__, name)
                continue
            for member, value in vars(of).items():
                value = getattr(value, "fget", None) or getattr(value, "func", value)
                if callable(value) and not member.startswith("_"):
                    self.assertIn("return", value.__annotations__, f"{name}.{member}")
        self.assertTrue((Path(haul.__file__).parent / "py.typed").exists())


class Answers(unittest.TestCase):
    def test_project(self):
        answer = haul.project(profile, to="h100-pcie5")
        low, high = answer.interval_s
        self.assertTrue(low <= answer.makespan_s <= high)
        self.assertIn(f"{answer.speedup:.3g}x", answer.why.splitlines()[0])
        self.assertEqual(len(answer.kernels), len(answer.json["kernel_rows"]))
        faster = haul.project(haul.read(profile), to="h100-pcie5", host_speed=2)
        self.assertLessEqual(faster.makespan_s, answer.makespan_s)

    def test_matrix(self):
        self.assertEqual(list(haul.project(profile, to=["gh200", "mi300x"]).table.name),
                         ["gh200", "mi300x"])

    def test_values_of_several_machines_have_their_names(self):
        answer = haul.project(profile, to=["gh200", "mi300x"])
        self.assertEqual(list(answer.makespan_s.index), ["gh200", "mi300x"])
        low, high = answer.interval_s["gh200"]
        self.assertTrue(low <= answer.makespan_s["gh200"] <= high)
        self.assertEqual(answer.makespan_s["gh200"], haul.project(profile, to="gh200").makespan_s)
        both = haul.project([profile, profile], to=["gh200", "mi300x"])
        self.assertEqual(list(both.speedup.index), ["gh200", "mi300x"] * 2)

    def test_a_list_gives_a_matrix_whatever_its_length(self):
        run, alone = haul.read(profile), haul.project(profile, to="gh200")
        for answer in (haul.project(run, to=["gh200"]), haul.project([run], to="gh200")):
            self.assertIsInstance(answer, haul.Matrix)
            self.assertEqual(answer.makespan_s["gh200"], alone.makespan_s)
            self.assertEqual(list(answer.interval_s["gh200"]), list(alone.interval_s))
            self.assertEqual(answer.makespan_s.name, "makespan_s")
        several = haul.project(run, to="gh200", set="link.generation=4,5")
        self.assertEqual(len(several.table), 2)

    def test_an_empty_table_has_its_columns(self):
        changes = haul.advise(profile).changes # of this profile nothing is to be changed
        self.assertEqual(len(changes), 0)
        self.assertIn("saved_s", changes.columns)

    def test_prices(self):
        with tempfile.TemporaryDirectory() as where:
            prices = Path(where) / "prices.csv"
            prices.write_text("machine,price_per_hour\ngh200,3.6\n")
            row = haul.project(profile, to="gh200", prices=prices).table.iloc[0]
        self.assertAlmostEqual(row.cost_of_1000_runs, row.run_s, 9)

    def test_others(self):
        self.assertEqual(len(haul.advise(profile, top=3).changes),
                         len(haul.advise(profile).json["advice"]))
        self.assertEqual(len(haul.advise([profile, haul.read(profile)]).changes), 2) # a row for each job
        self.assertEqual(haul.compare(profile, profile).operations.difference_s.abs().max(), 0)
        overlap = haul.overlap("k20", 704643072, "672MiB", 0.03)
        self.assertEqual(set(overlap.strategies.strategy) >= {"explicit", "streams"}, True)
        parameters = haul.machine("a100-sxm4").parameters.set_index("parameter")
        self.assertGreater(parameters.loc["gpu.memory_bandwidth_Bps", "value"], 1e12)
        self.assertIn("k20", set(haul.machines().name))

    def test_check(self):
        budget = Path(__file__).resolve().parents[1] / "cli" / "data" / "budgets" / "tight.yaml"
        answer = haul.check(profile, budget)
        self.assertEqual((answer.limits.verdict == "broken").sum(), answer.broken)
        self.assertIn("broken", answer.why)
        self.assertIn("| limit |", answer.to_markdown())
        self.assertRaises(haul.InputError, haul.check, profile, "nothing.yaml")

    def test_pages(self):
        answer = haul.project(profile, to="h100-pcie5")
        with tempfile.TemporaryDirectory() as where:
            answer.to_html(Path(where) / "page.html")
            self.assertIn("<svg", (Path(where) / "page.html").read_text())
        self.assertIn("iframe", answer._repr_html_())
        self.assertIn("<pre>", haul.machine("k20")._repr_html_())

    def test_errors_are_the_programs(self):
        for call, kind, text in (
                (lambda: haul.read("nothing.sqlite"), haul.InputError, "nothing.sqlite"),
                (lambda: haul.read(__file__), haul.InputError, "no profile"),
                (lambda: haul.read(), haul.UsageError, "no profile"),
                (lambda: haul.read(""), haul.InputError, "cannot open ''"),
                (lambda: haul.read(None), TypeError, "NoneType"),
                (lambda: haul.advise(3), TypeError, "not int"),
                (lambda: haul.project(profile, to=[]), haul.UsageError, "no machine"),
                (lambda: haul.project(profile, to="k20", hostspeed=1), haul.UsageError, "did you mean 'host_speed'?"),
                (lambda: haul.project(profile, to="h99"), haul.Error, "h99"),
                (lambda: haul.project(profile, to="k20", nonsense=1), haul.UsageError, "nonsense")):
            with self.assertRaises(kind) as caught:
                call()
            self.assertIn(text, str(caught.exception))
            self.assertNotIn("usage:", str(caught.exception))
        self.assertEqual(repr(haul.InputError), "<class 'haul.InputError'>")

    def test_a_folder_and_a_list_are_one_run(self):
        with tempfile.TemporaryDirectory() as where:
            shutil.copy(profile, Path(where) / "rank0.sqlite")
            (Path(where) / "notes.txt").write_text("no profile")
            runs = [haul.read(where), haul.read([profile]), haul.read(Path(profile))]
            self.assertEqual({len(run.copies) for run in runs}, {len(haul.read(profile).copies)})
            self.assertEqual(haul.analyze(runs[0]).json["span_s"], haul.analyze(profile).json["span_s"])


class Notebooks(unittest.TestCase):
    def test_cells_run(self):
        before = os.getcwd()
        os.chdir(Path(profile).resolve().parent)
        try:
            notebooks = sorted((Path(__file__).resolve().parents[2] / "docs" / "notebooks").glob("*.ipynb"))
            self.assertEqual(len(notebooks), 3)
            for notebook in notebooks:
                names = {}
                for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
                    if cell["cell_type"] == "code":
                        with self.subTest(notebook=notebook.name, cell=cell["id"]), \
                             contextlib.redirect_stdout(io.StringIO()):
                            exec("".join(cell["source"]), names)
        finally:
            os.chdir(before)


class Document(unittest.TestCase):
    def test_examples_print_what_stands_there(self):
        document = Path(__file__).resolve().parents[2] / "docs" / "python.md"
        before = os.getcwd()
        os.chdir(Path(profile).resolve().parent)
        try:
            failed, tried = doctest.testfile(str(document), module_relative=False,
                                             optionflags=doctest.NORMALIZE_WHITESPACE)
        finally:
            os.chdir(before)
        self.assertEqual((failed, tried > 5), (0, True))

    def test_examples_of_the_functions(self):
        failed, tried = doctest.testmod(_reports)
        self.assertEqual((failed, tried > 1), (0, True))


unittest.main(argv=sys.argv[:1], verbosity=1)
