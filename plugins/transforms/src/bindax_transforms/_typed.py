"""The base of objects that have the shape and the dtype of a type."""

from __future__ import annotations

from typing import Any


class Typed:
    """Base of classes whose instances have the type ``aval``."""

    __slots__ = ()

    aval: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its axes."""
        return self.aval.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The dtype of its elements."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of its elements."""
        return int(self.aval.size)
