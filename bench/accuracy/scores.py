"""One score for the intervals of all topics."""

import math

from .tool import rows


def summary(board):
    """What the page that sums up is filled with."""
    return {**board.facts, "hold": {name: f"{held:.0f} %" for name, _, held, *_ in board.lines},
            "score": {name: f"{ours:.2f}" for name, _, _, _, ours, *_ in board.lines}}


def scores(_data, board):
    def order(ours, constant):
        if math.isnan(constant):
            return ""
        by = ours / constant  # within a hundredth neither is better
        return "better" if by < 0.99 else "worse" if by > 1.01 else "alike"

    return {"scores": rows(
        [name, f"{count}", f"{held:.0f} %", f"{width:.2f}", f"{ours:.2f}", f"{constant:.2f}",
         order(ours, constant), "-" if math.isnan(apart) else f"{apart:.2f}", order(ours, apart)]
        for name, count, held, width, ours, constant, apart in board.lines)}
