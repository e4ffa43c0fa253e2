"""Functions that neurons apply to their input, elementwise."""

from __future__ import annotations

import math
from typing import Any

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_lax_basic.extend import axis_argument
from bindax_numpy.extend import (
    as_operand,
    inexact,
    inexact_operand,
    require_values,
    strong_operand,
)
from bindax_transforms import custom_jvp

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946
_GELU_CUBIC = 0.044715


def _operand(name: str, x: Any) -> Any:
    require_values(name, x)
    return as_operand(x)


def identity(x: Any) -> Array:
    """The argument itself, as an array.

    >>> nn.identity(jnp.array([1.0, 2.0]))
    Array([1., 2.], dtype=float32)
    """
    return _operand("identity", x)


def tanh(x: Any, /) -> Array:
    """The hyperbolic tangent.

    >>> nn.tanh(jnp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.7616], dtype=float32)
    """
    return jnp.tanh(x)


@custom_jvp
def _relu(x: Any) -> Any:
    return jnp.maximum(x, 0)


# Of the derivatives that are possible at 0, 0 is the one with which training works best:
# Bertoin et al., "Numerical influence of ReLU'(0) on backpropagation", 2021.
_relu.defjvps(lambda t, out, x: jnp.where(x > 0, t, jnp.zeros_like(t)))


def relu(x: Any) -> Array:
    """``max(x, 0)``; the derivative at 0 is 0.

    >>> nn.relu(jnp.array([-1.0, 0.0, 2.0]))
    Array([0., 0., 2.], dtype=float32)
    """
    return _relu(_operand("relu", x))


@custom_jvp
def _relu6(x: Any) -> Any:
    return jnp.minimum(jnp.maximum(x, 0), 6.0)


_relu6.defjvps(lambda t, out, x: jnp.where((x > 0) & (x < 6), t, jnp.zeros_like(t)))


def relu6(x: Any) -> Array:
    """``min(max(x, 0), 6)``; the derivative at 0 and at 6 is 0.

    >>> nn.relu6(jnp.array([-1.0, 3.0, 7.0]))
    Array([0., 3., 6.], dtype=float32)
    """
    return _relu6(_operand("relu6", x))


def squareplus(x: Any, b: Any = 4) -> Array:
    """``(x + sqrt(x² + b)) / 2``, a smooth ``relu``.

    Args:
        x: an array.
        b: how smooth; 0 gives ``relu``.

    >>> nn.squareplus(jnp.array([0.0, 3.0]), 16)
    Array([2., 4.], dtype=float32)
    """
    x, b = _operand("squareplus", x), _operand("squareplus", b)
    return (x + jnp.sqrt(jnp.square(x) + b)) / 2


def softplus(x: Any) -> Array:
    """``log(1 + exp(x))``, without overflow.

    >>> nn.softplus(jnp.array([-100.0, 0.0, 100.0])).round(3)
    Array([  0.   ,   0.693, 100.   ], dtype=float32)
    """
    return jnp.logaddexp(x, 0)


def sparse_plus(x: Any) -> Array:
    """0 up to -1, ``x`` from 1 on, and the parabola ``(x + 1)² / 4`` between.

    >>> nn.sparse_plus(jnp.array([-2.0, 0.0, 2.0]))
    Array([0.  , 0.25, 2.  ], dtype=float32)
    """
    x = _operand("sparse_plus", x)
    return jnp.where(x <= -1.0, 0.0, jnp.where(x >= 1.0, x, (x + 1.0) ** 2 / 4))


def soft_sign(x: Any) -> Array:
    """``x / (|x| + 1)``.

    >>> nn.soft_sign(jnp.array([-1.0, 3.0]))
    Array([-0.5 ,  0.75], dtype=float32)
    """
    x = _operand("soft_sign", x)
    return x / (jnp.abs(x) + 1)


def sigmoid(x: Any) -> Array:
    """``1 / (1 + exp(-x))``.

    >>> nn.sigmoid(jnp.array([0.0, 1.0])).round(4)
    Array([0.5   , 0.7311], dtype=float32)
    """
    return lax.logistic(as_operand(inexact_operand("sigmoid", x)))


def sparse_sigmoid(x: Any) -> Array:
    """0 up to -1, 1 from 1 on, and a straight line between.

    >>> nn.sparse_sigmoid(jnp.array([-2.0, 0.5, 2.0]))
    Array([0.  , 0.75, 1.  ], dtype=float32)
    """
    return 0.5 * jnp.clip(_operand("sparse_sigmoid", x) + 1.0, 0.0, 2.0)


def silu(x: Any) -> Array:
    """``x * sigmoid(x)``, also known as swish.

    >>> nn.silu(jnp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.7311], dtype=float32)
    """
    x = _operand("silu", x)
    return x * sigmoid(x)


swish = silu


def mish(x: Any) -> Array:
    """``x * tanh(softplus(x))``.

    >>> nn.mish(jnp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.8651], dtype=float32)
    """
    x = _operand("mish", x)
    return x * jnp.tanh(softplus(x))


def log_sigmoid(x: Any) -> Array:
    """The logarithm of ``sigmoid(x)``, without underflow.

    >>> nn.log_sigmoid(jnp.array([-100.0, 0.0])).round(3)
    Array([-100.   ,   -0.693], dtype=float32)
    """
    return -softplus(-_operand("log_sigmoid", x))


def elu(x: Any, alpha: Any = 1.0) -> Array:
    """``x`` where positive, else ``alpha * (exp(x) - 1)``.

    >>> nn.elu(jnp.array([-1.0, 1.0])).round(4)
    Array([-0.6321,  1.    ], dtype=float32)
    """
    x = _operand("elu", x)
    positive = x > 0
    # Where x is positive, exp(x) might be infinite, and make nan of a derivative.
    return jnp.where(positive, x, alpha * jnp.expm1(jnp.where(positive, 0.0, x)))


def celu(x: Any, alpha: Any = 1.0) -> Array:
    """``x`` where positive, else ``alpha * (exp(x / alpha) - 1)``, which is smooth at 0.

    >>> nn.celu(jnp.array([-1.0, 1.0]), 2.0).round(4)
    Array([-0.7869,  1.    ], dtype=float32)
    """
    x = _operand("celu", x)
    return jnp.maximum(x, 0.0) + alpha * jnp.expm1(jnp.minimum(x, 0.0) / alpha)


def selu(x: Any) -> Array:
    """``elu`` with the slopes that keep mean 0 and variance 1 from layer to layer.

    Klambauer et al., "Self-normalizing neural networks", 2017.

    >>> nn.selu(jnp.array([-1.0, 1.0])).round(4)
    Array([-1.1113,  1.0507], dtype=float32)
    """
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


def leaky_relu(x: Any, negative_slope: Any = 1e-2) -> Array:
    """``x`` from 0 on, else ``negative_slope * x``.

    >>> nn.leaky_relu(jnp.array([-1.0, 1.0]))
    Array([-0.01,  1.  ], dtype=float32)
    """
    x, negative_slope = _operand("leaky_relu", x), _operand("leaky_relu", negative_slope)
    return jnp.where(x >= 0, x, negative_slope * x)


def hard_tanh(x: Any) -> Array:
    """``x`` between -1 and 1, and the nearest of these elsewhere.

    >>> nn.hard_tanh(jnp.array([-2.0, 0.5, 2.0]))
    Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    x = _operand("hard_tanh", x)
    return jnp.where(x > 1, 1, jnp.where(x < -1, -1, x))


def hard_sigmoid(x: Any) -> Array:
    """``relu6(x + 3) / 6``.

    >>> nn.hard_sigmoid(jnp.array([-4.0, 0.0, 4.0]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return relu6(_operand("hard_sigmoid", x) + 3.0) / 6.0


def hard_silu(x: Any) -> Array:
    """``x * hard_sigmoid(x)``, also known as hard swish.

    >>> nn.hard_silu(jnp.array([-2.0, 1.0])).round(4)
    Array([-0.3333,  0.6667], dtype=float32)
    """
    x = _operand("hard_silu", x)
    return x * hard_sigmoid(x)


hard_swish = hard_silu


def gelu(x: Any, approximate: bool = True) -> Array:
    """``x`` times the probability that a standard normal number is below ``x``.

    Args:
        x: an array.
        approximate: compute the probability with a hyperbolic tangent, not with ``erfc``.

    Hendrycks and Gimpel, "Gaussian error linear units", 2016.

    >>> nn.gelu(jnp.array([0.0, 1.0]), approximate=False).round(4)
    Array([0.    , 0.8413], dtype=float32)
    """
    (x,) = inexact("gelu", strong_operand("gelu", x))
    if approximate:
        slope = math.sqrt(2 / math.pi)
        return x * (0.5 * (1.0 + jnp.tanh(slope * (x + _GELU_CUBIC * x**3))))
    return 0.5 * x * lax.erfc(-x * math.sqrt(0.5))


def glu(x: Any, axis: int = -1) -> Array:
    """The first half along an axis times ``sigmoid`` of the second half.

    Raises:
        ValueError: when the size of the axis is odd.

    >>> nn.glu(jnp.array([2.0, 0.0]))
    Array([1.], dtype=float32)
    """
    x = _operand("glu", x)
    axis_argument("glu", axis, x.ndim)
    if x.shape[axis] % 2:
        raise ValueError(
            f"glu: the size of axis {axis} must be even, as its halves are multiplied, but x has "
            f"shape {x.shape}."
        )
    first, second = jnp.split(x, 2, axis)
    return first * sigmoid(second)


@custom_jvp
def _log1mexp(x: Any) -> Any:
    # Maechler, "Accurately computing log(1 - exp(-|a|))", 2012.
    return jnp.where(x < math.log(2), jnp.log(-jnp.expm1(-x)), jnp.log1p(-jnp.exp(-x)))


# Not 1 / expm1(x), whose own derivative is inf / inf for large numbers.
_log1mexp.defjvps(lambda t, out, x: t * jnp.exp(-x) / -jnp.expm1(-x))


def log1mexp(x: Any) -> Array:
    """``log(1 - exp(-x))`` of positive numbers, precise for small and for large ones.

    >>> nn.log1mexp(jnp.array([1e-5, 1.0])).round(3)
    Array([-11.513,  -0.459], dtype=float32)
    """
    return _log1mexp(_operand("log1mexp", x))
