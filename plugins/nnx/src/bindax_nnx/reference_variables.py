"""Variables whose value is in a mutable array, and which new variables are such."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from bindax_core import config
from bindax_core.extend import ShapedArray, is_value
from bindax_nnx._metadata import require_no_hijax
from bindax_nnx.modes import Switch
from bindax_nnx.settings import nnx_variable_ref
from bindax_transforms.extend import Reference


class _Ref(Switch):
    _setting = nnx_variable_ref


class VarDefaults(Mapping[str, bool]):
    """The values of the metadata ``hijax`` and ``ref`` of new variables that have none.

    >>> dict(var_defaults())
    {'hijax': False, 'ref': False}
    """

    hijax = False

    def __init__(self, ref: bool) -> None:
        self.ref = ref

    def __getitem__(self, name: str) -> bool:
        return {"hijax": self.hijax, "ref": self.ref}[name]

    def __iter__(self) -> Iterator[str]:
        return iter(("hijax", "ref"))

    def __len__(self) -> int:
        return 2


def var_defaults(*, hijax: bool | None = None, ref: bool | None = None) -> Any:
    """Say whether new variables hold their values in mutable arrays.

    The change lasts, or to the end of a ``with`` block, or for the calls of a function.

    Args:
        hijax: False, or None: there are no variables of this kind.
        ref: the metadata ``ref`` of variables that have none; None leaves it as it is.

    Returns:
        Without arguments, what holds now, a ``VarDefaults``.

    Raises:
        ValueError: ``hijax`` is True.

    >>> from bindax_nnx import Variable
    >>> with var_defaults(ref=True):
    ...     count = Variable(0)
    >>> count.ref, var_defaults().ref
    (True, False)
    """
    require_no_hijax({"hijax": hijax})
    now = _Ref.current_value()
    if hijax is None and ref is None:
        return VarDefaults(now)
    return _Ref(now if ref is None else ref)


def add_defaults(metadata: dict[str, Any], value: Any) -> None:
    """Add what new variables have to the metadata of one that holds a value."""
    if config.nnx_variable_ref or isinstance(value, Reference):
        metadata.setdefault("ref", True)


def holds_reference(metadata: Mapping[str, Any]) -> bool:
    """Tell whether a variable with these metadata holds its value in a mutable array."""
    return bool(metadata.get("ref"))


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
            f"{kind} with ref=True holds one array, which functions change in place, but got "
            f"{value!r:.60} of type {type(value).__name__}. Make a variable for each array."
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
