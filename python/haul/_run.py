"""A profile's operations as pandas frames.

The program reads the profile and writes its arrays as NumPy loads them (`haul convert -o run.npz`),
so that a million operations are columns in a second, whatever the format was; and no struct of the
library is described here a second time.
"""

from __future__ import annotations

import os
import tempfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence, Union

from . import _native, _tables

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow

# Of haul/workload.h: an index or id that is not there, and what an operation's flags say.
NONE = 0xFFFFFFFF
HAS_CALL, NO_BYTES, COLLECTIVE = 1, 4, 8


Path_ = Union[str, "os.PathLike[str]"]


def read(*paths: Union[Path_, Sequence[Path_]]) -> Run:
    """Reads profiles of one run and returns a Run.

    A path is a file of any format that `haul analyze` takes, or a folder of the profiles of one
    job's processes; a list of paths is taken, too. Raises InputError, with the file and the place
    in it.
    """
    files: list[Path_] = []
    for path in paths:
        if isinstance(path, (str, os.PathLike)):
            files.append(path)
        else:
            files += path
    if not files:
        raise _native.UsageError("no profile: 'read' takes files, or folders with files")
    return Run([os.fspath(file) for file in files])


class Run:
    """A recorded run. Frames have times in seconds (`_s`) from the start of the first operation of
    a device, sizes in bytes, rates in bytes a second (`_Bps`)."""

    def __init__(self, paths: Sequence[Path_]):
        _native.needed("numpy")
        import numpy as np

        self.paths = [str(path) for path in paths]
        with tempfile.TemporaryDirectory(prefix="haul-") as folder:
            arrays = Path(folder) / "run.npz"
            _native.run("convert", *self.paths, "-o", arrays)
            with np.load(arrays) as loaded:
                self._arrays = dict(loaded)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """What `haul convert -o run.npz` writes: the arrays of haul/workload.h by name."""
        return self._arrays

    @property
    def format(self) -> str:
        """What wrote the profile, with the version of its schema: "nsys 3.24.14"."""
        return self._ops.text(self._arrays["about"]["format"][0])

    @property
    def losses(self) -> list[str]:
        """Why the profile is incomplete, in its profiler's words."""
        return [self._ops.text(text) for text in self._arrays["losses"]["text"]]

    @cached_property
    def analysis(self) -> dict[str, Any]:
        """What `haul analyze` says, as docs/json.md describes it."""
        return _native.report("analyze", *self.paths)

    @cached_property
    def kernels(self) -> pd.DataFrame:
        """A row for each kernel: name, when, where, its grid and block, the call that launched it,
        the innermost range of its call's thread."""
        of = self._frames
        import numpy as np

        rows = of.rows("kernel")
        shapes = self._arrays["shapes"]
        index = (of.ops["value"][rows] & 0xFFFFFFFF).astype(np.int64)
        known = index < len(shapes)
        columns = {"name": of.strings(of.ops["name"][rows]), **of.times(rows), **of.places(rows)}
        columns["is_collective"] = (of.ops["flags"][rows] & COLLECTIVE) != 0
        for part in ("grid", "block"):
            for i, axis in enumerate("xyz"):
                columns[f"{part}_{axis}"] = _picked(shapes, part, index, known, i)
        columns["registers_per_thread"] = _picked(shapes, "registers_per_thread", index, known)
        columns["shared_bytes"] = _picked(shapes, "shared_bytes", index, known)
        return of.frame(columns)

    @cached_property
    def copies(self) -> pd.DataFrame:
        """A row for each copy: direction, memory, bytes (NaN where not known), rate, when, where."""
        return self._moved("copy")

    @cached_property
    def memsets(self) -> pd.DataFrame:
        """A row for each memset."""
        return self._moved("memset")

    @cached_property
    def calls(self) -> pd.DataFrame:
        """A row for each API call, whether or not it issued work. `kind`
        says what it issued; `name` is known of calls that issued nothing."""
        of = self._frames
        import numpy as np
        import pandas as pd

        ops = of.ops
        on_host = of.is_kind("wait", "call")
        rows = np.flatnonzero(on_host | (ops["flags"] & HAS_CALL != 0))
        host = on_host[rows]
        start = np.where(host, ops["start_ns"][rows], ops["call_ns"][rows])
        time = np.where(host, ops["dur_ns"][rows], ops["call_dur_ns"][rows])
        columns = {
            "kind": pd.Categorical.from_codes(ops["kind"][rows].astype(np.int8), of.kinds),
            "name": pd.Series(of.strings(ops["name"][rows])).where(host),
            "start_s": (start - of.origin_ns) * 1e-9, "time_s": time * 1e-9,
            "thread": of.threads(rows), "range": of.ranges(ops["thread"][rows], start),
            "line": of.origins("lines", rows)}
        return of.frame(columns).sort_values("start_s", ignore_index=True)

    @cached_property
    def ranges(self) -> pd.DataFrame:
        """A row for each named range: NVTX, roctx, user annotations."""
        of, ranges = self._frames, self._ops.named
        return of.frame({
            "name": of.strings(ranges["name"]),
            "start_s": (ranges["start_ns"] - of.origin_ns) * 1e-9,
            "time_s": ranges["dur_ns"] * 1e-9, "thread": of.thread_ids(ranges["thread"])})

    @cached_property
    def idle(self) -> pd.DataFrame:
        """A row for each gap in which no device ran anything, between the first operation of a
        device and the end of the last. Their sum is the analysis' idle_s."""
        of = self._frames
        import numpy as np

        rows = of.rows("copy", "memset", "kernel")
        start = of.ops["start_ns"][rows]
        if not len(start):
            return of.frame({"start_s": np.empty(0), "time_s": np.empty(0)})
        reached = np.maximum.accumulate(start + of.ops["dur_ns"][rows])
        gap = start[1:] - reached[:-1]
        found = np.flatnonzero(gap > 0)
        return of.frame({"start_s": (reached[found] - of.origin_ns) * 1e-9,
                         "time_s": gap[found] * 1e-9})

    def tables(self) -> dict[str, pd.DataFrame]:
        """The frames by name: what to_excel, to_arrow and to_parquet take."""
        return {name: getattr(self, name)
                for name in ("kernels", "copies", "memsets", "calls", "ranges", "idle")}

    def to_excel(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes a sheet for each frame. Needs openpyxl. A sheet holds 1,048,575 rows: a longer
        frame is refused."""
        _tables.to_excel(path, self.tables())

    def to_arrow(self) -> dict[str, pyarrow.Table]:
        """The frames as tables of Arrow, by name. Needs pyarrow."""
        return _tables.to_arrow(self.tables())

    def to_parquet(self, folder: Union[str, os.PathLike[str]]) -> None:
        """Writes a file for each frame, kernels.parquet and so on, into a folder, which is made.
        Needs pyarrow."""
        _tables.to_parquet(folder, self.tables())

    def _moved(self, kind):
        of = self._frames
        import numpy as np

        rows = of.rows(kind)
        unknown = (of.ops["flags"][rows] & NO_BYTES) != 0
        size = np.where(unknown, np.nan, of.ops["value"][rows].astype(np.float64))
        columns = {}
        if kind == "copy":
            columns["direction"] = of.words(rows, "direction", "directions")
            columns["memory"] = of.words(rows, "detail", "memories")
        columns["bytes"] = size
        columns.update(of.times(rows))
        with np.errstate(divide="ignore", invalid="ignore"):
            columns["rate_Bps"] = np.where(columns["time_s"] > 0, size / columns["time_s"], np.nan)
        columns.update(of.places(rows))
        return of.frame(columns)

    @cached_property
    def _ops(self):
        return _Operations(self._arrays)

    @property
    def _frames(self):
        _native.needed("pandas")
        return self._ops

    def __repr__(self):
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return (f"<haul.Run {self.paths[0]}{more}: {self.format}, "
                f"{len(self._arrays['ops']):,} operations>")


class _Operations:
    """The workload's arrays, and the columns made of them."""

    def __init__(self, arrays):
        import numpy as np

        self.arrays, self.ops, self.named = arrays, arrays["ops"], arrays["ranges"]
        self.kinds = [self.text(text) for text in arrays["kinds"]]
        on_device = self.ops["start_ns"][self.rows("copy", "memset", "kernel")]
        starts = on_device if len(on_device) else self.ops["start_ns"]
        self.origin_ns = int(starts[0]) if len(starts) else 0
        streams, devices = arrays["streams"], arrays["devices"]
        self.stream_id, self.thread_id = streams["id"], arrays["threads"]["id"]
        self.stream_device = np.full(len(streams), -1, np.int64)
        known = streams["device"] < len(devices)
        self.stream_device[known] = devices["id"][streams["device"][known].astype(np.int64)]

    @staticmethod
    def frame(columns):
        import pandas as pd

        return pd.DataFrame(columns)

    def is_kind(self, *kinds):
        import numpy as np

        return np.isin(self.ops["kind"], [self.kinds.index(kind) for kind in kinds])

    def rows(self, *kinds):
        import numpy as np

        return np.flatnonzero(self.is_kind(*kinds))

    def text(self, text):
        """The text of an id; None where there is none."""
        text, ends = int(text), self.arrays["string_ends"]
        if text >= len(ends):
            return None
        begin = int(ends[text - 1]) if text else 0
        return self.arrays["string_bytes"][begin:int(ends[text])].tobytes().decode(
            "utf-8", "replace")

    def strings(self, ids):
        """String ids as a categorical column; what has no name is missing."""
        import numpy as np
        import pandas as pd

        distinct, codes = np.unique(ids, return_inverse=True)
        texts = [self.text(text) for text in distinct]
        kept = sorted({text for text in texts if text})
        place = {text: i for i, text in enumerate(kept)}
        of_distinct = np.array([place.get(text, -1) for text in texts], np.int64)
        return pd.Categorical.from_codes(of_distinct[codes], kept)

    def words(self, rows, field, words):
        """A small enumeration as a categorical column, in haul's words."""
        import pandas as pd

        return pd.Categorical.from_codes(self.ops[field][rows].astype("int8"),
                                         [self.text(text) for text in self.arrays[words]])

    def times(self, rows):
        return {"start_s": (self.ops["start_ns"][rows] - self.origin_ns) * 1e-9,
                "time_s": self.ops["dur_ns"][rows] * 1e-9}

    def places(self, rows):
        """Device, stream and thread, the call's times, and what it was made in: the range, the
        operator of PyTorch, the source line."""
        import numpy as np

        ops = self.ops
        stream = ops["stream"][rows].astype(np.int64)
        known = stream < len(self.stream_id)
        has_call = (ops["flags"][rows] & HAS_CALL) != 0
        call = ops["call_ns"][rows]
        return {
            "device": _taken(self.stream_device, stream, known),
            "stream": _taken(self.stream_id, stream, known),
            "thread": self.threads(rows),
            "call_start_s": np.where(has_call, (call - self.origin_ns) * 1e-9, np.nan),
            "call_time_s": np.where(has_call, ops["call_dur_ns"][rows] * 1e-9, np.nan),
            "range": self.ranges(np.where(has_call, ops["thread"][rows], NONE), call),
            "operator": self.origins("operators", rows), "line": self.origins("lines", rows)}

    def origins(self, array, rows):
        """What the profile tells of where operations were called for: their operators, the source
        lines, the call stacks; missing where it tells nothing."""
        import numpy as np

        ids = self.arrays[array]
        return self.strings(ids[rows] if len(ids) else np.full(len(rows), NONE, np.uint32))

    def threads(self, rows):
        return self.thread_ids(self.ops["thread"][rows])

    def thread_ids(self, threads):
        import numpy as np

        threads = threads.astype(np.int64)
        return _taken(self.thread_id, threads, threads < len(self.thread_id))

    def ranges(self, threads, times_ns):
        """The innermost range of each thread at each time, as a categorical column."""
        import numpy as np

        ids = np.full(len(threads), NONE, np.uint32)
        for thread in np.unique(self.named["thread"]) if len(self.named) else ():
            at = np.flatnonzero(threads == thread)
            if not len(at):
                continue
            begins, innermost = _innermost(self.named[self.named["thread"] == thread])
            place = np.searchsorted(begins, times_ns[at], side="right") - 1
            ids[at] = np.where(place >= 0, innermost[np.maximum(place, 0)], NONE)
        return self.strings(ids)


def _innermost(ranges):
    """Times at which the innermost of nested ranges changes, and its name from there on. `ranges`
    are of one thread, in order of start, equal starts the longest first."""
    import numpy as np

    begins, names, open_ranges = [], [], []

    def close(until):
        while open_ranges and open_ranges[-1][0] <= until:
            end = open_ranges.pop()[0]
            begins.append(end)
            names.append(open_ranges[-1][1] if open_ranges else NONE)

    starts, durations = ranges["start_ns"].tolist(), ranges["dur_ns"].tolist()
    for start, duration, name in zip(starts, durations, ranges["name"].tolist()):
        close(start)
        # a range that outlasts the one around it ends with it
        end = min(start + duration, open_ranges[-1][0]) if open_ranges else start + duration
        open_ranges.append((end, name))
        begins.append(start)
        names.append(name)
    close(float("inf"))
    return np.array(begins, np.int64), np.array(names, np.uint32)


def _picked(shapes, field, index, known, axis=None):
    import pandas as pd

    values = shapes[field] if axis is None else shapes[field][:, axis]
    return pd.array(_taken(values, index, known, 0), "Int64") if known.all() else pd.Series(
        _taken(values, index, known, 0)).astype("Int64").where(known)


def _taken(values, index, known, otherwise=-1):
    """values[index] where that is known, else `otherwise`."""
    import numpy as np

    taken = np.full(len(index), otherwise, np.int64)
    taken[known] = values[index[known]].astype(np.int64)
    return taken

