"""Polynomials by their coefficients, the one of the highest power first."""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import convert, promote_dtypes, result_type, static_int
from bindax_numpy._operands import (
    array_operand,
    inexact,
    strong_operand,
    together,
)
from bindax_numpy.arithmetic import abs
from bindax_numpy.comparison import where
from bindax_numpy.concatenate import concatenate, stack
from bindax_numpy.creation import zeros
from bindax_numpy.indexing import diagflat
from bindax_numpy.kron_convolve import convolve
from bindax_numpy.linalg import eigvals, inv, lstsq
from bindax_numpy.linalg._matrices import rounding
from bindax_numpy.nonzero_searchsorted import flatnonzero
from bindax_numpy.ranges import arange
from bindax_numpy.reductions import cumsum, sum
from bindax_numpy.reshaping import atleast_1d, ravel, roll
from bindax_numpy.sorting import argsort


def _coefficients(name: str, *operands: Any) -> tuple[Any, ...]:
    made = tuple([atleast_1d(p) for p in together(name, *operands)])
    for p in made:
        if typeof(p).ndim != 1:
            raise ValueError(
                f"{name} takes vectors of coefficients, but got {typeof(p).str_short()}."
            )
    return made


def polyval(p: Any, x: Any, *, unroll: int | None = None) -> Array:
    """The values of a polynomial, by Horner's scheme.

    Args:
        p: its coefficients, a vector, or several of them along the first axis.
        x: the points.
        unroll: accepted for compatibility.

    >>> jnp.polyval(jnp.array([2.0, 0.0, 1.0]), jnp.array([1.0, 3.0]))
    Array([ 3., 19.], dtype=float32)
    """
    factors, points = together("polyval", p, x)
    shape = lax.broadcast_shapes(typeof(factors).shape[1:], typeof(points).shape)
    out = lax.full(shape, 0, typeof(points).dtype)
    for i in range(typeof(factors).shape[0]):
        out = out * points + factors[i]
    return out


def _aligned(name: str, a1: Any, a2: Any) -> tuple[Any, Any]:
    """Coefficients of two polynomials, as many of each."""
    made = _coefficients(name, a1, a2)
    size = max(typeof(p).size for p in made)
    zero = [convert(0, typeof(p).dtype, False) for p in made]
    p, q = (lax.pad(v, z, [(size - typeof(v).size, 0, 0)]) for v, z in zip(made, zero, strict=True))
    return p, q


def polyadd(a1: Any, a2: Any) -> Array:
    """The sum of two polynomials.

    >>> jnp.polyadd(jnp.array([1, 2]), jnp.array([1, 0, 1]))
    Array([1, 1, 3], dtype=int32)
    """
    p, q = _aligned("polyadd", a1, a2)
    return p + q


def polysub(a1: Any, a2: Any) -> Array:
    """The difference of two polynomials.

    >>> jnp.polysub(jnp.array([1, 2]), jnp.array([1, 0, 1]))
    Array([-1,  1,  1], dtype=int32)
    """
    p, q = _aligned("polysub", a1, a2)
    return p - q


def _from_first_nonzero(p: Any) -> Any:
    places = np.flatnonzero(np.asarray(p))
    return p[int(places[0]) :] if len(places) else p[-1:]


def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Array:
    """The product of two polynomials.

    Args:
        a1: the coefficients of one.
        a2: those of the other.
        trim_leading_zeros: whether highest powers with the coefficient 0 are left out first, which
            takes coefficients that are known while tracing.

    >>> jnp.polymul(jnp.array([1.0, 2.0]), jnp.array([1.0, -2.0]))
    Array([ 1.,  0., -4.], dtype=float32)
    """
    p, q = _coefficients("polymul", a1, a2)
    if trim_leading_zeros:
        p, q = _from_first_nonzero(p), _from_first_nonzero(q)
    return convolve(p, q)


def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> tuple[Array, Array]:
    """The quotient and the remainder of two polynomials.

    Args:
        u: the coefficients of the dividend.
        v: those of the divisor, the first not 0.
        trim_leading_zeros: whether highest powers of the remainder with the coefficient 0 are left
            out, which takes coefficients that are known while tracing.

    >>> jnp.polydiv(jnp.array([1.0, 0.0, -4.0]), jnp.array([1.0, 2.0]))
    (Array([ 1., -2.], dtype=float32), Array([0., 0., 0.], dtype=float32))
    """
    rest, divisor = (x[0] for x in (inexact("polydiv", p) for p in _coefficients("polydiv", u, v)))
    m, n = typeof(rest).size, typeof(divisor).size
    quotient = []
    for i in range(m - n + 1):
        factor = rest[i] / divisor[0]
        quotient.append(factor)
        rest = rest.at[i : i + n].add(-factor * divisor)
    out = stack(quotient) if quotient else zeros(1, typeof(rest).dtype)
    return out, _from_first_nonzero(rest) if trim_leading_zeros else rest


def _order(name: str, m: int) -> int:
    order = static_int(name, "m", m)
    if order < 0:
        raise ValueError(f"{name}: the order m must not be negative, but it is {order}.")
    return order


def polyder(p: Any, m: int = 1) -> Array:
    """The derivative of a polynomial; ``m`` is its order.

    >>> jnp.polyder(jnp.array([1.0, 2.0, 3.0]))
    Array([2., 2.], dtype=float32)
    """
    order = _order("polyder", m)
    (factors,) = inexact("polyder", *_coefficients("polyder", p))
    n = typeof(factors).size
    if not order:
        return factors
    powers = np.arange(n - 1, -1, -1, dtype=np.float64)
    kept = max(n - order, 0)
    scale = np.prod([powers[:kept] - j for j in range(min(order, n))], axis=0)
    return factors[:kept] * scale.astype(typeof(factors).dtype)


def polyint(p: Any, m: int = 1, k: Any = None) -> Array:
    """The integral of a polynomial.

    Args:
        p: its coefficients.
        m: the order.
        k: the constants of integration, one or ``m`` of them; by default 0.

    >>> jnp.polyint(jnp.array([2.0, 2.0]))
    Array([1., 2., 0.], dtype=float32)
    """
    order = _order("polyint", m)
    constants = ravel(strong_operand("polyint", 0.0 if k is None else k))
    if typeof(constants).size not in (1, order):
        raise ValueError(
            f"polyint: k must be one constant or {order}, but there are {typeof(constants).size}."
        )
    factors = _coefficients("polyint", p)[0]
    dtype = dtypes.inexact_dtype(
        typeof(factors).dtype if k is None else result_type(factors, constants)
    )
    out, constants = convert(factors, dtype, False), convert(constants, dtype, False)
    if not order:
        return out
    # A power is multiplied by each integer that its exponent takes on the way.
    steps = np.arange(order, dtype=np.float64)
    scale = np.prod(np.arange(typeof(out).size, 0, -1)[:, None] + steps, axis=1)
    with np.errstate(over="ignore"):
        factorials = np.cumprod(np.maximum(steps, 1))[::-1]
    return concatenate([out / scale.astype(dtype), constants / factorials.astype(dtype)])


def poly(seq_of_zeros: Any) -> Array:
    """The coefficients of the polynomial with given roots, or the characteristic one of a matrix.

    Args:
        seq_of_zeros: the roots, a vector, or a square matrix.

    >>> jnp.poly(jnp.array([1.0, 2.0]))
    Array([ 1., -3.,  2.], dtype=float32)
    """
    (roots,) = inexact("poly", atleast_1d(strong_operand("poly", seq_of_zeros)))
    aval = typeof(roots)
    if aval.ndim == 2 and aval.shape[0] == aval.shape[1]:
        roots = eigvals(roots)
    elif aval.ndim != 1:
        raise ValueError(f"poly takes roots or a square matrix, but got {aval.str_short()}.")
    out = lax.full((1,), 1, typeof(roots).dtype)
    for i in range(typeof(roots).size):
        out = concatenate([out, out[:1] * 0]) - concatenate([out[:1] * 0, out * roots[i]])
    return out


def roots(p: Any, *, strip_zeros: bool = True) -> Array:
    """The roots of a polynomial: the eigenvalues of its companion matrix.

    Args:
        p: its coefficients.
        strip_zeros: whether highest powers with the coefficient 0 are left out, which takes
            coefficients that are known while tracing. Otherwise there is a nan for each, at the
            end.

    Returns:
        The roots, complex.

    >>> jnp.roots(jnp.array([1.0, -3.0, 2.0])).real
    Array([2., 1.], dtype=float32)
    """
    (factors,) = inexact("roots", *_coefficients("roots", p))
    zeros_at_end = 0
    if strip_zeros:
        places = np.asarray(flatnonzero(factors))
        if not len(places):
            factors = factors[:0]
        else:
            zeros_at_end = typeof(factors).size - 1 - int(places[-1])
            factors = factors[int(places[0]) : int(places[-1]) + 1]
    n = typeof(factors).size - 1
    dtype = typeof(factors).dtype
    wide = dtype if dtypes.is_complex(dtype) else dtypes.complex_dtype(dtype)
    if n < 1:
        return zeros(zeros_at_end, wide)
    if not strip_zeros:
        return _roots_and_nans(factors)
    found = _eigenvalues(factors)
    return concatenate([found, zeros(zeros_at_end, wide)]) if zeros_at_end else found


def _eigenvalues(factors: Any) -> Any:
    """The eigenvalues of the companion matrix of a polynomial."""
    n, dtype = typeof(factors).size - 1, typeof(factors).dtype
    top = -factors[1:] / factors[0]
    below = diagflat(lax.full((n - 1,), 1, dtype), -1) if n > 1 else lax.full((1, 1), 0, dtype)
    return eigvals(below.at[0].set(top))


def _roots_and_nans(factors: Any) -> Any:
    """The roots of a polynomial, and a nan for each leading coefficient that is 0."""
    # Moved to the end, the leading zeros add roots that are 0, which are the smallest.
    known = cumsum(factors != 0) > 0
    leading = sum(~known)
    factors = where(known.any(), roll(factors, -leading), 1)
    found = _eigenvalues(factors)
    added = argsort(argsort(abs(found))) < leading
    return where(added, complex(math.nan, math.nan), found)[argsort(added)]


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """The matrix of the powers of the elements of a vector.

    Args:
        x: a vector.
        N: how many powers; by default as many as elements.
        increasing: whether the powers increase from the first column on.

    >>> jnp.vander(jnp.array([2, 3]), 3)
    Array([[4, 2, 1],
           [9, 3, 1]], dtype=int32)
    """
    v = array_operand("vander", x)
    if typeof(v).ndim != 1:
        raise ValueError(f"vander takes a vector, but got {typeof(v).str_short()}.")
    count = static_int("vander", "N", typeof(v).size if N is None else N)
    if count < 0:
        raise ValueError(f"vander: N must not be negative, but it is {count}.")
    dtype = typeof(v).dtype
    powers = arange(count, dtype=dtype if dtypes.is_integer(dtype) else np.int32)
    powers = lax.expand_dims(powers if increasing else powers[::-1], (0,))
    if dtypes.is_inexact(dtype):
        return v[:, None] ** convert(powers, dtype, False)
    return convert(v[:, None], typeof(powers).dtype, False) ** powers


@overload
def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: Any = None,
    cov: Literal[False] = False,
) -> Array: ...
@overload
def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any: ...
def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """The polynomial of a degree that fits points best, by least squares.

    Args:
        x: the first coordinates of the points, a vector.
        y: the second ones, a vector, or several along the columns.
        deg: the degree.
        rcond: as for ``linalg.lstsq``; by default the rounding error times the number of points.
        full: whether the squared errors, rank, singular values and ``rcond`` are returned, too.
        w: weights of the points' errors.
        cov: whether the covariance of the coefficients is returned, too; "unscaled" if the weights
            are the inverses of standard deviations.

    Raises:
        ValueError: when the points do not fit together, or the degree is negative.

    >>> jnp.round(jnp.polyfit(jnp.arange(3.0), jnp.array([1.0, 3.0, 5.0]), 1), 3)
    Array([2., 1.], dtype=float32)
    """
    degree = static_int("polyfit", "deg", deg)
    places, values = promote_dtypes(
        *(inexact("polyfit", strong_operand("polyfit", v))[0] for v in (x, y))
    )
    a, b = typeof(places), typeof(values)
    if degree < 0 or a.ndim != 1 or not a.size or b.ndim not in (1, 2) or b.shape[0] != a.size:
        raise ValueError(
            f"polyfit takes a degree that is not negative, a vector, and values for each of its "
            f"elements, but got {degree}, {a.str_short()} and {b.str_short()}."
        )
    limit = a.size * rounding(places) if rcond is None else rcond
    left, right = vander(places, degree + 1), values
    if w is not None:
        (weights,) = inexact("polyfit", strong_operand("polyfit", w))
        if typeof(weights).shape != a.shape:
            raise ValueError(f"polyfit: w must be a vector of {a.size} weights.")
        left = left * lax.expand_dims(weights, (1,))
        right = right * (lax.expand_dims(weights, (1,)) if b.ndim == 2 else weights)
    # Columns of one length make the system better conditioned.
    scale = lax.sqrt(sum(left * left, 0))
    found, residuals, rank, s = lstsq(left / lax.expand_dims(scale, (0,)), right, limit)
    found = found / (lax.expand_dims(scale, (1,)) if b.ndim == 2 else scale)
    if full:
        return found, residuals, rank, s, convert(limit, a.dtype, False)
    if not cov:
        return found
    spread = inv(left.T @ left)
    if isinstance(cov, str) and cov == "unscaled":
        return found, spread[:, :, None] if b.ndim == 2 else spread
    factors = _squared_errors_per_freedom(left, residuals)
    return found, spread[:, :, None] * factors if b.ndim == 2 else spread * factors[0]


def _squared_errors_per_freedom(left: Any, residuals: Any) -> Any:
    """Return the scale of covariances: the squared errors by the number of spare points."""
    points, coefficients = typeof(left).shape
    if points <= coefficients:
        raise ValueError(
            f"polyfit: the covariance of {coefficients} coefficients needs more points than "
            f"{points}; give cov='unscaled'."
        )
    return residuals / (points - coefficients)
