"""Scopes of dimension variables: their constraints, and what follows from them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from bindax_export._dimensions import (
    Size,
    SymbolicDimension,
    from_terms,
    terms_of,
)
from bindax_export._expressions import parse_size
from bindax_export._polynomials import Atom, Monomial, quotient_of

Bounds = tuple[Any, Any]
"""The least and the largest value: integers, or infinities."""

_DEPTH = 3  # how many constraints are added up to decide one comparison
_INFINITY = math.inf


class SymbolicScope:
    """Dimension variables of one program, and what is known of them.

    Args:
        constraints: comparisons of dimension expressions, such as ``"a >= 2*b"``, with ``>=``,
            ``<=``, ``>``, ``<`` or ``==``. The left side of an equality is one term, such as
            ``mod(b, 8)``, which the right side then replaces.

    Raises:
        ValueError: when a constraint does not parse.

    >>> from bindax_export import SymbolicScope, symbolic_shape
    >>> (b,) = symbolic_shape("b", scope=SymbolicScope(["b >= 8"]))
    >>> b > 7
    True
    """

    def __init__(self, constraints: Sequence[str] = ()) -> None:
        if isinstance(constraints, str):
            raise ValueError(
                f"constraints are a sequence of texts, but got the text {constraints!r}."
            )
        self.constraints: tuple[str, ...] = tuple(constraints)
        self.inequalities: list[SymbolicDimension] = []
        self.equalities: list[tuple[Size, Size]] = []
        self.rewrites: dict[Monomial, Size] = {}
        self._least: dict[str, int] = {}
        self._most: dict[str, int] = {}
        self._known: dict[SymbolicDimension, Bounds] = {}
        for text in self.constraints:
            self._add(text)

    def __repr__(self) -> str:
        return f"SymbolicScope({list(self.constraints)})"

    def bounds(self, size: Size) -> Bounds:
        """The least and the largest value that a size can have, as far as it is found."""
        if not isinstance(size, SymbolicDimension):
            return size, size
        found = self._known.get(size)
        if found is None:
            terms = {m: Fraction(c) for m, c in size.terms}
            low = self._least_value(terms, _DEPTH)
            high = -self._least_value({m: -c for m, c in terms.items()}, _DEPTH)
            found = _rounded(low, math.ceil), _rounded(high, math.floor)
            self._known[size] = found
            found = self._known[size] = self._by_cases(size, found)
        return found

    def _by_cases(self, size: SymbolicDimension, bounds: Bounds) -> Bounds:
        """Narrower bounds: a maximum or minimum in a size is one of its two operands."""
        for monomial, _ in size.terms:
            for atom, _ in monomial:
                if atom.kind in ("max", "min") and bounds[0] != bounds[1]:
                    cases = [self.bounds(_replaced(size, atom, x)) for x in atom.operands]
                    low, high = min(c[0] for c in cases), max(c[1] for c in cases)
                    bounds = max(bounds[0], low), min(bounds[1], high)
        return bounds

    def _add(self, text: str) -> None:
        parts = re.split(r"(>=|<=|==|>|<)", text)
        if len(parts) != 3:
            raise ValueError(
                f"the constraint {text!r} is no comparison of two dimension expressions; write it "
                f"as 'a >= b', 'a <= b', 'a > b', 'a < b' or 'a == b'."
            )
        left, right = parse_size(parts[0], self), parse_size(parts[2], self)
        sign = parts[1]
        if sign == "==":
            terms = terms_of(left)
            if len(terms) != 1 or terms.get(next(iter(terms))) != 1 or () in terms:
                raise ValueError(
                    f"the left side of the constraint {text!r} is not one term; write an "
                    f"equality as what is replaced == what replaces it, as in 'mod(b, 8) == 0'."
                )
            self.equalities.append((left, right))
            self.rewrites[next(iter(terms))] = right
            return
        difference = left - right if sign[0] == ">" else right - left
        difference -= len(sign) == 1
        if not isinstance(difference, SymbolicDimension):
            if difference < 0:
                raise ValueError(f"the constraint {text!r} never holds.")
            return
        self._known.clear()
        if self.bounds(difference)[1] < 0:
            raise ValueError(f"the constraint {text!r} never holds, given the others.")
        self.inequalities.append(difference)
        self._bound_variable(difference)
        self._known.clear()

    def _bound_variable(self, difference: SymbolicDimension) -> None:
        """Note a bound of a variable alone, for products that it is in."""
        terms = dict(difference.terms)
        constant = terms.pop((), 0)
        if len(terms) != 1:
            return
        ((monomial, c),) = terms.items()
        if len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0].kind != "variable":
            return
        name = monomial[0][0].operands[0]
        if c > 0:
            self._least[name] = max(self._least.get(name, 1), math.ceil(Fraction(-constant, c)))
        else:
            most = math.floor(Fraction(constant, -c))
            self._most[name] = min(self._most.get(name, most), most)

    def _least_value(self, terms: dict[Monomial, Fraction], depth: int) -> Any:
        """A value that the sum of the terms is never below."""
        low: Any = Fraction(0)
        for monomial, c in terms.items():
            bounds = self._monomial_bounds(monomial)
            low += _scaled(bounds[0] if c > 0 else bounds[1], c)
        if depth == 0:
            return low
        for known in self._facts(terms):
            # terms = rest + scale * known, and known >= 0
            for monomial, c in terms.items():
                scale = c / known[monomial] if monomial in known and monomial else 0
                if scale <= 0:
                    continue
                rest = dict(terms)
                for m, k in known.items():
                    rest[m] = rest.get(m, Fraction(0)) - scale * k
                rest = {m: k for m, k in rest.items() if k}
                low = max(low, self._least_value(rest, depth - 1))
        return low

    def _facts(self, terms: dict[Monomial, Fraction]) -> Iterator[dict[Monomial, Fraction]]:
        """Sums that are at least 0: the constraints, and what defines the operations used."""
        for size in self.inequalities:
            yield {m: Fraction(c) for m, c in size.terms}
        for monomial in terms:
            if sum(n for _, n in monomial) > 1:
                yield from self._of_products(monomial)
        atoms = {atom for m in terms for atom, _ in m if atom.kind != "variable"}
        for atom in sorted(atoms, key=str):
            for fact in _definition(atom, self):
                if isinstance(fact, SymbolicDimension):
                    yield {m: Fraction(c) for m, c in fact.terms}

    def _of_products(self, monomial: Monomial) -> Iterator[dict[Monomial, Fraction]]:
        """``(atom - least value) * rest``, where neither factor is below 0."""
        for atom, _ in monomial:
            rest = quotient_of(monomial, ((atom, 1),))
            least = self._atom_bounds(atom)[0]
            if rest is not None and least != -_INFINITY and self._monomial_bounds(rest)[0] >= 0:
                fact = {monomial: Fraction(1), rest: -Fraction(least)}
                yield {m: c for m, c in fact.items() if c}

    def _monomial_bounds(self, monomial: Monomial) -> Bounds:
        low: Any = 1
        high: Any = 1
        for atom, exponent in monomial:
            bounds = self._atom_bounds(atom)
            for _ in range(exponent):
                corners = [_scaled(a, b) for a in (low, high) for b in bounds]
                low, high = min(corners), max(corners)
        return low, high

    def _atom_bounds(self, atom: Atom) -> Bounds:
        if atom.kind == "variable":
            name = atom.operands[0]
            return self._least.get(name, 1), self._most.get(name, _INFINITY)
        (a, b), (c, d) = (self.bounds(x) for x in atom.operands)
        if atom.kind == "max":
            return max(a, c), max(b, d)
        if atom.kind == "min":
            return min(a, c), min(b, d)
        if c <= 0:
            return -_INFINITY, _INFINITY
        if atom.kind == "mod":
            return 0, d - 1
        corners = [_floor_divided(x, y) for x in (a, b) for y in (c, d)]
        return min(corners), max(corners)


def _replaced(size: SymbolicDimension, atom: Atom, by: Size) -> Size:
    """A size with another in place of an operation."""
    total: Size = 0
    for monomial, coefficient in size.terms:
        product: Size = coefficient
        for factor, exponent in monomial:
            one = by if factor == atom else from_terms({((factor, 1),): 1}, size.scope)
            product = product * one**exponent
        total = total + product
    return total


def _definition(atom: Atom, scope: SymbolicScope) -> list[Size]:
    """Sizes that are at least 0 because of the meaning of an operation."""
    x, y = atom.operands
    this = from_terms({((atom, 1),): 1}, scope)
    if atom.kind == "max":
        return [this - x, this - y]
    if atom.kind == "min":
        return [x - this, y - this]
    if scope.bounds(y)[0] <= 0:
        return []
    if atom.kind == "floordiv":
        rest = x % y
        if not isinstance(rest, SymbolicDimension):
            return [x - this * y - rest, this * y + rest - x]
        return [x - this * y, this * y + y - 1 - x]
    return [x - this, y - 1 - this] if scope.bounds(x)[0] >= 0 else [y - 1 - this]


def _scaled(bound: Any, factor: Any) -> Any:
    return 0 if factor == 0 or bound == 0 else bound * factor


def _floor_divided(x: Any, y: Any) -> Any:
    if y == _INFINITY:
        return 0 if x >= 0 else -1
    return x if abs(x) == _INFINITY else x // y


def _rounded(x: Any, rounding: Any) -> Any:
    return x if abs(x) == _INFINITY else rounding(x)
