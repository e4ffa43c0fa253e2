"""``jax.checkpoint_policies``: policies that name the memory where values wait, which stay here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_transforms.remat import checkpoint_policies as _policies

__all__ = ["offload_dot_with_no_batch_dims", "save_and_offload_only_these_names"]


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Sequence[str],
    names_which_can_be_offloaded: Sequence[str],
    offload_src: str,
    offload_dst: str,
) -> Any:
    """Save the values of these names; those to be moved away stay on their device."""
    both = (*names_which_can_be_saved, *names_which_can_be_offloaded)
    return _policies.save_only_these_names(*both)


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Any:
    """Save the results of contractions without batch dimensions, on their device."""
    return _policies.dots_with_no_batch_dims_saveable


def __getattr__(name: str) -> Any:
    return getattr(_policies, name)
