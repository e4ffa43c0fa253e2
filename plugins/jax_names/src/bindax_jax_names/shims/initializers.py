"""``jax.nn.initializers``: functions that take arguments of JAX for several devices."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import bindax.nn.initializers as own
from bindax_jax_names.shims._tolerant import tolerant

_INITIALIZERS = ("Initializer", "ones", "zeros")


def __getattr__(name: str) -> Any:
    if name not in vars(own)["__all__"] or name in _INITIALIZERS:
        return tolerant("bindax.nn.initializers", name)
    return _tolerant_factory(getattr(own, name))


def _tolerant_factory(factory: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes initializers which also take the place of their result."""

    @wraps(factory)
    def made(*args: Any, **kwargs: Any) -> Any:
        initializer = factory(*args, **kwargs)

        @wraps(initializer)
        def filled(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
            given = {} if out_sharding is None else {"out_sharding": out_sharding}
            return initializer(key, shape, *([] if dtype is None else [dtype]), **given)

        return filled

    return made
