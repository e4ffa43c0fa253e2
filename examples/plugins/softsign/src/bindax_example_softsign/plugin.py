"""The hooks, called once, when something of this package is first used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import NodeDefinition, Primitive, hookimpl
from bindax_example_softsign.containers import BOUNDS, Bounds
from bindax_example_softsign.function import softsign_p


@hookimpl
def bindax_primitives() -> list[Primitive]:
    """The primitives that this package owns."""
    return [softsign_p]


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Sample inputs for the conformance kit; one line for an elementwise function."""
    from bindax_testing import away_from, container, elementwise

    yield from elementwise(softsign_p, away_from(0.0), dtypes=("float32", "float64"))
    yield container(Bounds(1.0, (2.0, 3.0), name="b"))


@hookimpl
def bindax_pytree_nodes() -> list[NodeDefinition]:
    """The container types that this package owns."""
    return [BOUNDS]
