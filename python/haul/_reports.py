"""The answers of haul's commands as objects. The program answers, in its JSON: the one interface
that promises its keys. Each object has the document whole in `json`."""

import html
import os
import tempfile
from pathlib import Path

from . import _native
from ._run import Run


def _paths(run):
    if isinstance(run, Run):
        return run.paths
    return [str(run)] if isinstance(run, (str, os.PathLike)) else [str(path) for path in run]


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


def _frame(rows):
    import pandas as pd

    return pd.DataFrame(rows)


class Report:
    """An answer: `json` has all of it, `text` is the page that the program prints."""

    _verdict = False # an exit code of 1 is an answer

    def __init__(self, command):
        self._command = [str(word) for word in command]
        self.json = _native.report(*self._command, verdict=self._verdict)
        self._text = None

    @property
    def text(self):
        """What the program prints, its first lines the answer."""
        if self._text is None:
            self._text = _native.run(*self._command, verdict=self._verdict)
        return self._text

    @property
    def why(self):
        """The answer's first lines: the number, its interval, its cause, its caution."""
        return self.text.split("\n\n", 1)[0].rstrip()

    def to_markdown(self):
        """All that the program prints as Markdown, for a summary of CI or an issue."""
        return _native.run(*self._command, "--format", "markdown", verdict=self._verdict)

    def to_html(self, path=None):
        """Writes the page for a browser to `path`, or returns it where that is None."""
        if path is not None:
            _native.run(*self._command, "--html", path)
            return None
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            _native.run(*self._command, "--html", page)
            return page.read_text(encoding="utf-8", errors="replace")

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
    def recorded_s(self):
        return self.json["run"]["recorded"]["makespan_s"]

    @property
    def makespan_s(self):
        target = self.json["run"].get("target")
        return target and target["makespan_s"]

    @property
    def interval_s(self):
        """(low, high)"""
        interval = self.json["run"].get("interval_s")
        return interval and tuple(interval)

    @property
    def speedup(self):
        """By the replayed run, as the program says it."""
        return self.makespan_s and self.json["run"]["replay"]["makespan_s"] / self.makespan_s

    @property
    def kernels(self):
        """A row for each kernel's name: recorded and predicted time, interval, bound."""
        return _frame(self.json.get("kernel_rows", []))

    @property
    def copies(self):
        """A row for each direction, memory and size."""
        return _frame(self.json["sizes"])


class Matrix(Report):
    """Runs on machines: `table` has a row for each pair."""

    @property
    def table(self):
        """recorded_s, run_s, interval_s, speedup, bound of each."""
        return _frame(self.json.get("rows") or self.json["targets"])


class Advice(Report):
    """Changes to a run, by the time that they save."""

    @property
    def changes(self):
        """A row for each change that saves time; of several jobs a row for each job."""
        return _frame(self.json["rows"] if "rows" in self.json else self.json["advice"])


class Check(Report):
    """Limits of a run."""

    _verdict = True

    @property
    def broken(self):
        """How many."""
        return self.json["broken"]

    @property
    def limits(self):
        """A row for each limit: measured, at_most, unit, verdict, its line in the budget."""
        return _frame(self.json["limits"])


class Comparison(Report):
    """Two runs of one program."""

    _verdict = True # of fail_above

    @property
    def operations(self):
        """A row for each kernel's name and kind of copy, the largest difference first."""
        return _frame(self.json["operations"])


class Overlap(Report):
    """Ways to overlap copies with a kernel."""

    @property
    def strategies(self):
        """A row for each strategy."""
        return _frame(self.json["strategies"])


class Machine(Report):
    """A machine's description, each parameter with where it is from."""

    @property
    def parameters(self):
        """A row for each parameter: name, value in its base unit, provenance, source."""
        return _frame(list(_parameters(self.json, "")))


def _parameters(of, prefix):
    for key, value in of.items():
        if isinstance(value, dict) and "provenance" in value:
            yield {"parameter": prefix + key, **value}
        elif isinstance(value, dict):
            yield from _parameters(value, f"{prefix}{key}.")


def project(run, to, **options):
    """Predicts a run on other machines: haul project.

    `run` is a Run, a path, or several of them; `to` a machine's name or file, or several. One run
    on one machine is a Projection, all else a Matrix, as with `prices`, a CSV file of what machines cost. Options are the program's:
    project(run, "gh200", host_speed=1.2, tf32=True).
    """
    runs = run if isinstance(run, (list, tuple)) else [run]
    targets = [to] if isinstance(to, (str, os.PathLike)) else list(to)
    paths = [path for one in runs for path in _paths(one)]
    single = len(targets) == 1 and len(runs) == 1 and not options.get("prices")
    kind = Projection if single else Matrix
    return kind(["project", *paths, "--to", ",".join(map(str, targets)), *_options(options)])


def advise(run, **options):
    """Changes to a run, or to each of several, tried on its timeline: haul advise."""
    runs = run if isinstance(run, (list, tuple)) else [run]
    paths = [path for one in runs for path in _paths(one)]
    return Advice(["advise", *paths, *_options(options)])


def check(run, budget, **options):
    """A run against the limits of a budget file: haul check. Broken limits raise nothing."""
    return Check(["check", *_paths(run), "--budget", budget, *_options(options)])


def compare(before, after, **options):
    """Two runs of one program, side by side: haul compare."""
    return Comparison(["compare", *_paths(before), *_paths(after), *_options(options)])


def overlap(machine, h2d, d2h, kernel, **options):
    """Ways to overlap copies with a kernel: haul overlap.

    Sizes are bytes, or text with a unit ("672MiB"); `kernel` is seconds, or text ("30 ms").
    """
    seconds = kernel if isinstance(kernel, str) else f"{kernel!r} s"
    return Overlap(["overlap", "--machine", machine, "--h2d", h2d, "--d2h", d2h, "--kernel",
                    seconds, *_options(options)])


def machine(name):
    """A machine of the catalogue, or of a file: haul machine show."""
    return Machine(["machine", "show", name])


def machines():
    """The catalogue: a row for each machine."""
    document = _native.report("machine", "list")
    return _frame(next(value for value in document.values() if isinstance(value, list)))
