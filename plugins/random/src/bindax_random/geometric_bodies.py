"""Random points and matrices: of balls, of the orthogonal group."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Array, typeof
from bindax_lax_basic import abs as magnitude
from bindax_lax_basic import convert_element_type, expand_dims, sign
from bindax_lax_basic.extend import DType, float32, shape_argument
from bindax_numpy import diagonal
from bindax_numpy.linalg import qr
from bindax_random._compiled import compiled
from bindax_random._operands import Shape, float_dtype, inexact_argument
from bindax_random.gamma_numbers import gamma_floats
from bindax_random.inverted_numbers import exponential_floats
from bindax_random.keys import single_key
from bindax_random.normal_numbers import normal_program
from bindax_random.uniform_numbers import signs_of, split_in
from bindax_transforms.extend import decided


def orthogonal(
    key: Any,
    n: int,
    shape: Any = (),
    dtype: Any = None,
    m: int | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw orthogonal matrices, or unitary complex ones, all equally likely.

    Args:
        key: a random key.
        n: the number of rows.
        shape: the shape of the array of matrices.
        dtype: a float or complex dtype; the default float dtype if omitted.
        m: the number of columns, ``n`` if omitted. Of the rows and the columns those that are
            fewer, or as many, are orthonormal.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    The method is that of F. Mezzadri, Notices of the AMS 54 (2007).

    Raises:
        TypeError: when a size is no integer.
        ValueError: when a size is negative, or the dtype is neither float nor complex.

    >>> from bindax_random import key, orthogonal
    >>> q = orthogonal(key(42), 3)
    >>> bool(abs(q @ q.T).sum() < 3.00001)
    True
    """
    if out_sharding is not None:
        return decided(orthogonal, out_sharding, (key, n, shape, dtype, m))
    typed = single_key("orthogonal", key)
    sizes = shape_argument("orthogonal", shape)
    rows, columns = shape_argument("orthogonal", (n, n if m is None else m), "n and m")
    found = inexact_argument("orthogonal", dtype)
    return _orthogonal(typed, rows=rows, columns=columns, shape=sizes, dtype=found)


@compiled
def _orthogonal(key: Any, *, rows: int, columns: int, shape: Shape, dtype: DType) -> Any:
    tall = (*shape, max(rows, columns), min(rows, columns))
    q, r = qr(normal_program(key, shape=tall, dtype=dtype))
    # Signs make the decomposition unique, without which the matrices were not equally likely.
    q = q * expand_dims(sign(diagonal(r, axis1=-2, axis2=-1)), (len(shape),))
    return q.mT if rows < columns else q


def generalized_normal(
    key: Any, p: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw numbers with density proportional to exp(-abs(x)**p).

    Args:
        key: a random key.
        p: the shape parameter, positive.
        shape: the shape of the result.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import generalized_normal, key
    >>> generalized_normal(key(42), 3.0, (2,)).shape
    (2,)
    """
    if out_sharding is not None:
        return decided(generalized_normal, out_sharding, (key, p, shape, dtype))
    typed = single_key("generalized_normal", key)
    sizes = shape_argument("generalized_normal", shape)
    found = float_dtype("generalized_normal", dtype)
    return _generalized_normal(typed, p, shape=sizes, dtype=found)


@compiled
def _generalized_normal(key: Any, p: Any, *, shape: Shape, dtype: DType) -> Any:
    gamma_key, sign_key = split_in(key)
    power = 1 / _settled(p, dtype)
    drawn = gamma_floats(gamma_key, power, shape, dtype)
    signs = signs_of(sign_key, shape=shape, dtype=dtype)
    return signs * drawn ** convert_element_type(power, dtype)


def _settled(p: Any, dtype: DType) -> Any:
    """A parameter in which its inverse is rounded once; Python's numbers have no dtype to keep."""
    if not typeof(p).weak_type:
        return p
    return convert_element_type(p, dtype if dtype.itemsize == 8 else float32)


def ball(
    key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw points of a unit ball, all equally likely.

    Args:
        key: a random key.
        d: the number of coordinates.
        p: which norm of the points is at most one: their p-norm.
        shape: the shape of the array of points.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    The method is that of F. Barthe, O. Guédon, S. Mendelson, A. Naor, Annals of Probability 33
    (2005).

    >>> from bindax_random import ball, key
    >>> ball(key(42), 3, shape=(2,)).shape
    (2, 3)
    """
    if out_sharding is not None:
        return decided(ball, out_sharding, (key, d, p, shape, dtype))
    typed = single_key("ball", key)
    (count,) = shape_argument("ball", (d,), "d")
    sizes, found = shape_argument("ball", shape), float_dtype("ball", dtype)
    return _ball(typed, p, d=count, shape=sizes, dtype=found)


@compiled
def _ball(key: Any, p: Any, *, d: int, shape: Shape, dtype: DType) -> Any:
    normal_key, radius_key = split_in(key)
    p = _settled(p, dtype)
    points = _generalized_normal(normal_key, p, shape=(*shape, d), dtype=dtype)
    radius = exponential_floats(radius_key, shape=shape, dtype=dtype)
    exponent, root = (convert_element_type(x, dtype) for x in (p, 1 / p))
    norms = ((magnitude(points) ** exponent).sum(-1) + radius) ** root
    return points / expand_dims(norms, (len(shape),))
