"""The modules and names of types under the alias, by which packages tell arrays of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core import AnyArray
from bindax_core.extend import Array
from bindax_transforms.autodiff.jvp import JVPTracer
from bindax_transforms.autodiff.partial_eval import PartialEvalTracer
from bindax_transforms.batching.vmap import BatchTracer
from bindax_transforms.staging.jaxpr_trace import JaxprTracer

_STAGING = "jax._src.interpreters.partial_eval"
_MODULES: dict[Any, str] = {
    AnyArray: "jax",
    Array: "jaxlib._jax",
    JaxprTracer: _STAGING,
    PartialEvalTracer: _STAGING,
    BatchTracer: "jax._src.interpreters.batching",
    JVPTracer: "jax._src.interpreters.ad",
}


def _address(array: Array) -> int:
    """The place in memory of the bytes of an array, which the host can read."""
    return int(np.asarray(array).__array_interface__["data"][0])


def name_types() -> None:
    """Give the types of arrays and of tracers the modules and the method that they have in JAX."""
    for kind, module in _MODULES.items():
        kind.__module__ = module
    Array.unsafe_buffer_pointer = _address  # type: ignore[attr-defined]
    AnyArray.__name__ = AnyArray.__qualname__ = "Array"
