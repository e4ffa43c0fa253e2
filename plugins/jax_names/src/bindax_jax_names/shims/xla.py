"""``jax.interpreters.xla``: the evaluation of one primitive."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Primitive

__all__ = ["apply_primitive"]


def apply_primitive(prim: Primitive, *operands: Any, **params: Any) -> Any:
    """Apply a primitive."""
    return prim.bind(*operands, **params)
