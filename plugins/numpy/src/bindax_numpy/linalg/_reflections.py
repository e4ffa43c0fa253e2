"""The QR decomposition as reflections, in the form of LAPACK's ``geqrf``."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_control_flow import scan
from bindax_core.extend import typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import convert
from bindax_numpy.arithmetic import abs, square
from bindax_numpy.comparison import choice
from bindax_numpy.reductions import sum
from bindax_numpy.reshaping import matrix_transpose, moveaxis, squeeze
from bindax_numpy.rounding import conj, real


def reflections(x: Any) -> tuple[Any, Any]:
    """The transposed matrix of R and the vectors below it, and the factors of the reflections.

    Column by column, each is reflected onto its first element (Golub and Van Loan, *Matrix
    Computations*, algorithm 5.2.1), in a loop: the program is as short for many columns as for one.
    """
    aval = typeof(x)
    *lead, m, n = aval.shape
    steps = min(m, n)
    if not steps:
        return matrix_transpose(x), lax.full((*lead, 0), 0, aval.dtype)
    columns = lax.iota(np.int32, n)

    def reflect(a: Any, j: Any) -> tuple[Any, Any]:
        column, factor = _reflection(lax.dynamic_slice_in_dim(a, j, 1, axis=len(lead) + 1), j)
        vector = choice(_rows(m) > j, column, convert(_rows(m) == j, aval.dtype, False))
        others = a - conj(factor) * vector * (matrix_transpose(conj(vector)) @ a)
        a = choice(columns == j, column, choice(columns > j, others, a))
        return a, squeeze(factor, (-2, -1))

    packed, factors = scan(reflect, x, np.arange(steps, dtype=np.int32))
    return matrix_transpose(packed), moveaxis(factors, 0, -1)


def _rows(m: int) -> Any:
    return lax.iota(np.int32, m)[:, None]


def _reflection(column: Any, j: Any) -> tuple[Any, Any]:
    """The column with its element ``j`` reflected and the vector below it, and the factor."""
    rows = _rows(typeof(column).shape[-2])
    first = sum(choice(rows == j, column, 0), -2, keepdims=True)
    below = choice(rows > j, column, 0)
    tail = sum(real(square(abs(below))), -2, keepdims=True)
    length = lax.sqrt(square(abs(first)) + tail)
    reflected = convert(choice(real(first) > 0, -length, length), typeof(column).dtype, False)
    still = tail == 0
    if dtypes.is_complex(typeof(first).dtype):
        still = still & (lax.imag(first) == 0)
    safe = choice(still, 1, reflected)
    factor = choice(still, 0, (safe - first) / safe)
    vector = below / choice(still, 1, first - reflected)
    at_j = choice(rows == j, choice(still, first, reflected), column)
    return choice(rows > j, vector, at_j), factor
