"""Steps that work element by element, and conversions between types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .operands import COMPLEX, FLOATS, INEXACT, INTEGERS, Operands, Step, cast, fit, named, tame

# Real or complex operands, moved to where the function is smooth.
SMOOTH: dict[str, Callable[[Any, Any], Any]] = {
    "acos": lambda ops, x: ops.acos(x * 0.2),
    "asin": lambda ops, x: ops.asin(x * 0.2),
    "asinh": lambda ops, x: ops.asinh(x * 0.2),
    "atan": lambda ops, x: ops.atan(x * 0.2),
    "atanh": lambda ops, x: ops.atanh(x * 0.2),
    "acosh": lambda ops, x: ops.acosh(x * 0.2 + 2.0),
    "cos": lambda ops, x: ops.cos(x),
    "cosh": lambda ops, x: ops.cosh(x * 0.5),
    "exp": lambda ops, x: ops.exp(x * 0.5),
    "exp2": lambda ops, x: ops.exp2(x * 0.5),
    "expm1": lambda ops, x: ops.expm1(x * 0.5),
    "log": lambda ops, x: ops.log(x + 4.5),
    "log1p": lambda ops, x: ops.log1p(x * 0.2),
    "logistic": lambda ops, x: ops.logistic(x * 0.5),
    "neg": lambda ops, x: -x,
    "rsqrt": lambda ops, x: ops.rsqrt(x + 4.5),
    "sin": lambda ops, x: ops.sin(x),
    "sinh": lambda ops, x: ops.sinh(x * 0.5),
    "sqrt": lambda ops, x: ops.sqrt(x + 4.5),
    "square": lambda ops, x: ops.square(x * 0.5),
    "tan": lambda ops, x: ops.tan(x * 0.3),
    "tanh": lambda ops, x: ops.tanh(x * 0.4),
    "reciprocal": lambda ops, x: 3.0 / (x + 4.5),
    "scale": lambda ops, x: x * 0.5 - 1,
    "copy": lambda ops, x: x.copy(),
    "optimization_barrier": lambda ops, x: ops.optimization_barrier(x) * 0.9,
}
# Real operands alone.
REAL: dict[str, Callable[[Any, Any], Any]] = {
    "bessel_i0e": lambda ops, x: ops.bessel_i0e(x),
    "bessel_i1e": lambda ops, x: ops.bessel_i1e(x),
    "cbrt": lambda ops, x: ops.cbrt(x + 4.5),
    "digamma": lambda ops, x: ops.digamma(x * x + 1.5),
    "erf": lambda ops, x: ops.erf(x),
    "erf_inv": lambda ops, x: ops.erf_inv(x * 0.2),
    "erfc": lambda ops, x: ops.erfc(x),
    "lgamma": lambda ops, x: ops.lgamma(x * x + 1.5) * 0.2,
    "polygamma": lambda ops, x: ops.polygamma(_full(ops, x, 1.0), x * x + 1.5),
    "igamma": lambda ops, x: ops.igamma(_full(ops, x, 1.7), x * x + 0.5),
    "igammac": lambda ops, x: ops.igammac(_full(ops, x, 0.8), x * x + 0.5),
    "betainc": lambda ops, x: ops.betainc(
        _full(ops, x, 1.5), _full(ops, x, 2.2), ops.tanh(x) * 0.4 + 0.5
    ),
}
# Real operands; no derivative, or none of the second order.
FLAT: dict[str, Callable[[Any, Any], Any]] = {
    "igamma_grad_a": lambda ops, x: ops.igamma_grad_a(_full(ops, x, 1.7), x * x + 0.5),
    "random_gamma_grad": lambda ops, x: ops.random_gamma_grad(_full(ops, x, 1.7), x * x + 0.5),
    "zeta": lambda ops, x: ops.zeta(_full(ops, x, 2.5), x * x + 1.5),
    "nextafter": lambda ops, x: ops.nextafter(x, _full(ops, x, 9.0)),
    "ceil": lambda ops, x: ops.ceil(x * 2.0) * 0.5,
    "floor": lambda ops, x: ops.floor(x * 2.0) * 0.5,
    "round": lambda ops, x: ops.round(x * 2.0) * 0.5,
    "round to even": lambda ops, x: ops.round(x * 2.0, ops.RoundingMethod.TO_NEAREST_EVEN) * 0.5,
    "sign": lambda ops, x: ops.sign(x),
    "reduce_precision": lambda ops, x: ops.reduce_precision(x, 5, 4),
}
BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda ops, x, y: (x + y) * 0.5,
    "sub": lambda ops, x, y: ops.sub(x, y * 0.5),
    "mul": lambda ops, x, y: ops.mul(x, y) * 0.4,
    "div": lambda ops, x, y: x / (y + 4.5),
    "pow": lambda ops, x, y: ops.pow(x + 4.5, y * 0.3),
}
REAL_BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "atan2": lambda ops, x, y: ops.atan2(x, y * y + 1.0),
    "max": lambda ops, x, y: ops.max(x, y),
    "min": lambda ops, x, y: ops.min(x, y),
    "rem": lambda ops, x, y: ops.rem(x, y * y + 1.0),
    "select_n": lambda ops, x, y: ops.select_n(x > y, x, y * 0.9),
    "clamp": lambda ops, x, y: ops.clamp(y - 0.5, x, y + 0.7),
}
_INTEGER: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda ops, x, y: x + y,
    "sub": lambda ops, x, y: x - y,
    "mul": lambda ops, x, y: x * y,
    "and": lambda ops, x, y: x & y,
    "or": lambda ops, x, y: x | y,
    "xor": lambda ops, x, y: x ^ y,
    "not": lambda ops, x, y: ~x,
    "div": lambda ops, x, y: ops.div(x, y),
    "rem": lambda ops, x, y: ops.rem(x, y),
    "floor_divide": lambda ops, x, y: x // (y | 1),
    "modulo": lambda ops, x, y: x % (y | 1),
    "max": lambda ops, x, y: ops.max(x, y),
    "min": lambda ops, x, y: ops.min(x, y),
    "mulhi": lambda ops, x, y: ops.mulhi(x, y),
    "shift_left": lambda ops, x, y: ops.shift_left(x, y & 15),
    "shift_right_logical": lambda ops, x, y: ops.shift_right_logical(x, y & 15),
    "shift_right_arithmetic": lambda ops, x, y: ops.shift_right_arithmetic(x, y & 15),
    "population_count": lambda ops, x, y: ops.population_count(x),
    "clz": lambda ops, x, y: ops.clz(x),
    "sign": lambda ops, x, y: ops.sign(x),
    "abs": lambda ops, x, y: ops.abs(cast(ops, x, np.dtype(np.int32))),
    "integer_pow": lambda ops, x, y: ops.integer_pow(x, 3),
    "square": lambda ops, x, y: ops.square(x),
    "select_n": lambda ops, x, y: ops.select_n(x > y, x, y),
    "clamp": lambda ops, x, y: ops.clamp(ops.min(x, y), x + 3, ops.max(x, y)),
}
_LOGIC: dict[str, Callable[[Any, Any, Any], Any]] = {
    "and": lambda ops, x, y: ops.bitwise_and(x, y),
    "or": lambda ops, x, y: ops.bitwise_or(x, y),
    "xor": lambda ops, x, y: ops.bitwise_xor(x, y),
    "not": lambda ops, x, y: ops.bitwise_not(x),
    "eq": lambda ops, x, y: x == y,
    "lt": lambda ops, x, y: ops.lt(x, y),
}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
NARROWEST = ("float8_e4m3fn", "float8_e5m2", "int4", "uint4")


def _full(ops: Any, x: Any, value: float) -> Any:
    return ops.full_like(x, value)


def _smooth(function: Callable[[Any, Any], Any]) -> Step:
    return lambda p: function(p.ops, p.inexact())


def _real(function: Callable[[Any, Any], Any]) -> Step:
    return lambda p: function(p.ops, p.real())


def _flat(function: Callable[[Any, Any], Any]) -> Step:
    return lambda p: function(p.ops, p.fixed(p.spread(p.real())))


def _binary(function: Callable[[Any, Any, Any], Any]) -> Step:
    def step(p: Operands) -> Any:
        x = p.inexact()
        return function(p.ops, x, p.like(x))

    return step


def _real_binary(function: Callable[[Any, Any, Any], Any]) -> Step:
    def step(p: Operands) -> Any:
        x = p.spread(p.real())
        return function(p.ops, x, p.like(x))

    return step


def integers(p: Operands) -> Any:
    """Arithmetic of integers, which wraps around, and of their bits."""
    x = p.integer()
    return p.choice(list(_INTEGER.values()))(p.ops, x, p.like(x))


def logic(p: Operands) -> Any:
    x = p.boolean()
    return p.choice(list(_LOGIC.values()))(p.ops, x, p.like(x))


def compared(p: Operands) -> Any:
    x = p.spread(p.pick((*FLOATS, *INTEGERS)))
    return getattr(p.ops, p.choice(COMPARISONS))(x, p.like(x))


def is_finite(p: Operands) -> Any:
    return p.ops.is_finite(p.real())


def integer_power(p: Operands) -> Any:
    x = p.inexact()
    exponent = p.choice([-2, -1, 0, 1, 2, 3])
    return p.ops.integer_pow(x + 4.5, exponent) if exponent < 0 else (x * 0.5) ** exponent


def absolute(p: Operands) -> Any:
    return abs(p.spread(p.inexact()))


def chosen(p: Operands) -> Any:
    """Choose among several values by a computed number, or by a truth value."""
    x = p.pick()
    if p.flag():
        return p.ops.select(fit_to(p, p.boolean(), x), x, p.like(x))
    which = p.ops.clamp(np.int32(0), cast(p.ops, p.integer(), np.dtype(np.int32)), np.int32(2))
    return p.ops.select_n(fit_to(p, which, x), x, p.like(x), p.like(x))


def fit_to(p: Operands, x: Any, y: Any) -> Any:
    """One scalar, or as many elements as the other has."""
    return fit(p.ops, x, p.choice([(), y.shape]))


def mixed(p: Operands) -> Any:
    """Operators promote the types of their operands, and broadcast a scalar."""
    ops, x, y = p.ops, p.pick(), p.pick()
    y = fit_to(p, y, x)
    if str(x.dtype) == "bool" or str(y.dtype) == "bool":
        return x & y if x.dtype == y.dtype else x * y
    combine = p.choice([lambda a, b: a + b, lambda a, b: a * b, lambda a, b: b - a])
    return tame(ops, combine(x, y))


def weak(p: Operands) -> Any:
    """A weakly typed value, which takes the type of what it meets."""
    x = p.spread(p.real())
    kind = p.choice([float, float, int, complex])
    return p.ops.convert_element_type(x * 3 if kind is int else x, kind)


def converted(p: Operands) -> Any:
    x = p.pick()
    return p.convert(x, named(p.choice((*INEXACT, *INTEGERS, "bool"))))


def narrowed(p: Operands) -> Any:
    """Through eight or four bits and back."""
    x = p.fixed(p.spread(p.real()))
    name = p.choice(NARROWEST)
    y = p.ops.abs(x) if name == "uint4" else x
    return p.ops.convert_element_type(p.ops.convert_element_type(y, named(name)), x.dtype)


def bit_pattern(p: Operands) -> Any:
    """Read the bits of numbers as other numbers, of the same or of less width."""
    x = cast(p.ops, p.integer(), np.dtype(np.int32))
    name = p.choice(["uint32", "int16", "uint8", "float32"])
    if name == "float32":
        exact = cast(p.ops, p.ops.rem(x, np.int32(100)), np.dtype(np.float32))
        return p.ops.bitcast_convert_type(exact, np.int32)
    return p.ops.bitcast_convert_type(x, named(name))


def random_bits(p: Operands) -> Any:
    """From a constant key: JAX's vmap over keys draws everything from the first one."""
    key = np.asarray([p.number(0, 999) for _ in range(4)], np.uint32)
    algorithm = p.ops.RandomAlgorithm.RNG_THREE_FRY
    dtype = p.choice([np.uint32, np.uint8, np.uint64])
    return p.ops.rng_bit_generator(key, (p.number(1, 3), 2), dtype, algorithm)


def complex_parts(p: Operands) -> Any:
    x = p.pick(COMPLEX)
    part = p.choice(["real", "imag", "conj"])
    return getattr(p.ops, part)(x)


def complex_number(p: Operands) -> Any:
    x = p.pick(FLOATS[:2])
    return p.ops.complex(x, p.like(x))


def stopped(p: Operands) -> Any:
    return p.ops.stop_gradient(p.pick())


STEPS: dict[str, Step] = {
    **{name: _smooth(function) for name, function in SMOOTH.items()},
    **{name: _real(function) for name, function in REAL.items()},
    **{name: _flat(function) for name, function in FLAT.items()},
    **{name: _binary(function) for name, function in BINARY.items()},
    **{name: _real_binary(function) for name, function in REAL_BINARY.items()},
    "integers": integers,
    "logic": logic,
    "compared": compared,
    "is_finite": is_finite,
    "integer_pow": integer_power,
    "abs": absolute,
    "chosen": chosen,
    "mixed": mixed,
    "weak": weak,
    "converted": converted,
    "narrowed": narrowed,
    "bit pattern": bit_pattern,
    "random bits": random_bits,
    "complex parts": complex_parts,
    "complex": complex_number,
    "stop_gradient": stopped,
}
