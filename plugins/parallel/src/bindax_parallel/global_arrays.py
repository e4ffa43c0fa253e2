"""Arrays on several devices, made of parts: each process brings those of its own devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core import device_put
from bindax_core.extend import (
    Array,
    ShapedArray,
    as_array,
    find_backend,
    is_extended,
    physical_array,
    place_on,
)
from bindax_core.sharding import Format, Layout, concrete_format

if TYPE_CHECKING:
    from bindax_core.sharding import Sharding

__all__ = [
    "make_array_from_callback",
    "make_array_from_process_local_data",
    "make_array_from_single_device_arrays",
]

Index = tuple[slice, ...]


def _sharding_argument(what: str, given: Any) -> Any:
    if not hasattr(given, "device_assignment"):
        raise TypeError(f"{what}: sharding must be a Sharding, but it is {given!r:.80}.")
    return given


def make_array_from_callback(
    shape: Sequence[int],
    sharding: Sharding | Format,
    data_callback: Callable[[Index], Any],
    dtype: Any = None,
) -> Array:
    """An array of which a function gives the parts: those on devices of this process alone.

    Args:
        shape: the shape of the whole array.
        sharding: which part lies on which device; or a ``Format``.
        data_callback: takes the index of a part, a slice for each axis, and returns the part. It
            is called once for each part.
        dtype: the dtype of the parts; that of the first when omitted.

    Raises:
        ValueError: when the array cannot be divided so, or a part has another shape or dtype.

    >>> import numpy as np
    >>> from bindax_core import devices
    >>> from bindax_core.sharding import SingleDeviceSharding
    >>> whole = np.arange(4)
    >>> make_array_from_callback((4,), SingleDeviceSharding(devices()[0]), lambda i: whole[i])
    Array([0, 1, 2, 3], dtype=int64)
    """
    what, shape = "make_array_from_callback", tuple(shape)
    layout, given = concrete_format(sharding, f"{what}: sharding", TypeError)
    given = _sharding_argument(what, given)
    given.check(shape, f"{what}: the array")
    parts: dict[str, Any] = {}
    indices = given.addressable_devices_indices_map(shape)
    for index in indices.values():
        if str(index) not in parts:
            parts[str(index)] = as_array(data_callback(index)).numpy()
    own = [parts[str(index)] for index in indices.values()]
    made = _assembled(what, shape, given, own, dtype)
    return made if layout is None else device_put(made, Format(layout, given))


def make_array_from_process_local_data(
    sharding: Sharding, local_data: Any, global_shape: Sequence[int] | None = None
) -> Array:
    """An array of which each process brings its own part, as one array.

    With one process, ``device_put`` does the same.

    Args:
        sharding: which part lies on which device.
        local_data: what belongs on the devices of this process, in one array.
        global_shape: the shape of the whole array. Along axes where it is that of ``local_data``,
            each process brings all of the array. When omitted, the parts of the processes are put
            together along the axes that their devices divide.

    Raises:
        ValueError: when ``local_data`` has not the shape of what belongs on these devices.

    >>> import numpy as np
    >>> from bindax_core import devices
    >>> from bindax_core.sharding import SingleDeviceSharding
    >>> make_array_from_process_local_data(SingleDeviceSharding(devices()[0]), np.arange(3))
    Array([0, 1, 2], dtype=int64)
    """
    what = "make_array_from_process_local_data"
    sharding = _sharding_argument(what, sharding)
    local = as_array(local_data).numpy()
    is_local = [getattr(device, "is_local", True) for device in sharding.device_assignment]
    if not any(is_local):
        raise ValueError(f"{what}: no device of the sharding belongs to this process.")
    coordinates = sharding._coordinates(local.ndim)[np.array(is_local)]
    counts, first, parts = (
        sharding.partitions(local.ndim),
        coordinates.min(0),
        np.ptp(coordinates, 0) + 1,
    )
    if global_shape is None:
        sizes = zip(local.shape, parts, counts, strict=True)
        shape = tuple(int(size // own * count) for size, own, count in sizes)
    else:
        shape = tuple(global_shape)
    sharding.check(shape, f"{what}: the array")
    offsets = []
    for i, (size, whole) in enumerate(zip(local.shape, shape, strict=True)):
        part = whole // counts[i]
        if size not in (whole, part * parts[i]):
            raise ValueError(
                f"{what}: local_data has shape {local.shape}, but along axis {i} the devices of "
                f"this process hold {part * parts[i]} of the {whole} elements of the whole array."
            )
        offsets.append(0 if size == whole else int(first[i]) * part)
    own = []
    for index in sharding.addressable_devices_indices_map(shape).values():
        moved = [
            slice(s.start - offset, s.stop - offset) if s.start is not None else s
            for s, offset in zip(index, offsets, strict=True)
        ]
        own.append(np.array(local[tuple(moved)]))
    return _assembled(what, shape, sharding, own, None)


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[Array], *, dtype: Any = None
) -> Array:
    """An array of parts that are on their devices already; they are not copied.

    Args:
        shape: the shape of the whole array.
        sharding: which part lies on which device.
        arrays: an array on each device of this process, in any order.
        dtype: the dtype; needed where this process has no device.

    Raises:
        ValueError: when a device lacks its array, or an array has another shape or dtype than its
            part.

    >>> from bindax_core import device_put, devices
    >>> from bindax_core.sharding import SingleDeviceSharding
    >>> whole = SingleDeviceSharding(devices()[0])
    >>> make_array_from_single_device_arrays((), whole, [device_put(1, devices()[0])])
    Array(1, dtype=int64, weak_type=True)
    """
    what, shape = "make_array_from_single_device_arrays", tuple(shape)
    sharding = _sharding_argument(what, sharding)
    sharding.check(shape, f"{what}: the array")
    by_device: dict[Any, Array] = {}
    for i, x in enumerate(arrays):
        given: Any = x
        if not isinstance(given, Array) or len(given.sharding.device_assignment) != 1:
            raise ValueError(
                f"{what}: arrays[{i}] must be an array on one device, but it is {given!r:.80}."
            )
        by_device[given.device] = given
    needed = [d for d in sharding.device_assignment if getattr(d, "is_local", True)]
    if set(by_device) != set(needed) or len(arrays) != len(needed):
        raise ValueError(
            f"{what}: arrays are on {sorted(map(repr, by_device))} ({len(arrays)} arrays), but the "
            f"sharding needs one on each of {sorted(map(repr, needed))}."
        )
    own = [_in_default_order(by_device[device]) for device in needed]
    if len(sharding.device_assignment) == 1:
        _check_parts(what, shape, sharding, own, dtype)
        return own[0]
    return _assembled(what, shape, sharding, own, dtype)


def _in_default_order(x: Array) -> Array:
    default = Layout.default(len(x.shape))
    return x if x.format.layout == default else device_put(x, Format(default, x.sharding))


def _check_parts(
    what: str, shape: tuple[int, ...], sharding: Sharding, parts: Sequence[Any], dtype: Any
) -> Any:
    """Raise unless all parts are of the shape of a part, and of one dtype, which is returned."""
    if not parts and dtype is None:
        raise ValueError(f"{what}: this process has no part of the array, so give its dtype.")
    dtype = parts[0].dtype if dtype is None else np.dtype(dtype)
    expected = sharding.shard_shape(shape)
    for i, part in enumerate(parts):
        if tuple(part.shape) != expected or part.dtype != dtype:
            raise ValueError(
                f"{what}: part {i} has shape {tuple(part.shape)} and dtype {part.dtype}, but the "
                f"array of shape {shape} takes parts of shape {expected} and dtype {dtype}."
            )
    return dtype


def _assembled(
    what: str, shape: tuple[int, ...], sharding: Sharding, parts: Sequence[Any], dtype: Any
) -> Array:
    dtype = _check_parts(what, shape, sharding, parts, dtype)
    placement = place_on(find_backend(), sharding)
    weak = all(isinstance(x, Array) and x.weak_type for x in parts)
    if parts and isinstance(parts[0], Array):
        aval = parts[0].aval.update(shape=shape, weak_type=weak)
    else:
        aval = ShapedArray(shape, dtype)
    inner = aval.physical()
    physical = list(parts)
    if is_extended(dtype):
        physical = [x.physical() if isinstance(x, Array) else physical_array(x) for x in parts]
    make = getattr(placement, "assemble", None)
    if make is None:  # a backend with one device
        return Array.from_buffer(aval, placement.put(np.asarray(physical[0]), inner), placement)
    buffers = [x.buffer_at(x.placement) if isinstance(x, Array) else x for x in physical]
    return Array.from_buffer(aval, make(inner, buffers), placement)
