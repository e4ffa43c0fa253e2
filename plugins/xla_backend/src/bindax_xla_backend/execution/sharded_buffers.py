"""Buffers with parts on several devices."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import ShapedArray
from bindax_xla_backend import _jaxlib
from bindax_xla_backend._element_types import storage_dtype
from bindax_xla_backend._jaxlib import RawSharding


def put_parts(parts: Sequence[Any], aval: ShapedArray, raw: RawSharding) -> Any:
    """One buffer of parts, each a NumPy array or a buffer, in the order of this process's devices.

    The parts must be of the shape that the sharding says: XLA does not look. Nobody may write to
    NumPy arrays among them later; one of them can be given for several devices.
    """
    return _jaxlib._jax.batched_device_put(
        _jaxlib._BufferAval(aval.shape, storage_dtype(aval.dtype)),
        raw,
        list(parts),
        list(raw._addressable_device_assignment),
        True,
        # The others end in "bad_function_call" where devices share the memory of a part.
        host_buffer_semantics=_jaxlib.xla_client.HostBufferSemantics.ZERO_COPY,
        enable_x64=True,
    )


def copied(buffer: Any, raw: RawSharding) -> Any:
    """A copy of a buffer, each part on the device that stands where its own did."""
    jax = _jaxlib._jax
    copies = jax.batched_copy_array_to_devices_with_sharding(
        [buffer], [raw._internal_device_list], [raw], [jax.ArrayCopySemantics.ALWAYS_COPY]
    )
    return copies[0]


def single_buffers(buffer: Any) -> list[Any]:
    """The buffers of the devices of this process, each on its device alone."""
    with _jaxlib._jax_import_blocked():
        return list(buffer._arrays)


# XLA asks the first part of a buffer whether it was deleted, and a program that runs on another one
# crashes. So it is remembered which buffers have parts that somebody else has, too.
_known: dict[int, tuple[weakref.ref[Any], list[Any]]] = {}
"""By the ``id`` of a buffer, which lives as long as the entry, its parts."""


def note_parts(buffer: Any, parts: Sequence[Any]) -> None:
    """Remember that parts of a buffer are buffers that somebody has."""
    key = id(buffer)
    _known[key] = (weakref.ref(buffer, lambda _: _known.pop(key, None)), list(parts))


def is_deleted(buffer: Any) -> bool:
    """Tell whether a buffer, or a part of it, was deleted or donated."""
    if buffer.is_deleted():
        return True
    _, parts = _known.get(id(buffer), (None, ()))
    return any(part.is_deleted() for part in parts)


def on_living_buffers(run: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    """An execution on several devices that fails, rather than crashes, for a deleted buffer."""

    def checked(buffers: Sequence[Any]) -> Any:
        for buffer in buffers:
            if buffer.is_deleted() or (id(buffer) in _known and is_deleted(buffer)):
                raise _jaxlib.RuntimeFailure("INVALID_ARGUMENT: a buffer was deleted or donated.")
        return run(buffers)

    return checked
