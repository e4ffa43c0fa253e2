"""``jax.random``: old-style keys as JAX makes them, and arguments for several devices."""

from __future__ import annotations

from typing import Any

import bindax
import bindax.numpy as jnp
from bindax_jax_names.shims.top import config
from bindax_lax_basic.extend import shape_argument


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:
    """An old-style key; one with a dtype of its own where ``jax_enable_custom_prng`` is set."""
    if config.read("jax_enable_custom_prng"):
        return bindax.random.key(seed, impl=impl)
    return bindax.random.PRNGKey(seed, impl=impl)


def uniform(
    key: Any,
    shape: Any = (),
    dtype: Any = None,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    **options: Any,
) -> Any:
    """Uniform numbers; bounds with more axes, of size 1, give the result theirs."""
    ndim = max(jnp.ndim(minval), jnp.ndim(maxval))
    sizes = shape_argument("uniform", shape)
    shape = (1,) * (ndim - len(sizes)) + sizes
    return bindax.random.uniform(key, shape, dtype, minval, maxval, **options)
