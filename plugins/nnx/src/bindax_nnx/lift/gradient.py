"""``grad`` and ``value_and_grad`` of functions of objects."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast, overload

import bindax_transforms
from bindax_core.extend import api_boundary, is_differentiable, is_value, tree_flatten, typeof
from bindax_nnx.filters import Filter, to_predicate
from bindax_nnx.graph import is_reference
from bindax_nnx.lift._decorators import decorator, lift_of
from bindax_nnx.lift._names import named_after, variable_name, with_positions
from bindax_nnx.lift.axes import Occurrences, add_occurrences, repeated, variable_axes
from bindax_nnx.lift.call import Call
from bindax_nnx.lift.prefixes import GraphPrefix
from bindax_nnx.lift.structure import Lift
from bindax_nnx.lift.templates import Template
from bindax_nnx.modes import Mode
from bindax_nnx.object import Object
from bindax_nnx.state import State
from bindax_nnx.variables import Param, Variable

P = ParamSpec("P")
R = TypeVar("R")
Aux = TypeVar("Aux")
Options = ParamSpec("Options")


@dataclasses.dataclass(frozen=True)
class DiffState:
    """Variables of an argument to differentiate with respect to.

    Attributes:
        argnum: the position of the argument.
        filter: which of its variables.
    """

    argnum: int
    filter: Filter


def _wanted(filters: Mapping[int, Filter], number: int, root: Any) -> GraphPrefix | None:
    """Variables of a part of an argument to differentiate with respect to, which have True.

    Of objects, only parameters where nothing else is said; of states and variables, all.
    """
    if number not in filters:
        return None
    filter = filters[number]
    takes = to_predicate(... if filter is Param and isinstance(root, State | Variable) else filter)
    return GraphPrefix(lambda path, x: takes(path, x) or None, ())


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
    graph: bool | None = None,
    graph_updates: bool | None = None,
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
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[P, tuple[Any, Aux]]: ...
@overload
def grad(
    f: Callable[..., Any],
    /,
    *,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any: ...
@overload
def grad(
    *,
    argnums: Argnums = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
@overload
def grad(
    *,
    argnums: Argnums = 0,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, tuple[Any, Aux]]], Callable[P, tuple[Any, Aux]]]: ...
@decorator
def grad(
    f: Callable[..., Any],
    *,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., Any]:
    """A function that gives the gradient of ``f``.

    Args:
        f: a function of objects, arrays and trees of these; its result is a float scalar.
        argnums: which arguments to differentiate with respect to: positions, or ``DiffState``. Of
            objects at a position, with respect to their ``Param`` variables.
        has_aux: whether ``f`` returns a pair whose second part is passed through.
        holomorphic: whether ``f`` is complex and holomorphic.
        allow_int: whether arguments may be integers, whose gradients have the dtype float0.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Returns:
        A function of the same arguments. Its result has, in the place of each object, a ``State``
        with the gradients; that of a variable which several arguments hold is in the first of
        them. Without updates of graphs, the derivative is with respect to all that is in an
        argument, and an object of its class has the gradients. What ``f`` changes in objects is
        changed in the originals.

    >>> from bindax_nnx import Module
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(2.0)
    >>> gradients = grad(lambda scale, x: scale.factor * scale.factor * x)(Scale(), 3.0)
    >>> float(gradients.factor.value)
    12.0
    """
    options: Any = {"holomorphic": holomorphic, "allow_int": allow_int}
    options |= {"graph": graph, "graph_updates": graph_updates}
    both = value_and_grad(f, argnums=argnums, has_aux=has_aux, **options)

    @wraps(f)
    @api_boundary
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, gradients = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return gradient


class _WithValue(Protocol[Options]):
    """The type of ``value_and_grad``: a function of a function, and a decorator with options."""

    @overload  # first, as mypy takes the first one for ``functools.partial``
    def __call__(  # type: ignore[overload-overlap]
        self, f: Callable[P, R], /, *args: Options.args, **options: Options.kwargs
    ) -> Callable[P, tuple[R, Any]]: ...
    @overload
    def __call__(
        self, /, *args: Options.args, **options: Options.kwargs
    ) -> Callable[[Callable[P, R]], Callable[P, tuple[R, Any]]]: ...


def _with_value(
    transformation: Callable[Concatenate[Callable[..., Any], Options], Any],
) -> _WithValue[Options]:
    return cast("_WithValue[Options]", decorator(transformation))


@_with_value
def value_and_grad(
    f: Callable[..., Any],
    *,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., Any]:
    """A function that gives the value of ``f`` and its gradient.

    The arguments are those of ``grad``.

    >>> value, gradient = value_and_grad(lambda x: x * x)(3.0)
    >>> float(value), float(gradient)
    (9.0, 6.0)
    """
    lift = lift_of("grad", "f", f, graph, graph_updates)
    numbered = _numbered(argnums, lift)

    @wraps(f)
    @api_boundary
    def both(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = with_positions(f, args, kwargs)
        entries = _entries(numbered, args)
        call = Call(f, args, kwargs, lift=lift)
        wanted = _Selection(call, args, entries)
        if not allow_int:
            wanted.require_floats(call, lift.mode)

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


def _numbered(argnums: Argnums, lift: Lift) -> list[tuple[int, Filter]]:
    """The positions in ``argnums``, each with a filter of the variables there."""
    if isinstance(argnums, Object):
        raise ValueError(
            f"argnums of nnx.grad are positions of arguments, or DiffState, but got a "
            f"{type(argnums).__name__}. Pass the position at which the object is an argument."
        )
    given = (argnums,) if isinstance(argnums, (int, DiffState)) else tuple(argnums)
    has_updates = lift.mode is Mode.UPDATES
    if not has_updates and any(isinstance(x, DiffState) for x in given):
        raise ValueError(
            "argnums of nnx.grad cannot contain `DiffState` objects when `graph=False` or "
            "`graph_updates=False`. Split the object in two arguments, nnx.split(model, filter, "
            "...), or use nnx.grad(..., graph=True, graph_updates=True) or nnx.compat.grad."
        )
    usual: Filter = Param if has_updates else ...
    entries = [(x.argnum, x.filter) if isinstance(x, DiffState) else (x, usual) for x in given]
    numbers = [number for number, _ in entries]
    for number in numbers:
        if numbers.count(number) > 1:
            raise ValueError(f"grad: argument {number} is repeated in argnums={argnums!r}.")
    return entries


def _entries(
    numbered: Sequence[tuple[int, Filter]], args: Sequence[Any]
) -> list[tuple[int, Filter]]:
    for number, _ in numbered:
        if not -len(args) <= number < len(args):
            raise ValueError(
                f"grad was asked to differentiate with respect to argument {number!r}, but the "
                f"function was called with {len(args)} positional arguments."
            )
    return [(number % len(args), filter) for number, filter in numbered]


class _Selection:
    """The leaves of a call that are differentiated with respect to, and for which argument."""

    def __init__(
        self, call: Call, args: Sequence[Any], entries: Sequence[tuple[int, Filter]]
    ) -> None:
        self._call = call
        self._template = Template(call.arguments, call.lift.mode)
        self._numbers = [number for number, _ in entries]
        filters, has_sharing = dict(entries), call.arguments.form.structure.has_sharing
        occurrences: Occurrences = {}
        array_flags: list[bool] = []
        wanted: list[Any] = []
        for number, argument in enumerate(args):
            for leaf in tree_flatten(argument, is_leaf=is_reference)[0]:
                if is_reference(leaf):
                    wanted.append(_wanted(filters, number, leaf))
                    if has_sharing:
                        add_occurrences(occurrences, leaf, wanted[-1])
                else:
                    array_flags.append(number in filters)
        arguments = call.arguments
        rest = len(arguments.arrays) - len(array_flags)
        wanted += [None] * (len(arguments.roots) - len(wanted))  # the keyword arguments
        axes = repeated(variable_axes(arguments, wanted, "argnums"), arguments.sizes)
        self._flags = [*[axis is not None for axis in axes], *array_flags, *[False] * rest]

    def require_floats(self, call: Call, mode: Mode) -> None:
        """Raise where a variable that is differentiated with respect to has no derivatives."""
        arguments = call.arguments
        owners = repeated(arguments.variables, arguments.sizes)
        for owner, x, flag in zip(owners, arguments.values, self._flags, strict=False):
            if flag and is_value(x) and not is_differentiable(typeof(x).dtype):
                remedy = "split the object in two arguments, nnx.split(model, filter, ...)"
                if mode is Mode.UPDATES:
                    remedy = "leave it out by the filter of DiffState"
                place = variable_name(arguments.roots, owner)
                raise TypeError(
                    f"grad needs variables of a float dtype, but {place} is "
                    f"{typeof(x).str_short()}; {remedy}, or pass allow_int=True to get float0 "
                    f"zeros for it."
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
        others: list[Any] = [None] * (len(self._flags) - len(gradients))
        if self._call.lift.mode is not Mode.UPDATES:
            # Mutable arrays of the other arguments can be made of types, but not of None.
            others = [typeof(x) if is_value(x) else x for x in self.divided(self._call.leaves)[1]]
        args, _ = self._template.fill(self.joined(gradients, others))
        return [args[number] for number in self._numbers]
