"""The program that this package brings, and what its failures become."""

import importlib.metadata
import json
import os
import shutil
import subprocess

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


def error_of(exit_code, text):
    """The exception of a status's exit code."""
    return _ERRORS.get(exit_code, Error)(text.strip())


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


def run(*arguments, verdict=False, text=None):
    """Runs the program and returns what it prints. Raises its error; with `verdict` an exit code
    of 1 is an answer. `text` is what the program reads as standard input."""
    done = subprocess.run(
        [program(), *map(str, arguments)], capture_output=True, text=True, errors="replace",
        check=False, input=text)
    if done.returncode and not (verdict and done.returncode == 1):
        raise error_of(done.returncode, done.stderr or done.stdout)
    return done.stdout


def report(*arguments, verdict=False):
    """The JSON document of a command, as docs/json.md describes it."""
    return json.loads(run(*arguments, "--format", "json", verdict=verdict))


def answer(frame, *arguments):
    """A frame's rows with a command's answers behind them, for the commands that read a CSV and
    add columns to it: `-` among the arguments stands for the frame."""
    import io

    import pandas as pd

    printed = run(*arguments, text=frame.to_csv(index=False))
    return pd.read_csv(io.StringIO(printed), float_precision="round_trip", keep_default_na=False)
