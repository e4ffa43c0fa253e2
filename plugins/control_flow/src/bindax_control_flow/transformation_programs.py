"""Functions with loops and branches, which transformations are checked on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bindax_control_flow import cond, scan, while_loop
from bindax_testing import TransformationProgram, transformation_program

_X = np.array([0.3, -1.2, 2.0])
_LENGTH = 3


def programs_with_loops() -> Iterator[TransformationProgram]:
    """Yield a scan, a branch and a loop, each with the same operations without it."""

    def step(x: Any) -> Any:
        return x * 0.5 + x * x

    def repeated(x: Any) -> list[Any]:
        for _ in range(_LENGTH):
            x = step(x)
        return [x]

    def scanned(x: Any) -> list[Any]:
        return [scan(lambda held, _: (step(held), None), x, None, length=_LENGTH)[0]]

    def chosen(x: Any) -> list[Any]:
        return [cond(np.bool_(True), step, lambda y: y, x)]

    def looped(x: Any) -> list[Any]:
        start = (np.int32(0), x)
        return [while_loop(lambda s: s[0] < _LENGTH, lambda s: (s[0] + 1, step(s[1])), start)[1]]

    yield transformation_program("scan", scanned, _X, plain=repeated)
    yield transformation_program("cond", chosen, _X, plain=lambda x: [step(x)])
    yield transformation_program("while_loop", looped, _X, plain=repeated)
