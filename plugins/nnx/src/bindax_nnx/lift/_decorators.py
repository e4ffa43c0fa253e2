"""Transformations as functions and as decorators with options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

P = ParamSpec("P")
R = TypeVar("R")
Options = ParamSpec("Options")


class Transformation(Protocol[Options]):
    """The type of a transformation whose functions have the parameters and results of the given."""

    @overload
    def __call__(
        self, /, *args: Options.args, **options: Options.kwargs
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    @overload
    def __call__(
        self, f: Callable[P, R], /, *args: Options.args, **options: Options.kwargs
    ) -> Callable[P, R]: ...


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
