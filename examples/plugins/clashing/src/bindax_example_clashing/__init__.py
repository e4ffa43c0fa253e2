"""A plugin with a name and a container type of another package, and one name of its own."""

from __future__ import annotations

from typing import Any

from bindax_example_softsign.containers import Bounds

from bindax_core.extend import (
    NodeDefinition,
    Primitive,
    hookimpl,
    primitive,
    rules,
)


def _without_derivatives(name: str, function: Any) -> Primitive:
    return primitive(
        name,
        rules.impl(function),
        rules.abstract_eval(lambda x: x),
        rules.jvp.absent("an example"),
        rules.vmap.absent("an example"),
        rules.transpose.absent("an example"),
        rules.lowering["stablehlo"].absent("an example"),
    )


softsign_p = _without_derivatives("example.softsign", lambda x: x)
double_p = _without_derivatives("example.double", lambda x: x + x)


@hookimpl
def bindax_primitives() -> list[Primitive]:
    """One name that another package has, and one of its own."""
    return [softsign_p, double_p]


@hookimpl
def bindax_pytree_nodes() -> list[NodeDefinition]:
    """A container type of another package."""
    return [NodeDefinition(Bounds, lambda b: ((b.lower,), b), lambda b, xs: b)]
