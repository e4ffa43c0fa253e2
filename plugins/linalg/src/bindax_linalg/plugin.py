"""Offer the package to the registry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bindax_linalg
from bindax_core.extend import Primitive, hookimpl

PRIMITIVES = tuple(x for x in vars(bindax_linalg).values() if isinstance(x, Primitive))
"""Every primitive of the package: what its modules name in ``__all__``."""


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """The primitives."""
    return PRIMITIVES


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Samples of the primitives, for the conformance kit."""
    from bindax_linalg.samples import conformance_samples

    return conformance_samples()
