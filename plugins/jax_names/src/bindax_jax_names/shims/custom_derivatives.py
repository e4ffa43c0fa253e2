"""``jax.custom_derivatives``: primitives of functions with rules of their own."""

from __future__ import annotations

from typing import Any

import bindax
from bindax.custom_derivatives import CustomVJPPrimal
from bindax_jax_names.shims.extend_primitives import _among_operations


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """The values of arguments that a forward rule with symbolic zeros gets."""

    def value(leaf: Any) -> Any:
        if isinstance(leaf, CustomVJPPrimal):
            return leaf.value
        raise TypeError(
            f"custom_vjp_primal_tree_values: each leaf must be a CustomVJPPrimal, but one is of "
            f"type {type(leaf).__name__}."
        )

    return bindax.tree.map(value, tree)


def __getattr__(name: str) -> Any:
    if name.endswith("_p"):
        return _among_operations(name)
    raise AttributeError(name)
