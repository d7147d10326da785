"""A program of a user's, which type checkers take as it is: mypy --strict user_script.py"""

from pathlib import Path
from typing import Optional

import haul
import pandas as pd

run = haul.read(Path("trace.json.gz"))
longest: float = run.kernels["time_s"].max()

alone = haul.project(run, to="h100-sxm5", host_speed=1.2)
makespan_s: Optional[float] = alone.makespan_s
interval_s: Optional[tuple[float, float]] = alone.interval_s
kernels: pd.DataFrame = alone.kernels

several = haul.project(run, to=["h100-sxm5", "mi300x"])
fastest = several.makespan_s.idxmin()
table: pd.DataFrame = haul.project([run, "other.sqlite"], to="gh200").table

first_line: str = haul.advise(run).why
haul.advise(run).to_html("advice.html")
page: Optional[str] = haul.compare(run, "after.json").to_html()
best = haul.overlap("k20", "672MiB", 2**29, 0.03).strategies
provenance = haul.machine("a100-sxm4").parameters["provenance"]
broken: int = haul.check(run, "budget.yaml").broken
version: str = haul.__version__

try:
    haul.read("a.sqlite", ["b.sqlite", Path("c.sqlite")])
except haul.InputError as error:
    code: int = error.exit_code
