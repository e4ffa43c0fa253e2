"""``jax.custom_derivatives``: primitives of functions with rules of their own."""

from __future__ import annotations

from typing import Any

from bindax_jax_names.shims.extend_primitives import _among_operations


def __getattr__(name: str) -> Any:
    if name.endswith("_p"):
        return _among_operations(name)
    raise AttributeError(name)
