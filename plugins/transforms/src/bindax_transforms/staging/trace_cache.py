"""Jaxprs of functions that are called again: traced once, as long as they see the same.

A loop is often called with the same function objects. Their jaxprs are remembered for the types
of the arguments, if all that the functions close over or name can be compared: numbers, arrays of
bindax, small NumPy arrays, functions and what transformations make of them, modules, classes, and
tuples, lists and dicts of these. A function that sees what may change unseen, such as large NumPy
arrays and other objects, or tracers, is traced at each call.
"""

from __future__ import annotations

import threading
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bindax_core.extend import Array, config
from bindax_transforms.batching.named_axes import bound_axes

R = TypeVar("R")

_LIMIT = 512
_MOST_BYTES = 4096
"""Of a NumPy array whose elements are compared."""

_MOST_SEEN = 4096
"""Of values that are compared, before tracing again is the cheaper way."""

_SAME = (
    types.NoneType,
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
    types.EllipsisType,
    np.dtype,
    np.generic,
    np.ufunc,
)
"""Types of values that do not change while they are the same object."""


class _TracedAs(NamedTuple):
    """The attribute ``traced_as`` of a function that is made anew at each call for a user's.

    Attributes:
        function: the user's function that it calls.
        values: what it closes over besides, which may differ from call to call.
        key: what else it depends on.
    """

    function: Callable[..., Any]
    values: Sequence[Any]
    key: Hashable


class _Entry(NamedTuple):
    functions: tuple[weakref.ref[Any], ...]
    seen: list[Any]
    result: Any


class _Content(NamedTuple):
    """The kind and size of a container, or all of an array."""

    kind: Any
    size: Any
    data: bytes = b""


class _MayChange(Exception):
    """A function sees something that may change unseen."""


_entries: OrderedDict[Hashable, _Entry] = OrderedDict()
_lock = threading.RLock()


def forget_traces() -> None:
    """Forget all jaxprs that ``traced_once`` remembers."""
    with _lock:
        _entries.clear()


def traced_once(
    functions: Sequence[Callable[..., Any]],
    key: Hashable,
    trace: Callable[[], tuple[R, Sequence[Any]]],
    given: Sequence[Any] = (),
) -> R:
    """The result of tracing functions, of an earlier call if they are and see the same.

    Args:
        functions: what the user gave, which are told apart by identity, or stand for that.
        key: what else the result depends on: types and structures of the arguments.
        trace: traces the functions; gives the result, and the values that its jaxprs close over.
        given: values that the functions see besides, such as static arguments.

    >>> from bindax_transforms import make_jaxpr
    >>> def double(x):
    ...     return x * 2.0
    >>> def trace():
    ...     made = make_jaxpr(double)(1.0)
    ...     return made, made.consts
    >>> traced_once([double], "float64[]", trace) is traced_once([double], "float64[]", trace)
    True
    """
    if bound_axes():
        return trace()[0]
    seen: list[Any] = []
    stands_for = [_stands_for(function) for function in functions]
    functions = [x.function for x in stands_for]
    try:
        for function, values, _ in stands_for:
            first = len(seen)
            _gather(function, seen, set())
            del seen[first : first + 1]  # the function itself, which is not to be kept alive
            _gather(tuple(values), seen, set())
        _gather(tuple(given), seen, set())
    except _MayChange:
        return trace()[0]
    keys = tuple([x.key for x in stands_for])
    whole = (tuple(map(id, functions)), keys, key, config.trace_key, config.backend)
    try:
        entry = _entries.get(whole)
    except TypeError:  # metadata of a structure has no hash
        return trace()[0]
    if entry is not None and _is_same(entry, functions, seen):
        with _lock:
            if whole in _entries:
                _entries.move_to_end(whole)
        return entry.result  # type: ignore[no-any-return]
    result, consts = trace()
    if all(type(const) in (Array, np.ndarray) or isinstance(const, np.generic) for const in consts):
        _store(whole, functions, seen, result)
    return result


def stand_for(
    made: Callable[..., R], function: Callable[..., Any], *key: Hashable, values: Sequence[Any] = ()
) -> Callable[..., R]:
    """Let a function that is made anew at each call be remembered as the user's that it calls.

    Args:
        made: the function. All that is to be known of its trace is in what it returns.
        function: the user's function.
        key: what it depends on besides.
        values: what else it closes over, which is compared as for functions of users.

    Returns:
        The function ``made``.

    >>> def doubled(function):
    ...     return stand_for(lambda x: 2 * function(x), function, "doubled")
    >>> from bindax_transforms import make_jaxpr
    >>> def trace(function):
    ...     made = make_jaxpr(function)(1.0)
    ...     return made, made.consts
    >>> def square(x):
    ...     return x * x
    >>> one, other = doubled(square), doubled(square)
    >>> first = traced_once([one], "float64[]", lambda: trace(one))
    >>> traced_once([other], "float64[]", lambda: trace(other)) is first
    True
    """
    said = _stands_for(function)
    stands = _TracedAs(said.function, (*said.values, *values), (said.key, *key))
    setattr(made, "traced_as", stands)  # noqa: B010 -- functions have any attributes
    return made


def _stands_for(function: Callable[..., Any]) -> _TracedAs:
    said = getattr(function, "traced_as", None)
    return said if type(said) is _TracedAs else _TracedAs(function, (), None)


def _is_same(entry: _Entry, functions: Sequence[Any], seen: Sequence[Any]) -> bool:
    alive = all(ref() is f for ref, f in zip(entry.functions, functions, strict=True))
    old = entry.seen
    return alive and len(old) == len(seen) and all(map(_is_unchanged, old, seen))


def _is_unchanged(old: Any, new: Any) -> bool:
    return old is new or (type(old) is type(new) is _Content and old == new)


def _store(key: Hashable, functions: Sequence[Any], seen: list[Any], result: Any) -> None:
    def drop(_: Any) -> None:
        _entries.pop(key, None)

    references = tuple(weakref.ref(function, drop) for function in functions)
    with _lock:
        _entries[key] = _Entry(references, seen, result)
        while len(_entries) > _LIMIT:
            _entries.popitem(last=False)


def _gather_function(function: types.FunctionType, seen: list[Any], visited: set[int]) -> None:
    """Collect what a function closes over, its defaults, and the globals that it names."""
    if id(function) in visited:
        return
    visited.add(id(function))
    seen.append(function.__code__)
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # not set yet
            raise _MayChange from None
        _gather(content, seen, visited)
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        _gather(value, seen, visited)
    found = function.__globals__
    if not str(found.get("__name__")).startswith("bindax"):  # whose modules do not change
        for name in _global_names(function.__code__):
            if name in found:
                _gather(found[name], seen, visited)


def _gather(value: Any, seen: list[Any], visited: set[int]) -> None:
    if len(seen) > _MOST_SEEN:
        raise _MayChange
    if isinstance(value, types.FunctionType):
        seen.append(value)
        _gather_function(value, seen, visited)
    elif type(value) in (tuple, list, dict, partial):
        if id(value) in visited and type(value) is not tuple:  # it may hold itself
            return
        visited.add(id(value))
        for item in _items(value, seen):
            _gather(item, seen, visited)
    elif type(value) is np.ndarray and value.nbytes <= _MOST_BYTES and not value.dtype.hasobject:
        seen.append(_Content(value.dtype, value.shape, value.tobytes()))
    elif hasattr(type(value), "traced_parts"):
        seen.append(value)
        if id(value) not in visited:
            visited.add(id(value))
            for item in value.traced_parts():
                _gather(item, seen, visited)
    elif type(value) is Array or isinstance(value, _SAME):  # a tracer says that it is an Array
        seen.append(value)
    else:
        raise _MayChange


def _items(value: Any, seen: list[Any]) -> Iterable[Any]:
    """The items of a container, whose kind and length are noted."""
    if type(value) is partial:
        seen.append(value)
        return value.func, value.args, value.keywords
    seen.append(_Content(type(value), len(value)))
    return [x for pair in value.items() for x in pair] if type(value) is dict else value


@lru_cache(maxsize=4096)
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    """The names that a function and the functions in it may look up among the globals."""
    inner = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return tuple(dict.fromkeys([*code.co_names, *(n for c in inner for n in _global_names(c))]))
