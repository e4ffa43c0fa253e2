"""Layers one after the other."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from bindax_nnx.containers import List
from bindax_nnx.module import Module


class Sequential(Module):
    """Applies functions and modules one after the other.

    What one returns is the argument of the next; a tuple its arguments, a dictionary its keyword
    arguments. Of the keyword arguments of the call, each gets those that it has parameters for.

    Args:
        layers: the functions and modules. Without any, the arguments are the result.

    >>> layers = Sequential(lambda x: x + 1, lambda x, by: x * by)
    >>> layers(3, by=2), len(list(layers))
    (8, 2)
    """

    def __init__(self, *layers: Callable[..., Any]) -> None:
        self.layers: Any = List(layers)

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter(self.layers)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply all layers.

        Raises:
            TypeError: a layer cannot be called, or is given a keyword argument twice.
        """
        output: Any = args[0] if len(args) == 1 else args or kwargs or None
        for number, layer in enumerate(self.layers):
            if not callable(layer):
                raise TypeError(
                    f"Sequential.layers[{number}] is a {type(layer).__name__}, which cannot be "
                    f"called."
                )
            if number:
                args = output if isinstance(output, tuple) else (output,)
            named: dict[str, Any] = {}
            if number and isinstance(output, dict):
                args, named = (), output
            if kwargs:
                more = _accepted(layer, len(args), kwargs)
                if twice := sorted(named.keys() & more.keys()):
                    raise TypeError(
                        f"Sequential.layers[{number}] is given {twice} twice: by the layer before "
                        f"it, and by the call."
                    )
                named = {**named, **more}
            output = layer(*args, **named)
        return output


def _accepted(layer: Callable[..., Any], count: int, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments that a layer has parameters for, besides so many positions."""
    try:
        parameters = list(inspect.signature(layer).parameters.values())
    except (TypeError, ValueError):
        return kwargs  # of what is written in C
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return kwargs
    named = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    named += [p for p in parameters[count:] if p.kind is p.POSITIONAL_OR_KEYWORD]
    names = {p.name for p in named}
    return {name: x for name, x in kwargs.items() if name in names}
