"""The answers of haul's commands as objects. The program answers, in its JSON: the one interface
that promises its keys. Each object has the document whole in `json`."""

from __future__ import annotations

import html
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union, overload

from . import _native, _tables
from ._run import Run

if TYPE_CHECKING:
    import pandas as pd

Path_ = Union[str, "os.PathLike[str]"]
Profile = Union[Run, Path_]
Profiles = Union[Profile, Sequence[Profile]]


def _paths(run):
    """The paths of a Run, a path, or several of either."""
    if isinstance(run, Run):
        return run.paths
    if isinstance(run, (str, os.PathLike)):
        return [os.fspath(run)]
    if not isinstance(run, (list, tuple)):
        raise TypeError(f"expected a haul.Run, a path, or a list of them, not {type(run).__name__}")
    return [path for one in run for path in _paths(one)]


def _options(options):
    """Keyword arguments as options: host_speed=1.2 is --host-speed 1.2, tf32=True is --tf32."""
    words = []
    for name, value in options.items():
        option = "--" + name.strip("_").replace("_", "-")
        if value is True:
            words.append(option)
        elif value not in (None, False):
            words += [option, ",".join(map(str, value)) if isinstance(value, (list, tuple))
                      else str(value)]
    return words


def _frame(rows, columns=None):
    _native.needed("pandas")
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


def _arrays(of, prefix):
    """The arrays of objects in a document, with their names."""
    for key, value in of.items():
        if isinstance(value, dict):
            yield from _arrays(value, f"{prefix}{key}.")
        elif isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            yield prefix + key, value


def _flat_frame(rows):
    """A column for each value, those of objects in rows by both names; arrays in rows as text."""
    _native.needed("pandas")
    import pandas as pd

    frame = pd.json_normalize(rows)
    for name in frame.columns:
        if frame[name].map(lambda value: isinstance(value, list)).any():
            frame[name] = frame[name].map(lambda value: json.dumps(value)
                                          if isinstance(value, list) else value)
    return frame


def _at(of, name):
    for key in name.split("."):
        of = of[key]
    return of


class Report:
    """An answer: `json` has all of it, `text` is the page that the program prints."""

    _verdict = False # an exit code of 1 is an answer

    def __init__(self, command: Sequence[Any], document: Optional[dict[str, Any]] = None):
        self._command = [str(word) for word in command]
        self.json: dict[str, Any] = document or _native.report(*self._command, verdict=self._verdict)
        self._text: Optional[str] = None

    def _table(self, key):
        """The array with a key as a frame, which has its columns where it is empty, too."""
        rows = self.json.get(key)
        if rows:
            return _frame(rows)
        try:
            head = _native.run(*self._command, "--table", key, verdict=self._verdict)
        except _native.UsageError: # an answer of another kind, which has no such table
            return _frame([])
        return _frame([], head.partition("\n")[0].split(","))

    @property
    def text(self) -> str:
        """What the program prints, its first lines the answer."""
        if self._text is None:
            self._text = _native.run(*self._command, verdict=self._verdict)
        return self._text

    @property
    def why(self) -> str:
        """The answer's first lines: the number, its interval, its cause, its caution."""
        return self.text.split("\n\n", 1)[0].rstrip()

    def to_markdown(self) -> str:
        """All that the program prints as Markdown, for a summary of CI or an issue."""
        return _native.run(*self._command, "--format", "markdown", verdict=self._verdict)

    def to_html(self, path: Union[str, os.PathLike[str], None] = None) -> Optional[str]:
        """Writes the page for a browser to `path`, or returns it where that is None."""
        if path is not None:
            _native.run(*self._command, "--html", path)
            return None
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            _native.run(*self._command, "--html", page)
            return page.read_text(encoding="utf-8", errors="replace")

    def tables(self) -> dict[str, pd.DataFrame]:
        """The answer's tables as frames, by the names of docs/json.md; `answer` has the values that
        are in none."""
        alone = _flat_frame([self.json])
        frames = {"answer": alone[[name for name in alone.columns
                                   if not isinstance(_at(self.json, name), list)]]}
        frames.update((key, _flat_frame(value)) for key, value in _arrays(self.json, ""))
        return frames

    def to_excel(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes a sheet for each of its tables. Needs openpyxl."""
        _tables.to_excel(path, self.tables())

    def to_parquet(self, folder: Union[str, os.PathLike[str]]) -> None:
        """Writes a file for each of its tables into a folder, which is made. Needs pyarrow."""
        _tables.to_parquet(folder, self.tables())

    def __repr__(self):
        return self.why

    def _repr_html_(self):
        try:
            page = self.to_html()
        except _native.Error: # a command without a page
            return f"<pre>{html.escape(self.why)}</pre>"
        frame = html.escape(page, quote=True)
        return (f"<pre>{html.escape(self.why)}</pre><iframe srcdoc=\"{frame}\" "
                "style=\"width:100%;height:36em;border:0\"></iframe>")


class Projection(Report):
    """A run on another machine. Raises nothing where the whole run cannot be predicted:
    makespan_s is None then, and `why` says the reason."""

    @property
    def recorded_s(self) -> float:
        return self.json["run"]["recorded"]["makespan_s"]

    @property
    def makespan_s(self) -> Optional[float]:
        """Of the run on the target, from its first operation of a device to the end of the last."""
        target = self.json["run"].get("target")
        return target and target["makespan_s"]

    @property
    def interval_s(self) -> Optional[tuple[float, float]]:
        """(low, high), in which the makespan lies 9 times of 10."""
        interval = self.json["run"].get("interval_s")
        return interval and tuple(interval)

    @property
    def speedup(self) -> Optional[float]:
        """By the replayed run, as the program says it."""
        return self.makespan_s and self.json["run"]["replay"]["makespan_s"] / self.makespan_s

    @property
    def kernels(self) -> pd.DataFrame:
        """A row for each kernel's name: recorded and predicted time, interval, bound."""
        return self._table("kernel_rows")

    @property
    def copies(self) -> pd.DataFrame:
        """A row for each direction, memory and size."""
        return self._table("sizes")


class Analysis(Report):
    """Where the time of a run went."""

    @property
    def copies(self) -> pd.DataFrame:
        """A row for each direction and kind of memory."""
        return self._table("copies")

    @property
    def idle(self) -> pd.DataFrame:
        """A row for each cause of idle time, the largest first."""
        return self._table("idle")

    @property
    def largest(self) -> pd.DataFrame:
        """A row for each kernel's name and kind of copy, the most time first."""
        return self._table("largest")


class Matrix(Report):
    """Runs on machines: `table` has a row for each pair. Its values by name are series, with the
    machine of each."""

    @property
    def makespan_s(self) -> pd.Series[float]:
        """Of each run on each machine, NaN where it cannot be predicted."""
        return self._by_machine("run_s", "makespan_s")

    @property
    def interval_s(self) -> pd.Series[Any]:
        """(low, high) of each."""
        return self._by_machine("interval_s", "interval_s")

    @property
    def speedup(self) -> pd.Series[float]:
        """Of each."""
        return self._by_machine("speedup", "speedup")

    def _by_machine(self, column, name):
        table = self.table
        values = table[column].set_axis(table["machine" if "machine" in table else "name"])
        return values.rename(name)

    @property
    def table(self) -> pd.DataFrame:
        """recorded_s, run_s, interval_s, speedup, bound of each."""
        if self.json["report"] == "projection": # of one run on one machine
            alone = Projection(self._command, self.json)
            return _frame([{"name": self.json["to"], "run_s": alone.makespan_s,
                            "interval_s": alone.json["run"].get("interval_s"),
                            "speedup": alone.speedup, "copies_s": self.json["predicted_s"],
                            "kernels_s": self.json["kernels"].get("predicted_s")}])
        return self._table("rows" if "rows" in self.json else "targets")


class Advice(Report):
    """Changes to a run, by the time that they save."""

    @property
    def changes(self) -> pd.DataFrame:
        """A row for each change that saves time; of several jobs a row for each job."""
        return self._table("rows" if "rows" in self.json else "advice")


class Check(Report):
    """Limits of a run."""

    _verdict = True

    @property
    def broken(self) -> int:
        """How many."""
        return self.json["broken"]

    @property
    def limits(self) -> pd.DataFrame:
        """A row for each limit: measured, at_most, unit, verdict, its line in the budget."""
        return self._table("limits")


class Comparison(Report):
    """Two runs of one program."""

    _verdict = True # of fail_above

    @property
    def operations(self) -> pd.DataFrame:
        """A row for each kernel's name and kind of copy, the largest difference first."""
        return self._table("operations")


class Overlap(Report):
    """Ways to overlap copies with a kernel."""

    @property
    def strategies(self) -> pd.DataFrame:
        """A row for each strategy."""
        return self._table("strategies")


class Machine(Report):
    """A machine's description, each parameter with where it is from."""

    @property
    def parameters(self) -> pd.DataFrame:
        """A row for each parameter: name, value in its base unit, provenance, source."""
        return _frame(list(_parameters(self.json, "")))


def _parameters(of, prefix):
    for key, value in of.items():
        if isinstance(value, dict) and "provenance" in value:
            yield {"parameter": prefix + key, **value}
        elif isinstance(value, dict):
            yield from _parameters(value, f"{prefix}{key}.")


@overload
def project(run: Profile, to: Path_, *, prices: None = None, **options: Any) -> Projection: ...


@overload
def project(run: Profiles, to: Union[Path_, Sequence[Path_]], *, prices: Optional[Path_] = None,
            **options: Any) -> Matrix: ...


def project(run: Profiles, to: Union[Path_, Sequence[Path_]], *, prices: Optional[Path_] = None,
            **options: Any) -> Union[Projection, Matrix]:
    """Predicts a run on other machines: haul project.

    `run` is a Run, a path, or a list of them; `to` a machine's name or file, or a list of them. One
    run on one machine is a Projection; where either is a list it is a Matrix, as with `prices`, a CSV
    file of what machines cost, or with `set` of several values. Options are the program's:
    project(run, "gh200", host_speed=1.2, tf32=True).
    """
    alone = isinstance(to, (str, os.PathLike))
    targets = [to] if isinstance(to, (str, os.PathLike)) else list(to)
    if not targets:
        raise _native.UsageError("no machine: 'to' is a name that machines() has, a file, or a list")
    command = ["project", *_paths(run), "--to", ",".join(map(str, targets)),
               *_options({"prices": prices, **options})]
    document = _native.report(*command)
    if alone and document["report"] == "projection" and not isinstance(run, (list, tuple)):
        return Projection(command, document)
    return Matrix(command, document)


def analyze(run: Profile, **options: Any) -> Analysis:
    """Where the time of a run went: haul analyze. Its tables are those of `haul analyze`; frames
    of the operations are a Run's, which `read` gives."""
    return Analysis(["analyze", *_paths(run), *_options(options)])


def advise(run: Profiles, **options: Any) -> Advice:
    """Changes to a run, or to each of several, tried on its timeline: haul advise."""
    return Advice(["advise", *_paths(run), *_options(options)])


def check(run: Profiles, budget: Union[str, os.PathLike[str]], **options: Any) -> Check:
    """A run against the limits of a budget file: haul check. Broken limits raise nothing."""
    return Check(["check", *_paths(run), "--budget", budget, *_options(options)])


def compare(before: Profile, after: Profile, **options: Any) -> Comparison:
    """Two runs of one program, side by side: haul compare."""
    return Comparison(["compare", *_paths(before), *_paths(after), *_options(options)])


def overlap(machine: str, h2d: Union[int, str], d2h: Union[int, str], kernel: Union[float, str],
            **options: Any) -> Overlap:
    """Ways to overlap copies with a kernel: haul overlap.

    Sizes are bytes, or text with a unit ("672MiB"); `kernel` is seconds, or text ("30 ms").

    >>> overlap("k20", "672MiB", "672MiB", 0.03).json["best"]
    'streams'
    """
    seconds = kernel if isinstance(kernel, str) else f"{kernel!r} s"
    return Overlap(["overlap", "--machine", machine, "--h2d", h2d, "--d2h", d2h, "--kernel",
                    seconds, *_options(options)])


def machine(name: str) -> Machine:
    """A machine of the catalogue, or of a file: haul machine show.

    >>> float(machine("k20").parameters.set_index("parameter").value["gpu.memory_bandwidth_Bps"])
    208000000000.0
    """
    return Machine(["machine", "show", name])


def machines() -> pd.DataFrame:
    """The catalogue: a row for each machine."""
    document = _native.report("machine", "list")
    return _frame(next(value for value in document.values() if isinstance(value, list)))
