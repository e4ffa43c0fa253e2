"""Operands of programs that are on the host: NumPy arrays and Python numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.extend import Array, ShapedArray, check_transfer, config, unwrapped

if TYPE_CHECKING:
    from bindax_xla_backend.execution.backend import XlaBackend

_NUMBERS = frozenset((float, int, bool))
_MOST_NUMBERS = 64
"""The most numbers of which a program keeps the buffers."""


class HostOperands:
    """Brings the operands of one program to the first device; their types are known to be right.

    Buffers of Python numbers are kept, as functions are called with the same ones again and again.
    A program that uses up its operands must not be given them.
    """

    def __init__(self, backend: XlaBackend, avals: Sequence[ShapedArray]) -> None:
        self._backend = backend
        self._avals = avals
        self._own = backend.default_placement
        self._putters: list[Callable[[Any], Any] | None] = [None] * len(avals)
        self._numbers: dict[Any, Any] = {}

    def buffers(self, operands: Sequence[Any]) -> list[Any]:
        """The buffers of operands, of which some are arrays already."""
        own, put = self._own, self._put
        return [
            x._buffer
            if type(x) is Array and x._placement is own and x._buffer is not None
            else put(i, x)
            for i, x in enumerate(operands)
        ]

    def known_buffers(self, operands: Sequence[Any]) -> list[Any] | None:
        """The same for operands of any types: None unless each is known to have the right one."""
        avals = self._avals
        if len(operands) != len(avals) or config.transfer_guard_host_to_device != "allow":
            return None
        numbers, putters, own = self._numbers, self._putters, self._own
        buffers = []
        for i, x in enumerate(operands):
            kind, aval, buffer = type(x), avals[i], None
            if kind is Array:
                if x.aval is aval:
                    if x._placement is own and x._buffer is not None:
                        buffer = x._buffer
                    elif not x.committed:  # a program runs where its operands are bound to
                        buffer = x.buffer_on(self._backend)
            elif kind is np.ndarray:
                put = putters[i]
                if put is not None and x.dtype == aval.dtype and x.shape == aval.shape:
                    buffer = put(x) if x.flags.c_contiguous else None
            elif kind in _NUMBERS:
                buffer = numbers.get((i, kind, x or repr(x)))
            if buffer is None:
                return None
            buffers.append(buffer)
        return buffers

    def _put(self, i: int, x: Any) -> Any:
        if type(x) is Array:
            return x.buffer_on(self._backend)
        if config.transfer_guard_host_to_device != "allow":
            check_transfer("host_to_device", self._avals[i])
        kind = type(x)
        if kind is np.ndarray:
            if x.dtype == self._avals[i].dtype and x.flags.c_contiguous:
                return (self._putters[i] or self._putter(i))(x)
        elif kind in _NUMBERS:
            # Zeros have signs, and the integer is equal to the float. NaN is equal to nothing, so
            # that only the same object is found again.
            key = (i, kind, x or repr(x))
            found = self._numbers.get(key)
            if found is None:
                if len(self._numbers) >= _MOST_NUMBERS:
                    self._numbers.clear()
                found = self._numbers[key] = self._put_converted(i, x)
            return found
        x = unwrapped(x)
        return x.buffer_on(self._backend) if isinstance(x, Array) else self._put_converted(i, x)

    def _putter(self, i: int) -> Callable[[Any], Any]:
        aval = self._avals[i]
        if aval.dtype.kind in "biufc":
            putter = self._backend.device().putter(aval.shape, aval.dtype)
        else:

            def putter(x: Any) -> Any:
                return put_on(self._backend.default_placement, x, aval)

        self._putters[i] = putter
        return putter

    def _put_converted(self, i: int, x: Any) -> Any:
        return put_on(self._backend.default_placement, x, self._avals[i])


def put_on(place: Any, x: Any, aval: ShapedArray) -> Any:
    """A buffer of a number or a NumPy array, of its own and in a placement."""
    if type(x) is not np.ndarray or x.dtype != aval.dtype:
        with np.errstate(over="ignore"):  # of 64 bits, where the program takes 32
            x = np.asarray(x, aval.dtype)
    return place.put(x, aval, copy=True)
