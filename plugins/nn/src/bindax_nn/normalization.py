"""Functions of all elements along axes: softmax, logarithms of sums, standardization, encoding."""

from __future__ import annotations

import functools
import operator
from typing import Any, Literal, overload

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.errors import ConcretizationTypeError
from bindax_core.extend import Array
from bindax_lax_basic.extend import axes_argument
from bindax_numpy.extend import as_operand, inexact, require_values
from bindax_parallel import axis_index, axis_size
from bindax_transforms import custom_jvp, evaluated
from bindax_transforms.extend import decided


def _optional(name: str, *values: Any) -> None:
    require_values(name, *(x for x in values if x is not None))


def _check_axis(name: str, axis: Any, x: Any) -> None:
    """Raise for axes that an array does not have, in the name of the function called."""
    axes_argument(name, axis, jnp.ndim(x), "axis")


# ------------------------------------------------------------------------------ softmax


@functools.partial(custom_jvp, nondiff_argnums=(1,))
def _softmax(x: Any, axis: Any, where: Any) -> Any:
    largest = jnp.max(x, axis, where=where, initial=-np.inf, keepdims=True)
    chosen = x if where is None else jnp.where(where, x, -np.inf)
    powers = jnp.exp(chosen - largest)
    result = powers / jnp.sum(powers, axis, where=where, keepdims=True)
    return result if where is None else jnp.where(where, result, 0)


@_softmax.defjvp
def _softmax_jvp(axis: Any, primals: Any, tangents: Any) -> Any:
    (x, where), (t, _) = primals, tangents
    y = _softmax(x, axis, where)
    return y, y * (t - jnp.sum(y * t, axis, where=where, keepdims=True))


@evaluated
def softmax(x: Any, axis: Any = -1, where: Any = None) -> Array:
    """``exp(x)`` divided by its sum along axes, without overflow.

    Args:
        x: an array.
        axis: an axis, several, or None for all.
        where: booleans that broadcast to ``x``: the elements that count; others become 0.

    >>> nn.softmax(jnp.array([1000.0, 1000.0, -jnp.inf]))
    Array([0.5, 0.5, 0. ], dtype=float32)
    """
    (x,) = inexact("softmax", x)
    _optional("softmax", where)
    _check_axis("softmax", axis, x)
    return _softmax(x, axis, where)


@evaluated
def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Array:
    """The logarithm of ``softmax``, also of probabilities too small to represent.

    Args:
        x: an array.
        axis: an axis, several, or None for all.
        where: booleans that broadcast to ``x``: the elements that count; others become ``-inf``.

    >>> nn.log_softmax(jnp.array([0.0, -1000.0]))
    Array([    0., -1000.], dtype=float32)
    """
    (x,) = inexact("log_softmax", x)
    _optional("log_softmax", where)
    _check_axis("log_softmax", axis, x)
    largest = jnp.max(x, axis, where=where, initial=-np.inf, keepdims=True)
    chosen = x if where is None else jnp.where(where, x, -np.inf)
    shifted = chosen - lax.stop_gradient(largest)
    total = jnp.sum(jnp.exp(shifted), axis, where=where, keepdims=True)
    result = shifted - jnp.log(total)
    return result if where is None else jnp.where(where, result, -np.inf)


# ------------------------------------------------------------------- logarithms of sums


@overload
def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: Literal[False] = False,
    where: Any = None,
) -> Array: ...
@overload
def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    *,
    return_sign: Literal[True],
    where: Any = None,
) -> tuple[Array, Array]: ...
@overload
def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any: ...
@evaluated
def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """``log(sum(b * exp(a)))`` along axes, without overflow.

    Args:
        a: an array.
        axis: an axis, several, or None for all.
        b: factors of the exponentials, which broadcast with ``a``; 1 by default.
        keepdims: keep the axes, with size 1.
        return_sign: return also the sign of the sum, and the logarithm of its absolute value;
            otherwise the logarithm of a negative sum is nan.
        where: booleans that broadcast to ``a``: the elements that count.

    Returns:
        The logarithm; with ``return_sign`` a pair of it and the sign.

    >>> nn.logsumexp(jnp.array([100.0, 100.0])).round(2)
    Array(100.69, dtype=float32)
    """
    _optional("logsumexp", a, b, where)
    if where is not None:
        a = jnp.where(where, a, 0)
    if b is None:
        (x,) = inexact("logsumexp", a)
    else:
        x, b = jnp.broadcast_arrays(*inexact("logsumexp", a, b))
        # A factor of 0 cancels even an infinite exponential.
        x = jnp.where(b != 0, x, -np.inf)
    _check_axis("logsumexp", axis, x)
    is_complex = jnp.iscomplexobj(x)
    largest = jnp.max(jnp.real(x), axis, keepdims=True, where=where, initial=-np.inf)
    largest = lax.stop_gradient(jnp.where(jnp.isfinite(largest), largest, 0))
    powers = jnp.exp(x - largest)
    powers = powers if b is None else powers * b
    total = jnp.sum(powers, axis, keepdims=keepdims, where=where)
    sign = jnp.sign(total)
    size = jnp.abs(total) if return_sign or not is_complex else total
    shift = largest if keepdims else jnp.reshape(largest, total.shape)
    out = jnp.log(size) + shift
    if return_sign:
        return out, sign
    return out if b is None or is_complex else jnp.where(sign < 0, np.nan, out)


def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Array:
    """``log(mean(exp(x)))`` along axes, without overflow.

    Args:
        x: an array.
        axis: an axis, several, or None for all.
        where: booleans that broadcast to ``x``: the elements that count.
        keepdims: keep the axes, with size 1.

    >>> nn.logmeanexp(jnp.array([1000.0, 1000.0]))
    Array(1000., dtype=float32)
    """
    total = logsumexp(x, axis, where=where, keepdims=keepdims)
    counted = jnp.ones(jnp.shape(x)) if where is None else jnp.broadcast_to(where, jnp.shape(x))
    count = jnp.sum(counted, axis, dtype=total.dtype, keepdims=keepdims)
    return total - jnp.log(count)


# ------------------------------------------------------------------------ standardization


def standardize(
    x: Any,
    axis: Any = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """Subtract the mean along axes and divide by the square root of the variance.

    Args:
        x: an array.
        axis: an axis, several, or None for all.
        mean: the mean, if known.
        variance: the variance, if known.
        epsilon: what is added to the variance.
        where: booleans that broadcast to ``x``: the elements of which mean and variance are.
        algorithm: ``"fast"`` (the mean of the squares less the square of the mean) or ``"stable"``
            (the mean of the squared differences, in a second pass).

    Raises:
        ValueError: for another algorithm.

    >>> nn.standardize(jnp.array([1.0, 3.0]), epsilon=0)
    Array([-1.,  1.], dtype=float32)
    """
    _optional("standardize", x, mean, variance, where)
    _check_axis("standardize", axis, x)
    if algorithm not in ("fast", "stable"):
        raise ValueError(
            f"standardize: algorithm must be 'fast' or 'stable', but it is {algorithm!r:.60}."
        )
    if mean is None:
        mean = jnp.mean(x, axis, keepdims=True, where=where)
    if variance is None:
        if algorithm == "stable":
            squares = jnp.square(jnp.subtract(x, mean))
            variance = jnp.mean(squares, axis, keepdims=True, where=where)
        else:
            squares = jnp.mean(jnp.square(x), axis, keepdims=True, where=where)
            variance = squares - jnp.square(mean)
            # Rounding can make it negative, which its derivatives must not notice.
            variance = variance - lax.stop_gradient(jnp.minimum(variance, 0))
    shifted = as_operand(jnp.add(variance, epsilon))
    if shifted.dtype == np.float16:  # out of whose range the derivative of a small root is
        root = lax.rsqrt(shifted.astype("float32")).astype("float16")
    else:
        root = lax.rsqrt(shifted)
    return jnp.subtract(x, mean) * root


# ----------------------------------------------------------------------------- encoding


def one_hot(
    x: Any,
    num_classes: int,
    *,
    dtype: Any = None,
    axis: int | str = -1,
    out_sharding: Any = None,
) -> Array:
    """Vectors that are 1 at the index and 0 elsewhere; all 0 for an index out of range.

    Args:
        x: integers of any shape.
        num_classes: the size of the new axis.
        dtype: the dtype of the result; the default float dtype.
        axis: the place of the new axis; or the name of one that a function is mapped over, along
            which the vectors lie: each of its members has the element of its own index.
        out_sharding: how the result lies along explicit axes of a mesh.

    Raises:
        TypeError: when ``num_classes`` is no integer; a ConcretizationTypeError when it is traced.
        ValueError: when the axis does not exist, or the named one has another size.
        NameError: when nothing is mapped over an axis of that name.

    >>> nn.one_hot(jnp.array([0, 2]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    try:
        size = operator.index(num_classes)
        place = -1 if isinstance(axis, str) else operator.index(axis)
    except TypeError as error:
        kind = ConcretizationTypeError if isinstance(error, ConcretizationTypeError) else TypeError
        raise kind(
            f"one_hot: num_classes and axis must be integers that are known before the program "
            f"runs, but they are {num_classes!r:.60} and {axis!r:.60}."
        ) from None
    if size < 0:
        raise ValueError(f"one_hot: num_classes must not be negative, but it is {size}.")
    if out_sharding is not None:
        encode = functools.partial(one_hot, num_classes=size, dtype=dtype, axis=axis)
        return decided(encode, out_sharding, (x,), what="one_hot")
    indices = jnp.asarray(x)
    wanted = jnp.float_ if dtype is None else dtype
    if isinstance(axis, str):
        if axis_size(axis) != size:
            raise ValueError(
                f"one_hot: num_classes must be the size of the axis {axis!r}, {axis_size(axis)}, "
                f"but it is {size}."
            )
        return jnp.equal(indices, axis_index(axis)).astype(wanted)
    if not -indices.ndim - 1 <= place <= indices.ndim:
        raise ValueError(
            f"one_hot: axis {axis} is out of range for a result of {indices.ndim + 1} axes."
        )
    place %= indices.ndim + 1
    shape = [1] * indices.ndim
    shape.insert(place, size)
    classes = lax.broadcasted_iota(indices.dtype, tuple(shape), place)
    hits = jnp.equal(jnp.expand_dims(indices, place), classes)
    return hits.astype(wanted)
