"""docs/accuracy say what their program prints: of the sections that take a second or two.

usage: check_accuracy.py HAUL SOURCE_DIR DATA
"""

import difflib
import os
import pathlib
import subprocess
import sys

SECTIONS = ["intervals", "kernel-published", "advice", "followed", "plans"]

haul, source, data = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
pages = sorted((source / "docs" / "accuracy").glob("*.md"))
if not data.is_dir():
    print(f"skipped: no measurements in {data}")
    sys.exit(77)
try:
    import pandas  # noqa: F401
except ImportError:
    print("skipped: no python3-pandas")
    sys.exit(77)


def sections(text):
    parts = ("\n" + text).split("\n## ")[1:]
    return {part.split("\n")[0]: part.rstrip() for part in parts}


path = os.pathsep.join([str(source / "bench"), str(source / "python")])
printed = subprocess.run(
    [sys.executable, "-m", "accuracy", data, *SECTIONS], capture_output=True, text=True, check=False,
    env={**os.environ, "HAUL_PROGRAM": haul, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"})
if printed.returncode:
    sys.exit(printed.stderr)
written, made = {}, sections(printed.stdout)
for page in pages:
    written.update(sections(page.read_text()))
bad = len(made) != len(SECTIONS)
for name, text in made.items():
    if written.get(name) != text:
        bad = True
        print("\n".join(difflib.unified_diff(written.get(name, "").split("\n"), text.split("\n"),
                                             "docs/accuracy", "the program", lineterm="")))
print(f"docs/accuracy: {len(made)} sections " + ("differ: see bench/accuracy" if bad else "are made anew"))
sys.exit(bad)
