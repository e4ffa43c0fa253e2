"""Values that modules record while a function runs, by ``sow`` and ``perturb``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from inspect import ismethod
from typing import Any

from bindax_nnx.module import CAPTURES, Module, iter_modules
from bindax_nnx.state import State, split_flat
from bindax_nnx.variables import Variable

_set = object.__setattr__


def capture(
    fn: Any,
    *var_types: type[Variable[Any]],
    init: State | None = None,
    method_outputs: type[Variable[Any]] | None = None,
) -> Callable[..., Any]:
    """A function that also gives what the modules recorded while it ran.

    Args:
        fn: a module, a method of one, or a function whose first argument is a module; or a kind of
            variable, which makes this a decorator.
        var_types: the kinds of variables to give, each in a state of its own.
        init: what ``perturb`` is to add, by path, as an earlier call gave it.
        method_outputs: a kind of variable in which the results of all methods are recorded.

    Returns:
        A function that returns a pair of the result and a state, or a tuple with one state for
        each kind, of which the first that fits has a variable. Nothing stays in the modules.

    >>> from bindax_nnx import Intermediate
    >>> class Double(Module):
    ...     def __call__(self, x):
    ...         self.sow(Intermediate, "input", x)
    ...         return 2 * x
    >>> result, recorded = capture(Double(), Intermediate)(3.0)
    >>> result, recorded["input"].value
    (6.0, (3.0,))
    """
    if isinstance(fn, type) and issubclass(fn, Variable):
        kinds = (fn, *var_types)
        return lambda given: capture(given, *kinds, init=init, method_outputs=method_outputs)
    owner = fn if isinstance(fn, Module) else fn.__self__ if ismethod(fn) else None

    @wraps(fn if owner is None else type(owner).__call__)
    def capturing(*args: Any, **kwargs: Any) -> Any:
        module = args[0] if owner is None else owner
        _begin(module, var_types, {} if init is None else _by_module(init))
        try:
            with _recorded_methods(module, method_outputs):
                result = fn(*args, **kwargs)
        finally:
            found = _end(module)
        if not var_types:
            return result
        flat = {path: x for kind in var_types for path, x in found.get(kind, {}).items()}
        parts = split_flat(flat, var_types, everything=True)
        return (result, *map(State.from_flat_path, parts))

    return capturing


def _by_module(init: Mapping[Any, Any]) -> dict[tuple[Any, ...], dict[str, Variable[Any]]]:
    """The variables of a state, by the path of the module and their name in it."""
    found: dict[tuple[Any, ...], dict[str, Variable[Any]]] = {}
    flat = init if isinstance(init, State) else State(init)
    for path, variable in flat.flat_state().items():
        found.setdefault(path[:-1], {})[path[-1]] = variable
    return found


def _begin(module: Any, kinds: Sequence[type[Variable[Any]]], given: Mapping[Any, Any]) -> None:
    """Give each module an empty record for each kind, or one with what is given for it."""
    for path, one in list(iter_modules(module, graph=True)):
        records: dict[type[Variable[Any]], dict[str, Any]] = {kind: {} for kind in kinds}
        for name, variable in given.get(path, {}).items():
            records.setdefault(type(variable), {})[name] = variable.get_value()
        setattr(one, CAPTURES, tuple([kind(record) for kind, record in records.items()]))


def _end(module: Any) -> dict[type[Variable[Any]], dict[tuple[Any, ...], Any]]:
    """Take the records out of the modules; gives the variables of each kind by path."""
    found: dict[type[Variable[Any]], dict[tuple[Any, ...], Any]] = {}
    for path, one in list(iter_modules(module, graph=True)):
        for record in one.__dict__.get(CAPTURES, ()):
            for name, value in record.get_value().items():
                kind = type(record)
                found.setdefault(kind, {})[(*path, name)] = kind(value)
        if CAPTURES in one.__dict__:
            delattr(one, CAPTURES)
    return found


@contextmanager
def _recorded_methods(module: Any, kind: Any) -> Iterator[None]:
    """Let the modules be of classes whose methods record their results, for a while."""
    changed = []
    if kind is not None:
        changed = [(one, type(one)) for _, one in iter_modules(module, graph=True)]
    try:
        for one, cls in changed:
            known: Any = cls
            _set(one, "__class__", _recording_class(known, kind))
        yield
    finally:
        for one, cls in changed:
            _set(one, "__class__", cls)


@cache
def _recording_class(cls: type, kind: Any) -> type:
    """A subclass whose methods, those that the class itself defines, record their results."""
    methods = {
        name: _recording(name, method, kind)
        for name, method in vars(cls).items()
        if callable(method) and not isinstance(method, type)
        if not name.startswith("_") or name == "__call__"
    }
    return type(cls)(cls.__name__, (cls,), {"__module__": cls.__module__, **methods})


def _recording(name: str, method: Callable[..., Any], kind: Any) -> Callable[..., Any]:
    @wraps(method)
    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        self.sow(kind, name, result)
        return result

    return recorded
