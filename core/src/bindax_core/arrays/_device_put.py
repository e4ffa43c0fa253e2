"""Moving values between host and devices on request; otherwise they move when they are needed."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, TypeVar, overload

import numpy as np

from bindax_core._extension_points import runtime
from bindax_core.arrays._array import Array
from bindax_core.arrays._backend import backends, find_backend
from bindax_core.arrays._extended_dtypes import is_extended
from bindax_core.arrays._memories import Space
from bindax_core.arrays._operands import as_array
from bindax_core.arrays._placement import (
    default_placement,
    default_sharding,
    memory_layout_of,
    place_on,
)
from bindax_core.arrays._settings import config
from bindax_core.arrays._transfer_guard import check_transfer, explicit_transfers
from bindax_core.arrays.sharding._laying import constrained, laid_out
from bindax_core.arrays.sharding._sharding import named
from bindax_core.kernel._aval import typeof
from bindax_core.kernel._operands import unwrapped
from bindax_core.kernel._trace import Tracer
from bindax_core.tree._flatten import tree_flatten, tree_leaves, tree_unflatten
from bindax_core.tree._map import tree_map
from bindax_core.tree._prefix import flatten_prefix

T = TypeVar("T")


def block_until_ready(x: T) -> T:
    """Wait until all arrays in a tree are computed; returns the tree.

    >>> from bindax_core import block_until_ready
    >>> block_until_ready({"a": 1.0})
    {'a': 1.0}
    """
    several: dict[Any, list[Any]] = {}
    for leaf in tree_leaves(x):
        if not isinstance(leaf, Array):
            continue
        owner = None if leaf.placement is None else leaf.placement.backend
        if leaf._buffer is None or leaf._host is not None or not hasattr(owner, "wait_for"):
            leaf.block_until_ready()
        else:
            several.setdefault(owner, []).append(leaf._buffer)
    for owner, buffers in several.items():
        owner.wait_for(buffers)
    return x


@overload
def device_get(x: Array) -> np.ndarray[Any, Any]: ...
@overload
def device_get(x: Any) -> Any: ...
def device_get(x: Any) -> Any:
    """A tree with NumPy arrays in place of arrays.

    What is no array stays as it is, as do traced values and arrays that NumPy has no dtype for,
    such as random keys.

    >>> from bindax_core import device_get, device_put
    >>> device_get(device_put(1.5))
    array(1.5)
    """

    def get(leaf: Any) -> Any:
        if isinstance(leaf, Tracer) or (isinstance(leaf, Array) and is_extended(leaf.aval.dtype)):
            return leaf
        if isinstance(leaf, Array):
            return leaf.numpy()
        return np.asarray(leaf) if hasattr(leaf, "__array__") else leaf

    with explicit_transfers():
        return tree_map(get, x)


def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: Any = False,
    may_alias: bool | None = None,
) -> Any:
    """A tree with its arrays on devices.

    Programs that use the arrays run on those devices from then on. Without a device, the arrays
    go to the first one and are bound to none.

    Args:
        x: arrays, NumPy arrays and scalars, in any tree. Traced values get the sharding as
            ``with_sharding_constraint`` gives it; of a single device they get the memory alone.
        device: one of ``devices()``, a ``Sharding``, a ``PartitionSpec`` on the mesh that is set,
            a ``Format``, a ``Space`` for another memory of the same devices, or a tree of those
            that begins as ``x`` does.
        src: where the arrays are now, as for ``device``. Arrays know that themselves, so that it is
            a remark for readers, of which the type alone is checked.
        donate: whether the arrays given are deleted afterwards, or a tree of such flags.
        may_alias: False to have new memory also where an array is there already.

    Raises:
        ValueError: when the device is a name or a number; when an array cannot be divided as its
            sharding says, or its axes cannot be ordered as its layout says; when an array that is
            donated may be the result.
        BackendError: when the backend has not these devices.

    >>> import numpy as np
    >>> from bindax_core import device_put
    >>> device_put(np.ones(2, np.float32))
    Array([1., 1.], dtype=float32)
    """
    leaves, tree = tree_flatten(x)
    targets = flatten_prefix(device, tree, "device_put: device", full_name="x")
    donated = flatten_prefix(donate, tree, "device_put: donate", full_name="x")
    for said in flatten_prefix(src, tree, "device_put: src", full_name="x"):
        _sharding_of(said, "device_put: src")
    if may_alias and any(donated):
        raise ValueError(
            "device_put: an array that is donated is deleted afterwards, so that the result cannot "
            "be the same one: may_alias and donate cannot be True at the same time."
        )
    with explicit_transfers():
        outs = [
            _put(leaf, target, may_alias is not False, bool(given))
            for leaf, target, given in zip(leaves, targets, donated, strict=True)
        ]
    return tree_unflatten(tree, outs)


def _put(leaf: Any, target: Any, may_alias: bool, donate: bool) -> Any:
    leaf = unwrapped(leaf)
    if target is None:
        if isinstance(leaf, Tracer):
            return leaf
        if isinstance(leaf, Array) and leaf.committed:
            return leaf if may_alias else leaf.copy()
        backend = find_backend()
        if config.default_device is None:
            return _moved(leaf, default_placement(backend), donate)
        placement = place_on(backend, default_sharding(), committed=False)
        return _moved(leaf, placement, donate)
    layout, target = _concrete_format(target)
    if layout is not None:
        layout.check(typeof(leaf), "device_put: x")
        made = laid_out(_put(leaf, target, may_alias, donate), layout)
        check_layout(made, layout, "device_put")
        return made
    if target is None:
        return _put(leaf, None, may_alias, donate)
    if isinstance(target, Space):
        if isinstance(leaf, Tracer):
            return constrained(leaf, target)
        own = leaf.sharding if isinstance(leaf, Array) else default_sharding()
        target = own.with_memory_kind(target.value)
    sharding = _sharding_of(target, "device_put: device")
    several = len(sharding.device_assignment) > 1
    if isinstance(leaf, Tracer):
        own_memory = not several and sharding.other_memory is None
        return constrained(leaf, Space.Device if own_memory else sharding)
    sharding.check(typeof(leaf).shape, "device_put: x")
    placement = place_on(find_backend(), sharding)
    if not isinstance(leaf, Array) or not leaf.committed:
        return _moved(leaf, placement, donate)
    own = leaf.sharding
    if leaf.placement is placement or own == sharding:  # which says nothing of the layout
        return leaf if may_alias else leaf.copy()
    is_shared = several and may_alias and not donate and leaf._buffer is not None
    if is_shared and own.is_equivalent_to(sharding, leaf.ndim):
        return Array.from_buffer(leaf.aval, leaf._buffer, placement)
    same_memory = own.other_memory == sharding.other_memory is None
    if several and same_memory and own.device_assignment == sharding.device_assignment:
        made = constrained(leaf, sharding)  # the devices exchange their parts
        if donate:
            leaf.delete()
        return made
    return _moved(leaf, placement, donate)


def _sharding_of(given: Any, what: str) -> Any:
    """A sharding from what users give for one; None stays None."""
    return None if given is None else named(given, what, ValueError)


def check_layout(made: Any, layout: Any, what: str) -> None:
    """Raise unless an array, if it is none that is traced, lies in memory as it was asked to.

    Raises:
        ValueError: when its backend has the default order alone.
    """
    if isinstance(made, Array) and made.format.layout != layout:
        placement = made.placement
        backend = find_backend() if placement is None else placement.backend
        raise ValueError(
            f"{what}: an array of type {made.aval.str_short()} is to lie in the order {layout!r}, "
            f"but the backend {backend.name!r} has the default order alone; install a compiler, as "
            f"with bindax[xla]."
        )


def _concrete_format(given: Any) -> tuple[Any, Any]:
    """The layout, or None, and the sharding of a target of ``device_put``."""
    from bindax_core.arrays.sharding._layout import concrete_format

    return concrete_format(given, "device_put: device")


def _moved(leaf: Any, placement: Any, donate: bool) -> Array:
    """An array of the same values in another placement, by way of the host if need be."""
    aval, own = typeof(leaf), as_array(leaf)  # a copy, unless it is an array already
    physical = own.physical()
    buffer = _received(physical, placement) if own is leaf else None
    if buffer is None:
        if config.transfer_guard_host_to_device != "allow":
            check_transfer("host_to_device", aval)
        host = np.array(physical) if own is leaf else physical.numpy()
        buffer = placement.put(host, physical.aval)
    made = Array.from_buffer(aval, buffer, placement)
    if donate and own is leaf:
        own.delete()
    return made


def _received(physical: Array, placement: Any) -> Any:
    """A buffer copied from devices to devices; None where the bytes have to pass the host."""
    receive, source = getattr(placement, "receive", None), physical.placement
    if physical._buffer is None or receive is None or source.backend is not placement.backend:
        return None
    if memory_layout_of(source) is not None:
        return None  # whether a copy keeps the order of axes in memory is up to the release of XLA
    return receive(physical._buffer, physical.aval, physical.sharding)


def devices(backend: str | None = None) -> list[Any]:
    """The devices of a backend, those of other processes included.

    Args:
        backend: its name, or the name of a platform, such as ``"cpu"``; by default the one that
            ``jit`` uses.

    Raises:
        BackendError: when there is none of the name.

    >>> len(devices("numpy"))
    1
    """
    if backend is not None and backend not in backends:
        chosen = find_backend()
        runtime.plugins.load_backends(None)
        for other in (chosen, *list(backends.values())):
            if other.platform == backend:
                return list(other.devices())
    return list(find_backend(backend).devices())


def device_count(backend: str | None = None) -> int:
    """The number of devices of all processes.

    >>> device_count("numpy")
    1
    """
    return len(devices(backend))


def default_backend() -> str:
    """The name of the backend that ``jit`` uses."""
    return find_backend().name


def default_device(device: Any) -> AbstractContextManager[None]:
    """Choose the device of programs whose operands are bound to none, inside a ``with`` block.

    Args:
        device: one of ``devices()``, or None for the first. It is the value of
            ``config.default_device`` inside the block.

    Raises:
        ValueError: when it is no device.

    >>> from bindax_core import default_device, device_put, devices
    >>> with default_device(devices()[-1]):
    ...     device_put(1.0).device == devices()[-1]
    True
    """
    if device is not None and not (hasattr(device, "platform") and hasattr(device, "id")):
        raise ValueError(
            f"default_device: device must be one of bindax.devices() or None, but it is {device!r}."
        )
    return config.override(default_device=device)
