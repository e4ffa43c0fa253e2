"""The hooks: what takes code. The entry points in ``pyproject.toml`` name everything else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import hookimpl
from bindax_example_softsign.containers import Bounds
from bindax_example_softsign.function import softsign_p


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Sample inputs for the conformance suite; one line for an elementwise function."""
    from bindax_testing import away_from, container, elementwise

    yield from elementwise(softsign_p, away_from(0.0), dtypes=("float32", "float64"))
    yield container(Bounds(1.0, (2.0, 3.0), name="b"))
