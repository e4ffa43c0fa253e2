"""The QR decomposition as reflections, in the form of LAPACK's ``geqrf``."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import convert
from bindax_numpy.arithmetic import abs, square
from bindax_numpy.comparison import choice
from bindax_numpy.joining import concatenate, stack
from bindax_numpy.reductions import sum
from bindax_numpy.reshaping import matrix_transpose, squeeze
from bindax_numpy.rounding import conj, real


def reflections(x: Any) -> tuple[Any, Any]:
    """The transposed matrix of R and the vectors below it, and the factors of the reflections.

    Column by column, each is reflected onto its first element (Golub and Van Loan, *Matrix
    Computations*, algorithm 5.2.1).
    """
    m, n = typeof(x).shape[-2:]
    done, factors = [], []
    rest = x
    for _ in range(min(m, n)):
        column, factor = _reflection(rest[..., :, :1])
        others = rest[..., :, 1:]
        vector = concatenate([lax.full_like(column[..., :1, :], 1), column[..., 1:, :]], -2)
        along = matrix_transpose(conj(vector)) @ others
        others = others - conj(factor) * vector * along
        # The first row of the rest belongs to R from here on.
        done.append((column, others[..., :1, :]))
        factors.append(squeeze(factor, (-2, -1)))
        rest = others[..., 1:, :]
    return matrix_transpose(_assembled(done, x)), _stacked(factors, x)


def _reflection(column: Any) -> tuple[Any, Any]:
    """The reflected element above the vector that reflects, and the factor."""
    first, below = column[..., :1, :], column[..., 1:, :]
    tail = sum(real(square(abs(below))), -2, keepdims=True)
    length = lax.sqrt(square(abs(first)) + tail)
    reflected = convert(choice(real(first) > 0, -length, length), typeof(column).dtype, False)
    still = tail == 0
    if dtypes.is_complex(typeof(first).dtype):
        still = still & (lax.imag(first) == 0)
    safe = choice(still, 1, reflected)
    factor = choice(still, 0, (safe - first) / safe)
    vector = below / choice(still, 1, first - reflected)
    return concatenate([choice(still, first, reflected), vector], -2), factor


def _assembled(done: list[Any], x: Any) -> Any:
    """The columns below the diagonal and the rows beside it as one matrix."""
    m, n = typeof(x).shape[-2:]
    columns = []
    for j in range(n if m else 0):
        above = [done[i][1][..., j - i - 1 : j - i] for i in range(min(j, len(done)))]
        columns.append(concatenate([*above, *([done[j][0]] if j < len(done) else [])], -2))
    return concatenate(columns, -1) if columns and m else x


def _stacked(factors: list[Any], x: Any) -> Any:
    lead = typeof(x).shape[:-2]
    return stack(factors, -1) if factors else lax.full((*lead, 0), 0, typeof(x).dtype)
