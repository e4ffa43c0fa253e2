"""Truncated power series of arrays, and arithmetic on them that rules share.

The recurrences are those of A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd edition,
SIAM, 2008, chapter 13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

import bindax_lax_basic as lax
from bindax_core.extend import as_array
from bindax_special import lgamma


@attrs.frozen(eq=False)
class Taylor:
    """An array along a curve: the coefficients of a polynomial in the curve's parameter.

    Attributes:
        coefficients: arrays of one type, the value first; a constant has no others.

    >>> Taylor([1.0, 2.0]).coefficients
    [1.0, 2.0]
    """

    coefficients: tuple[Any, ...]

    @property
    def value(self) -> Any:
        """The array at the start of the curve."""
        return self.coefficients[0]

    @property
    def order(self) -> int:
        """The degree of the polynomial; 0 for a constant."""
        return len(self.coefficients) - 1

    @property
    def is_constant(self) -> bool:
        """True if the array is known to stay as it is along the curve."""
        return len(self.coefficients) == 1

    def __getitem__(self, k: int) -> Any:
        """A coefficient; those of a constant are zero."""
        if k and self.is_constant:
            return lax.full_like(self.value, 0)
        return self.coefficients[k]

    def derivative(self) -> Taylor:
        """The derivative by the curve's parameter, of one order less."""
        return series(scaled(x, k) for k, x in enumerate(self.coefficients) if k)

    def cut(self, order: int) -> Taylor:
        """The same curve to a lower order."""
        return series(self.coefficients[: order + 1])

    def extended(self, order: int) -> Taylor:
        """The same curve with all coefficients, those of a constant too."""
        return series(self[k] for k in range(order + 1))


def series(coefficients: Iterable[Any]) -> Taylor:
    """The series of some coefficients."""
    return Taylor(tuple(coefficients))


def order_of(operands: Iterable[Taylor]) -> int:
    """The order of a result: that of the operands that move."""
    return max(x.order for x in operands)


def scaled(x: Any, factor: float) -> Any:
    """A coefficient times a number, in its own type."""
    return x if factor == 1 else lax.mul(x, lax.full_like(x, factor, shape=()))


def total(terms: Iterable[Any]) -> Any:
    """The sum of at least one coefficient."""
    first, *rest = terms
    for term in rest:
        first = lax.add(first, term)
    return first


def product(multiply: Callable[[Any, Any], Any], x: Taylor, y: Taylor) -> Taylor:
    """Leibniz's rule for anything bilinear."""
    if y.is_constant:
        return series(multiply(a, y.value) for a in x.coefficients)
    if x.is_constant:
        return series(multiply(x.value, b) for b in y.coefficients)
    return series(total(multiply(x[i], y[k - i]) for i in range(k + 1)) for k in range(x.order + 1))


def quotient(
    divide: Callable[[Any, Any], Any], multiply: Callable[[Any, Any], Any], x: Taylor, y: Taylor
) -> Taylor:
    """The series whose product with ``y`` is ``x``: each coefficient by one division."""
    if y.is_constant:
        return series(divide(a, y.value) for a in x.coefficients)
    out: list[Any] = []
    for k in range(y.order + 1):
        rest = x[k]
        for j in range(1, k + 1):
            rest = lax.sub(rest, multiply(y[j], out[k - j]))
        out.append(divide(rest, y.value))
    return series(out)


def integrated(x: Taylor, slope: Sequence[Any], k: int) -> Any:
    """The coefficient ``k`` of ``f(x)`` from those of the derivative ``f'(x)`` before it."""
    terms = [scaled(lax.mul(x[j], slope[k - j]), j) for j in range(1, k + 1)]
    return scaled(total(terms), 1 / k)


def solution(value: Any, x: Taylor, slope: Callable[[list[Any], int], Any]) -> Taylor:
    """The series of ``y = f(x)`` that solves ``dy/dx = slope``, given the value at the start.

    The coefficient ``k`` of the slope comes from those of ``y`` up to ``k``.
    """
    out, slopes = [value], []
    for k in range(1, x.order + 1):
        slopes.append(slope(out, k - 1))
        out.append(integrated(x, slopes, k))
    return series(out)


def square_term(y: Sequence[Any], k: int) -> Any:
    """The coefficient ``k`` of the square of a series."""
    return total(lax.mul(y[i], y[k - i]) for i in range(k + 1))


def fact(n: Any) -> Any:
    """Compute factorials, by which coefficients and derivatives of a Taylor series differ.

    Args:
        n: numbers, none negative.

    >>> round(float(fact(4)))
    24
    """
    return lax.exp(lgamma(as_array(n) + 1.0))
