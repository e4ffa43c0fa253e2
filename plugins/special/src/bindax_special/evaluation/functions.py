"""Elementary functions of arrays that the algorithms are written in, by NumPy or by lax.

An algorithm takes ``f``, one of the two realisations of ``Functions``, and arrays of float64 of one
shape. It is evaluated with ``realisations.by_numpy``; with ``realisations.by_lax`` the
same text becomes compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

State = tuple[Any, ...]
EPSILON = 2.0**-53
"""Terms below this fraction of a sum do not change it."""
_NARROW_EPSILON = 2.0**-34
"""The same for sums that are rounded to float32 or less: a thousandth of its last digit."""


class Functions(NamedTuple):
    """Elementary functions of arrays, and how precise sums must be.

    Terms below the fraction ``epsilon`` of a sum do not change the result.

    ``where(condition, x, y)`` chooses; ``loop(condition, body, state)`` replaces the state by
    ``body(*state)`` as long as ``condition(*state)`` holds for any element. Neither of the two may
    use an array from outside that is not part of the state.
    """

    exp: Callable[[Any], Any]
    expm1: Callable[[Any], Any]
    log: Callable[[Any], Any]
    log1p: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    abs: Callable[[Any], Any]
    floor: Callable[[Any], Any]
    erfc: Callable[[Any], Any]
    digamma: Callable[[Any], Any]
    where: Callable[[Any, Any, Any], Any]
    loop: Callable[[Callable[..., Any], Callable[..., State], State], State]
    epsilon: float = EPSILON

    @property
    def settled(self) -> float:
        """The relative change of a continued fraction that is rounding alone."""
        return 6.0 * self.epsilon

    def rounded_to(self, dtype: np.dtype[Any]) -> Functions:
        """The same functions, for results that are rounded to a dtype."""
        return self if dtype.itemsize > 4 else self._replace(epsilon=_NARROW_EPSILON)
