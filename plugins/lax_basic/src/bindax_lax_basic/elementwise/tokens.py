"""Tokens: values without elements, by which programs say what comes before what."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, as_array, typeof
from bindax_lax_basic.elementwise.optimization_barrier import optimization_barrier

__all__ = ["after_all", "create_token"]


def create_token(_: Any = None) -> Array:
    """Make a token: a value without elements, which depends on nothing.

    Args:
        _: ignored.

    >>> create_token().shape
    (0,)
    """
    return Array.from_numpy(np.zeros(0, np.bool_))


def after_all(*operands: Any) -> Array:
    """Join tokens to one, which is there when all of them are.

    Args:
        operands: tokens.

    Raises:
        TypeError: when one is no token.

    >>> after_all(create_token(), create_token()).shape
    (0,)
    """
    for x in operands:
        aval = typeof(x)
        if aval.shape != (0,) or aval.dtype != np.bool_:
            raise TypeError(
                f"after_all takes tokens, as create_token makes them, but got {aval.str_short()}."
            )
    if not operands:
        return create_token()
    return optimization_barrier(tuple(map(as_array, operands)))[0]
