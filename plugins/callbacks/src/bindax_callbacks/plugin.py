"""Offer the package to the registry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bindax_callbacks
from bindax_core.extend import Primitive, hookimpl

PRIMITIVES = tuple(x for x in vars(bindax_callbacks).values() if isinstance(x, Primitive))
"""Every primitive of the package: what its modules name in ``__all__``."""


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """Offer the primitives."""
    return PRIMITIVES


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the conformance kit calls of the functions, and the mistakes that change nothing."""
    from bindax_callbacks.samples import conformance_samples

    return conformance_samples()
