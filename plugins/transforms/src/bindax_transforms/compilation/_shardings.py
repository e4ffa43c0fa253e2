"""The shardings that ``jit`` is given: constraints at the ends of the function that is traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import (
    PyTreeDef,
    describe_function,
    flatten_prefix,
    tree_flatten,
    typeof,
)
from bindax_core.sharding import named
from bindax_transforms.compilation.sharding_constraint import sharding_constraint_p


class Shardings:
    """The options ``in_shardings`` and ``out_shardings``, with equality."""

    __slots__ = ("_key", "arguments", "results")

    def __init__(self, arguments: Any, results: Any) -> None:
        self.arguments = tuple(arguments) if isinstance(arguments, list) else arguments
        self.results = results
        leaves, tree = tree_flatten((self.arguments, results), lambda x: x is None)
        self._key = (tuple(leaves), tree)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shardings) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def shardings_of(in_shardings: Any, out_shardings: Any, device: Any) -> Shardings | None:
    """The options as one, or None where nothing was given."""
    if device is not None:
        if in_shardings is not None or out_shardings is not None:
            raise ValueError(
                "jit: device is given besides in_shardings or out_shardings; leave one of them out."
            )
        return Shardings(None, named(device, "jit: device"))
    if in_shardings is None and out_shardings is None:
        return None
    return Shardings(in_shardings, out_shardings)


def with_shardings(
    flat: Callable[..., list[Any]],
    out_tree: Callable[[], PyTreeDef],
    fun: Callable[..., Any],
    tree: PyTreeDef,
    shardings: Shardings,
) -> Callable[..., list[Any]]:
    """The function ``flat`` of the leaves of ``(args, kwargs)``, with both ends constrained.

    ``out_tree`` gives the structure of its result after a call.
    """
    what = f"jit of {describe_function(fun)}"

    def placed(*leaves: Any) -> list[Any]:
        given = (shardings.arguments, None)
        targets = flatten_prefix(given, tree, "(in_shardings, None)", full_name="(args, kwargs)")
        outs = flat(*_constrained(leaves, targets, what, "in_shardings", "argument"))
        targets = flatten_prefix(
            shardings.results, out_tree(), "out_shardings", full_name="the result"
        )
        return _constrained(outs, targets, what, "out_shardings", "result")

    return placed


def _constrained(
    values: Sequence[Any], targets: Sequence[Any], what: str, option: str, kind: str
) -> list[Any]:
    made = []
    for i, (x, target) in enumerate(zip(values, targets, strict=True)):
        if target is None:
            made.append(x)
            continue
        sharding = named(target, f"{what}: {option}")
        sharding.check(typeof(x).shape, f"{what}: {option}: {kind} leaf {i}")
        made.append(sharding_constraint_p.bind(x, sharding=sharding))
    return made
