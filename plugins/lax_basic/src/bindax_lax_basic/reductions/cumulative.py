"""Cumulative sums, products, extrema and logarithms of sums of exponentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bindax_transforms
from bindax_core.extend import Array, Primitive, Rule, ShapedArray, primitive, rules, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.arithmetic import add_p, mul_p, sub_p
from bindax_lax_basic.elementwise.comparison import eq_p, is_finite_p, lt_p, ne_p
from bindax_lax_basic.elementwise.complex_corners import exponential
from bindax_lax_basic.elementwise.complex_numbers import real_p
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.elementwise.exponential import exp_p, log1p_p, log_p
from bindax_lax_basic.elementwise.selection import max_p, min_p, select_scalars
from bindax_lax_basic.reductions.prefix_scan import prefix_scan
from bindax_lax_basic.rules.batching import along_axis
from bindax_lax_basic.rules.elementwise import composition
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import Dual, Values, linear, zero_tangent
from bindax_lax_basic.rules.operands import constant
from bindax_lax_basic.rules.sharding import whole_along
from bindax_lax_basic.rules.types import Kinds, axis_argument, rank_of, require_kind
from bindax_lax_basic.rules.wider_types import in_wider
from bindax_transforms.zeros import Zero

__all__ = [
    "cumlogsumexp",
    "cumlogsumexp_p",
    "cummax",
    "cummax_p",
    "cummin",
    "cummin_p",
    "cumprod",
    "cumprod_p",
    "cumsum",
    "cumsum_p",
]


Function = Callable[..., Any]
Step = Callable[[Any, Any], Any]


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Sums of the elements up to and including each, along an axis.

    Args:
        operand: an array of numbers.
        axis: the axis to sum along.
        reverse: whether to sum from the end.

    >>> cumsum(np.array([1.0, 2.0, 3.0]))
    Array([1., 3., 6.], dtype=float64)
    >>> cumsum(np.array([1.0, 2.0, 3.0]), reverse=True)
    Array([6., 5., 3.], dtype=float64)
    """
    return _bind(cumsum_p, operand, axis, reverse)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Products of the elements up to and including each; arguments as for ``cumsum``.

    >>> cumprod(np.array([1.0, 2.0, 3.0]))
    Array([1., 2., 6.], dtype=float64)
    """
    return _bind(cumprod_p, operand, axis, reverse)


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """The greatest of the elements up to and including each; arguments as for ``cumsum``.

    Complex numbers are compared by real and then by imaginary part. From a nan on, all are nan.

    >>> cummax(np.array([1, 3, 2]))
    Array([1, 3, 3], dtype=int64)
    """
    return _bind(cummax_p, operand, axis, reverse)


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """The least of the elements up to and including each; like ``cummax``.

    >>> cummin(np.array([2, 3, 1]), reverse=True)
    Array([1, 1, 1], dtype=int64)
    """
    return _bind(cummin_p, operand, axis, reverse)


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Logarithms of the cumulative sums of exponentials, computed without overflow.

    Args:
        operand: an array of real or complex floats.
        axis: the axis to go along.
        reverse: whether to go from the end.

    >>> cumlogsumexp(np.log(np.array([1.0, 2.0, 5.0])))
    Array([0.        , 1.09861229, 2.07944154], dtype=float64)
    """
    return _bind(cumlogsumexp_p, operand, axis, reverse)


def _bind(which: Primitive, operand: Any, axis: int, reverse: bool) -> Any:
    place = axis_argument(which.name, axis, rank_of(operand))
    return which.bind(operand, axis=place, reverse=bool(reverse))


def _cumulative_type(name: str, accepts: Kinds) -> Rule:
    def rule(x: ShapedArray, *, axis: int, reverse: bool) -> ShapedArray:
        require_kind(name, x, accepts)
        if not 0 <= axis < x.ndim:
            raise ValueError(f"{name}: {axis} is not an axis of {x.str_short()}.")
        return x

    return rules.abstract_eval(rule)


def _accumulate(function: Function) -> Rule:
    """The ``impl`` rule; narrow values are combined in a wider dtype and rounded at the end."""

    def run(x: NumPyArray, *, axis: int, reverse: bool) -> Any:
        wide = x.astype(dtypes.accumulator_dtype(x.dtype), copy=False)
        out = function(np.flip(wide, axis) if reverse else wide, axis)
        return (np.flip(out, axis) if reverse else out).astype(x.dtype, copy=False)

    return rules.impl(run)


def _scan_lowering(step: Step) -> Rule:
    """The same made of other operations, for compilers: a scan by pairs."""

    def function(x: Any, **params: Any) -> Any:
        return prefix_scan(lambda a, b: [step(a[0], b[0])], [x], **params)[0]

    return in_wider(composition(function), dtypes.summing_dtype)


def _scan_jvp(step_jvp: Function) -> Rule:
    """The tangents, scanned with the values by the derivative of one step, without division."""

    def combine(a: list[Any], b: list[Any]) -> list[Any]:
        return list(step_jvp((a[0], b[0]), (a[1], b[1])))

    def rule(primitive: Primitive, primals: Values, tangents: Values, **params: Any) -> Dual:
        (x,), (t,) = primals, tangents
        out = primitive.bind(x, **params)
        if type(t) is Zero:
            return out, zero_tangent(out)
        return out, prefix_scan(combine, [x, t], **params)[1]

    return rules.jvp(rule, symbolic_zeros=True, takes_primitive=True)


_WHOLE = whole_along("axis", "Input should be unsharded over the axis being reduced")


def _of_ufunc(name: str, ufunc: np.ufunc, step: Step) -> tuple[Rule, ...]:
    """The rules that do not differentiate."""
    return (
        _accumulate(lambda x, axis: ufunc.accumulate(x, axis, x.dtype)),
        _cumulative_type(name, dtypes.NUMBER),
        along_axis(),
        _scan_lowering(step),
        _WHOLE,
    )


def _nonlinear(name: str, ufunc: np.ufunc, step: Step) -> tuple[Rule, ...]:
    return (
        *_of_ufunc(name, ufunc, step),
        _scan_jvp(lambda primals, tangents: bindax_transforms.jvp(step, primals, tangents)),
        rules.transpose.absent("not linear"),
    )


cumsum_p: Primitive = primitive(
    "cumsum",
    *_of_ufunc("cumsum", np.add, add_p.bind),
    linear(),
    rules.transpose(
        lambda p, ct, x, *, axis, reverse: [p.bind(ct, axis=axis, reverse=not reverse)],
        takes_primitive=True,
    ),
)
cumprod_p: Primitive = primitive("cumprod", *_nonlinear("cumprod", np.multiply, mul_p.bind))
cummax_p: Primitive = primitive("cummax", *_nonlinear("cummax", np.maximum, max_p.bind))
cummin_p: Primitive = primitive("cummin", *_nonlinear("cummin", np.minimum, min_p.bind))


def _logaddexp(a: Any, b: Any) -> Any:
    """``log(exp(a) + exp(b))``; of complex numbers, the principal value."""
    if dtypes.is_complex(typeof(a).dtype):
        return _complex_logaddexp(a, b)
    # Chosen, not by `max` and `abs`: either choice is the function itself, which has no kink.
    less = lt_p.bind(a, b)
    larger, smaller = select_scalars(less, a, b), select_scalars(less, b, a)
    difference = sub_p.bind(smaller, larger)
    out = add_p.bind(larger, log1p_p.bind(exp_p.bind(difference)))
    # Two equal infinities have no difference; their sum is themselves.
    return select_scalars(ne_p.bind(difference, difference), out, add_p.bind(a, b))


def _complex_logaddexp(a: Any, b: Any) -> Any:
    aval = typeof(a)
    shift = max_p.bind(real_p.bind(a), real_p.bind(b))
    shift = select_scalars(is_finite_p.bind(shift), constant(0, shift), shift)
    shift = convert(shift, aval.dtype, aval.weak_type)
    total = add_p.bind(exp_p.bind(sub_p.bind(a, shift)), exp_p.bind(sub_p.bind(b, shift)))
    return add_p.bind(log_p.bind(total), shift)


def _logaddexp_jvp(primals: Values, tangents: Values) -> Dual:
    out = _logaddexp(*primals)
    terms = []
    for x, t in zip(primals, tangents, strict=True):
        # The share of x is exp(x - out), also where both are the same infinity.
        same = eq_p.bind(x, out)
        share = exp_p.bind(select_scalars(same, sub_p.bind(x, out), constant(0, out)))
        terms.append(mul_p.bind(share, t))
    return out, add_p.bind(*terms)


def _logaddexp_accumulate(x: NumPyArray, axis: int) -> NumPyArray:
    if not dtypes.is_complex(x.dtype):
        return np.logaddexp.accumulate(x, axis=axis, dtype=x.dtype)
    out = np.moveaxis(x.copy(), axis, 0)
    reach = 1
    while reach < len(out):  # after each step the sums reach twice as far back
        a, b = out[:-reach], out[reach:]
        shift = np.maximum(a.real, b.real)
        shift = np.where(np.isfinite(shift), shift, 0)
        out[reach:] = np.log(exponential(a - shift) + exponential(b - shift)) + shift
        reach *= 2
    return np.moveaxis(out, 0, axis)


cumlogsumexp_p: Primitive = primitive(
    "cumlogsumexp",
    _accumulate(_logaddexp_accumulate),
    _cumulative_type("cumlogsumexp", dtypes.INEXACT),
    _scan_jvp(_logaddexp_jvp),
    along_axis(),
    rules.transpose.absent("not linear"),
    _scan_lowering(_logaddexp),
    _WHOLE,
)
