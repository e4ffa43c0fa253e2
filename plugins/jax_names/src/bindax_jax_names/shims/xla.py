"""``jax.interpreters.xla``: the evaluation of one primitive, and a table of operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_core.extend import Primitive
from bindax_jax_names.shims.core import pytype_aval_mappings

__all__ = ["apply_primitive", "canonicalize_dtype_handlers"]

canonicalize_dtype_handlers: dict[type, Callable[[Any], Any]] = dict(pytype_aval_mappings)
"""By Python type, its way in. Types that packages add are kept and read back, as in the other."""


def apply_primitive(prim: Primitive, *operands: Any, **params: Any) -> Any:
    """Apply a primitive."""
    return prim.bind(*operands, **params)
