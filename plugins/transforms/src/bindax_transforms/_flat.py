"""Helpers of all interpreters: user functions on flat lists, and small list functions."""

from __future__ import annotations

import inspect
import itertools
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from bindax_core.extend import (
    AbstractValue,
    ClosedJaxpr,
    DebugInfo,
    PyTreeDef,
    Tracer,
    as_array,
    is_value,
    keystr,
    subjaxprs,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
    unknown_type_error,
)
from bindax_transforms.staging.reference import Reference, argument_error, returned_error
from bindax_transforms.zeros import Zero

T = TypeVar("T")


def flatten_function(
    function: Callable[..., Any], in_tree: PyTreeDef, origin: DebugInfo | None = None
) -> tuple[Callable[..., list[Any]], Callable[[], PyTreeDef]]:
    """A function of flat values for one of trees, and where to find its output's tree.

    Args:
        function: takes positional arguments, and keyword arguments if ``in_tree`` has them.
        in_tree: the structure of ``(args, kwargs)``.
        origin: the transformation and the user's function, for messages; None where the output may
            hold what is no array.

    Returns:
        The flat function, and a function that gives the output's structure after it has run.

    Raises:
        TypeError: when the function returns something that is no array; the message names it.

    >>> leaves, in_tree = tree_flatten(((3.0, {"a": 4.0}), {}))
    >>> flat, out_tree = flatten_function(lambda x, y: {"sum": x + y["a"]}, in_tree)
    >>> flat(*leaves), out_tree()
    ([7.0], PyTreeDef({'sum': *}))
    """
    store: list[PyTreeDef] = []

    def flat_function(*leaves: Any) -> list[Any]:
        args, kwargs = tree_unflatten(in_tree, leaves)
        result = function(*args, **kwargs)
        out, out_tree = tree_flatten(result)
        for i, x in enumerate(out):
            if origin is not None and not is_value(x):
                path = argument_names(result, "output")[i]
                if isinstance(x, Reference):
                    raise returned_error(x, origin, path)
                raise unknown_type_error(x, f"{origin} returned at {path} ")
        store.append(out_tree)
        return out

    return flat_function, lambda: store[-1]


def check_values(leaves: Iterable[Any], names: Callable[[], list[str]], before: str) -> None:
    """Raise when a leaf is no array; the message begins with some words and the leaf's name."""
    for i, x in enumerate(leaves):
        if not is_value(x):
            if isinstance(x, Reference):
                raise argument_error(x, f"{before} {names()[i]}: it")
            raise unknown_type_error(x, f"{before} {names()[i]}: ")


def own_value(x: Any) -> Any:
    """A value that nobody can write to: an ``Array`` of its own in place of a NumPy array."""
    return as_array(x) if isinstance(x, np.ndarray) else x


def partition(which: Sequence[bool], values: Iterable[T]) -> tuple[list[T], list[T]]:
    """The values where ``which`` is false, and those where it is true.

    Args:
        which: a flag for each value.
        values: as many values of any kind.

    Raises:
        ValueError: when their numbers differ.

    >>> partition([True, False, True], "abc")
    (['b'], ['a', 'c'])
    """
    no: list[T] = []
    yes: list[T] = []
    for flag, value in zip(which, values, strict=True):
        (yes if flag else no).append(value)
    return no, yes


def merge(which: Sequence[bool], no: Iterable[T], yes: Iterable[T]) -> list[T]:
    """One list in the order of the flags: the inverse of ``partition``.

    Args:
        which: a flag for each value of the result.
        no: the values where it is false, in order.
        yes: the values where it is true, in order.

    >>> merge([True, False, True], ["b"], ["a", "c"])
    ['a', 'b', 'c']
    """
    no, yes = iter(no), iter(yes)
    return [next(yes) if flag else next(no) for flag in which]


def split(values: Sequence[T], *sizes: int) -> list[list[T]]:
    """Cut a list into pieces of the given sizes, and the rest.

    Args:
        values: what is cut.
        sizes: the lengths of the pieces, in order.

    >>> split([1, 2, 3, 4, 5], 2, 1)
    [[1, 2], [3], [4, 5]]
    """
    cuts = [0, *itertools.accumulate(sizes), len(values)]
    return [list(values[a:b]) for a, b in itertools.pairwise(cuts)]


def with_zeros(flags: Sequence[bool], values: Iterable[Any], avals: Sequence[Any]) -> list[Any]:
    """A tangent or cotangent for each flag: the next value, or a ``Zero`` of the type.

    Args:
        flags: whether there is a value.
        values: those that there are, in order.
        avals: the types of all primals.

    >>> import numpy as np
    >>> from bindax_core.extend import ShapedArray
    >>> with_zeros([True, False], [1.5], [ShapedArray((), np.float32)] * 2)
    [1.5, Zero(float32[])]
    """
    values = iter(values)
    return [
        next(values) if flag else Zero(aval.tangent_aval())
        for flag, aval in zip(flags, avals, strict=True)
    ]


def cached_on_jaxpr(jaxpr: ClosedJaxpr, key: Any, make: Callable[[], T]) -> T:
    """Compute something derived from a jaxpr once, and keep it with the jaxpr.

    Args:
        jaxpr: what it is derived from; its ``cache`` keeps it.
        key: what tells it from other things that are kept there.
        make: makes it, the first time.

    >>> from bindax_transforms import make_jaxpr
    >>> jaxpr = make_jaxpr(lambda x: x)(1.0)
    >>> cached_on_jaxpr(jaxpr, "number of results", lambda: len(jaxpr.out_avals))
    1
    """
    if key in jaxpr.cache:
        return jaxpr.cache[key]  # type: ignore[no-any-return]
    made = make()
    if not _closes_over_tracers(made):  # such as the indices of devices, of this trace alone
        jaxpr.cache[key] = made
    return made


def _closes_over_tracers(made: Any) -> bool:
    if isinstance(made, tuple) and not hasattr(made, "_fields"):
        return any(map(_closes_over_tracers, made))
    consts = getattr(getattr(made, "program", made), "consts", ())
    return any(isinstance(x, Tracer) for x in consts)


def map_jaxprs(
    function: Callable[[ClosedJaxpr], ClosedJaxpr], params: dict[str, Any]
) -> dict[str, Any]:
    """The parameters of an equation, with others in the place of the jaxprs among them."""

    def mapped(value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            return function(value)
        if isinstance(value, (tuple, list)):
            return type(value)(map(mapped, value))
        return value

    held = {name for name, _ in subjaxprs(params)}
    return {name: mapped(value) if name in held else value for name, value in params.items()}


def broadcast_flags(jaxpr: ClosedJaxpr, flags: bool | Sequence[bool]) -> tuple[bool, ...]:
    """Give each result of a jaxpr a flag; a single one serves all."""
    return (flags,) * len(jaxpr.jaxpr.outvars) if isinstance(flags, bool) else tuple(flags)


def parameter_names(fun: Any, args: Any, kwargs: Any) -> list[str]:
    """The path of each leaf of the arguments of a function, by the names of its parameters.

    >>> parameter_names(lambda x, *rest: x, (1.0, 2.0, {"a": 3.0}), {"key": 4.0})
    ['x', 'rest[0]', "rest[1]['a']", 'key']
    """
    roots = parameter_roots(fun, len(args))
    named = [*zip(roots, args, strict=True), *((key, kwargs[key]) for key in sorted(kwargs))]
    return [name for root, value in named for name in argument_names(value, root)]


def operand_names(
    wrapper: weakref.ref[Any], tree: PyTreeDef, avals: Sequence[AbstractValue]
) -> list[str]:
    """The paths of the leaves of the arguments of a wrapped function; none if it is gone."""
    wrapped = getattr(wrapper(), "__wrapped__", None)
    return [] if wrapped is None else parameter_names(wrapped, *tree_unflatten(tree, avals))


def parameters_of(fun: Any) -> list[inspect.Parameter] | None:
    """The parameters of a function; None of a builtin that does not tell."""
    try:
        return list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return None


def parameter_roots(fun: Any, count: int) -> list[str]:
    """The names of so many positional arguments of a function, as it calls them itself."""
    roots = [f"args[{i}]" for i in range(count)]
    for i, parameter in enumerate((parameters_of(fun) or [])[:count]):
        if parameter.kind is parameter.VAR_POSITIONAL:
            roots[i:] = [f"{parameter.name}[{j}]" for j in range(count - i)]
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            break
        roots[i] = parameter.name
    return roots


def argument_names(tree: Any, what: str = "args") -> list[str]:
    """The path of each leaf of a tree of arguments, for messages.

    >>> argument_names({"a": 1.0, "b": (2.0, 3.0)}, "params")
    ["params['a']", "params['b'][0]", "params['b'][1]"]
    """
    return [what + keystr(path) for path, _ in tree_flatten_with_path(tree)[0]]
