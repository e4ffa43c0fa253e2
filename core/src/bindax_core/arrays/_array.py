"""The array value: immutable, its bytes on the host, on a device, or both."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from bindax_core._extension_points import runtime
from bindax_core._fast_paths import fast_paths
from bindax_core.arrays._extended_dtypes import (
    as_extended,
    is_extended,
    logical_array,
    physical_array,
)
from bindax_core.arrays._numbers import canonicalize_array
from bindax_core.arrays._operators import ArrayOperators, OperatorsType
from bindax_core.arrays._origins import LARGE, note_origin
from bindax_core.arrays._placement import (
    DefaultPlacement,
    PlacedElsewhereError,
    as_placement,
    default_placement,
)
from bindax_core.arrays._settings import config
from bindax_core.arrays._shaped_array import ShapedArray, float0
from bindax_core.arrays._shards import ShardedArray
from bindax_core.arrays._transfer_guard import check_transfer
from bindax_core.errors import DeletedArrayError
from bindax_core.kernel._aval import ValueType, register_value_type

NumPyArray = np.ndarray[Any, Any]
_MOST_PRINTED = 20_000
"""The elements that are printed of an array, at most."""
_MOST_FETCHED = 1 << 28
"""The bytes that are brought to the host to be printed, at most."""


class Array(ShardedArray, ArrayOperators, metaclass=OperatorsType):
    """An immutable array; what bindax's operations return.

    The bytes move between host and device only when somebody looks; on the CPU without a copy.
    Make one with ``Array.from_numpy``; NumPy arrays and Python scalars are accepted wherever an
    ``Array`` is.

    >>> x = Array.from_numpy(np.zeros(2, np.float32))
    >>> x
    Array([0., 0.], dtype=float32)
    >>> x.shape, x.dtype.name
    ((2,), 'float32')
    """

    __slots__ = ("__weakref__", "_buffer", "_host", "_placement", "aval")

    aval: ShapedArray
    _host: NumPyArray | None
    _buffer: Any
    _placement: Any

    def __init__(
        self, aval: ShapedArray, host: NumPyArray | None, buffer: Any = None, placement: Any = None
    ) -> None:
        self.aval = aval
        self._host = host
        self._buffer = buffer
        self._placement = placement

    @classmethod
    def from_numpy(cls, array: Any, aval: ShapedArray | None = None) -> Array:
        """An array that owns the bytes of a NumPy array, which becomes read-only.

        Args:
            array: a NumPy array or scalar that nobody writes to any more.
            aval: its type, where it is weak. Without it the array is one that enters: of 32 bits
                while ``config.enable_x64`` is False.
        """
        host = np.asarray(array)
        if aval is None and config.enable_x64 is False:
            host = canonicalize_array(host)
        if not host.dtype.isnative:
            host = host.astype(host.dtype.newbyteorder("="))
        if host.flags.writeable:
            host.flags.writeable = False
        made = cls(ShapedArray(host.shape, host.dtype) if aval is None else aval, host)
        if host.nbytes >= LARGE:
            note_origin(made)
        return made

    @classmethod
    def from_buffer(cls, aval: ShapedArray, buffer: Any, owner: Any) -> Array:
        """An array whose bytes are in a buffer; they come to the host when needed.

        Args:
            aval: its type; of how it lies the placement says.
            buffer: the buffer.
            owner: its ``Placement``, or the backend for that on its first device.
        """
        placement = as_placement(owner)
        if placement.committed:
            aval = aval.lying(placement.sharding)
        made = cls(aval, None, buffer, placement)
        if made.nbytes >= LARGE:
            note_origin(made)
        return made

    @staticmethod
    def wrapper(aval: ShapedArray, owner: Any) -> Callable[[Any], Array]:
        """A fast ``buffer -> Array`` for many buffers of one type, for the results of programs."""
        new, placement = Array.__new__, as_placement(owner)
        if aval.size * aval.dtype.itemsize >= LARGE:
            return partial(Array.from_buffer, aval, owner=placement)
        fast_paths.load()
        if fast_paths.wrapper is not None:
            return fast_paths.wrapper(aval, placement)

        def wrap(buffer: Any) -> Array:
            array = new(Array)
            array.aval = aval
            array._host = None
            array._buffer = buffer
            array._placement = placement
            return array

        return wrap

    @staticmethod
    def buffers_on(arrays: Sequence[Array], backend: Any) -> list[Any]:
        """``buffer_on`` of each of many arrays, fast where they are on the backend already."""
        own = default_placement(backend)
        return [
            x._buffer if x._placement is own and x._buffer is not None else x.buffer_on(backend)
            for x in arrays
        ]

    @staticmethod
    def buffers_at(arrays: Sequence[Array], placements: Sequence[Any]) -> list[Any]:
        """``buffer_at`` of each of many arrays, fast where they are there already."""
        return [
            x._buffer if x._placement is own and x._buffer is not None else x.buffer_at(own)
            for x, own in zip(arrays, placements, strict=True)
        ]

    @property
    def placement(self) -> Any:
        """The ``Placement`` of the bytes, now or before; None of those on the host alone."""
        return self._placement

    @property
    def place(self) -> Any:
        """The placement, in plugin API 1: a backend stands for its default placement."""
        own = self._placement
        return own.backend if isinstance(own, DefaultPlacement) else own

    def numpy(self) -> NumPyArray:
        """The bytes on the host, as a read-only NumPy array."""
        host = self._host
        if host is None:
            if self._buffer is None:
                raise DeletedArrayError(
                    f"Array has been deleted. It is of type {self.aval.str_short()}, and was used "
                    f"after it was deleted or donated to a compiled function; use that function's "
                    f"result, or do not donate it."
                )
            host = self._fetch()
            # What is bound to devices stays there: operations on it are not the host's.
            if self._is_within_reach():
                self._host = host
        if host.flags.writeable:
            host.flags.writeable = False
        return host

    def _fetch(self) -> NumPyArray:
        aval = self.aval
        if config.transfer_guard_device_to_host != "allow" and not self._is_within_reach():
            check_transfer("device_to_host", aval)
        if not is_extended(aval.dtype):
            return self._placement.to_host(self._buffer, aval)  # type: ignore[no-any-return]
        return logical_array(self._placement.to_host(self._buffer, aval.physical()), aval.dtype)

    def physical(self) -> Array:
        """The array that represents this one, if its dtype is extended; itself otherwise."""
        if not is_extended(self.aval.dtype):
            return self
        host = None if self._host is None else physical_array(self._host)
        return Array(self.aval.physical(), host, self._buffer, self._placement)

    @classmethod
    def of_physical(cls, aval: ShapedArray, array: Array) -> Array:
        """The array of a type that another array represents; that one if the type is its own."""
        if not is_extended(aval.dtype):
            return array
        host = None if array._host is None else logical_array(array._host, aval.dtype)
        own = array.aval.placement
        if own is not None:
            aval = aval.update(sharding=own.of_first_axes(aval.ndim))
        return cls(aval, host, array._buffer, array._placement)

    def buffer_on(self, backend: Any) -> Any:
        """The bytes as a backend's buffer, put there on the first use and kept."""
        own = default_placement(backend)
        if self._placement is own and self._buffer is not None:
            return self._buffer
        if self.committed and self._buffer is not None and self._placement.backend is backend:
            raise PlacedElsewhereError("an array is bound to devices of the backend.")
        self._host = self.numpy()
        self._buffer, self._placement = self._put_to(own), own
        return self._buffer

    def buffer_at(self, placement: Any) -> Any:
        """The bytes as a buffer of a placement, brought there if neither of the two is committed.

        Raises:
            PlacedElsewhereError: when the array is bound to other devices, or the placement is one
                for arrays that are bound to it.
        """
        if self._buffer is None and self._host is None:
            self.numpy()  # raises, because the array was deleted
        if self._placement is placement and self._buffer is not None:
            return self._buffer
        if placement.committed or self.committed:
            raise PlacedElsewhereError("an array is bound to other devices.")
        return self._put_to(placement)

    def _put_to(self, placement: Any) -> Any:
        """A new buffer of a placement with the bytes."""
        if config.transfer_guard_host_to_device != "allow":
            check_transfer("host_to_device", self.aval)
        physical = self.physical()
        return placement.put(physical.numpy(), physical.aval)

    def _is_within_reach(self) -> bool:
        """Tell whether NumPy can read the bytes where they are."""
        # A forked process lacks the threads of a compiler: there, NumPy is what there is.
        return (
            self._buffer is None
            or bool(self._placement.host_accessible)
            or not runtime.has_compiler_threads
        )

    @property
    def dtype(self) -> Any:
        """The dtype of the elements: NumPy's, or an extended one."""
        dtype = self.aval.dtype
        return dtype if dtype.names is None else as_extended(dtype)

    @property
    def itemsize(self) -> int:
        """The size of one element, in bytes."""
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements, in bytes."""
        return self.size * self.itemsize

    @property
    def on_host(self) -> bool:
        """True if the bytes can be read without waiting for a device."""
        return self._host is not None

    def block_until_ready(self) -> Array:
        """Wait until the computation of this array has ended; returns the array."""
        if self._buffer is not None and self._host is None:
            self._placement.block_until_ready(self._buffer)
        elif self._host is None:
            self.numpy()  # raises, because the array was deleted
        return self

    def is_deleted(self) -> bool:
        """Tell whether the bytes were given away by donation or ``delete``."""
        if self._host is not None:
            return False
        return self._buffer is None or self._placement.is_deleted(self._buffer)

    def delete(self) -> None:
        """Free the bytes now; later use is an error."""
        if self._buffer is not None:
            self._placement.delete(self._buffer)
        self._host = self._buffer = None

    def item(self, *index: int) -> Any:
        """One element as a Python scalar."""
        try:
            return self._plain().item(*index)
        except (TypeError, IndexError, ValueError) as error:
            given = index[0] if len(index) == 1 else index
            text = f"item of {self.aval.str_short()}: {given!r:.60} names no element: {error}"
            raise type(error)(f"{text}.") from None

    def tolist(self) -> Any:
        """The elements as nested Python lists."""
        return self._plain().tolist()

    def copy(self) -> Array:
        """An array with bytes of its own, which stay when those of this one are given away."""
        copy = getattr(self._placement, "copy", None)
        if copy is not None and not self._is_within_reach():
            physical = self.physical()
            buffer = copy(physical._buffer, physical.aval)
            return Array(self.aval, None, buffer, self._placement)
        return Array.from_numpy(self.numpy().copy(), self.aval)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NumPyArray:
        host = self._plain()
        if dtype is not None and host.dtype != dtype:
            if copy is False:
                raise ValueError(
                    f"converting {host.dtype} to {dtype} needs a copy; pass copy=None."
                )
            return host.astype(dtype)
        return host.copy() if copy else host

    def __buffer__(self, flags: int) -> memoryview:
        """A view of the bytes, which cannot be written to; ``memoryview(x)`` from Python 3.12."""
        if flags & 1:  # PyBUF_WRITABLE
            raise BufferError("arrays are immutable: a buffer to write to takes np.array(x).")
        return memoryview(self._plain())  # type: ignore[arg-type]

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        options: dict[str, Any] = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        given = {name: value for name, value in options.items() if value is not None}
        return self._plain().copy().__dlpack__(stream=stream, **given)

    def _plain(self) -> NumPyArray:
        """The bytes, of an array of numbers."""
        if is_extended(self.aval.dtype):
            raise TypeError(
                f"an array of dtype {self.dtype} has no numbers to give to NumPy; of random keys, "
                f"random.key_data(x) gives the array that represents them."
            )
        return self.numpy()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __bool__(self) -> bool:
        return bool(self._plain())

    def __int__(self) -> int:
        self._require_scalar()
        return int(self._plain())

    def __float__(self) -> float:
        self._require_scalar()
        return float(self._plain())

    def __complex__(self) -> complex:
        self._require_scalar()
        return complex(self._plain())

    def __index__(self) -> int:
        self._require_index()
        return self._plain().__index__()

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("len() of an array without axes; use .size for the number of elements.")
        return self.aval.shape[0]

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "arrays are immutable, so x[i] = y is not possible; make a changed copy with "
            "x.at[i].set(y), or change the NumPy array before it is passed in."
        )

    def __repr__(self) -> str:
        if self.is_deleted():
            return f"Array(shape={self.shape}, dtype={self.dtype}, deleted)"
        if is_extended(self.aval.dtype):
            return f"Array({self.shape}, dtype={self.dtype}) overlaying:\n{self.physical()}"
        dtype = "float0" if self.dtype == float0 else self.dtype.name
        suffix = f"dtype={dtype}{', weak_type=True' if self.weak_type else ''})"
        if self.size == 0 and self.dtype != float0:
            return f"Array([], shape={self.shape}, {suffix}"
        if self.dtype == float0 or not self._is_printed():
            return f"Array(shape={self.shape}, {suffix}"
        start = "Array("
        text = np.array2string(self.numpy(), prefix=start, separator=", ", suffix=",")
        text = f"{start}{text},"
        last_line = text[text.rfind("\n") + 1 :]
        fits = len(last_line) + 1 + len(suffix) <= np.get_printoptions()["linewidth"]
        return f"{text} {suffix}" if fits else f"{text}\n{' ' * len(start)}{suffix}"

    def _is_printed(self) -> bool:
        """Tell whether the elements are printed: they are here, and not too many."""
        if not (self.is_fully_addressable or self.is_fully_replicated):
            return False  # parts are in other processes
        if self.nbytes > _MOST_FETCHED and not (self.on_host or self._is_within_reach()):
            return False
        # Of many elements NumPy prints the ends of the axes, which are many where axes are many.
        ends = math.prod([min(n, 7) for n in self.shape])
        return ends <= _MOST_PRINTED or self.size <= np.get_printoptions()["threshold"]

    def __str__(self) -> str:
        if self.is_deleted() or is_extended(self.aval.dtype) or not self._is_printed():
            return repr(self)
        return str(self.numpy())

    def __format__(self, spec: str) -> str:
        is_text = not spec or is_extended(self.aval.dtype)
        return format(str(self) if is_text else self.numpy()[()], spec)

    def __reduce__(self) -> tuple[Callable[..., Array], tuple[Any, ...]]:
        return (_rebuild, (self.numpy(), self.weak_type))

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return self.copy()


def _rebuild(host: NumPyArray, weak_type: bool) -> Array:
    return Array.from_numpy(host, ShapedArray(host.shape, host.dtype, weak_type))


register_value_type(ValueType(Array, attrgetter("aval"), lambda x, aval: x.numpy()))
