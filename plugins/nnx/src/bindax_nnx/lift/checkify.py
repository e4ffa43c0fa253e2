"""``checkify`` of functions of objects."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any

from bindax_core.extend import api_boundary
from bindax_nnx.lift._decorators import decorator, lift_of
from bindax_nnx.lift.call import Call


@decorator
def checkify(
    f: Callable[..., Any],
    errors: Any = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., Any]:
    """A function that checks what it computes, and returns the first failure with its result.

    Args:
        f: a function of objects, arrays and trees of these.
        errors: which checks; by default those that ``f`` makes.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Returns:
        A function of the same arguments that returns a pair of an error and the result. What ``f``
        changes in objects is changed in the originals.

    Raises:
        ImportError: bindax-experimental is not installed.

    >>> from bindax_experimental import checkify as checks
    >>> error, result = checkify(lambda x: 1.0 / x, checks.float_checks)(0.0)
    >>> "division by zero" in error.get()
    True
    """
    lift = lift_of("checkify", "f", f, graph, graph_updates)
    try:
        checks = import_module("bindax_experimental").checkify
    except ImportError as error:
        raise ImportError("checkify needs bindax-experimental; install it.") from error
    wanted = checks.user_checks if errors is None else errors

    @wraps(f)
    @api_boundary
    def checked(*args: Any, **kwargs: Any) -> Any:
        call = Call(f, args, kwargs, lift=lift)
        error, outs = checks.checkify(call.flat, wanted)(call.leaves)
        return error, call.finish(outs)

    return checked
