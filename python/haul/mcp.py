"""`haul mcp`: haul's commands for editors and assistants, by the Model Context Protocol over standard
input and output. Needs the protocol's package: pip install 'haul[mcp]'.

A tool's answer is what the program prints, cut to a screen; what the profile lost stands in it, for
the program says so in its first lines. Tools read files and write none.
"""

import sys
from importlib.metadata import version
from pathlib import Path

from . import _native

LINES, COLUMNS = 60, 120


def _screen(*arguments):
    """What a command prints, or its error, in at most LINES lines."""
    try:
        printed = _native.run(*arguments, "--width", COLUMNS)
    except _native.Error as error:
        return f"failed: {error}"
    lines = [line if len(line) <= COLUMNS else line[:COLUMNS - 3] + "..."
             for line in printed.rstrip().split("\n")]
    if len(lines) > LINES:
        left = len(lines) - LINES + 1
        lines[LINES - 1:] = [f"({left} more lines: haul {' '.join(map(str, arguments))})"]
    return "\n".join(lines)


def _files(profiles):
    # absolute, so that no name is taken for an option
    return [str(Path(profile).expanduser().absolute()) for profile in profiles]


def analyze(profiles: list[str], by: str = "") -> str:
    """Where the time of a recorded GPU program went: idle time and its cause, kernels, copies.

    `profiles`: files of Nsight Systems (SQLite), nvprof, PyTorch (JSON, .gz too), rocprofv3, rpd or
    `haul record`. `by` groups kernels and copies: operator, range, line, stack or kernel.
    """
    return _screen("analyze", *_files(profiles), *([f"--by={by}"] if by else []))


def advise(profiles: list[str]) -> str:
    """Changes to a recorded GPU program, by the time that they save, each tried on its timeline."""
    return _screen("advise", *_files(profiles))


def project(profiles: list[str], to: list[str]) -> str:
    """Predicts a recorded GPU program's time on other machines, with intervals.

    `to`: names that `machines` lists, such as h100-sxm5, or machine files.
    """
    return _screen("project", *_files(profiles), f"--to={','.join(to)}")


def compare(before: str, after: str) -> str:
    """Two recordings of one program: what became faster or slower, the largest causes first."""
    return _screen("compare", *_files([before, after]))


def machines() -> str:
    """The machines that haul knows, with their GPUs and links."""
    return _screen("machine", "list")


def serve():
    """Answers until standard input ends."""
    try:
        try:
            from mcp.server import MCPServer as Server
        except ImportError: # before the package's version 2
            from mcp.server.fastmcp import FastMCP as Server
    except ImportError:
        print("haul mcp: needs the package of the protocol: pip install 'haul[mcp]'",
              file=sys.stderr)
        return _native.AbsentError.exit_code
    server = Server("haul", instructions="Explains and predicts the time of GPU programs, and of "
                    "their data's movement, from recorded profiles. Figures with an interval are "
                    "predictions: give the interval with them.")
    for tool in (analyze, advise, project, compare, machines):
        server.tool()(tool)
    server.run()
    return 0


def main():
    """The program `haul-mcp`, which `haul mcp` starts."""
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if sys.argv[1:] == ["--version"]:
        print("haul-mcp", version("haul"))
        return 0
    if sys.argv[1:]:
        print("haul mcp: takes no arguments; see 'haul mcp --help'", file=sys.stderr)
        return _native.UsageError.exit_code
    return serve()


if __name__ == "__main__":
    sys.exit(main())
