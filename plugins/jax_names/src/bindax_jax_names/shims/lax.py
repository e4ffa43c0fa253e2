"""``jax.lax``: functions that take arguments of JAX for several devices."""

from __future__ import annotations

from typing import Any

from bindax_jax_names.shims._tolerant import tolerant


def __getattr__(name: str) -> Any:
    return tolerant("bindax.lax", name)
