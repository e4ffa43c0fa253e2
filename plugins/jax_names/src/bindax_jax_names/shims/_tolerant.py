"""Functions of JAX with keyword arguments that say where results lie, which is on one device."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any

from bindax_jax_names.shims._arguments import ignoring

_IGNORED: dict[str, dict[str, str]] = {
    "bindax.lax": {
        "sharding": "full full_like",
        "accuracy": (
            "cbrt cos erfc exp exp2 expm1 log log1p log2 logistic rsqrt sin sqrt tan tanh"
        ),
        "_split_transpose": "scan",
        "allow_negative_indices": (
            "dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_update_index_in_dim "
            "dynamic_update_slice dynamic_update_slice_in_dim"
        ),
    },
    "bindax.numpy": {"out_sharding": "histogram", "_dot_general": "einsum"},
    "bindax.nn": {"out_sharding": "one_hot", "initial": "log_softmax softmax"},
}
"""By module of bindax and argument, the functions that take it in JAX."""


def tolerant(path: str, name: str) -> Callable[..., Any]:
    """The function of bindax, which also takes the arguments of JAX that change nothing here.

    Raises:
        AttributeError: when the function takes no such arguments.
    """
    words = [word for word, names in _IGNORED.get(path, {}).items() if name in names.split()]
    if not words:
        raise AttributeError(name)
    function = getattr(import_module(path), name)
    known = signature(function).parameters
    return ignoring(function, *[word for word in words if word not in known])
