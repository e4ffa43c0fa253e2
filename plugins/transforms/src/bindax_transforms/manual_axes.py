"""Manual axes of a mesh in types: along which of them values differ between devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bindax_core.extend import typeof
from bindax_core.sharding import ManualAxisType

Cast = Callable[[Any, frozenset[Any], frozenset[Any]], Any]
_casts: list[Cast] = []
_NONE: frozenset[Any] = frozenset()


def register_cast(cast: Cast) -> None:
    """Have a function bring values to types that vary otherwise.

    Args:
        cast: takes a value, the axes that it is summed over, because it varies along them and is
            not to, and those along which it is taken to vary.
    """
    _casts[:] = [cast]


def varying_as(x: Any, aval: Any) -> Any:
    """A cotangent that varies along the manual axes that the type of its value names.

    One that varies along more of them belongs to a value that all devices along these axes have:
    they have shares of its cotangent, which are summed.
    """
    wanted, present = _varying(aval), _varying(typeof(x))
    if wanted == present or not hasattr(aval, "mat"):
        return x
    return _casts[0](x, present - wanted, wanted - present)


def varying_along(x: Any, names: frozenset[Any]) -> Any:
    """A value that is taken to vary along some more axes."""
    more = names - _varying(typeof(x)) if names else names
    return _casts[0](x, _NONE, more) if more else x


def varying_of(avals: Iterable[Any]) -> frozenset[Any]:
    """The manual axes along which one of some types varies."""
    return _NONE.union(*map(_varying, avals))


def with_varying(aval: Any, names: frozenset[Any]) -> Any:
    """The type of values that vary along some more axes."""
    if not names or not hasattr(aval, "mat") or names <= aval.mat.varying:
        return aval
    return aval.update(mat=ManualAxisType(names | aval.mat.varying))


def varying_beyond(given: Iterable[Any], expected: Iterable[Any]) -> frozenset[Any]:
    """The axes along which operands vary and those that a program takes do not."""
    pairs = zip(given, expected, strict=True)
    return _NONE.union(*[_varying(a) - _varying(b) for a, b in pairs])


def same_on_devices(aval: Any) -> Any:
    """The type without what varies, which operands need not have as a program says it."""
    return aval.update(mat=ManualAxisType()) if _varying(aval) else aval


def _varying(aval: Any) -> frozenset[Any]:
    mat = getattr(aval, "mat", None)
    return mat.varying if mat else _NONE
