"""``jax.ad_checkpoint``: the names of values that policies choose by."""

from __future__ import annotations

from typing import Any

from bindax.ad_checkpoint import checkpoint_name
from bindax_transforms.remat._name import name_p as name_p

__all__ = ["checkpoint_name_fwd", "name_p"]


def checkpoint_name_fwd(x: Any, name: str) -> Any:
    """A value with a name in what is computed forward."""
    return checkpoint_name(x, name)
