"""Transformations as functions and as decorators with options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from bindax_nnx.lift.structure import Lift
from bindax_nnx.modes import mode_of
from bindax_nnx.object import Object
from bindax_transforms import check_function

P = ParamSpec("P")
R = TypeVar("R")
Options = ParamSpec("Options")


class Transformation(Protocol[Options]):
    """The type of a transformation whose functions have the parameters and results of the given."""

    @overload  # first, as mypy takes the first one for ``functools.partial``
    def __call__(  # type: ignore[overload-overlap]
        self, f: Callable[P, R], /, *args: Options.args, **options: Options.kwargs
    ) -> Callable[P, R]: ...
    @overload
    def __call__(
        self, /, *args: Options.args, **options: Options.kwargs
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def decorator(transformation: Callable[..., Any]) -> Callable[..., Any]:
    """Let a transformation be called without the function, to be given it later.

    ``@vmap``, ``@vmap(in_axes=1)`` and ``vmap(function, in_axes=1)`` are all possible then.
    """

    @wraps(transformation)
    def either(*args: Any, **options: Any) -> Any:
        if not args:
            return partial(transformation, **options)
        return transformation(*args, **options)

    return either


def preserving(
    transformation: Callable[Concatenate[Callable[..., Any], Options], Any],
) -> Transformation[Options]:
    """Do what ``decorator`` does, for a transformation that keeps parameters and results."""
    return cast("Transformation[Options]", decorator(transformation))


def lift_of(
    name: str,
    parameter: str,
    function: Any,
    graph: bool | None,
    graph_updates: bool | None,
    returns_arguments: bool = False,
) -> Lift:
    """The way in which a transformation lifts a function, which it checks.

    Args:
        name: the transformation.
        parameter: the parameter that is the function.
        function: what was given for it.
        graph: the parameters of the transformation that say the mode.
        graph_updates: likewise.
        returns_arguments: as for ``Lift``.

    Raises:
        TypeError: it is no function.
        ValueError: it is a method of an object, which would be no argument then.
    """
    check_function(name, parameter, function)
    inner = function
    while isinstance(inner, partial):
        inner = inner.func
    if inspect.ismethod(inner) and isinstance(inner.__self__, Object):
        kind, method = type(inner.__self__).__name__, inner.__func__.__name__
        raise ValueError(
            f"nnx.{name} does not support bound methods: it would not see what {kind}.{method} "
            f"changes in its object. Use nnx.{name}({kind}.{method}) and pass the object as the "
            f"first argument, or decorate the method with @nnx.{name}."
        )
    return Lift(name, mode_of(graph, graph_updates), returns_arguments)
