"""Sums of products of powers, with integer coefficients: the forms of symbolic dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs


@attrs.frozen
class Atom:
    """A variable (``operands`` is its name) or an operation on sizes."""

    kind: str
    operands: tuple[Any, ...]

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.operands))
        return inner if self.kind == "variable" else f"{self.kind}({inner})"


Monomial = tuple[tuple[Atom, int], ...]
"""Atoms with their exponents, in the order of their names; empty for a constant."""

Terms = dict[Monomial, int]


def exact_parts(dividend: Terms, divisor: Terms) -> tuple[Terms, Terms]:
    """Split a dividend into a multiple of the divisor, given by its factor, and a rest."""
    lead, coefficient = min(divisor.items(), key=lambda term: order(term[0]))
    whole: Terms = {}
    rest, left = dict(dividend), True
    while left:
        left = False
        for monomial, c in sorted(rest.items(), key=lambda term: order(term[0])):
            factor = quotient_of(monomial, lead)
            if factor is None or c % coefficient:
                continue
            scale = c // coefficient
            trial = dict(rest)
            for m, d in divisor.items():
                product = product_of(m, factor)
                trial[product] = trial.get(product, 0) - scale * d
            trial = {m: d for m, d in trial.items() if d}
            if len(trial) >= len(rest):  # it takes one term away and brings others
                continue
            whole[factor] = whole.get(factor, 0) + scale
            rest, left = trial, bool(trial)
            break
    return whole, rest


def product_of(left: Monomial, right: Monomial) -> Monomial:
    powers: dict[Atom, int] = dict(left)
    for atom, exponent in right:
        powers[atom] = powers.get(atom, 0) + exponent
    return _monomial(powers.items())


def quotient_of(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    powers = dict(monomial)
    for atom, exponent in divisor:
        if powers.get(atom, 0) < exponent:
            return None
        powers[atom] -= exponent
    return _monomial((a, n) for a, n in powers.items() if n)


def _monomial(powers: Iterable[tuple[Atom, int]]) -> Monomial:
    return tuple(sorted(powers, key=lambda power: str(power[0])))


def order(monomial: Monomial) -> tuple[int, str]:
    """The order of terms: higher degrees first, then by name."""
    return -sum(n for _, n in monomial), str([(str(a), n) for a, n in monomial])
