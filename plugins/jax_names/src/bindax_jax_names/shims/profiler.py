"""``jax.profiler``: names of parts of a program; nothing is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bindax_core import named_call

__all__ = ["StepTraceAnnotation", "TraceAnnotation", "annotate_function"]


@contextmanager
def TraceAnnotation(name: str, **words: Any) -> Iterator[None]:
    """Do nothing inside the block."""
    yield


StepTraceAnnotation = TraceAnnotation


def annotate_function(
    func: Callable[..., Any], name: str | None = None, **words: Any
) -> Callable[..., Any]:
    """The function, its operations under a name."""
    return named_call(func, name=name)
