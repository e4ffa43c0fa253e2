"""Arguments that are drawn by strategies of hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

_EXAMPLES = 15


def is_strategy(x: Any) -> bool:
    """Tell whether an argument is a strategy; without importing hypothesis."""
    return any(
        kind.__name__ == "SearchStrategy" and kind.__module__.startswith("hypothesis.")
        for kind in type(x).__mro__
    )


def drawn(args: tuple[Any, ...], seed: int) -> list[tuple[Any, ...]]:
    """Some lists of arguments; the same ones for the same seed."""
    import hypothesis

    rows: list[tuple[Any, ...]] = []

    def collect(row: tuple[Any, ...]) -> None:
        rows.append(row)

    given: Any = hypothesis.given
    seeded: Any = hypothesis.seed
    generated = _settings(_EXAMPLES, hypothesis.Phase.generate)
    seeded(seed)(generated(given(_together(args))(collect)))()
    return rows


def smallest(
    args: tuple[Any, ...], seed: int, fails: Callable[[tuple[Any, ...]], bool]
) -> tuple[Any, ...] | None:
    """The simplest list of arguments from the strategies that fails; None where none is found."""
    import hypothesis

    phases = hypothesis.Phase.generate, hypothesis.Phase.shrink
    try:
        return hypothesis.find(  # type: ignore[no-any-return]
            _together(args), fails, settings=_settings(_EXAMPLES, *phases), random=Random(seed)
        )
    except hypothesis.errors.NoSuchExample:
        return None


def _together(args: tuple[Any, ...]) -> Any:
    from hypothesis import strategies

    return strategies.tuples(*[x if is_strategy(x) else strategies.just(x) for x in args])


def _settings(count: int, *phases: Any) -> Any:
    import hypothesis

    return hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
