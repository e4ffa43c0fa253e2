"""Names of functions and of parts of graphs, for messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bindax_nnx._tokens import NodeToken
from bindax_nnx.graph import iter_nodes, iter_variables, static_token
from bindax_nnx.object import Object
from bindax_nnx.variables import Variable
from bindax_transforms.extend import stand_for


def named_after(flat: Callable[..., Any], fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of flat lists, shown in messages as the user's function that it calls."""
    flat.__name__ = getattr(fun, "__name__", type(fun).__name__)
    setattr(flat, "func", inspect.unwrap(fun))  # noqa: B010 -- functions have any attributes
    return flat


def remembered(
    flat: Callable[..., Any], fun: Callable[..., Any], *key: Any, values: Sequence[Any] = ()
) -> Callable[..., Any]:
    """The function, which stands for the user's where traces are remembered, see ``stand_for``."""
    return stand_for(named_after(flat, fun), fun, *key, values=values)


def with_positions(
    fun: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by position, where they were given by the names of positional parameters."""
    if not kwargs:
        return tuple(args), {}
    try:
        bound = inspect.signature(fun).bind(*args, **kwargs)
    except (TypeError, ValueError):  # the call itself says what is wrong
        return tuple(args), dict(kwargs)
    return bound.args, bound.kwargs


def name_at(root: Any, path: Sequence[Any]) -> str:
    """A place in a graph: the type of the root, and the attributes that lead there."""
    return ".".join([type(root).__name__, *map(str, path)])


def variable_name(roots: Sequence[Any], variable: Variable[Any]) -> str:
    """The place of a variable: the first in some graphs."""
    for root in roots:
        for path, found in iter_variables(root):
            if found is variable:
                return name_at(root, path)
    return str(variable._describe())


def changed_names(roots: Sequence[Any], references: Sequence[Any], structure: Any) -> list[str]:
    """The places where the attributes of graphs are others than in a structure that they had."""
    nodes = {id(x): i for i, x in enumerate(references) if isinstance(x, Object)}
    tokens = (x for x in structure.tokens if type(x) is NodeToken)
    numbers = [i for i, x in enumerate(references) if not isinstance(x, Variable)]
    names = {i: set(token.names) for i, token in zip(numbers, tokens, strict=True)}
    found = []
    for root in roots:
        for path, node in iter_nodes(root):
            number = nodes.get(id(node))
            if number is not None:
                for name, how in _differences(node, number, names[number], structure):
                    found.append(f"{name_at(root, (*path, name))} was {how}")
    return found


def _differences(
    node: Object, number: int, before: set[str], structure: Any
) -> Iterator[tuple[str, str]]:
    now = node.__dict__
    for name in sorted({*before, *now}):
        if name not in before:
            yield name, "added"
        elif name not in now:
            yield name, "deleted"
        else:
            token = static_token(now[name])
            if token is not None and token[0] != structure.tokens[structure.places()[number, name]]:
                yield name, "changed"
