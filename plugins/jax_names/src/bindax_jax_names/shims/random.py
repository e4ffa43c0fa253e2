"""``jax.random``: old-style keys as JAX makes them, and arguments for several devices."""

from __future__ import annotations

from typing import Any

import bindax
from bindax_jax_names.shims._tolerant import tolerant
from bindax_jax_names.shims.top import config


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:
    """An old-style key; one with a dtype of its own where ``jax_enable_custom_prng`` is set."""
    if config.read("jax_enable_custom_prng"):
        return bindax.random.key(seed, impl=impl)
    return bindax.random.PRNGKey(seed, impl=impl)


def __getattr__(name: str) -> Any:
    return tolerant("bindax.random", name)
