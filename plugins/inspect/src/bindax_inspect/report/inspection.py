"""``inspect``: a function becomes one that returns the report of its program."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from bindax_core.extend import api_boundary
from bindax_inspect.report.report import Report
from bindax_transforms import check_function, make_jaxpr


def inspect(fun: Callable[..., Any]) -> Callable[..., Report]:
    """Make a function that returns the report of the program that ``fun`` is for its arguments.

    Args:
        fun: a function of pytrees of arrays, transformed or not.

    Returns:
        A function of the arguments of ``fun`` that returns a ``Report``.

    Raises:
        TypeError: when ``fun`` is not callable. What ``fun`` raises while it is traced, is raised.

    >>> import bindax_lax_basic as lax
    >>> inspect(lambda x: lax.sin(x) * 2.0)(1.0).jaxpr.out_avals
    [ShapeDtypeStruct(shape=(), dtype=float64, weak_type=True)]
    """
    check_function("inspect", "fun", fun)

    @wraps(fun)
    @api_boundary
    def inspected(*args: Any, **kwargs: Any) -> Report:
        return Report(make_jaxpr(fun)(*args, **kwargs))

    return inspected
