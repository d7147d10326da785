"""The program that this package brings, and what its failures become."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

PROGRESS_AFTER_S = 1.0 # what takes longer shows how far it is


class Error(Exception):
    """A call of haul failed; the text is haul's own, with the file and the place in it."""

    exit_code = 70


class UsageError(Error):
    """What was asked makes no sense."""

    exit_code = 2


class InputError(Error):
    """A profile or a machine cannot be read, or lacks what the answer needs."""

    exit_code = 3


class AbsentError(Error):
    """A device or a feature is not there."""

    exit_code = 4


_ERRORS = {kind.exit_code: kind for kind in (UsageError, InputError, AbsentError)}
for _kind in (Error, *_ERRORS.values()):
    _kind.__module__ = "haul" # as programs import them, and tracebacks name them


def error_of(exit_code, text):
    """The exception of a status's exit code. How the command line is used is left out of a wrong
    use's text, and options have the names of keyword arguments."""
    text = text.strip()
    if exit_code == UsageError.exit_code:
        text = text.split("\nusage: ")[0].split("\nsee 'haul help")[0]
        text = re.sub(r"(?<![\w-])--([a-z][a-z-]+)", lambda option: option[1].replace("-", "_"), text)
    return _ERRORS.get(exit_code, Error)(text.removeprefix("haul: "))


def needed(package):
    """A package of one of the extras. Raises ImportError that says how it is installed."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as reason:
        if reason.name not in ("numpy", package.partition(".")[0]):
            raise
        extra = {"pyarrow": "parquet", "openpyxl": "excel"}.get(package.partition(".")[0], "pandas")
        raise ImportError(f"haul needs {reason.name} for this: pip install 'haul[{extra}]'",
                          name=reason.name) from None


def program():
    """The path of the program `haul`: HAUL_PROGRAM's, this package's, or that of the PATH."""
    found = os.environ.get("HAUL_PROGRAM") or _own_program() or shutil.which("haul")
    if not found:
        raise AbsentError("the program 'haul' is neither in this package nor on the PATH")
    return found


def _own_program():
    # pip puts programs where each kind of installation has them, and lists them
    try:
        files = importlib.metadata.files("haul") or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    own = [file.locate() for file in files if file.name == "haul" and file.parent.name == "bin"]
    return str(own[0]) if own and own[0].exists() else None


def version() -> str:
    """The program's: "0.1.0"."""
    return run("--version").split()[1]


def _bytes_of(path):
    """Of a file, or of the files in a folder; 0 of what is neither."""
    try:
        if os.path.isdir(path):
            return sum(entry.stat().st_size for entry in os.scandir(path) if entry.is_file())
        return os.path.getsize(path) if os.path.isfile(path) else 0
    except OSError:
        return 0 # the program says why


def run(*arguments, verdict=False, text=None):
    """Runs the program and returns what it prints. Raises its error; with `verdict` an exit code
    of 1 is an answer. `text` is what the program reads as standard input."""
    words = [program(), *map(str, arguments)]
    to_read = sum(map(_bytes_of, words[2:]))
    with _standard_input(text) as given:
        try:
            running = subprocess.Popen(words, stdin=given, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, errors="replace")
        except OSError as reason:
            raise AbsentError(f"cannot run '{words[0]}': {reason.strerror}") from reason
    with running:
        try:
            out, err = _wait(running, words[1], to_read)
        except BaseException: # an interrupt of a notebook's cell too: the program does not outlive it
            running.kill()
            raise
    if running.returncode and not (verdict and running.returncode == 1):
        raise error_of(running.returncode, err or out)
    return out


@contextlib.contextmanager
def _standard_input(text):
    # a file, for of a pipe what is unwritten at a timeout is never written
    if text is None:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile("w+") as file:
        file.write(text)
        file.seek(0)
        yield file


def _wait(running, command, to_read):
    """What the program prints. Once it takes long, a bar of tqdm, where that is installed, shows the
    bytes that it has read of its files."""
    try:
        return running.communicate(timeout=PROGRESS_AFTER_S)
    except subprocess.TimeoutExpired:
        bar = _progress_bar(command, to_read)
    if bar is None:
        return running.communicate()
    with bar:
        while True:
            try:
                printed = running.communicate(timeout=0.2)
                bar.update(0 if running.returncode else bar.total - bar.n)
                return printed
            except subprocess.TimeoutExpired:
                # the program reads its own libraries too, and a database's pages again
                bar.update(max(0, min(_bytes_read(running.pid), bar.total) - bar.n))
                bar.refresh()


def _progress_bar(command, to_read):
    # for somebody who waits: not in the logs of CI
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore") # of a notebook without ipywidgets
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=to_read, unit="B", unit_scale=True, leave=False, desc=f"haul {command}")


def _bytes_read(process):
    try:
        with open(f"/proc/{process}/io", encoding="ascii") as counters:
            return int(counters.readline().split()[1]) # rchar
    except (OSError, ValueError, IndexError):
        return 0


def report(*arguments: Any, verdict: bool = False) -> dict[str, Any]:
    """The JSON document of a command, as docs/json.md describes it."""
    return json.loads(run(*arguments, "--format", "json", verdict=verdict))


def answer(frame: pd.DataFrame, *arguments: Any) -> pd.DataFrame:
    """A frame's rows with a command's answers behind them, for the commands that read a CSV and
    add columns to it: `-` among the arguments stands for the frame."""
    import io

    pd = needed("pandas")
    printed = run(*arguments, text=frame.to_csv(index=False))
    # from pandas 3.1 on numbers are read exactly without being asked to
    exact = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
    return pd.read_csv(io.StringIO(printed), keep_default_na=False, **exact)
