"""``jax.lax``: functions that take arguments of JAX for several devices."""

from __future__ import annotations

from typing import Any

from bindax_jax_names.shims._tolerant import tolerant


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """The value: it varies along mesh axes wherever it is used so."""
    return x


def __getattr__(name: str) -> Any:
    return tolerant("bindax.lax", name)
