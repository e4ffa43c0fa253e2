"""The rules for the primitives of others, and the one that is derived from derivatives."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

import bindax_lax_basic as lax
from bindax_core import find_primitive
from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Extension,
    Primitive,
    Rule,
    bind_flat,
    extend,
    is_differentiable,
    jaxpr_as_fun,
    rules,
    typeof,
)
from bindax_experimental.jet import programs
from bindax_experimental.jet.interpreter import jet_flat, taylor
from bindax_experimental.jet.series import (
    Taylor,
    integrated,
    order_of,
    product,
    quotient,
    scaled,
    series,
    solution,
    square_term,
)
from bindax_transforms import custom_jvp_call_p, dce_jaxpr, jvp, trace_to_jaxpr

LINEAR = """
add all_gather all_to_all broadcast_in_dim complex concatenate conj convert_element_type copy
cumsum dynamic_slice dynamic_update_slice fft imag name neg optimization_barrier pad ppermute
psum psum_scatter real reduce_sum reduce_window_sum reshape rev scatter_add scatter_sub
select_n slice split squeeze stack sub tile transpose
"""
"""Linear in all operands together that are no integers or booleans."""

BILINEAR = "mul dot_general conv_general_dilated"
"""Linear in each of two operands."""


def extensions() -> Iterator[Extension]:
    """The rules of this package, each for a primitive of another."""
    taylor.derive(from_jvp)
    for name in LINEAR.split():
        yield _extended(name, _linear)
    for name in BILINEAR.split():
        yield _extended(name, _bilinear)
    with_recurrences: dict[str, Callable[..., Any]] = {
        "cos": lambda p, x: _wave(x, -1)[1],
        "cosh": lambda p, x: _hyperbola(x)[1],
        "div": _division,
        "exp": lambda p, x, **params: solution(p(x.value), x, lambda y, k: y[k]),
        "gather": _gathered,
        "integer_pow": _integer_power,
        "log": _logarithm,
        "logistic": _logistic,
        "sin": lambda p, x: _wave(x, -1)[0],
        "sinh": lambda p, x: _hyperbola(x)[0],
        "square": lambda p, x: product(lax.mul, x, x),
        "tan": _tangent,
        "tanh": _hyperbolic_tangent,
        "triangular_solve": _triangular_solve,
    }
    for name, rule in with_recurrences.items():
        yield _extended(name, rule)
    yield extend(custom_jvp_call_p, taylor(_custom_jvp))
    yield from programs.extensions()


def _extended(name: str, rule: Callable[..., Any]) -> Extension:
    """The rule for a primitive of that name, which is given the primitive's ``bind`` first."""
    primitive = find_primitive(name)

    def with_bind(*operands: Taylor, **params: Any) -> Any:
        return rule(lambda *values: primitive.bind(*values, **params), *operands, **params)

    return extend(primitive, taylor(with_bind))


# --------------------------------------------------------------------------------- derivation


def from_jvp(primitive: Primitive) -> Rule | None:
    """The derived rule: the derivative along the curve, as a series of one order less.

    What ``jvp`` computes from the operand and its velocity is a program; ``jet`` of that program
    gives the series of the result's velocity, whose coefficients are those of the result, shifted.
    """
    if rules.jvp.find(primitive) is None:
        return None

    return taylor(functools.partial(by_velocity, primitive, velocity))


def _custom_jvp(*operands: Taylor, call: Any, jaxpr: Any) -> Any:
    """The user's rule gives the velocity; above the interpreter, the call is as if new."""
    params = {"call": dataclasses.replace(call, main=None), "jaxpr": jaxpr}
    return by_velocity(custom_jvp_call_p, velocity.__wrapped__, *operands, **params)


def by_velocity(
    primitive: Primitive, made: Callable[..., Any], *operands: Taylor, **params: Any
) -> Any:
    """The series of a primitive's results, from the program of its derivative."""
    order = order_of(operands)
    moving = tuple([not x.is_constant for x in operands])
    values = primitive.bind(*[x.value for x in operands], **params)
    many = primitive.multiple_results
    avals = tuple([typeof(x.value) for x in operands])
    program = made(primitive, tuple(params.items()), avals, moving)
    curve = [x if x.is_constant else x.cut(order - 1) for x in operands]
    slopes = [x.derivative() for x in operands if not x.is_constant]
    found = iter(jet_flat(jaxpr_as_fun(program), [*curve, *slopes], DebugInfo("jet")))
    outs = [_shifted(x, found, order) for x in (values if many else [values])]
    return outs if many else outs[0]


def _shifted(value: Any, slopes: Iterator[Taylor], order: int) -> Taylor:
    if not is_differentiable(typeof(value).dtype):
        return series([value])
    slope = next(slopes).extended(order - 1)
    return series([value, *(scaled(slope[k - 1], 1 / k) for k in range(1, order + 1))])


@functools.lru_cache(maxsize=512)
def velocity(
    primitive: Primitive, params: tuple[tuple[str, Any], ...], avals: Any, moving: Any
) -> ClosedJaxpr:
    """The program of a primitive's derivative, from operands and velocities of those that move."""

    def tangents(*values: Any) -> list[Any]:
        operands, velocities = values[: len(avals)], values[len(avals) :]

        def applied(*moved: Any) -> list[Any]:
            rest = iter(moved)
            mixed = [next(rest) if m else x for x, m in zip(operands, moving, strict=True)]
            return list(bind_flat(primitive, mixed, dict(params)))

        starts = tuple([x for x, m in zip(operands, moving, strict=True) if m])
        outs, dots = jvp(applied, starts, tuple(velocities))
        pairs = zip(outs, dots, strict=True)
        return [dot for out, dot in pairs if is_differentiable(typeof(out).dtype)]

    slopes = [aval.tangent_aval() for aval, m in zip(avals, moving, strict=True) if m]
    closed = trace_to_jaxpr(tangents, [*avals, *slopes], DebugInfo("jet"))
    needed, _ = dce_jaxpr(closed.jaxpr, [True] * len(closed.out_avals))
    return ClosedJaxpr(needed, closed.consts)


# ---------------------------------------------------------------------------------- families


def _linear(bind: Any, *operands: Taylor, **params: Any) -> Any:
    """Apply a linear function to each coefficient; integers say where, and stay."""
    fixed = [not is_differentiable(typeof(x.value).dtype) for x in operands]
    rows = [
        bind(*[x.value if f else x[k] for x, f in zip(operands, fixed, strict=True)])
        for k in range(order_of(operands) + 1)
    ]
    if isinstance(rows[0], list):
        return [series(column) for column in zip(*rows, strict=True)]
    return series(rows)


def _gathered(bind: Any, x: Taylor, indices: Taylor, **params: Any) -> Taylor:
    """Gather each coefficient; what is filled in out of reach is a constant."""
    zero = {**params, "fill_value": 0}
    more = [lax.gather_p.bind(t, indices.value, **zero) for t in x.coefficients[1:]]
    return series([bind(x.value, indices.value), *more])


def _bilinear(bind: Any, x: Taylor, y: Taylor, **params: Any) -> Taylor:
    return product(bind, x, y)


def _division(bind: Any, x: Taylor, y: Taylor) -> Taylor:
    return quotient(bind, lax.mul, x, y)


def _integer_power(bind: Any, x: Taylor, *, y: int) -> Taylor:
    """Products of repeated squares."""
    if y < 0:
        one = Taylor((lax.full_like(x.value, 1),))
        return quotient(lax.div, lax.mul, one, _integer_power(bind, x, y=-y))
    out: Taylor | None = None
    square = x
    while y:
        if y & 1:
            out = square if out is None else product(lax.mul, out, square)
        y >>= 1
        if y:
            square = product(lax.mul, square, square)
    return out or Taylor((lax.full_like(x.value, 1),))


def _logarithm(bind: Any, x: Taylor, **params: Any) -> Taylor:
    slopes = quotient(lax.div, lax.mul, x.derivative(), x.cut(x.order - 1))
    return _shifted(bind(x.value), iter([slopes]), x.order)


def _wave(x: Taylor, sign: int) -> tuple[Taylor, Taylor]:
    """The sine and the cosine, each the other's derivative, with a sign."""
    return _coupled(x, lax.sin(x.value), lax.cos(x.value), sign)


def _hyperbola(x: Taylor) -> tuple[Taylor, Taylor]:
    return _coupled(x, lax.sinh(x.value), lax.cosh(x.value), 1)


def _coupled(x: Taylor, first: Any, second: Any, sign: int) -> tuple[Taylor, Taylor]:
    sines, cosines = [first], [second]
    for k in range(1, x.order + 1):
        sine, cosine = integrated(x, cosines, k), integrated(x, sines, k)
        sines.append(sine)
        cosines.append(scaled(cosine, sign))
    return series(sines), series(cosines)


def _hyperbolic_tangent(bind: Any, x: Taylor, **params: Any) -> Taylor:
    def slope(y: list[Any], k: int) -> Any:
        term = lax.neg(square_term(y, k))
        return term if k else lax.add(lax.full_like(term, 1), term)

    return solution(bind(x.value), x, slope)


def _tangent(bind: Any, x: Taylor, **params: Any) -> Taylor:
    def slope(y: list[Any], k: int) -> Any:
        term = square_term(y, k)
        return term if k else lax.add(lax.full_like(term, 1), term)

    return solution(bind(x.value), x, slope)


def _logistic(bind: Any, x: Taylor, **params: Any) -> Taylor:
    return solution(bind(x.value), x, lambda y, k: lax.sub(y[k], square_term(y, k)))


def _triangular_solve(bind: Any, a: Taylor, b: Taylor, **params: Any) -> Taylor:
    def multiply(a: Any, x: Any) -> Any:
        return triangular_product(a, x, **params)

    return quotient(lambda x, a: bind(a, x), multiply, b, a)


def triangular_product(
    a: Any,
    x: Any,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Any:
    """The product with the part of a matrix that ``triangular_solve`` reads, and is not fixed."""
    shape = typeof(a).shape
    batch = tuple(range(len(shape) - 2))
    row = lax.broadcasted_iota("int32", shape, len(shape) - 2)
    column = lax.broadcasted_iota("int32", shape, len(shape) - 1)
    below = (lax.gt if unit_diagonal else lax.ge)(*((row, column) if lower else (column, row)))
    a = lax.select(below, a, lax.full_like(a, 0))
    a = lax.conj(a) if conjugate_a and typeof(a).dtype.kind == "c" else a
    inner = len(batch) + (0 if transpose_a == left_side else 1)
    if left_side:
        return lax.dot_general(a, x, (((inner,), (len(batch),)), (batch, batch)))
    other = len(batch) + (1 if transpose_a else 0)
    return lax.dot_general(x, a, (((len(batch) + 1,), (other,)), (batch, batch)))
