"""Manual axes of a mesh in types: along which of them values differ between devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bindax_core.extend import typeof
from bindax_core.sharding import ManualAxisType

Cast = Callable[[Any, ManualAxisType], Any]
_casts: list[Cast] = []
_NONE: frozenset[Any] = frozenset()
_WHOLE = ManualAxisType()


def register_cast(cast: Cast) -> None:
    """Have a function bring values to types that say otherwise of manual axes.

    Args:
        cast: takes a value, and what its type is to say. The value is summed over the axes along
            which it varies, where the type says that all devices have the same.
    """
    _casts[:] = [cast]


def varying_as(x: Any, aval: Any) -> Any:
    """A cotangent that varies along the manual axes that a type names.

    One that varies along more of them belongs to a value that all devices along these axes have:
    they have shares of its cotangent, which are summed.
    """
    wanted = getattr(aval, "mat", None)
    return x if wanted is None or wanted == _mat(typeof(x)) else _casts[0](x, wanted)


def summed_as(x: Any, aval: Any) -> Any:
    """A value that all devices have, as terms of a sum or copies where a type says so."""
    mat = _mat(aval)
    return varying_as(x, aval) if mat.unreduced or mat.reduced else x


def varying_along(x: Any, names: frozenset[Any]) -> Any:
    """A value that is taken to vary along some more axes."""
    if not names:
        return x
    wanted = with_varying(typeof(x), names)
    return varying_as(x, wanted)


def varying_of(avals: Iterable[Any]) -> frozenset[Any]:
    """The manual axes along which one of some types varies."""
    return _NONE.union(*map(_varying, avals))


def with_varying(aval: Any, names: frozenset[Any]) -> Any:
    """The type of values that vary along some more axes."""
    if not names or not hasattr(aval, "mat") or names <= aval.mat.varying:
        return aval
    mat = aval.mat  # copies may be taken to vary; terms of a sum do, without the type saying so
    more = names - mat.unreduced
    return aval.update(mat=mat.update(varying=mat.varying | more, reduced=mat.reduced - more))


def varying_beyond(given: Iterable[Any], expected: Iterable[Any]) -> frozenset[Any]:
    """The axes along which operands vary and those that a program takes do not."""
    pairs = zip(given, expected, strict=True)
    return _NONE.union(*[_varying(a) - _varying(b) for a, b in pairs])


def same_on_devices(aval: Any) -> Any:
    """The type without what varies, which operands need not have as a program says it."""
    return aval.update(mat=_WHOLE) if _mat(aval) else aval


def without_varying(aval: Any) -> Any:
    """The type without the axes along which values vary, but with those of sums and copies."""
    return aval.update(mat=aval.mat.update(varying=())) if _varying(aval) else aval


def same_sums(avals: Iterable[Any]) -> bool:
    """Tell whether types agree in the manual axes along which values are terms or copies."""
    return len({_mat(aval).sets[1:] for aval in avals}) <= 1


def _varying(aval: Any) -> frozenset[Any]:
    return _mat(aval).varying


def _mat(aval: Any) -> ManualAxisType:
    return getattr(aval, "mat", None) or _WHOLE
