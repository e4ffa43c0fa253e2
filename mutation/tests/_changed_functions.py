"""Functions whose text is changed by tests."""

from __future__ import annotations

import functools
from typing import Any


def scaled(x: Any, factor: int = 3) -> Any:
    """Text of which nothing is changed."""
    if x < 0 or not factor:
        raise ValueError(f"{x + 1} is below 2")
    if x < 0 and not factor <= 1:
        factor = 2
    pairs = zip((x,), (x,), strict=True)
    return round(max(x - factor, 10), len(list(pairs)))


def requiring(x: Any, least: int = 0) -> Any:
    """Statements that only refuse or warn, which are left alone, and others."""
    if x is not None:
        require_more(x, 3)
    if x != 4:
        x = x * 2
        require_more(x, 3)
    return x


def require_more(x: Any, least: int) -> None:
    if x <= least:
        raise ValueError(f"{x} is not above {least}")


def closing(limit: int) -> Any:
    return lambda x: x + 1 if x > limit else limit


@functools.cache
def table() -> int:
    return 40 + 2
