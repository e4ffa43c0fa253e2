"""``jax.ad_checkpoint``: the names of values that policies choose by."""

from __future__ import annotations

from typing import Any, Final

from bindax.ad_checkpoint import checkpoint_name
from bindax_core import find_primitive

__all__ = ["checkpoint_name_fwd", "name_p"]

name_p: Final = find_primitive("name")


def checkpoint_name_fwd(x: Any, name: str) -> Any:
    """A value with a name in what is computed forward."""
    return checkpoint_name(x, name)
