"""python -m haul: the program."""

import os
import sys

from . import _native

if __name__ == "__main__":
    try:
        program = _native.program()
        os.execv(program, [program, *sys.argv[1:]])
    except (OSError, _native.Error) as reason:
        print(f"haul: {reason}", file=sys.stderr)
        sys.exit(_native.AbsentError.exit_code)
