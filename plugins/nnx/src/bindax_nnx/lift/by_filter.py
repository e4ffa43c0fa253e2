"""Something for each part of the variables of an object, the parts being told by filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bindax_nnx.filters import Filter, Path, check_order, to_predicate


class ByFilter(Mapping[Filter, Any]):
    """Something for each part of the variables of an object, the parts being told by filters."""

    def __init__(self, parts: Mapping[Filter, Any] | Iterable[tuple[Filter, Any]] = ()) -> None:
        try:
            pairs = tuple(dict(parts).items())
        except (TypeError, ValueError):
            raise TypeError(
                f"{type(self).__name__}: parts must map filters to values, but it is {parts!r:.60}."
            ) from None
        check_order(tuple(filter for filter, _ in pairs))
        self.filters: tuple[Filter, ...] = tuple(filter for filter, _ in pairs)
        self._values: tuple[Any, ...] = tuple(value for _, value in pairs)
        self._predicates = tuple(map(to_predicate, self.filters))

    def of(self, path: Path, variable: Any) -> Any:
        """The entry for one variable, or an error when no filter takes it."""
        for predicate, value in zip(self._predicates, self._values, strict=True):
            if predicate(path, variable):
                return value
        raise ValueError(
            f"{self!r} has no filter for {'/'.join(map(str, path)) or 'the variable'}, a "
            f"{type(variable).__name__}; add one, or `...` as the last, for all others."
        )

    def __getitem__(self, filter: Filter) -> Any:
        return dict(zip(self.filters, self._values, strict=True))[filter]

    def __iter__(self) -> Iterator[Filter]:
        return iter(self.filters)

    def __len__(self) -> int:
        return len(self.filters)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and self.filters == other.filters
            and self._values == other._values
        )

    def __hash__(self) -> int:
        return hash((type(self), self.filters, self._values))

    def __repr__(self) -> str:
        shown = (f"{_name(f)}: {v!r}" for f, v in zip(self.filters, self._values, strict=True))
        return f"{type(self).__name__}({{{', '.join(shown)}}})"


def _name(filter: Filter) -> str:
    if isinstance(filter, tuple):
        return f"({', '.join(map(_name, filter))})"
    return filter.__name__ if isinstance(filter, type) else repr(filter)
