"""Functions that draw by formulas, as one program each.

Where a compiler is installed they are compiled, as JAX's are, so that they round as JAX's do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from inspect import Parameter, signature
from typing import Any

from bindax_core.extend import Array
from bindax_lax_basic.extend import shape_argument
from bindax_random._operands import float_dtype, float_parameters, result_shape
from bindax_random.keys import single_key
from bindax_transforms import jit


class _Programs:
    """A function with one program for each choice of its arguments that are given by keyword."""

    def __init__(self, function: Callable[..., Any], static: list[str]) -> None:
        update_wrapper(self, function)
        self._function = function
        self._static = static
        self._known: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *operands: Any, **static: Any) -> Any:
        # A program without static arguments is the one that `jit` finds fastest.
        key = tuple([static[name] for name in self._static])
        program = self._known.get(key)
        if program is None:
            chosen = update_wrapper(partial(self._function, **static), self._function)
            program = self._known.setdefault(key, jit(chosen))
        return program(*operands)


def drawn(
    name: str, program: Callable[..., Array], key: Any, shape: Any, dtype: Any, **parameters: Any
) -> Array:
    """Floats that a program draws, from the arguments of the public function of a name.

    The shape can be omitted where there are parameters, which are broadcast to it.
    """
    typed, found = single_key(name, key), float_dtype(name, dtype)
    sizes = result_shape(name, shape, **parameters) if parameters else shape_argument(name, shape)
    return program(typed, *float_parameters(name, found, **parameters), shape=sizes, dtype=found)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function; arguments that are given by keyword alone are static."""
    parameters = signature(function).parameters.values()
    return _Programs(
        function, [one.name for one in parameters if one.kind is Parameter.KEYWORD_ONLY]
    )
