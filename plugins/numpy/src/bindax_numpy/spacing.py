"""Numbers that are spaced evenly on a logarithmic scale."""

from __future__ import annotations

from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import canonical_dtype, result_type
from bindax_lax_basic.extend import axis_argument, convert
from bindax_lax_basic.extend import broadcast_to as lax_broadcast_to
from bindax_numpy._operands import array_operand
from bindax_numpy.arithmetic import power
from bindax_numpy.ranges import linspace


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Powers of a base, whose exponents are evenly spaced; other arguments as for ``linspace``.

    Args:
        start: the first exponents.
        stop: the last ones.
        num: how many.
        endpoint: whether ``stop`` is the last one.
        base: the base.
        dtype: the dtype of the result.
        axis: where the new axis is in the result.

    >>> jnp.logspace(0, 2, 3)
    Array([  1.,  10., 100.], dtype=float32)
    """
    wanted = None if dtype is None else canonical_dtype(dtype)
    exact = dtypes.inexact_dtype(result_type(start, stop) if wanted is None else wanted)
    exponents = linspace(start, stop, num, endpoint, dtype=exact, axis=axis)
    out = power(convert(array_operand("logspace", base), exact, False), exponents)
    return out if wanted is None else convert(out, wanted, False)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Array:
    """Numbers in a geometric sequence from ``start`` to ``stop``; arguments as for ``linspace``.

    Both ends must have one sign, and not be 0.

    >>> jnp.round(jnp.geomspace(1, 100, 3), 3)
    Array([  1.,  10., 100.], dtype=float32)
    """
    wanted = None if dtype is None else canonical_dtype(dtype)
    exact = dtypes.inexact_dtype(result_type(start, stop) if wanted is None else wanted)
    shape = lax.broadcast_shapes(typeof(start).shape, typeof(stop).shape)
    first, last = (lax_broadcast_to(convert(x, exact, False), shape) for x in (start, stop))
    if dtypes.is_complex(exact):
        ratio = lax.log(last / first)
        steps = linspace(lax.full_like(ratio, 0), ratio, num, endpoint, dtype=exact, axis=axis)
        out = lax.expand_dims(first, (axis % (len(shape) + 1),)) * lax.exp(steps)
    else:
        turned = lax.sign(first)
        low, high = lax.log(first * turned), lax.log(last * turned)
        out = lax.exp(linspace(low, high, num, endpoint, dtype=exact, axis=axis))
        out = out * lax.expand_dims(turned, (axis_argument("geomspace", axis, len(shape) + 1),))
    out = _with_exact_ends(out, first, last, endpoint, axis)
    return out if wanted is None else convert(out, wanted, False)


def _with_exact_ends(out: Any, first: Any, last: Any, endpoint: bool, axis: int) -> Any:
    place = axis_argument("geomspace", axis, typeof(out).ndim)
    size = typeof(out).shape[place]
    if size > 0:
        out = out.at[(*[slice(None)] * place, 0)].set(first)
    if size > 1 and endpoint:
        out = out.at[(*[slice(None)] * place, size - 1)].set(last)
    return out
