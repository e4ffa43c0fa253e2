"""Variables whose value is in a mutable array, and which new variables are such."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from bindax_core import config
from bindax_core.extend import ShapedArray, is_value
from bindax_nnx.modes import Switch
from bindax_nnx.settings import nnx_variable_hijax, nnx_variable_ref
from bindax_transforms.extend import Reference

F = TypeVar("F", bound=Callable[..., Any])


class _Hijax(Switch):
    _setting = nnx_variable_hijax


class _Ref(Switch):
    _setting = nnx_variable_ref


class _Values(NamedTuple):
    hijax: bool
    ref: bool


class VarDefaults(Mapping[str, bool]):
    """The values of the metadata ``hijax`` and ``ref`` of new variables that have none.

    >>> dict(var_defaults())
    {'hijax': False, 'ref': False}
    """

    def __init__(self, hijax: bool, ref: bool) -> None:
        self._values = _Values(hijax, ref)

    @property
    def hijax(self) -> bool:
        """The value of ``hijax``."""
        return self._values.hijax

    @property
    def ref(self) -> bool:
        """The value of ``ref``."""
        return self._values.ref

    def __getitem__(self, name: str) -> bool:
        value: bool = self._values._asdict()[name]
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(_Values._fields)

    def __len__(self) -> int:
        return len(_Values._fields)


class _Switches:
    """Several settings that are changed together."""

    def __init__(self, switches: list[Switch]) -> None:
        self._switches = switches

    def __enter__(self) -> None:
        for switch in self._switches:
            switch.__enter__()

    def __exit__(self, *exception: Any) -> None:
        for switch in reversed(self._switches):
            switch.__exit__(*exception)

    def __call__(self, function: F) -> F:
        """The function, run with the settings; what they were before holds again."""
        for switch in self._switches:
            function = switch(function)
        return function


def var_defaults(*, hijax: bool | None = None, ref: bool | None = None) -> Any:
    """Say whether new variables hold their values in mutable arrays.

    The change lasts, or to the end of a ``with`` block, or for the calls of a function.

    Args:
        hijax: the metadata ``hijax`` of variables that have none; None leaves it as it is.
        ref: the metadata ``ref``, likewise.

    Returns:
        Without arguments, what holds now, a ``VarDefaults``.

    >>> from bindax_nnx import Variable
    >>> with var_defaults(ref=True):
    ...     count = Variable(0)
    >>> count.ref, var_defaults().ref
    (True, False)
    """
    if hijax is None and ref is None:
        return VarDefaults(_Hijax.current_value(), _Ref.current_value())
    given = [(_Hijax, hijax), (_Ref, ref)]
    return _Switches([switch(value) for switch, value in given if value is not None])


def add_defaults(metadata: dict[str, Any], value: Any) -> None:
    """Add what new variables have to the metadata of one that holds a value."""
    if config.nnx_variable_hijax:
        metadata.setdefault("hijax", True)
    if config.nnx_variable_ref or isinstance(value, Reference):
        metadata.setdefault("ref", True)


def holds_reference(metadata: Mapping[str, Any]) -> bool:
    """Tell whether a variable with these metadata holds its value in a mutable array."""
    return bool(metadata.get("ref") or metadata.get("hijax"))


def settled(kind: str, value: Any, metadata: Mapping[str, Any]) -> Any:
    """Content of a variable with a value: a mutable array, if its metadata say so.

    Args:
        kind: the kind of the variable, for messages.
        value: an array, or a mutable array, which the variable then refers to.
        metadata: the metadata.

    Raises:
        ImportError: bindax-refs is not installed.
        TypeError: the value is no array.
    """
    if not holds_reference(metadata):
        return loaded(value)
    if isinstance(value, Reference | ShapedArray):
        return value  # of a type there is nothing to keep
    if not is_value(value):
        raise TypeError(
            f"{kind} with ref=True or hijax=True holds one array, which functions change in place, "
            f"but got {value!r:.60} of type {type(value).__name__}. Make a variable for each array."
        )
    try:
        return import_module("bindax_refs").new_ref(value)
    except ImportError as error:
        raise ImportError(f"{kind} with ref=True needs bindax-refs; install it.") from error


def loaded(value: Any) -> Any:
    """The value in a mutable array; anything else as it is."""
    return value.load() if isinstance(value, Reference) else value


def all_loaded(values: Iterable[Any]) -> list[Any]:
    """The values in mutable arrays; anything else as it is."""
    return [x.load() if isinstance(x, Reference) else x for x in values]
