"""Sample inputs of special functions, in the vocabulary of the conformance suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import bindax_special as special
from bindax_special.bessel_functions import bessel_i0e_p, bessel_i1e_p
from bindax_special.gamma_functions import digamma_p, lgamma_p, polygamma_p, zeta_p
from bindax_special.incomplete_functions import (
    igamma_grad_a_p,
    igamma_p,
    igammac_p,
    random_gamma_grad_p,
    regularized_incomplete_beta_p,
)
from bindax_special.known_values import KNOWN
from bindax_testing import Sample, array, between, known, sample

Range = tuple[float, float]

_FLOATS = ("float64", "float32", "float16", "bfloat16")
_WIDER = ("float64", "float32", "bfloat16")
_DOUBLE = ("float64",)
_POSITIVE = (0.3, 4.0)
_NO_FORMULA = "the second derivative in the first operand has no closed form"
_PRIMITIVES = {
    p.name: p
    for p in (
        *(bessel_i0e_p, bessel_i1e_p, digamma_p, igamma_grad_a_p, igamma_p, igammac_p, lgamma_p),
        *(polygamma_p, random_gamma_grad_p, regularized_incomplete_beta_p, zeta_p),
    )
}
_OF_DERIVATIVES = (
    *("jvp", "linearize", "reverse", "second order", "special points"),
    *("jit with derivatives", "vmap of others", "derivatives of vmap"),
)
_ZERO_AT_ONE = "near its zeros the compiled function is right up to an absolute error"

_SKIPPED = {
    "igamma": {"second order": _NO_FORMULA},
    "igammac": {"second order": _NO_FORMULA},
    "lgamma": {"compiled special values": _ZERO_AT_ONE},
}

_RANGES: tuple[tuple[str, tuple[Range, ...], tuple[str, ...]], ...] = (
    ("lgamma", ((0.3, 6),), _FLOATS),
    ("lgamma", ((-0.8, -0.2),), _DOUBLE),
    ("digamma", ((0.3, 6),), _FLOATS),
    ("digamma", ((-0.8, -0.2),), _DOUBLE),
    ("digamma", ((1.6, 1.9),), _DOUBLE),
    ("lgamma", ((-3.8, -3.2),), _DOUBLE),
    ("bessel_i0e", ((0.2, 9),), _FLOATS),
    ("bessel_i0e", ((-30, -20),), _DOUBLE),
    ("bessel_i1e", ((0.2, 9),), _FLOATS),
    ("igamma", (_POSITIVE, _POSITIVE), _WIDER),
    ("igammac", (_POSITIVE, _POSITIVE), _WIDER),
    ("igamma", ((210, 250), (210, 250)), _DOUBLE),
    ("igamma", ((0.5, 1.5), (6, 9)), _DOUBLE),
    ("igammac", ((6, 9), (0.5, 1.5)), _DOUBLE),
)
"""A function, the range of each operand, and the dtypes it is sampled with."""

_IN_LAST_OPERAND: tuple[tuple[str, tuple[float, ...], Range, tuple[str, ...]], ...] = (
    ("igamma_grad_a", (1.5,), _POSITIVE, _WIDER),
    ("igamma_grad_a", (300.0,), (290, 310), _DOUBLE),
    ("random_gamma_grad", (1.5,), _POSITIVE, _WIDER),
    ("random_gamma_grad", (300.0,), (290, 310), _DOUBLE),
    ("betainc", (1.5, 2.5), (0.1, 0.9), _WIDER),
    ("zeta", (2.5,), (0.5, 4), _WIDER),
    ("zeta", (3.0,), (-0.8, -0.2), _DOUBLE),
    ("polygamma", (0.0,), _POSITIVE, _DOUBLE),
    ("polygamma", (2.0,), _POSITIVE, _WIDER),
)
"""A function, its operands that have no derivative, the range of the last one, and the dtypes."""


def _elementwise(name: str, shape: tuple[int, ...], dtype: str, *ranges: Range) -> Sample:
    operands = [array(shape, dtype, between(low, high)) for low, high in ranges]
    types = "-".join(f"{dtype}[{','.join(map(str, shape))}]" for _ in ranges)
    label = f"{name}-{types}-from-{ranges[0][0]}"
    return sample(getattr(special, name), *operands, label=label, skip=_SKIPPED.get(name, {}))


class WithLeading(NamedTuple):
    """A function called with scalars before the operand that it has a derivative in."""

    function: Callable[..., Any]
    leading: tuple[float, ...]

    def __call__(self, x: Any) -> Any:
        """Call the function."""
        return self.function(*[np.asarray(value).astype(x.dtype) for value in self.leading], x)


def _with_leading(name: str, leading: tuple[float, ...], last: Range, dtype: str) -> Sample:
    label = "-".join([name, *map(str, leading), f"{dtype}[2,3]-from-{last[0]}"])
    function = WithLeading(getattr(special, name), leading)
    operand = array((2, 3), dtype, between(*last))
    return sample(function, operand, label=label, no_derivative=range(len(leading)))


def _orders(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    return rng.integers(1, 5, shape).astype(dtype)


def _batches() -> Iterator[Sample]:
    """First operands that differ in a batch."""
    positive = array((3,), "float64", between(*_POSITIVE))
    orders = array((3,), "float64", _orders)
    yield sample(special.polygamma, orders, positive, no_derivative=(0,))
    low = array((3,), "float64", between(1.5, 4.0))
    for name in ("igamma_grad_a", "random_gamma_grad", "zeta"):
        yield sample(getattr(special, name), low, positive, no_derivative=(0,))
    unit = array((3,), "float64", between(0.1, 0.9))
    yield sample(special.betainc, positive, positive, unit, no_derivative=(0, 1))


def _known_values() -> Iterator[Sample]:
    """Calls at single points, whose values were computed elsewhere."""
    skip = dict.fromkeys(_OF_DERIVATIVES, "some of the points are at the border of the domain")
    for name, rows in KNOWN.items():
        *operands, values = np.array(rows).T
        label = f"{name}-known"
        yield known(_PRIMITIVES[name], operands, values, ulps=32, label=label, skip=skip)


def conformance_samples() -> Iterator[Sample]:
    """Every sample of the package."""
    seen: Counter[str] = Counter()
    for name, ranges, kinds in _RANGES:
        # Each range has a shape of its own: cases of the same types would count as one.
        seen[name] += 1
        for dtype in kinds:
            yield _elementwise(name, (2, 2 + seen[name]), dtype, *ranges)
        if seen[name] == 1:
            yield _elementwise(name, (), kinds[0], *ranges)
    for name, leading, last, kinds in _IN_LAST_OPERAND:
        for dtype in kinds:
            yield _with_leading(name, leading, last, dtype)
    yield from _batches()
    yield from _known_values()
