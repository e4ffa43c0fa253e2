"""Failures of checks as values: a number that says which check, and the numbers of its message."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import PyTreeDef, ShapedArray, tree_unflatten
from bindax_core.tree_util import register_pytree_node


class CheckError(ValueError):
    """A check of a program failed."""


class FailedCheckError(CheckError):
    """A condition given to ``check`` does not hold."""


class NaNError(CheckError):
    """An operation computed nan.

    >>> from bindax_experimental.checkify import checkify, nan_checks
    >>> error, _ = checkify(lambda x: x - x, errors=nan_checks)(float("inf"))
    >>> try:
    ...     error.throw()
    ... except NaNError:
    ...     print("found")
    found
    """


class DivisionByZeroError(CheckError):
    """A divisor is zero.

    >>> from bindax_experimental.checkify import checkify, div_checks
    >>> error, _ = checkify(lambda x: 1.0 / x, errors=div_checks)(0.0)
    >>> try:
    ...     error.throw()
    ... except DivisionByZeroError:
    ...     print("found")
    found
    """


class OOBError(CheckError):
    """An index is out of bounds."""


JaxRuntimeError = CheckError
"""The name that programs written for JAX catch."""

ErrorCategory = type[CheckError]
"""A kind of checks: a class of errors."""

user_checks: frozenset[ErrorCategory] = frozenset({FailedCheckError})
"""The checks that the program makes by ``check``."""

nan_checks: frozenset[ErrorCategory] = frozenset({NaNError})
"""The checks that no operation computes nan."""

index_checks: frozenset[ErrorCategory] = frozenset({OOBError})
"""The checks that indices are within bounds, whatever mode says what is done with others."""

div_checks: frozenset[ErrorCategory] = frozenset({DivisionByZeroError})
"""The checks that no divisor is zero."""

float_checks: frozenset[ErrorCategory] = nan_checks | div_checks
"""The checks of floating-point numbers."""

automatic_checks: frozenset[ErrorCategory] = float_checks | index_checks
"""The checks that need no change of the program."""

all_checks: frozenset[ErrorCategory] = automatic_checks | user_checks
"""Every check."""

Slot = tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]
"""The types of the numbers in a message, which find their place among those of other checks."""


@attrs.frozen
class Failure:
    """One way to fail: a kind of error with a format string, at a user's line.

    The tree is the structure ``(args, kwargs)`` of the values of its fields.
    """

    kind: ErrorCategory
    message: str
    tree: PyTreeDef
    where: str

    def exception(self, values: Sequence[Any]) -> CheckError:
        """The error with the values of its message."""
        args, kwargs = tree_unflatten(self.tree, [np.asarray(x) for x in values])
        error = self.kind(self.message.format(*args, **kwargs))
        error.add_note(f"The check is at {self.where}.")
        return error


class _Failures:
    """The failures of this process, numbered from one; equal ones have one number."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._numbers: dict[tuple[Failure, Slot], int] = {}
        self._all: list[tuple[Failure, Slot]] = []

    def number(self, failure: Failure, slot: Slot) -> int:
        with self._lock:
            key = failure, slot
            if key not in self._numbers:
                self._all.append(key)
                self._numbers[key] = len(self._all)
            return self._numbers[key]

    def __getitem__(self, number: int) -> tuple[Failure, Slot]:
        return self._all[number - 1]


failures: _Failures = _Failures()


def slot_of(avals: Sequence[Any]) -> Slot:
    """The place of values of these types."""
    return tuple([(tuple(aval.shape), aval.dtype) for aval in avals])


def slot_avals(slots: Sequence[Slot]) -> list[ShapedArray]:
    """The types of what is kept in places, one after the other."""
    return [ShapedArray(shape, dtype) for slot in slots for shape, dtype in slot]


class Error:
    """The first check that failed in a program, or none: what checkified functions return.

    It is a tree of arrays, so that ``jit``, ``vmap`` and loops pass it on.

    >>> init_error
    Error(None)
    """

    __slots__ = ("_code", "_payload", "_slots")

    def __init__(self, code: Any, slots: tuple[Slot, ...], payload: Sequence[Any]) -> None:
        self._code = code
        self._slots = slots
        self._payload = tuple(payload)

    def get(self) -> str | None:
        """The message of the failed check; None if all held.

        Where the error was batched, there is a line for each element in which one failed.
        """
        found = self._exceptions()
        if np.ndim(self._code) == 0:
            return str(found[0][1]) if found else None
        lines = [f"at mapped index {_shown(index)}: {error}" for index, error in found]
        return "\n".join(lines) or None

    def get_exception(self) -> CheckError | None:
        """The exception of the failed check; None if all held."""
        found = self._exceptions()
        if not found:
            return None
        first = found[0][1]
        return first if np.ndim(self._code) == 0 else type(first)(self.get())

    def throw(self) -> None:
        """Raise the exception, if a check failed.

        Raises:
            CheckError: when a check failed; its class says of which kind.
        """
        error = self.get_exception()
        if error is not None:
            raise error

    def _exceptions(self) -> list[tuple[tuple[int, ...], CheckError]]:
        codes = np.asarray(self._code)
        return [(i, self._exception(int(codes[i]), i)) for i in np.ndindex(codes.shape) if codes[i]]

    def _exception(self, code: int, index: tuple[int, ...]) -> CheckError:
        failure, slot = failures[code]
        start = 0
        for other in self._slots:
            if other == slot:
                break
            start += len(other)
        values = self._payload[start : start + len(slot)]
        return failure.exception([np.asarray(x)[index] for x in values])

    def __repr__(self) -> str:
        try:
            return f"Error({self.get()})"
        except (TypeError, ValueError):  # traced
            return f"Error({self._code!r})"


def _shown(index: tuple[Any, ...]) -> str:
    return ", ".join(str(int(i)) for i in index)


register_pytree_node(
    Error,
    lambda error: ((error._code, *error._payload), error._slots),
    lambda slots, children: Error(children[0], slots, children[1:]),
)

init_error: Error = Error(np.int32(0), (), ())
"""No error."""
