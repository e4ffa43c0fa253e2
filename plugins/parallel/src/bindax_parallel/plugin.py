"""Offer the package to the registry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bindax_parallel
from bindax_core.extend import Primitive, hookimpl

PRIMITIVES = tuple(x for x in vars(bindax_parallel).values() if isinstance(x, Primitive))
"""Every primitive of the package: what its modules name in ``__all__``."""


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """The primitives."""
    return PRIMITIVES


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the conformance kit programs of one device, with every collective."""
    from bindax_parallel._samples import samples

    return samples()
