"""haul: predicts and explains the movement of data on machines with GPUs.

    import haul
    run = haul.read("trace.json.gz")
    run.kernels.groupby("name", observed=True).time_s.sum()
    haul.project(run, to=["h100-sxm5", "mi300x"]).table

Frames need pandas: pip install haul[pandas].
"""

from . import _native
from ._native import AbsentError, Error, InputError, UsageError, answer, report
from ._reports import (Advice, Analysis, Check, Comparison, Machine, Matrix, Overlap, Projection, Report,
                       advise, analyze, check, compare, machine, machines, overlap, project)
from ._run import Run, read

__all__ = [
    "AbsentError", "Advice", "Analysis", "Check", "Comparison", "Error", "InputError", "Machine", "Matrix",
    "Overlap", "Projection", "Report", "Run", "UsageError", "advise", "analyze", "answer", "check", "compare",
    "machine", "machines", "overlap", "project", "read", "report",
]
__version__: str


def __getattr__(name: str) -> str: # the program's, which importing does not start
    if name == "__version__":
        return _native.version()
    raise AttributeError(f"module 'haul' has no attribute '{name}'")
