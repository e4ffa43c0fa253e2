"""The modules and names of types under the alias, by which packages tell arrays of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core import AnyArray, ShapedArray
from bindax_core.extend import Array, is_extended
from bindax_transforms.autodiff.jvp import JVPTracer
from bindax_transforms.autodiff.partial_eval import PartialEvalTracer
from bindax_transforms.batching.vmap import BatchTracer
from bindax_transforms.staging.jaxpr_trace import JaxprTracer

_STAGING = "jax._src.interpreters.partial_eval"
_MODULES: dict[Any, str] = {
    AnyArray: "jax",
    ShapedArray: "jax",
    Array: "jaxlib._jax",
    JaxprTracer: _STAGING,
    PartialEvalTracer: _STAGING,
    BatchTracer: "jax._src.interpreters.batching",
    JVPTracer: "jax._src.interpreters.ad",
}


def _address(array: Array) -> int:
    """The place in memory of the bytes of an array, which the host can read."""
    return int(np.asarray(array.physical()).__array_interface__["data"][0])


def _words(keys: Array) -> Any:
    """The array of words behind an array of random keys."""
    if not is_extended(keys.dtype):
        raise AttributeError(f"{keys.aval.str_short()} has no _base_array; random keys have.")
    return keys.physical()


def _generator(keys: Array) -> Any:
    """The generator of an array of random keys."""
    if not is_extended(keys.dtype):
        raise AttributeError(f"{keys.aval.str_short()} has no _impl; random keys have.")
    from bindax_random import find_prng, key_impl

    return find_prng(key_impl(keys))


def name_types() -> None:
    """Give the types of arrays and of tracers the modules and the method that they have in JAX."""
    for kind, module in _MODULES.items():
        kind.__module__ = module
    Array.unsafe_buffer_pointer = _address  # type: ignore[attr-defined]
    Array._base_array = property(_words)  # type: ignore[attr-defined]
    Array._impl = property(_generator)  # type: ignore[attr-defined]
    AnyArray.__name__ = AnyArray.__qualname__ = "Array"
    ShapedArray.__name__ = ShapedArray.__qualname__ = "ShapeDtypeStruct"
