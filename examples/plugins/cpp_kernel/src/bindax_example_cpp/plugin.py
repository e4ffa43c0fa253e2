"""The hooks: what takes code. The entry points in ``pyproject.toml`` name everything else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import hookimpl
from bindax_example_cpp.function import fading_sum


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Sample inputs for the conformance suite."""
    from bindax_testing import array, sample

    for dtype in ("float32", "float64"):
        for shape in ((5,), (2, 3)):
            for reverse in (False, True):
                yield sample(fading_sum, array(shape, dtype), decay=0.75, reverse=reverse)
