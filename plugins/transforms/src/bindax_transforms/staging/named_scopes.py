"""Names of staged operations: ``named_scope`` and ``named_call``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from bindax_core.extend import api_boundary, current_source, wraps
from bindax_transforms._callables import check_function
from bindax_transforms.staging.names import enter_name

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def named_scope(name: str) -> Iterator[None]:
    """Name the operations that are staged inside the block or the decorated function.

    Equations, compiled programs and messages carry the name next to the user's line; scopes nest.

    Args:
        name: the name; not empty.

    Raises:
        TypeError: when it is no string.
        ValueError: when it is empty.

    >>> from bindax_core import named_scope
    >>> from bindax_lax_basic import sin
    >>> from bindax_transforms import make_jaxpr
    >>> def f(x):
    ...     with named_scope("layer"), named_scope("waves"):
    ...         return sin(x)
    >>> make_jaxpr(f)(1.0).jaxpr.eqns[0].source_info.names
    'layer/waves'
    """
    if not isinstance(name, str):
        raise TypeError(f"named_scope takes the name as a string, but got {name!r:.80}.")
    if not name:
        raise ValueError("named_scope takes a name that is not empty, but got ''.")
    outer = enter_name(name)
    try:
        yield
    finally:
        current_source.info = outer


@api_boundary
def named_call(fun: Callable[P, R], *, name: str | None = None) -> Callable[P, R]:
    """Name the operations that a function stages.

    Args:
        fun: the function.
        name: the name, by default the function's own.

    >>> from bindax_core import named_call
    >>> from bindax_lax_basic import sin
    >>> from bindax_transforms import make_jaxpr
    >>> make_jaxpr(named_call(sin, name="wave"))(1.0).jaxpr.eqns[0].source_info.names
    'wave'
    """
    check_function("named_call", "fun", fun)
    own = getattr(fun, "__name__", None)
    scope = (own if isinstance(own, str) else type(fun).__name__) if name is None else name
    with named_scope(scope):  # a name that is none is an error here, not at the first call
        pass

    @wraps(fun)
    def named(*args: P.args, **kwargs: P.kwargs) -> R:
        with named_scope(scope):
            return fun(*args, **kwargs)

    return named
