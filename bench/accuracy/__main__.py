"""Writes docs/accuracy.md and the tables of docs/accuracy, or prints sections of them.

usage: python3 -m accuracy DATA --docs DOCS
       python3 -m accuracy DATA [SECTION...]

DATA is the folder of the public measurements, DOCS that of the documents. HAUL_PROGRAM names the
program, else that of the PATH is asked; the folders of this package and of the package `haul` are on
PYTHONPATH.
"""

import re
import sys
from pathlib import Path

try:
    import pandas  # noqa: F401
except ImportError:
    sys.exit("accuracy: no pandas (python3-pandas)")

import haul

from . import copies, kernels, messages, operators, overlap, runs, scores
from .tool import Board

# The pages of tables, each with its sections, which are in the order of their scores.
PAGES = {
    "copies": ("Copies", {
        "transfers": copies.transfers,
        "self-check": copies.self_check,
        "baselines": copies.baselines,
        "intervals": copies.intervals,
    }),
    "kernels": ("Kernels whose source is known", {
        "kernel-sizes": kernels.sizes,
        "kernel-gpus": kernels.gpus,
        "kernel-unseen": kernels.unseen,
        "kernel-choices": kernels.choices,
        "kernel-counters": kernels.counters,
        "kernel-published": kernels.published,
        "kernel-widths": kernels.widths,
    }),
    "operators": ("Kernels of profiles", {
        "kernel-classes": operators.classes,
        "kernel-limits": operators.limits,
        "kernel-rules": operators.rules,
        "kernel-constants": lambda _data, _board: {},  # by constants.py
        "kernel-measured": operators.measured,
    }),
    "runs": ("Whole runs", {
        "kernel-gaps": runs.gaps,
        "timeline": runs.timeline,
        "runs": runs.runs,
        "plans": overlap.plans,
    }),
    "overlap": ("Overlap and advice", {
        "overlap": overlap.products,
        "advice": overlap.advice,
        "followed": overlap.followed,
    }),
    "messages": ("Messages", {"messages": messages.messages}),
}
SECTIONS = {name: section for _, sections in PAGES.values() for name, section in sections.items()}

HEAD = """# How accurate: {title}

Written by `build/release/bench/accuracy`: change bench/accuracy, not this file. [accuracy.md](../accuracy.md) sums up.
"""


def page(name):
    """A section's text, a line for each paragraph and each point of a list."""
    lines = []
    for line in (Path(__file__).parent / "pages" / f"{name}.md").read_text().split("\n"):
        if lines and _is_prose(lines[-1]) and _is_prose(line) and not line.startswith("- "):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "\n".join(lines)


def _is_prose(line):
    return line and not line.startswith(("|", "#")) and not re.fullmatch(r"\{\w+\}", line)


def made(name, data, board):
    """A section's text, filled."""
    try:
        return page(name).format(**SECTIONS[name](data, board))
    except haul.Error as error:
        sys.exit(f"accuracy: {name}: {error}")


def write_docs(data, docs):
    board = Board()
    (docs / "accuracy").mkdir(exist_ok=True)
    for name, (title, sections) in PAGES.items():
        parts = [HEAD.format(title=title.lower()), *(made(part, data, board) for part in sections)]
        (docs / "accuracy" / f"{name}.md").write_text("\n".join(parts))
    parts = [page("summary").format(**scores.summary(board)),
             page("scores").format(**scores.scores(data, board)),
             page("expectations").format(**scores.summary(board))]
    (docs / "accuracy.md").write_text("\n".join(parts))


def main(arguments):
    data, wanted = Path(arguments[0] if arguments else ""), arguments[1:]
    unknown = [name for name in wanted if name not in SECTIONS]
    if not arguments:
        sys.exit("usage: accuracy DATA --docs DOCS, or accuracy DATA [SECTION...]")
    if not data.is_dir():
        sys.exit(f"accuracy: no folder '{data}'")
    if wanted[:1] == ["--docs"] and len(wanted) == 2:
        write_docs(data, Path(wanted[1]))
    elif unknown:
        sys.exit(f"accuracy: no section '{unknown[0]}' in {', '.join(SECTIONS)}")
    else:
        board = Board()
        print("\n".join(made(name, data, board) for name in wanted or SECTIONS), end="")


main(sys.argv[1:])
