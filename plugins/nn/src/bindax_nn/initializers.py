"""Initial values of parameters: functions of a key, a shape and a dtype.

>>> from bindax_nn import initializers
>>> init = initializers.zeros
>>> init(None, (2, 2))
Array([[0., 0.],
       [0., 0.]], dtype=float32)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

import bindax_numpy as jnp
import bindax_random as random
from bindax_core.extend import Array
from bindax_lax_basic.extend import axes_argument
from bindax_transforms.extend import decided

__all__ = [
    "Initializer",
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

Axes = int | Sequence[int]

# Standard deviations of a standard normal number that is cut off at 2, real and complex.
_TRUNCATED = 0.87962566103423978
_TRUNCATED_COMPLEX = 0.95311164380491208


@runtime_checkable
class Initializer(Protocol):
    """A function of a key, a shape and, if given, a dtype that returns an array."""

    def __call__(self, key: Any, shape: Sequence[int], dtype: Any = None) -> Array:
        """Return initial values."""


def _dtype(dtype: Any) -> Any:
    return np.dtype(jnp.zeros((), jnp.float_).dtype if dtype is None else dtype)


# --------------------------------------------------------------------------------- plain


def zeros(key: Any, shape: Sequence[int], dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Zeros; the key is not used.

    >>> nn.initializers.zeros(None, (2,))
    Array([0., 0.], dtype=float32)
    """
    if out_sharding is not None:
        return decided(zeros, out_sharding, (key, shape, dtype))
    return jnp.zeros(shape, _dtype(dtype))


def ones(key: Any, shape: Sequence[int], dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Ones; the key is not used.

    >>> nn.initializers.ones(None, (2,))
    Array([1., 1.], dtype=float32)
    """
    if out_sharding is not None:
        return decided(ones, out_sharding, (key, shape, dtype))
    return jnp.ones(shape, _dtype(dtype))


def constant(value: Any, dtype: Any = None) -> Initializer:
    """An initializer that repeats a value.

    Args:
        value: an array that broadcasts to every shape that is asked for.
        dtype: the dtype if none is asked for; the default float dtype.

    >>> nn.initializers.constant(-7)(None, (2,))
    Array([-7., -7.], dtype=float32)
    """

    def init(
        key: Any, shape: Sequence[int], dtype: Any = dtype, *, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return decided(init, out_sharding, (key, shape, dtype))
        return jnp.full(shape, value, _dtype(dtype))

    return init


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """An initializer that draws evenly from 0 to below ``scale``.

    >>> from bindax_random import key
    >>> nn.initializers.uniform(10.0)(key(0), (2, 3)).shape
    (2, 3)
    """

    def init(
        key: Any, shape: Sequence[int], dtype: Any = dtype, *, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return decided(init, out_sharding, (key, shape, dtype))
        dtype = _dtype(dtype)
        return random.uniform(key, shape, dtype) * jnp.array(scale, dtype)

    return init


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """An initializer that draws from the normal distribution with mean 0.

    >>> from bindax_random import key
    >>> nn.initializers.normal(5.0)(key(0), (2, 3)).dtype
    dtype('float32')
    """

    def init(
        key: Any, shape: Sequence[int], dtype: Any = dtype, *, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return decided(init, out_sharding, (key, shape, dtype))
        dtype = _dtype(dtype)
        return random.normal(key, shape, dtype) * jnp.array(stddev, dtype)

    return init


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """An initializer that draws from the normal distribution with mean 0, within bounds.

    Args:
        stddev: what the drawn numbers are multiplied with; their standard deviation is smaller.
        dtype: the dtype if none is asked for; the default float dtype.
        lower: the lower bound, before the multiplication.
        upper: the upper bound, before the multiplication.

    >>> from bindax_random import key
    >>> x = nn.initializers.truncated_normal(5.0)(key(0), (100,))
    >>> bool(jnp.max(jnp.abs(x)) <= 10)
    True
    """

    def init(
        key: Any, shape: Sequence[int], dtype: Any = dtype, *, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return decided(init, out_sharding, (key, shape, dtype))
        dtype = _dtype(dtype)
        return random.truncated_normal(key, lower, upper, shape, dtype) * jnp.array(stddev, dtype)

    return init


# -------------------------------------------------------------------- variance scaling


def _size(shape: Sequence[int], axes: Axes) -> int:
    return shape[axes] if isinstance(axes, int) else math.prod(shape[i] for i in axes)


def _fans(shape: Sequence[int], ins: Axes, outs: Axes, batch: Axes) -> tuple[float, float]:
    """The number of inputs and of outputs of a neuron."""
    if len(shape) <= 1 and isinstance(ins, int) and ins == -2:
        raise ValueError(
            f"variance_scaling: the shape {tuple(shape)} has no axis -2, which in_axis names by "
            f"default; give weights of two axes or more, or name in_axis."
        )
    for argument, axes in (("in_axis", ins), ("out_axis", outs), ("batch_axis", batch)):
        axes_argument("variance_scaling", axes, len(shape), argument)
    n_in, n_out = _size(shape, ins), _size(shape, outs)
    field = math.prod(shape) / n_in / n_out / _size(shape, batch)
    return n_in * field, n_out * field


_MODES = {
    "fan_in": lambda n_in, n_out: n_in,
    "fan_out": lambda n_in, n_out: n_out,
    "fan_avg": lambda n_in, n_out: (n_in + n_out) / 2,
    "fan_geo_avg": lambda n_in, n_out: (n_in * n_out) ** 0.5,
}
_DISTRIBUTIONS = ("truncated_normal", "normal", "uniform")


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:
    """An initializer whose variance is ``scale`` divided by a number of connections.

    Args:
        scale: a positive number.
        mode: ``"fan_in"`` (divide by the number of inputs of a neuron), ``"fan_out"`` (of
            outputs), ``"fan_avg"`` (their mean) or ``"fan_geo_avg"`` (their geometric mean).
        distribution: ``"truncated_normal"``, ``"normal"`` or ``"uniform"``.
        in_axis: the axis of the inputs, or several.
        out_axis: the axis of the outputs, or several.
        batch_axis: axes that count neither as inputs nor outputs nor receptive field.
        dtype: the dtype if none is asked for; the default float dtype.

    Raises:
        ValueError: by the initializer, for another mode or distribution, or a shape without the
            axes.

    >>> from bindax_random import key
    >>> init = nn.initializers.variance_scaling(1.0, "fan_in", "normal")
    >>> abs(float(jnp.var(init(key(0), (400, 10))) * 400 - 1)) < 0.1
    True
    """

    def init(
        key: Any, shape: Sequence[int], dtype: Any = dtype, *, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return decided(init, out_sharding, (key, shape, dtype))
        shape, dtype = tuple(shape), _dtype(dtype)
        fans = _fans(shape, in_axis, out_axis, batch_axis)
        if mode not in _MODES:
            raise _refused("mode", mode, _MODES)
        variance = jnp.array(scale / _MODES[mode](*fans), dtype)
        is_complex = jnp.issubdtype(dtype, np.complexfloating)
        if distribution == "truncated_normal" and is_complex:
            drawn = _complex_disk(key, shape, dtype, truncated=True)
            return drawn * (jnp.sqrt(variance) / jnp.array(_TRUNCATED_COMPLEX, dtype))
        if distribution == "truncated_normal":
            drawn = random.truncated_normal(key, -2, 2, shape, dtype)
            return drawn * (jnp.sqrt(variance) / jnp.array(_TRUNCATED, dtype))
        if distribution == "normal":
            return random.normal(key, shape, dtype) * jnp.sqrt(variance)
        if distribution == "uniform" and is_complex:
            return _complex_disk(key, shape, dtype, truncated=False) * jnp.sqrt(variance)
        if distribution == "uniform":
            return random.uniform(key, shape, dtype, -1) * jnp.sqrt(3 * variance)
        raise _refused("distribution", distribution, _DISTRIBUTIONS)

    return init


def _refused(name: str, given: Any, known: Iterable[str]) -> ValueError:
    return ValueError(
        f"variance_scaling: {name} must be one of {', '.join(known)}, but it is {given!r:.60}."
    )


def _complex_disk(key: Any, shape: Sequence[int], dtype: Any, *, truncated: bool) -> Array:
    """Complex numbers of a disk: evenly, or normal ones within the radius 2."""
    radius_key, angle_key = random.split(key)
    real = np.zeros((), dtype).real.dtype
    drawn = random.uniform(radius_key, shape, real).astype(dtype)
    if truncated:
        inside = 1 - jnp.exp(jnp.array(-4, dtype))
        radius = jnp.sqrt(-jnp.log(1 - inside * drawn))
    else:
        radius = jnp.sqrt(2 * drawn)
    angle = 2 * np.pi * random.uniform(angle_key, shape, real).astype(dtype)
    return radius * jnp.exp(1j * angle)


def glorot_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """``variance_scaling(1, "fan_avg", "uniform", ...)``, Glorot and Bengio 2010.

    >>> isinstance(nn.initializers.glorot_uniform(), nn.initializers.Initializer)
    True
    """
    return variance_scaling(1.0, "fan_avg", "uniform", in_axis, out_axis, batch_axis, dtype)


def glorot_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """``variance_scaling(1, "fan_avg", "truncated_normal", ...)``, Glorot and Bengio 2010.

    >>> isinstance(nn.initializers.glorot_normal(), nn.initializers.Initializer)
    True
    """
    return variance_scaling(
        1.0, "fan_avg", "truncated_normal", in_axis, out_axis, batch_axis, dtype
    )


def lecun_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """``variance_scaling(1, "fan_in", "uniform", ...)``, LeCun et al. 1998.

    >>> isinstance(nn.initializers.lecun_uniform(), nn.initializers.Initializer)
    True
    """
    return variance_scaling(1.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def lecun_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """``variance_scaling(1, "fan_in", "truncated_normal", ...)``, LeCun et al. 1998.

    >>> isinstance(nn.initializers.lecun_normal(), nn.initializers.Initializer)
    True
    """
    return variance_scaling(1.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


def he_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """``variance_scaling(2, "fan_in", "uniform", ...)``, for ``relu``, He et al. 2015.

    >>> isinstance(nn.initializers.he_uniform(), nn.initializers.Initializer)
    True
    """
    return variance_scaling(2.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def he_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """``variance_scaling(2, "fan_in", "truncated_normal", ...)``, for ``relu``, He et al. 2015.

    >>> isinstance(nn.initializers.he_normal(), nn.initializers.Initializer)
    True
    """
    return variance_scaling(2.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


xavier_uniform = glorot_uniform
xavier_normal = glorot_normal
kaiming_uniform = he_uniform
kaiming_normal = he_normal


# -------------------------------------------------------------------------- orthogonal


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """An initializer of matrices with orthogonal columns, or rows, evenly from all of them.

    Saxe et al., "Exact solutions to the nonlinear dynamics of learning", 2014.

    Args:
        scale: the length of the columns, or rows.
        column_axis: the axis of the columns; the others together are that of the rows.
        dtype: the dtype if none is asked for; the default float dtype.

    Raises:
        ValueError: by the initializer, for shapes of less than two axes.

    >>> from bindax_random import key
    >>> q = nn.initializers.orthogonal()(key(0), (4, 2))
    >>> bool(jnp.allclose(q.T @ q, jnp.eye(2), atol=1e-5))
    True
    """

    def init(
        key: Any, shape: Sequence[int], dtype: Any = dtype, *, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return decided(init, out_sharding, (key, shape, dtype))
        shape, dtype = tuple(shape), _dtype(dtype)
        if len(shape) < 2:
            raise ValueError(
                f"orthogonal: the shape must have two axes or more, but it is {shape}."
            )
        if 0 in shape:
            return jnp.zeros(shape, dtype)
        columns = shape[column_axis]
        wide = jnp.promote_types(dtype, np.float32)  # there is no decomposition in half precision
        q = random.orthogonal(key, math.prod(shape) // columns, (), wide, columns)
        axis = column_axis % len(shape)
        q = jnp.reshape(q, (*shape[:axis], *shape[axis + 1 :], columns))
        return (jnp.array(scale, wide) * jnp.moveaxis(q, -1, axis)).astype(dtype)

    return init


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """An initializer of convolution kernels: an orthogonal matrix in the middle, 0 elsewhere.

    Xiao et al., "Dynamical isometry and a mean field theory of CNNs", 2018.

    Args:
        scale: the length of the rows, or columns.
        column_axis: the axis of the columns of the matrix.
        dtype: the dtype if none is asked for; the default float dtype.

    Raises:
        ValueError: by the initializer, for shapes of other than 3 to 5 axes, or more inputs (the
            last axis but one) than outputs (the last axis).

    >>> from bindax_random import key
    >>> x = nn.initializers.delta_orthogonal()(key(0), (3, 1, 1))
    >>> abs(x.ravel())
    Array([0., 1., 0.], dtype=float32)
    """

    def init(
        key: Any, shape: Sequence[int], dtype: Any = dtype, *, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return decided(init, out_sharding, (key, shape, dtype))
        shape, dtype = tuple(shape), _dtype(dtype)
        if not 3 <= len(shape) <= 5:
            raise ValueError(
                f"delta_orthogonal: the shape must have 3, 4 or 5 axes, but it is {shape}."
            )
        if shape[-1] < shape[-2]:
            raise ValueError(
                f"delta_orthogonal: the last size must not be below the one before it, but the "
                f"shape is {shape}."
            )
        matrix = orthogonal(scale, column_axis, dtype)(key, shape[-2:])
        middle = tuple((n - 1) // 2 for n in shape[:-2])
        return jnp.zeros(shape, dtype).at[middle].set(matrix)

    return init
