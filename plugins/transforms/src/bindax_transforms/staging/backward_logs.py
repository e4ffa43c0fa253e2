"""Logs of backward rules: values that leave a derivative beside its cotangents.

Rules run one after the other, some of them while a transposed program is staged. What they log then
are results of that program, and what applies it logs them again, as values.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bindax_core.extend import PyTreeDef, tree_flatten, tree_unflatten


class _Wanted(threading.local):
    """The place of logs; None as long as nobody asks for them."""

    logs: dict[Any, Any] | None = None


_wanted = _Wanted()


def are_logs_wanted() -> bool:
    """Tell whether anybody asked for what backward rules log here."""
    return _wanted.logs is not None


@contextmanager
def logs_go_to(logs: dict[Any, Any] | None) -> Iterator[None]:
    """Collect what backward rules log inside the block; None drops it."""
    before = _wanted.logs
    _wanted.logs = logs
    try:
        yield
    finally:
        _wanted.logs = before


def log(entries: dict[Any, Any]) -> None:
    """Log values by name.

    Raises:
        ValueError: when a name was logged before in the same derivative.

    >>> logs = {}
    >>> with logs_go_to(logs):
    ...     log({"slope": 2.0})
    >>> logs
    {'slope': 2.0}
    """
    logs = _wanted.logs
    if logs is None:
        return
    for name in entries:
        if name in logs:
            raise ValueError(
                f"backward rules log {name!r} twice in one derivative; the name of a log must be "
                f"unique. In a loop or a vmap one rule logs once, with one more axis."
            )
    logs.update(entries)


def logging_results(
    function: Callable[..., Sequence[Any]], structures: list[PyTreeDef | None]
) -> Callable[..., Sequence[Any]]:
    """The function with what is logged inside as last results, for ``log_last``.

    Args:
        function: a function of flat values.
        structures: gets the structure of what is logged, or None, when the function has run.
    """

    def run(*args: Any) -> Sequence[Any]:
        logs: dict[Any, Any] = {}
        with logs_go_to(logs):
            outs = function(*args)
        leaves, structure = tree_flatten(logs)
        structures.append(structure if logs else None)
        return [*outs, *leaves]

    return run


def log_last(structure: PyTreeDef | None, outs: Sequence[Any]) -> Sequence[Any]:
    """Log the last results of a program, if it has such; gives the others."""
    if structure is None:
        return outs
    cut = len(outs) - structure.num_leaves
    log(tree_unflatten(structure, outs[cut:]))
    return outs[:cut]
