"""Differences of calls of a function that ``jit`` compiles separately, for messages.

A call is known by its key: the structure of its arguments, their types, the static values, and the
settings with the backend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

from bindax_core.extend import PyTreeDef, config, describe_function
from bindax_transforms._flat import parameter_roots
from bindax_transforms.staging.static_arguments import argument_paths

_MOST_LISTED = 3


class Change(NamedTuple):
    """A change between calls.

    Attributes:
        text: what it was, and what it is.
        number: how many different ones there were.
        advice: what to do about it.
    """

    text: str
    number: int
    advice: str


def differences(jitted: Any, key: Any, known: Any) -> list[str]:
    """List the differences of a call from another one that is known."""
    tree, avals, statics, _ = key
    old_tree, old_avals, old_statics, _ = known
    found = []
    if tree != old_tree:
        found.append(f"the arguments have the structure {tree}, where {old_tree} is known")
    else:
        found += [
            f"{path} is {_typed(new)}, where {_typed(old)} is known"
            for path, new, old in zip(paths_of_call(jitted, key), avals, old_avals, strict=True)
            if new != old
        ]
    given, before = _values(statics), _values(old_statics)
    for name in dict.fromkeys([*given, *before]):
        new, old = given.get(name), before.get(name)
        if new != old:
            now = f"{new[1]!r:.60}" if new else "not given"
            then = f"{old[1]!r:.60}" if old else "none"
            found.append(f"the static argument {name!r} is {now}, where {then} is known")
    own, others = _settings(key), _settings(known)
    for name in sorted({*own, *others}):
        value, other = _setting(own, name), _setting(others, name)
        if value != other:
            found.append(f"config.{name} is {value!r}, where {other!r} is known")
    return found


def paths_of_call(jitted: Any, key: Any) -> list[str]:
    """The paths of the arguments that are not static, by the names of the parameters."""
    tree, avals, statics, _ = key
    try:
        args, kwargs = tree.unflatten(avals)
        args = list(args)
        for position in sorted(filter(_is_position, _values(statics))):
            args.insert(position, None)  # which has no leaves
        return [path for path, _ in argument_paths(jitted._fun, args, kwargs)]
    except Exception:  # a container that checks what it holds
        return [f"array {i} of the arguments" for i in range(len(avals))]


def changes_of_calls(jitted: Any, keys: Sequence[Any]) -> tuple[list[str], str]:
    """Find what changed most between calls, and what helps.

    Args:
        jitted: the compiled function.
        keys: those of its calls, in their order; at least two.
    """
    last = keys[-1]
    structures = dict.fromkeys(tree for tree, *_ in keys)
    found: list[Change] = []
    if len(structures) > 1:
        old = next(tree for tree, *_ in reversed(keys) if tree != last[0])
        found.append(_structure_change(_roots(jitted, last), last[0], old, len(structures)))
    alike = [key for key in keys if key[0] == last[0]]
    for i, path in enumerate(paths_of_call(jitted, last)):
        types = [key[1][i] for key in alike]
        found += _changed(types, partial(_type_change, path))
    named = [_values(key[2]) for key in keys]
    roots = parameter_roots(jitted._fun, 1 + max([-1, *filter(_is_position, named[-1])]))
    for name in named[-1]:
        values = [one[name] for one in named if name in one]
        which = roots[name] if _is_position(name) else name
        found += _changed(values, partial(_static_change, which))
    for name in _settings(last):
        settings = [_setting(_settings(key), name) for key in keys]
        found += _changed(settings, partial(_config_change, name))
    most = max((one.number for one in found), default=0)
    chosen = [one for one in found if 2 * one.number > most]
    texts = [one.text for one in chosen[:_MOST_LISTED]]
    if len(chosen) > _MOST_LISTED:
        texts.append(f"and {len(chosen) - _MOST_LISTED} others")
    return texts, " ".join(dict.fromkeys(one.advice for one in chosen[:_MOST_LISTED]))


def ordinal(number: int) -> str:
    """A number as a position: ``21st``.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '21st', '112th']
    """
    teens = 10 < number % 100 < 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _changed(values: Sequence[Any], change: Callable[[Any, Any, int], Change]) -> list[Change]:
    """The change to the last one of some values from one before; nothing if they are equal."""
    new = values[-1]
    old = next((x for x in reversed(values) if x != new), new)
    return [] if old == new else [change(old, new, len(dict.fromkeys(values)))]


def _type_change(path: str, old: Any, new: Any, count: int) -> Change:
    is_size = getattr(old, "dtype", None) == getattr(new, "dtype", None) and (
        getattr(old, "shape", None) != getattr(new, "shape", None)
    )
    text = f"{path}: {_typed(old)} -> {_typed(new)}; the {ordinal(count)}"
    if not is_size:
        return Change(f"{text} type", count, f"Convert {path} to one dtype before the call.")
    advice = (
        f"Pad {path} to few sizes, such as powers of two, and mask what was added; or cut it into "
        f"pieces of one size, and map over them with vmap."
    )
    return Change(f"{text} size", count, advice)


def _static_change(name: str, old: Any, new: Any, count: int) -> Change:
    which = f"static argument {name}"
    (kind, value), (old_kind, old_value) = new, old
    if isinstance(value, FunctionType) and value.__code__ is getattr(old_value, "__code__", None):
        text = f"{which} is a new {describe_function(value)} at each call; the {ordinal(count)}"
        return Change(text, count, f"Define {value.__name__} once, outside of the loop.")
    if kind is old_kind and kind.__eq__ is object.__eq__:
        text = f"{which} is a new {kind.__name__} at each call; the {ordinal(count)}"
        advice = (
            f"{kind.__name__} has no __eq__, so that each one is another value: pass the same "
            f"one, or make the class a frozen dataclass."
        )
        return Change(text, count, advice)
    text = f"{which} has been {count} different values: {old_value!r:.60} -> {value!r:.60}"
    advice = "Take it out of static_argnums and static_argnames, unless a shape depends on it."
    return Change(text, count, advice)


def _config_change(name: str, old: Any, new: Any, count: int) -> Change:
    text = f"config.{name}: {old!r:.60} -> {new!r:.60}; the {ordinal(count)} value"
    return Change(text, count, f"Set config.{name} once.")


def _structure_change(roots: Sequence[str], new: PyTreeDef, old: PyTreeDef, count: int) -> Change:
    text = f"{_node_change(roots, new, old)}; the {ordinal(count)} structure of the arguments"
    advice = (
        "Keep the structure: what changes belongs into arrays, and not into the keys of a dict, "
        "the lengths of lists or the metadata of a class."
    )
    return Change(text, count, advice)


def _roots(jitted: Any, key: Any) -> list[str]:
    """The names of the positional arguments that are not static."""
    tree, _, statics, _ = key
    static = set(filter(_is_position, _values(statics)))
    count = len(tree.children()[0].children()) + len(static)
    return [name for i, name in enumerate(parameter_roots(jitted._fun, count)) if i not in static]


def _node_change(roots: Sequence[str], new: PyTreeDef, old: PyTreeDef) -> str:
    """The first node in which two structures of ``(args, kwargs)`` differ, and how it does."""
    (args, kwargs), (old_args, old_kwargs) = new.children(), old.children()
    stack = [(kwargs, old_kwargs, "")]
    given, before = args.children(), old_args.children()
    if len(given) != len(before):
        return f"{len(given)} positional arguments, where there were {len(before)}"
    stack += reversed(list(zip(given, before, roots, strict=True)))
    while stack:
        ours, theirs, path = stack.pop()
        where = path or "the arguments by name"
        data, other = ours.node_data(), theirs.node_data()
        if data is None or other is None or data[0] is not other[0]:
            if data is not other:
                return f"{where} is {_kind(data)}, where it was {_kind(other)}"
            continue
        kind, keys = data
        children, others = ours.children(), theirs.children()
        if len(children) != len(others) and not isinstance(keys, list):
            return f"{where} has {len(children)} elements, where it had {len(others)}"
        if keys != other[1]:
            what = "the keys" if kind is dict else f"the metadata of its {kind.__name__}"
            return f"{where}: {what} are {keys!r:.80}, where they were {other[1]!r:.80}"
        names = keys if kind is dict else range(len(children))
        below = [
            (child, theirs_child, _path(path, name))
            for child, theirs_child, name in zip(children, others, names, strict=True)
        ]
        stack.extend(reversed(below))
    return "the arguments differ"


def _path(path: str, name: Any) -> str:
    return f"{path}[{name!r}]" if path else str(name)


def _kind(data: tuple[type, Any] | None) -> str:
    return "an array" if data is None else f"a {data[0].__name__}"


def _values(statics: Any) -> dict[Any, tuple[type, Any]]:
    """The types and values of static arguments by position or name."""
    return {name: (kind, value) for name, value, kind in zip(*statics, strict=True)}


def _is_position(name: Any) -> bool:
    return isinstance(name, int)


def _settings(key: Any) -> dict[str, Any]:
    settings, backend = key[3]
    return {**dict(settings), "backend": backend}


def _setting(settings: dict[str, Any], name: str) -> Any:
    return settings.get(name, config.setting(name).default)


def _typed(aval: Any) -> str:
    weak = " of weak type" if getattr(aval, "weak_type", False) else ""
    return f"{aval.str_short()}{weak}"
