"""Layers one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_nnx.containers import List
from bindax_nnx.module import Module


class Sequential(Module):
    """Applies functions and modules one after the other.

    What one returns is the argument of the next; a tuple its arguments, a dictionary its keyword
    arguments.

    Args:
        layers: the functions and modules. Without any, the arguments are the result.

    >>> Sequential(lambda x: x + 1, lambda x: x * 2)(3)
    8
    """

    def __init__(self, *layers: Callable[..., Any]) -> None:
        self.layers: Any = List(layers)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply all layers."""
        output: Any = args[0] if len(args) == 1 else args
        for number, layer in enumerate(self.layers):
            if not callable(layer):
                raise TypeError(
                    f"Sequential.layers[{number}] is a {type(layer).__name__}, which cannot be "
                    f"called."
                )
            if number == 0:
                output = layer(*args, **kwargs)
            elif isinstance(output, tuple):
                output = layer(*output)
            elif isinstance(output, dict):
                output = layer(**output)
            else:
                output = layer(output)
        return output
