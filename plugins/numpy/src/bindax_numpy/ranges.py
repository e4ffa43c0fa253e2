"""Making arrays of numbers in order, and of patterns: ranges, grids, triangles, identity."""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import numpy as np

import bindax_lax_basic as lax
from bindax_core.errors import ConcretizationTypeError
from bindax_core.extend import Array, Dimension, Tracer, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    DivisorError,
    axis_argument,
    canonical_dtype,
    convert,
    larger,
    result_type,
    static_int,
    static_ints,
)
from bindax_lax_basic.extend import broadcast_to as lax_broadcast_to
from bindax_numpy._operands import array_operand, constant, placed, require_values
from bindax_numpy.arithmetic import power
from bindax_numpy.creation import array
from bindax_numpy.reshaping import moveaxis, ravel
from bindax_transforms.extend import decided


def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Numbers from ``start`` up to, not including, ``stop``, evenly spaced by ``step``.

    Args:
        start: the first number; the only argument is ``stop``, and ``start`` then 0.
        stop: the bound.
        step: the distance of neighbours; by default 1.
        dtype: the dtype of the result; by default what the arguments promote to.
        device: where the bytes are put.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    All of them decide the shape, so they must be known while tracing.

    >>> jnp.arange(3)
    Array([0, 1, 2], dtype=int32)
    >>> jnp.arange(0, 1, 0.25)
    Array([0.  , 0.25, 0.5 , 0.75], dtype=float32)
    """
    if out_sharding is not None:
        return decided(arange, out_sharding, (start, stop, step, dtype), {"device": device})
    return placed("arange", _arange(start, stop, step, dtype), device)


def _arange(start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    given = [x for x in (start, stop, step) if x is not None]
    for x in given:
        _require_known(x)
    if any(dtypes.is_complex(typeof(x).dtype) for x in given):
        raise ValueError(f"arange takes real numbers, but got {given}.")
    wanted = result_type(*given) if dtype is None else canonical_dtype(dtype)
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    numbers = first, last, width = [_number(x) for x in (start, stop, step)]
    if width == 0:
        raise DivisorError("arange: step must not be 0.")
    symbolic = any(isinstance(x, Dimension) for x in numbers)
    if symbolic or (all(isinstance(x, int) for x in numbers) and dtypes.is_integer(wanted)):
        made: Any = lax.iota(wanted, _count(first, last, width))
        if width != 1:
            made = made * array(width, wanted)
        return made if isinstance(first, int) and not first else made + array(first, wanted)
    return array(np.arange(first, last, width), wanted)


def _count(first: Any, last: Any, width: Any) -> Any:
    """The number of positions of a range; a size that can be symbolic."""
    if not any(isinstance(x, Dimension) for x in (first, last, width)):
        return len(range(first, last, width))
    length = larger(last - first if width > 0 else first - last, 0)
    return length if abs(width) == 1 else -(-length // abs(width))


def _require_known(x: Any) -> None:
    require_values("arange", x)
    if isinstance(x, Tracer):
        raise ConcretizationTypeError(
            f"arange: the arguments decide the shape of the result and must be known while "
            f"tracing, but one is a traced {typeof(x).str_short()}; mark it static, or make a "
            f"range of fixed length and compare it with the bound."
        )


def _number(x: Any) -> Any:
    """A scalar as a Python number; a symbolic size as it is."""
    if isinstance(x, Dimension):
        return x
    if typeof(x).shape:
        raise TypeError(f"arange takes scalars, but got {typeof(x).str_short()}.")
    kind = dtypes.kind_of(typeof(x).dtype)
    if kind in dtypes.COMPLEX:
        return complex(x)
    return float(x) if kind in dtypes.FLOAT else int(x)


@overload
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Array: ...
@overload
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: Any = None,
    axis: int = 0,
    device: Any = None,
) -> tuple[Array, Array]: ...
@overload
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any: ...
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Evenly spaced numbers from ``start`` to ``stop``.

    Args:
        start: the first numbers, an array or scalar.
        stop: the last numbers.
        num: how many, known while tracing.
        endpoint: whether ``stop`` is the last one, or the one after it.
        retstep: whether the distance of neighbours is returned, too.
        dtype: the dtype of the result; by default a float.
        axis: where the new axis is in the result.
        device: where the bytes are put.

    >>> jnp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    require_values("linspace", start, stop)
    count = static_int("linspace", "num", num)
    if count < 0:
        raise ValueError(f"linspace: num must not be negative, but it is {count}.")
    promoted = dtypes.inexact_dtype(result_type(start, stop))
    wanted = promoted if dtype is None else canonical_dtype(dtype)
    computed = dtypes.inexact_dtype(dtypes.joined_dtype(promoted, wanted))
    shape = lax.broadcast_shapes(typeof(start).shape, typeof(stop).shape)
    first, last = (lax_broadcast_to(convert(x, computed, False), shape) for x in (start, stop))
    intervals = count - 1 if endpoint else count
    step = (last - first) / intervals if intervals > 0 else array(math.nan, computed)
    fraction = lax.iota(dtypes.real_dtype(computed), count) / max(intervals, 1)
    column = lax.reshape(convert(fraction, computed, False), (count, *(1 for _ in shape)))
    out = lax.expand_dims(first, (0,)) * (1 - column) + lax.expand_dims(last, (0,)) * column
    if endpoint and count > 1:
        # Exactly `stop`, whatever was rounded on the way.
        head = lax.slice_in_dim(out, 0, count - 1, axis=0)
        out = lax.concatenate([head, lax.expand_dims(last, (0,))], 0)
    place = axis_argument("linspace", axis, len(shape) + 1)
    if place:
        out = moveaxis(out, 0, place)
    if dtypes.is_integer(wanted):
        out = lax.floor(out)
    out = placed("linspace", convert(out, wanted, False), device)
    return (out, step) if retstep else out


def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[Array]:
    """The coordinates of the points of a grid, from those along each axis.

    Args:
        *xi: a vector for each axis of the grid.
        copy: accepted for compatibility.
        sparse: whether the results have size 1 along the other axes, instead of repeating.
        indexing: "xy" counts the first vector along the second axis, "ij" along the first.

    >>> jnp.meshgrid(jnp.arange(2), jnp.arange(3), indexing="ij")[0]
    Array([[0, 0, 0],
           [1, 1, 1]], dtype=int32)
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', but it is {indexing!r}.")
    vectors = [ravel(array_operand("meshgrid", x)) for x in xi]
    places = list(range(len(vectors)))
    if indexing == "xy" and len(places) > 1:
        places[0], places[1] = 1, 0
    sizes = [0] * len(vectors)
    for place, vector in zip(places, vectors, strict=True):
        sizes[place] = typeof(vector).shape[0]
    out = []
    for place, vector in zip(places, vectors, strict=True):
        shape = [1 if sparse else size for size in sizes]
        shape[place] = sizes[place]
        out.append(lax.broadcast_in_dim(vector, tuple(shape), (place,)))
    return out


def eye(
    N: int, M: int | None = None, k: Any = 0, dtype: Any = None, *, device: Any = None
) -> Array:
    """A matrix with ones on a diagonal and zeros elsewhere.

    Args:
        N: the number of rows.
        M: the number of columns; by default ``N``.
        k: which diagonal: 0 the main one, positive above it, negative below. It may be traced.
        dtype: the dtype of the result; by default the default float.
        device: where the bytes are put.

    >>> jnp.eye(2, 3, k=1)
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    wanted = canonical_dtype(float if dtype is None else dtype)
    return placed("eye", convert(_offsets("eye", N, M, lax.eq, k), wanted, False), device)


def identity(n: int, dtype: Any = None) -> Array:
    """The identity matrix of ``n`` rows.

    >>> jnp.identity(2, dtype=int)
    Array([[1, 0],
           [0, 1]], dtype=int32)
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: Any = 0, dtype: Any = None) -> Array:
    """A matrix with ones on and below a diagonal; arguments as for ``eye``.

    >>> jnp.tri(3, dtype=int)
    Array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]], dtype=int32)
    """
    wanted = canonical_dtype(float if dtype is None else dtype)
    return convert(_offsets("tri", N, M, lax.le, k), wanted, False)


def tril(m: Any, k: Any = 0) -> Array:
    """The elements of matrices on and below a diagonal, zeros above it.

    Args:
        m: an array, its last two axes the matrices.
        k: which diagonal, as for ``eye``.

    >>> jnp.tril(jnp.ones((2, 2), int))
    Array([[1, 0],
           [1, 1]], dtype=int32)
    """
    return _triangle("tril", m, lax.le, k)


def triu(m: Any, k: Any = 0) -> Array:
    """The elements of matrices on and above a diagonal; arguments as for ``tril``.

    >>> jnp.triu(jnp.ones((2, 2), int))
    Array([[1, 1],
           [0, 1]], dtype=int32)
    """
    return _triangle("triu", m, lax.ge, k)


def _offsets(name: str, rows: Any, columns: Any, compare: Any, k: Any) -> Any:
    """Compare the column minus the row of each element of a matrix with ``k``."""
    shape = static_ints(name, "N and M", (rows, rows if columns is None else columns))
    row, column = (lax.broadcasted_iota("int32", shape, axis) for axis in (0, 1))
    if isinstance(k, int | np.integer):
        # Diagonals outside of the matrix are all the same, however far away they are.
        return compare(column - row, np.int32(min(max(int(k), -shape[0]), shape[1])))
    offset = array_operand(name, k)
    if typeof(offset).shape or not dtypes.is_integer(typeof(offset).dtype):
        raise TypeError(f"{name} takes an integer for k, but got {typeof(offset).str_short()}.")
    return compare(column - row, convert(offset, np.dtype(np.int32), False))


def _triangle(name: str, m: Any, compare: Any, k: Any) -> Any:
    x = array_operand(name, m)
    shape = typeof(x).shape
    if len(shape) < 2:
        raise ValueError(f"{name} takes matrices, but got {typeof(x).str_short()}.")
    mask = lax_broadcast_to(_offsets(name, shape[-2], shape[-1], compare, k), shape)
    return lax.select(mask, x, lax_broadcast_to(constant(0, x), shape))


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
        steps = linspace(0.0, ratio, num, endpoint, dtype=exact, axis=axis)
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
