"""Costs of the primitives of the standard packages, by name, so that none of them is loaded.

An elementwise operation is one operation for each element of the result, a reduction one for each
element that goes away, and moving data none. XLA counts in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from bindax_core.extend import Primitive, Rule
from bindax_inspect.cost import contractions, matrices
from bindax_inspect.cost.kind import Cost, cost, size_in_bytes

ELEMENTWISE = """
abs acos acosh add and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil clz complex conj
convert_element_type cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt
igamma igamma_grad_a igammac imag is_finite le lgamma log log1p log2 logistic lt max min mul mulhi
ne neg nextafter not or polygamma population_count pow random_gamma_grad real reduce_precision rem
regularized_incomplete_beta round rsqrt select_n shift_left shift_right_arithmetic
shift_right_logical sign sin sinh sqrt square sub tan tanh xor zeta
"""
TWICE = "clamp one_minus_square random.multiply_add"
"""Two operations for each element of the result."""

MOVING = """
all_gather all_to_all bitcast_convert_type broadcast_in_dim concatenate copy iota name
optimization_barrier pad platform_index ppermute random.unwrap random.wrap reshape rev
sharding_constraint split squeeze stop_gradient tile transpose
"""
REDUCING = """
argmax argmin reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor
"""
CUMULATIVE = "cumlogsumexp cummax cummin cumprod cumsum"

Function = Callable[..., Any]


def _elements(avals: Any) -> int:
    return sum(int(aval.size) for aval in avals)


def _elementwise(operands: Any, results: Any, **params: Any) -> Any:
    return _elements(results)


def _twice(operands: Any, results: Any, **params: Any) -> Any:
    return 2 * _elements(results)


def _moving(operands: Any, results: Any, **params: Any) -> Any:
    return 0


def _reducing(operands: Any, results: Any, **params: Any) -> Any:
    return max(_elements(operands) - _elements(results), 0)


def _with_program(operands: Any, results: Any, **params: Any) -> Cost:
    """A reduction by a function of two numbers, or of two for each of several arrays."""
    half = len(operands) // 2
    gone = max(operands[0].size - results[0].size, 0)
    runs = {name: float(gone) for name in params if name == "jaxpr"}
    moved = sum(map(size_in_bytes, (*operands[:half], *results)))
    return Cost(0.0, float(moved), runs)


def _cumulative(operands: Any, results: Any, *, axis: int = 0, **params: Any) -> Any:
    (x,) = operands
    length = x.shape[axis] if x.shape else 1
    return x.size - (x.size // length if length else 0)


def _integer_pow(operands: Any, results: Any, *, y: int) -> Any:
    power = abs(y)
    products = max(power.bit_length() - 1 + power.bit_count() - 1, 0)
    return results[0].size * (products + (y < 0))


def _sort(operands: Any, results: Any, *, dimension: int = -1, **params: Any) -> Any:
    length = operands[0].shape[dimension] if operands[0].shape else 1
    return operands[0].size * math.ceil(math.log2(length)) if length > 1 else 0


def _top_k(operands: Any, results: Any, **params: Any) -> Any:
    return _sort(operands, results)


def _fft(operands: Any, results: Any, *, fft_lengths: Any = (), **params: Any) -> Any:
    """Five operations for each element and each doubling of the length."""
    points = math.prod(fft_lengths) or 1
    largest = max(operands[0].size, results[0].size)
    return 5 * largest * math.log2(points) if points > 1 else 0


def _taken(operands: Any, results: Any, **params: Any) -> Cost:
    """The bytes of the part that is taken and of the indices, not those of the whole array."""
    part = 2 * sum(map(size_in_bytes, results))
    return Cost(0.0, float(part + sum(map(size_in_bytes, operands[1:]))))


def _put(operands: Any, results: Any, **params: Any) -> Cost:
    """The bytes of the part that is written, which need not be those of the whole array."""
    return Cost(0.0, float(2 * size_in_bytes(operands[1]) + sum(map(_index_bytes, operands[2:]))))


def _index_bytes(aval: Any) -> int:
    return size_in_bytes(aval)


def _scattered(operands: Any, results: Any, **params: Any) -> Cost:
    updates = operands[-1]
    return Cost(float(updates.size), float(3 * size_in_bytes(updates) + _index_bytes(operands[1])))


def _scattered_over(operands: Any, results: Any, **params: Any) -> Cost:
    return _scattered(operands, results)._replace(operations=0.0)


def _windows(operands: Any, results: Any, *, window_dimensions: Any = (), **params: Any) -> Cost:
    each = math.prod(window_dimensions) - 1
    runs = {"jaxpr": float(results[0].size * each)} if "jaxpr" in params else {}
    return Cost(0.0 if runs else float(results[0].size * each), None, runs)


def _scan(operands: Any, results: Any, *, length: int, **params: Any) -> Cost:
    return Cost(0.0, 0.0, {"jaxpr": float(length)})


def _cond(operands: Any, results: Any, *, branches: Any, **params: Any) -> Cost:
    """The branches run equally often, as far as is known before."""
    return Cost(0.0, 0.0, {"branches": 1.0 / len(branches)})


def _psum(operands: Any, results: Any, **params: Any) -> Any:
    return _elements(results)


def _random_bits(operands: Any, results: Any, **params: Any) -> Any:
    """About 100 operations for two words: twenty rounds of five."""
    return 50 * _elements(results)


def _table() -> dict[str, Function]:
    families = (
        *((ELEMENTWISE, _elementwise), (TWICE, _twice), (MOVING, _moving)),
        *((REDUCING, _reducing), (CUMULATIVE, _cumulative)),
        ("dynamic_slice gather slice", _taken),
        ("dynamic_update_slice", _put),
        ("scatter", _scattered_over),
        ("scatter_add scatter_max scatter_min scatter_mul scatter_sub", _scattered),
        ("reduce_window reduce_window_max reduce_window_min reduce_window_sum", _windows),
        ("pmax pmin psum psum_scatter", _psum),
        ("random.bits threefry2x32 threefry2x32_numbers rng_bit_generator", _random_bits),
    )
    found = {name: rule for names, rule in families for name in names.split()}
    return {
        **found,
        **contractions.RULES,
        **matrices.RULES,
        "cond": _cond,
        "fft": _fft,
        "integer_pow": _integer_pow,
        "reduce": _with_program,
        "scan": _scan,
        "sort": _sort,
        "top_k": _top_k,
    }


TABLE = _table()


def by_name(primitive: Primitive) -> Rule | None:
    """Return the rule of a primitive of the standard packages, or None."""
    function = TABLE.get(primitive.name)
    return None if function is None else cost(function).replace(derived="from its name")
