"""The hooks, called once, when something of this package is first used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import Primitive, hookimpl
from bindax_example_cpp.function import fading_sum, fading_sum_p


@hookimpl
def bindax_primitives() -> list[Primitive]:
    """The primitives that this package owns."""
    return [fading_sum_p]


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Sample inputs for the conformance kit."""
    from bindax_testing import array, sample

    for dtype in ("float32", "float64"):
        for shape in ((5,), (2, 3)):
            for reverse in (False, True):
                yield sample(fading_sum, array(shape, dtype), decay=0.75, reverse=reverse)
