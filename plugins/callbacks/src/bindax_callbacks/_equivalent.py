"""Mistakes in rules that the conformance kit cannot notice, each with the reason.

``bindax mutate callbacks`` damages the rules one at a time; what is listed here it counts as
explained. Everything else has to be noticed by a check.
"""

from __future__ import annotations

from collections.abc import Iterator

from bindax_testing import EquivalentMutant


def equivalent_mutants() -> Iterator[EquivalentMutant]:
    """The mistakes that no check can notice."""
    for name in ("debug_callback", "io_callback"):
        yield EquivalentMutant(
            name, "impl", "flipped ordered", "eager calls are in order, whatever they ask for"
        )
        for kind in ("jvp", "vmap", "lowering.stablehlo"):
            yield EquivalentMutant(
                name, kind, "flipped ordered", "one call alone has no order to keep among several"
            )
    unseen = "it has no result; tests of the functions look at what the host function is given"
    for kind, damage in (
        ("jvp", "tangent in place of the primal"),
        ("vmap", "forgotten batch of operand 0"),
    ):
        yield EquivalentMutant("debug_callback", kind, damage, unseen)
