"""Offer the package to the registry."""

from __future__ import annotations

from collections.abc import Iterable

import bindax_parallel
from bindax_core.extend import Primitive, hookimpl

PRIMITIVES = tuple(x for x in vars(bindax_parallel).values() if isinstance(x, Primitive))
"""Every primitive of the package: what its modules name in ``__all__``."""


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """The primitives."""
    return PRIMITIVES
