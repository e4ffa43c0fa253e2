"""``jax.interpreters.xla``: the evaluation of one primitive."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Primitive
from bindax_jax_names.shims.core import pytype_aval_mappings as operand_types

__all__ = ["apply_primitive", "canonicalize_dtype_handlers"]

canonicalize_dtype_handlers = dict(operand_types)
"""As ``jax.core.pytype_aval_mappings``: what is added has no effect."""


def apply_primitive(prim: Primitive, *operands: Any, **params: Any) -> Any:
    """Apply a primitive."""
    return prim.bind(*operands, **params)
