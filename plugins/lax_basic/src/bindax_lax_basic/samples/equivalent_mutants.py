"""Mistakes in rules that change nothing that matters, each with the reason.

``bindax mutate lax_basic`` damages the rules one at a time; what is listed here it counts as
explained. Everything else has to be noticed by a check.
"""

from __future__ import annotations

from collections.abc import Iterator

from bindax_testing import EquivalentMutant

_COMMUTATIVE = ("add", "mul", "mulhi", "max", "min", "and", "or", "xor", "eq", "ne")
_LINEAR_TOGETHER = (
    "add",
    "sub",
    "complex",
    "concatenate",
    "dynamic_update_slice",
    "optimization_barrier",
    "pad",
    "scatter",
    "scatter_add",
    "scatter_sub",
    "select_n",
    "stack",
)


def equivalent_mutants() -> Iterator[EquivalentMutant]:
    """The mistakes that no check can notice."""
    for name in _COMMUTATIVE:
        for kind in ("impl", "vmap", "lowering.stablehlo"):
            yield EquivalentMutant(name, kind, "swapped operands", "it is commutative")
    yield EquivalentMutant("add", "jvp", "swapped tangents", "it is commutative")
    linear = "it is linear in its operands together, so that their values do not matter here"
    for name in _LINEAR_TOGETHER:
        yield EquivalentMutant(name, "jvp", "swapped primals", linear)
        yield EquivalentMutant(name, "jvp", "tangent in place of the primal", linear)
        yield EquivalentMutant(name, "transpose", "swapped residuals", linear)
        yield EquivalentMutant(name, "transpose", "doubled residual", linear)
    for hint in ("indices_are_sorted", "unique_indices"):
        promise = "a promise of the caller: no result depends on it"
        yield EquivalentMutant("*", "*", f"flipped {hint}", promise)
    typed = "abstract evaluation alone reads it"
    yield EquivalentMutant("convert_element_type", "*", "flipped weak_type", typed)
    said = "a reshape to the type of the result, which says what the dimensions said"
    yield EquivalentMutant("squeeze", "lowering.stablehlo", "off-by-one dimensions", said)
    stable = "a sort that need not be stable may be, and here is"
    yield EquivalentMutant("sort", "*", "flipped is_stable", stable)
    random = "random numbers are as good in another order"
    yield EquivalentMutant("rng_uniform", "impl", "reversed result", random)
    selected = "its values select, and nothing else depends on them"
    gathered = ("select_and_gather_add", 1), ("select_and_scatter_add", 1)
    for name, term in (*gathered, ("select_and_scatter", 0)):
        yield EquivalentMutant(name, "jvp", f"dropped term {term}", selected)
        twice = "twice the values select the same"
        yield EquivalentMutant(name, "transpose", "doubled residual", twice)
    first = "its tangent is that of the first operand, wherever it is"
    for damage in ("swapped primals", "tangent in place of the primal", "dropped term 1"):
        yield EquivalentMutant("nextafter", "jvp", damage, first)
