"""``grad`` and ``value_and_grad`` of functions of objects."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar, overload

import bindax_transforms
from bindax_core.extend import (
    api_boundary,
    is_differentiable,
    is_value,
    tree_flatten,
    tree_structure,
    tree_unflatten,
    typeof,
)
from bindax_nnx.filters import Filter, Path, to_predicate
from bindax_nnx.graph import is_reference, iter_variables
from bindax_nnx.lift._decorators import decorator
from bindax_nnx.lift._names import named_after
from bindax_nnx.lift.axes import ByFilter, add_occurrences
from bindax_nnx.lift.call import Call
from bindax_nnx.state import State
from bindax_nnx.variables import Param, Variable
from bindax_transforms import check_function

P = ParamSpec("P")
R = TypeVar("R")
Aux = TypeVar("Aux")


@dataclasses.dataclass(frozen=True)
class DiffState:
    """Variables of an argument to differentiate with respect to.

    Attributes:
        argnum: the position of the argument.
        filter: which of its variables.
    """

    argnum: int
    filter: Filter


class _Wanted(ByFilter):
    """True for the variables of a differentiated argument that a filter takes, None for others."""

    def __init__(self, filter: Filter) -> None:
        super().__init__({filter: True})

    def of(self, path: Path, variable: Variable[Any]) -> Any:
        return self.values[0] if self._predicates[0](path, variable) else None


Argnums = int | DiffState | Sequence[int | DiffState]


@overload
def grad(
    f: Callable[P, Any],
    /,
    *,
    argnums: Argnums = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]: ...
@overload
def grad(
    f: Callable[P, tuple[Any, Aux]],
    /,
    *,
    argnums: Argnums = 0,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[Any, Aux]]: ...
@overload
def grad(
    f: Callable[P, Any],
    /,
    *,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]: ...
@overload
def grad(
    *,
    argnums: Argnums = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
@overload
def grad(
    *,
    argnums: Argnums = 0,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[[Callable[P, tuple[Any, Aux]]], Callable[P, tuple[Any, Aux]]]: ...
@decorator
def grad(
    f: Callable[..., Any],
    *,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that gives the gradient of ``f``.

    Args:
        f: a function of objects, arrays and trees of these; its result is a float scalar.
        argnums: which arguments to differentiate with respect to: positions, or ``DiffState``. Of
            objects at a position, with respect to their ``Param`` variables.
        has_aux: whether ``f`` returns a pair whose second part is passed through.
        holomorphic: whether ``f`` is complex and holomorphic.
        allow_int: whether arguments may be integers, whose gradients have the dtype float0.

    Returns:
        A function of the same arguments. Its result has, in the place of each object, a ``State``
        with the gradients; that of a variable which several arguments hold is in the first of
        them. What ``f`` changes in objects is changed in the originals.

    >>> from bindax_nnx import Module
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(2.0)
    >>> gradients = grad(lambda scale, x: scale.factor * scale.factor * x)(Scale(), 3.0)
    >>> float(gradients.factor.value)
    12.0
    """
    both = value_and_grad(
        f, argnums=argnums, has_aux=has_aux, holomorphic=holomorphic, allow_int=allow_int
    )

    @wraps(f)
    @api_boundary
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, gradients = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return gradient


@overload
def value_and_grad(
    f: Callable[P, R],
    /,
    *,
    argnums: Argnums = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    f: Callable[P, tuple[R, Aux]],
    /,
    *,
    argnums: Argnums = 0,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[tuple[R, Aux], Any]]: ...
@overload
def value_and_grad(
    f: Callable[P, Any],
    /,
    *,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[Any, Any]]: ...
@overload
def value_and_grad(
    *,
    argnums: Argnums = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[[Callable[P, R]], Callable[P, tuple[R, Any]]]: ...
@overload
def value_and_grad(
    *,
    argnums: Argnums = 0,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[[Callable[P, tuple[R, Aux]]], Callable[P, tuple[tuple[R, Aux], Any]]]: ...
@decorator
def value_and_grad(
    f: Callable[..., Any],
    *,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that gives the value of ``f`` and its gradient.

    The arguments are those of ``grad``.

    >>> value, gradient = value_and_grad(lambda x: x * x)(3.0)
    >>> float(value), float(gradient)
    (9.0, 6.0)
    """
    check_function("grad", "f", f)

    @wraps(f)
    @api_boundary
    def both(*args: Any, **kwargs: Any) -> Any:
        entries = _entries(argnums, args)
        call = Call(f, args, kwargs)
        wanted = _Selection(call, args, entries)
        if not allow_int:
            wanted.require_floats(call)

        def loss(differentiated: list[Any], others: list[Any]) -> tuple[Any, list[Any]]:
            scope = call.enter(wanted.joined(differentiated, others))
            result = call.run(scope)
            if has_aux and (not isinstance(result, tuple) or len(result) != 2):
                raise TypeError(
                    f"with has_aux, grad needs a function that returns a pair of a scalar and "
                    f"anything else, but it returned {type(result).__name__}."
                )
            value = result[0] if has_aux else result
            value = value.value if isinstance(value, Variable) else value
            return value, call.leave(scope, result)

        differentiate: Callable[..., Any] = bindax_transforms.value_and_grad(
            named_after(loss, f), has_aux=True, holomorphic=holomorphic, allow_int=allow_int
        )
        (_, outs), gradients = differentiate(*wanted.divided(call.leaves))
        value = call.finish(outs)
        found = wanted.states(gradients)
        several = not isinstance(argnums, (int, DiffState))
        return value, tuple(found) if several else found[0]

    return both


def _entries(argnums: Argnums, args: Sequence[Any]) -> list[tuple[int, Filter]]:
    given = (argnums,) if isinstance(argnums, (int, DiffState)) else tuple(argnums)
    entries = []
    for entry in given:
        number = entry.argnum if isinstance(entry, DiffState) else entry
        if not -len(args) <= number < len(args):
            raise ValueError(
                f"grad was asked to differentiate with respect to argument {number!r}, but the "
                f"function was called with {len(args)} positional arguments."
            )
        filter = entry.filter if isinstance(entry, DiffState) else Param
        entries.append((number % len(args), filter))
    return entries


class _Selection:
    """The leaves of a call that are differentiated with respect to, and for which argument."""

    def __init__(
        self, call: Call, args: Sequence[Any], entries: Sequence[tuple[int, Filter]]
    ) -> None:
        self._template = Template(call, args)
        self._numbers = [number for number, _ in entries]
        self._filters = [to_predicate(filter) for _, filter in entries]
        occurrences: dict[int, Any] = {}
        array_flags: list[bool] = []
        filters = dict(entries)
        for number, argument in enumerate(args):
            for leaf in tree_flatten(argument, is_leaf=is_reference)[0]:
                if not is_reference(leaf):
                    array_flags.append(number in filters)
                    continue
                prefix = _Wanted(filters[number]) if number in filters else None
                add_occurrences(occurrences, leaf, prefix)
        arguments = call.arguments
        sized = zip(arguments.variables, arguments.sizes, strict=True)
        rest = len(arguments.arrays) - len(array_flags)  # the keyword arguments
        self._flags = [
            *[
                id(x) in occurrences and occurrences[id(x)][0][1] is not None
                for x, size in sized
                for _ in range(size)
            ],
            *array_flags,
            *[False] * rest,
        ]

    def require_floats(self, call: Call) -> None:
        """Raise where a variable that is differentiated with respect to has no derivatives."""
        values = call.arguments.values
        for i, (x, flag) in enumerate(zip(values, self._flags, strict=False)):
            if flag and is_value(x) and not is_differentiable(typeof(x).dtype):
                raise TypeError(
                    f"grad needs variables of a float dtype, but {call.arguments.name_of(i)} is "
                    f"{typeof(x).str_short()}; leave it out by the filter of DiffState, or pass "
                    f"allow_int=True to get float0 zeros for it."
                )

    def divided(self, leaves: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The leaves that are differentiated with respect to, and the others."""
        pairs = list(zip(leaves, self._flags, strict=True))
        return [x for x, flag in pairs if flag], [x for x, flag in pairs if not flag]

    def joined(self, differentiated: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        """The inverse of ``divided``."""
        one, other = iter(differentiated), iter(others)
        return [next(one) if flag else next(other) for flag in self._flags]

    def states(self, gradients: Sequence[Any]) -> list[Any]:
        """The differentiated arguments, with gradients in them and states for objects."""
        full = self.joined(gradients, [None] * (len(self._flags) - len(gradients)))
        return [
            self._template.fill(number, full, takes)
            for number, takes in zip(self._numbers, self._filters, strict=True)
        ]


_EVERYTHING = to_predicate(...)


class Template:
    """The arguments of a call, to be filled with one array for each of its leaves.

    It is made before the call, which may change the objects.
    """

    def __init__(self, call: Call, args: Sequence[Any]) -> None:
        arguments = call.arguments
        places: dict[int, tuple[int, Any]] = {}
        position = 0
        for variable, size in zip(arguments.variables, arguments.sizes, strict=True):
            places[id(variable)] = position, tree_structure(variable._value)
            position += size
        met: set[int] = set()
        self._parts: list[tuple[Any, list[Any]]] = []
        for argument in args:
            leaves, tree = tree_flatten(argument, is_leaf=is_reference)
            parts: list[Any] = []
            for leaf in leaves:
                if is_reference(leaf):
                    found = [(path, x) for path, x in iter_variables(leaf) if id(x) not in met]
                    met.update(id(x) for _, x in found)
                    parts.append([(path, x.copy(), *places[id(x)]) for path, x in found])
                else:
                    parts.append(position)
                    position += 1
            self._parts.append((tree, parts))

    def fill(
        self, number: int, leaves: Sequence[Any], takes: Callable[[Path, Any], bool] = _EVERYTHING
    ) -> Any:
        """One argument, with states of the variables that a filter takes for objects."""
        tree, parts = self._parts[number]
        return tree_unflatten(tree, [self._filled(part, leaves, takes) for part in parts])

    def _filled(self, part: Any, leaves: Sequence[Any], takes: Callable[[Path, Any], bool]) -> Any:
        if isinstance(part, int):
            return leaves[part]
        return State.from_flat_path(
            {
                path: x.replace(tree_unflatten(tree, leaves[start : start + tree.num_leaves]))
                for path, x, start, tree in part
                if takes(path, x)
            }
        )
