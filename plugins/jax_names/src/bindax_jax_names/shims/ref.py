"""Names of ``jax.ref`` that bindax spells another way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["AbstractRef"]


@dataclass(frozen=True)
class AbstractRef:
    """The type of a mutable array."""

    inner_aval: Any
    memory_space: Any = None
    kind: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its axes."""
        return self.inner_aval.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The dtype of its elements."""
        return self.inner_aval.dtype

    def __repr__(self) -> str:
        return f"Ref{{{self.inner_aval.str_short()}}}"
