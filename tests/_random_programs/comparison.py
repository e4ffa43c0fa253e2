"""How far apart two evaluations of a program may be: as far as rounding moves it.

Monte Carlo arithmetic (Parker, 1997): the result of each step is multiplied by 1 ± a few units of
its last place, at random. What that changes in the end is what rounding may change, through all the
cancellation, amplification, and derivatives of the program.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .operands import Perturb, real_dtype

# Functions of the wide types are right to some units in the last place; those of the narrow ones
# are computed in single precision.
_UNITS = {"float64": 8.0, "float32": 8.0, "float16": 1.0, "bfloat16": 1.0}


def rounding(sample: int) -> Perturb:
    """Changes of the last places, the same ones at each call with the same sample and place."""

    def perturb(place: tuple[int, int], x: Any) -> Any:
        dtype = real_dtype(x.dtype)
        level = _UNITS[str(dtype)] * float(ml_dtypes.finfo(dtype).eps)
        signs = np.random.default_rng([sample, *place]).choice([-1.0, 1.0], x.shape)
        return x * (1.0 + level * signs).astype(x.dtype)

    return perturb


def tolerance(value: Any, nearby: list[Any]) -> float:
    """How far from a value another evaluation may be, given values with other rounding."""
    value = float(value)
    eps = float(np.finfo(nearby[0].dtype).eps)
    moved = max(abs(float(other) - value) for other in nearby)
    return 4.0 * moved + 64.0 * eps * (abs(value) + 0.1)
