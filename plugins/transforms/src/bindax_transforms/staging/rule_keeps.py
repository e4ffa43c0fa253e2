"""The rule that keeps a traced value after its call, for the messages about values that leak."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from types import CodeType, FunctionType, ModuleType
from typing import Any

from bindax_core.extend import code_of, describe_rule, is_internal, rule_kinds, unwrapped_function

_DEPTH = 3
_MOST = 1000
_SEQUENCES = (list, tuple, set, frozenset, deque)


def keeper_of(main: Any) -> str:
    """A sentence about the rule that keeps a value of a trace; empty when none is found.

    Args:
        main: the entry of the trace on the trace stack.
    """
    for kind in list(rule_kinds.values()):
        for primitive, rule in kind.all_rules():
            code = code_of(rule.function)
            if code is None or is_internal(code):
                continue
            for name, value in _variables(rule.function, _DEPTH):
                if _holds(value, main, _DEPTH):
                    return f" It is kept in {name!r} by {describe_rule(primitive, kind.name)}."
    return ""


def _variables(function: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """The variables outside of a function that it names, and those of functions among them."""
    function = unwrapped_function(function)
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType):
        yield type(owner).__name__, owner
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType) or is_internal(function.__code__):
        return
    yield function.__name__, function.__dict__
    yield function.__name__, function.__defaults__
    outside = dict(zip(function.__code__.co_freevars, _contents(function), strict=True))
    outside |= {
        name: function.__globals__[name]
        for name in _names(function.__code__)
        if name in function.__globals__
    }
    for name, value in outside.items():
        if not isinstance(value, FunctionType):
            yield name, value
        elif depth:
            yield from _variables(value, depth - 1)


def _contents(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not bound yet
            yield None


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _holds(value: Any, main: Any, depth: int) -> bool:
    """Tell whether a variable is a value of a trace, or a container of some."""
    trace = getattr(value, "_trace", None) if hasattr(type(value), "_trace") else None
    if trace is not None:
        return getattr(trace, "main", None) is main
    if not depth or isinstance(value, type | ModuleType | FunctionType):
        return False
    if isinstance(value, Mapping):
        inner: Any = value.values()
    elif isinstance(value, _SEQUENCES):
        inner = value
    else:
        inner = getattr(value, "__dict__", {}).values()
    return any(_holds(x, main, depth - 1) for x in list(islice(inner, _MOST)))
