"""Gamma distributed numbers, and what is made of them: beta, Dirichlet, chi-square, t, F.

G. Marsaglia, W. Tsang, A Simple Method for Generating Gamma Variables, ACM TOMS 26 (2000). The
derivative with respect to the shape parameter is that of the implicit function
(M. Figurnov, S. Mohamed, A. Mnih, Implicit Reparameterization Gradients, 2018).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

import bindax_lax_basic as lax
from bindax_control_flow import while_loop
from bindax_core.extend import (
    Array,
    DebugInfo,
    Primitive,
    ShapedArray,
    as_array,
    eval_jaxpr,
    primitive,
    rules,
    typeof,
)
from bindax_core.sharding import ambiguous
from bindax_lax_basic.extend import DType, broadcast_to, leading_batch, zero_tangent
from bindax_random._compiled import compiled, drawn
from bindax_random._divided import on_keys
from bindax_random._operands import (
    Shape,
    check_method,
    fitting_shape,
    float_dtype,
    in_dtype,
    result_shape,
    shape_of,
)
from bindax_random.inverted_numbers import exponential_floats
from bindax_random.keys import random_split_p, single_key
from bindax_random.normal_numbers import normal_floats
from bindax_random.uniform_numbers import split_in, uniform_floats
from bindax_special import random_gamma_grad
from bindax_transforms import physical_jaxpr, trace_to_jaxpr, vmap
from bindax_transforms.extend import decided
from bindax_transforms.zeros import Zero

_SQUEEZE = 0.0331

# ------------------------------------------------------------------------------ the primitive


def _draw(key: Any, alpha: Any, log_space: bool) -> Any:
    """One gamma number of one typed key."""
    dtype = alpha.dtype
    zero, one, two = [np.array(x).astype(dtype) for x in (0, 1, 2)]
    third = np.array(1 / 3).astype(dtype)
    is_large = lax.ge(alpha, one)
    # A small shape parameter is drawn with one more, and the number then shrunk.
    d = lax.select(is_large, alpha, alpha + one) - third
    c = lax.div(third, lax.sqrt(d))

    def next_cube(state: Any) -> Any:
        key, _, _ = state
        key, own = split_in(key)
        x = normal_floats(own, (), dtype)
        return key, x, one + lax.mul(x, c)

    def is_rejected(state: Any) -> Any:
        _, x_squared, v, u = state
        bound = one - lax.mul(_SQUEEZE, lax.mul(x_squared, x_squared))
        exact = lax.mul(x_squared, 0.5) + lax.mul(d, (one - v) + lax.log(v))
        return lax.bitwise_and(lax.ge(u, bound), lax.ge(lax.log(u), exact))

    def attempt(state: Any) -> Any:
        key, x_key, u_key = split_in(state[0], 3)
        start = x_key, as_array(zero), as_array(-one)
        _, x, v = while_loop(lambda s: lax.le(s[2], zero), next_cube, start)
        return key, lax.mul(x, x), lax.mul(lax.mul(v, v), v), uniform_floats(u_key, (), dtype)

    key, boost_key = split_in(key)
    start = key, as_array(zero), as_array(one), as_array(two)
    _, _, v, _ = while_loop(is_rejected, attempt, start)
    if log_space:
        boost = lax.neg(exponential_floats(boost_key, shape=(), dtype=dtype))
        shrunk = lax.select(
            is_large | lax.eq(boost, zero), zero, lax.mul(boost, lax.div(one, alpha))
        )
        return (lax.log(d) + lax.log(v)) + shrunk
    boost = one - uniform_floats(boost_key, (), dtype)
    return lax.mul(lax.mul(d, v), lax.select(is_large, one, lax.pow(boost, lax.div(one, alpha))))


def _draw_all(keys: Any, alpha: Any, *, log_space: bool) -> Any:
    """The numbers of an array of typed keys, each of which is split for its part of ``alpha``."""
    batch, shape = shape_of(keys), shape_of(alpha)
    count = math.prod(shape[len(batch) :])
    size = math.prod(shape)
    if size == 0:
        return alpha
    own = lax.reshape(random_split_p.bind(keys, shape=(count,)), (size,))
    numbers = vmap(lambda key, a: _draw(key, a, log_space))(own, lax.reshape(alpha, (size,)))
    return lax.reshape(numbers, shape)


_evaluated = compiled(_draw_all)


def _gamma_type(keys: ShapedArray, alpha: ShapedArray, *, log_space: bool) -> ShapedArray:
    if alpha.shape[: keys.ndim] != keys.shape:
        raise TypeError(
            f"random.gamma takes parameters whose leading axes are those of the keys, but got "
            f"{keys.str_short()} and {alpha.str_short()}."
        )
    return alpha.strip_weak_type()


def _gamma_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, log_space: bool) -> Any:
    keys, alpha = primals
    out = random_gamma_p.bind(keys, alpha, log_space=log_space)
    if type(tangents[1]) is Zero:
        return out, zero_tangent(out)
    return out, lax.mul(tangents[1], _slope(out, alpha, log_space))


def _slope(out: Any, alpha: Any, log_space: bool) -> Any:
    """The derivative of drawn numbers with respect to their shape parameters."""
    if not log_space:
        return random_gamma_grad(alpha, out)
    numbers = lax.exp(out)
    dtype = typeof(numbers).dtype
    tiny = np.asarray(ml_dtypes.finfo(dtype).tiny, dtype)  # type: ignore[no-untyped-call]
    numbers = lax.select(
        lax.eq(numbers, lax.full_like(numbers, 0)), lax.full_like(numbers, tiny), numbers
    )
    return random_gamma_grad(alpha, numbers) / numbers


def _gamma_physical(
    avals: Sequence[ShapedArray], words: Any, alpha: Any, *, log_space: bool
) -> list[Any]:
    """The program of the numbers, on the words of the keys."""
    program = trace_to_jaxpr(
        lambda keys, a: [_draw_all(keys, a, log_space=log_space)], avals, DebugInfo("random.gamma")
    )
    physical = physical_jaxpr(program)
    return eval_jaxpr(physical.jaxpr, physical.consts, words, alpha)


def _gamma_sharding(
    primitive: Primitive, keys: ShapedArray, alpha: ShapedArray, **params: Any
) -> tuple[Any, ...]:
    pairs = list(zip(alpha.sharding.spec, keys.sharding.spec.padded(alpha.ndim), strict=True))
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        raise ambiguous(primitive, "got incompatible shardings of keys", [keys, alpha])
    return tuple([one or other for one, other in pairs])


random_gamma_p: Primitive = primitive(
    "random.gamma",
    on_keys(lambda keys, alpha, **params: [_evaluated(keys, as_array(alpha), **params)]),
    rules.abstract_eval(_gamma_type),
    rules.jvp(_gamma_jvp, symbolic_zeros=True),
    leading_batch(),
    rules.transpose.absent("not linear"),
    rules.physical(_gamma_physical),
    rules.lowering["stablehlo"].absent("compilers are given the words of keys"),
    rules.sharding(_gamma_sharding, takes_primitive=True),
)
"""Gamma numbers: operands are keys, and shape parameters whose leading axes are those of the keys.
Parameter: ``log_space``, whether the logarithms of the numbers are drawn."""

# --------------------------------------------------------------------------- the distributions


def gamma(
    key: Any,
    a: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "exact",
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw numbers of the gamma distribution, with density proportional to x**(a - 1) * exp(-x).

    They are differentiable with respect to ``a``.

    Args:
        key: a random key.
        a: the shape parameter, positive; broadcast to the shape of the result.
        shape: the shape of the result; that of ``a`` if omitted.
        dtype: a float dtype; the default one if omitted.
        method: "exact", or "approximate", which permits numbers of a distribution close to it; both
            draw exact ones here.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when the dtype is no float dtype, ``a`` cannot be broadcast, or ``method`` is
            another.

    >>> from bindax_random import gamma, key
    >>> gamma(key(42), 3.0, (2,)).round(4)
    Array([5.062 , 1.9192], dtype=float32)
    """
    if out_sharding is not None:
        return decided(gamma, out_sharding, (key, a, shape, dtype, method))
    check_method("gamma", method)
    return _gamma_of("gamma", key, a, shape, dtype, log_space=False)


def loggamma(
    key: Any,
    a: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "exact",
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw logarithms of numbers of the gamma distribution, which are exact for tiny numbers.

    Args:
        key: a random key.
        a: the shape parameter, positive; broadcast to the shape of the result.
        shape: the shape of the result; that of ``a`` if omitted.
        dtype: a float dtype; the default one if omitted.
        method: as for ``gamma``.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import key, loggamma
    >>> loggamma(key(42), 3.0, (2,)).round(4)
    Array([1.6218, 0.6519], dtype=float32)
    """
    if out_sharding is not None:
        return decided(loggamma, out_sharding, (key, a, shape, dtype, method))
    check_method("loggamma", method)
    return _gamma_of("loggamma", key, a, shape, dtype, log_space=True)


def _gamma_of(name: str, key: Any, a: Any, shape: Any, dtype: Any, *, log_space: bool) -> Array:
    typed, found = single_key(name, key), float_dtype(name, dtype)
    sizes = result_shape(name, shape, a=a)
    return _gamma(typed, a, shape=sizes, dtype=found, log_space=log_space)


@compiled
def _gamma(key: Any, a: Any, *, shape: Shape, dtype: DType, log_space: bool) -> Any:
    return gamma_floats(key, a, shape, dtype, log_space)


def gamma_floats(key: Any, a: Any, shape: Shape, dtype: DType, log_space: bool = False) -> Any:
    """Gamma floats, or their logarithms, of one typed key."""
    alpha = broadcast_to(in_dtype(a, dtype), shape)
    return random_gamma_p.bind(key, alpha, log_space=log_space)


def beta(
    key: Any,
    a: Any,
    b: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "exact",
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw numbers of the beta distribution, with density like x**(a - 1) * (1 - x)**(b - 1).

    Args:
        key: a random key.
        a: the first parameter, positive; broadcast to the shape of the result.
        b: the second one.
        shape: the shape of the result; that of the parameters together if omitted.
        dtype: a float dtype; the default one if omitted.
        method: as for ``gamma``.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import beta, key
    >>> beta(key(42), 2.0, 3.0, (2,)).round(4)
    Array([0.432 , 0.3128], dtype=float32)
    """
    if out_sharding is not None:
        return decided(beta, out_sharding, (key, a, b, shape, dtype, method))
    check_method("beta", method)
    return drawn("beta", _beta, key, shape, dtype, a=a, b=b)


@compiled
def _beta(key: Any, a: Any, b: Any, *, shape: Shape, dtype: DType) -> Any:
    keys = split_in(key)
    x, y = [gamma_floats(k, p, shape, dtype, True) for k, p in zip(keys, (a, b), strict=True)]
    top = lax.max(x, y)
    x, y = lax.exp(x - top), lax.exp(y - top)
    return x / (x + y)


def dirichlet(
    key: Any, alpha: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw probabilities of categories, of the Dirichlet distribution.

    Args:
        key: a random key.
        alpha: the concentration of each category along the last axis, positive.
        shape: the shape of the draws, to which the leading axes of ``alpha`` are broadcast.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Returns:
        An array of that shape with the axis of the categories, along which the sum is one.

    Raises:
        ValueError: when ``alpha`` has no axis, or does not fit to the shape.

    >>> from bindax_random import dirichlet, key
    >>> float(dirichlet(key(42), np.ones(3, np.float32)).sum().round(3))
    1.0
    """
    if out_sharding is not None:
        return decided(dirichlet, out_sharding, (key, alpha, shape, dtype))
    typed, found = single_key("dirichlet", key), float_dtype("dirichlet", dtype)
    own = shape_of(alpha)
    if not own:
        raise ValueError("dirichlet: alpha must have an axis of categories, but is a scalar.")
    lead = fitting_shape("dirichlet", shape, alpha=own[:-1])
    return _dirichlet(typed, alpha, shape=(*lead, own[-1]), dtype=found)


@compiled
def _dirichlet(key: Any, alpha: Any, *, shape: Shape, dtype: DType) -> Any:
    logs = gamma_floats(key, alpha, shape, dtype, True)
    last = len(shape) - 1
    top = lax.reshape(lax.reduce_max(lax.stop_gradient(logs), (last,)), (*shape[:-1], 1))
    weights = lax.exp(logs - top)
    return weights / lax.reshape(lax.reduce_sum(weights, (last,)), (*shape[:-1], 1))


def chisquare(
    key: Any,
    df: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "exact",
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw numbers of the chi-square distribution: sums of squares of normal numbers.

    Args:
        key: a random key.
        df: the degrees of freedom, positive; broadcast to the shape of the result.
        shape: the shape of the result; that of ``df`` if omitted.
        dtype: a float dtype; the default one if omitted.
        method: as for ``gamma``.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import chisquare, key
    >>> chisquare(key(42), 3.0, (2,)).round(3)
    Array([5.871, 1.398], dtype=float32)
    """
    if out_sharding is not None:
        return decided(chisquare, out_sharding, (key, df, shape, dtype, method))
    check_method("chisquare", method)
    return drawn("chisquare", _chisquare, key, shape, dtype, df=df)


@compiled
def _chisquare(key: Any, df: Any, *, shape: Shape, dtype: DType) -> Any:
    two = np.array(2).astype(dtype)
    return lax.mul(lax.exp(gamma_floats(key, lax.div(df, two), shape, dtype, True)), two)


def f(
    key: Any,
    dfnum: Any,
    dfden: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw numbers of the F distribution: ratios of chi-square numbers, each by its freedom.

    Args:
        key: a random key.
        dfnum: the degrees of freedom of the numerator; broadcast to the shape of the result.
        dfden: those of the denominator.
        shape: the shape of the result; that of the parameters together if omitted.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import f, key
    >>> f(key(42), 3.0, 5.0, (2,)).round(4)
    Array([0.7284, 0.3569], dtype=float32)
    """
    if out_sharding is not None:
        return decided(f, out_sharding, (key, dfnum, dfden, shape, dtype))
    return drawn("f", _f, key, shape, dtype, dfnum=dfnum, dfden=dfden)


@compiled
def _f(key: Any, dfnum: Any, dfden: Any, *, shape: Shape, dtype: DType) -> Any:
    below, above = split_in(key)
    upper = _chisquare(above, dfnum, shape=shape, dtype=dtype)
    lower = _chisquare(below, dfden, shape=shape, dtype=dtype)
    return (upper / dfnum) / (lower / dfden)


def t(
    key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw numbers of Student's t distribution.

    Args:
        key: a random key.
        df: the degrees of freedom, positive; broadcast to the shape of the result.
        shape: the shape of the result; that of ``df`` if omitted.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import key, t
    >>> t(key(42), 3.0, (2,)).round(3)
    Array([ 0.09 , -1.736], dtype=float32)
    """
    if out_sharding is not None:
        return decided(t, out_sharding, (key, df, shape, dtype))
    return drawn("t", _t, key, shape, dtype, df=df)


@compiled
def _t(key: Any, df: Any, *, shape: Shape, dtype: DType) -> Any:
    normal_key, gamma_key = split_in(key)
    numbers = normal_floats(normal_key, shape, dtype)
    half = lax.div(df, np.array(2).astype(dtype))
    return numbers * lax.sqrt(half / gamma_floats(gamma_key, half, shape, dtype))
