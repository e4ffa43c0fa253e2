"""Arguments that are drawn by strategies of hypothesis."""

from __future__ import annotations

from typing import Any

_EXAMPLES = 5


def is_strategy(x: Any) -> bool:
    """Tell whether an argument is a strategy; without importing hypothesis."""
    return any(
        kind.__name__ == "SearchStrategy" and kind.__module__.startswith("hypothesis.")
        for kind in type(x).__mro__
    )


def drawn(args: tuple[Any, ...], seed: int) -> list[tuple[Any, ...]]:
    """Some lists of arguments; the same ones for the same seed."""
    import hypothesis
    from hypothesis import strategies

    rows: list[tuple[Any, ...]] = []
    parts = [x if is_strategy(x) else strategies.just(x) for x in args]

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=_EXAMPLES,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategies.tuples(*parts))
    def collect(row: tuple[Any, ...]) -> None:
        rows.append(row)

    collect()
    return rows
