"""Compiled functions as methods."""

from __future__ import annotations

from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from bindax_transforms.compilation.ahead_of_time import Lowered, Traced
    from bindax_transforms.compilation.jit_function import JittedFunction


P = ParamSpec("P")
R = TypeVar("R")


class BoundJit(Generic[P, R]):
    """A compiled function as a method: the instance is the first argument."""

    def __init__(self, jitted: JittedFunction[Any, Any], instance: Any) -> None:
        self._jitted = jitted
        self._instance = instance
        update_wrapper(self, jitted)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._jitted(self._instance, *args, **kwargs)  # type: ignore[no-any-return]

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """The method's jaxpr, with its types."""
        return self._jitted.trace(self._instance, *args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The method's program in the backend's language."""
        return self._jitted.lower(self._instance, *args, **kwargs)
