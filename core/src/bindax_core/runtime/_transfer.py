"""Moving values between host and devices on request; otherwise they move when they are needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.kernel._aval import typeof
from bindax_core.kernel._trace import Tracer
from bindax_core.runtime._array import Array
from bindax_core.runtime._backend import find_backend
from bindax_core.runtime._operands import as_array
from bindax_core.tree._flatten import tree_leaves
from bindax_core.tree._map import tree_map


def block_until_ready(x: Any) -> Any:
    """Wait until all arrays in a tree are computed; returns the tree.

    >>> from bindax_core import block_until_ready
    >>> block_until_ready({"a": 1.0})
    {'a': 1.0}
    """
    for leaf in tree_leaves(x):
        if isinstance(leaf, Array):
            leaf.block_until_ready()
    return x


def device_get(x: Any) -> Any:
    """A tree with NumPy arrays in place of arrays.

    >>> from bindax_core import device_get, device_put
    >>> device_get(device_put(1.5))
    array(1.5)
    """
    return tree_map(lambda leaf: leaf.numpy() if isinstance(leaf, Array) else np.asarray(leaf), x)


def device_put(x: Any, device: Any = None) -> Any:
    """A tree with its arrays on a device of the default backend; traced values stay as they are.

    Args:
        x: arrays, NumPy arrays and scalars, in any tree.
        device: one of ``devices()``, by default the first.

    Raises:
        TypeError: when it is given something else than a device.

    >>> import numpy as np
    >>> from bindax_core import device_put
    >>> device_put(np.ones(2, np.float32))
    Array([1., 1.], dtype=float32)
    """
    backend = find_backend()
    if device is not None and not hasattr(device, "put"):
        raise TypeError(
            f"device_put: device must be one of bindax.devices(), but it is {device!r:.60}; for "
            f"the first one give bindax.devices()[0]."
        )

    def put(leaf: Any) -> Any:
        if isinstance(leaf, Tracer):
            return leaf
        aval, own = typeof(leaf), as_array(leaf)  # a copy, unless it is an array already
        physical = own.physical()
        host = np.array(physical) if own is leaf else physical.numpy()
        return Array.from_buffer(aval, backend.put(host, physical.aval, device), backend)

    return tree_map(put, x)


def devices(backend: str | None = None) -> list[Any]:
    """The devices of a backend, by default of the one that ``jit`` uses."""
    return list(find_backend(backend).devices())


def default_backend() -> str:
    """The name of the backend that ``jit`` uses."""
    return find_backend().name
