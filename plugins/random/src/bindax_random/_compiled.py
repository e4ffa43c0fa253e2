"""Functions that draw by formulas, as one program each.

Where a compiler is installed they are compiled, as JAX's are, so that they round as JAX's do.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, TypeVar

from bindax_transforms import jit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function; arguments that are given by keyword alone are static."""
    parameters = signature(function).parameters.values()
    static = [one.name for one in parameters if one.kind is Parameter.KEYWORD_ONLY]
    program: Any = jit(function, static_argnames=static)
    return program  # type: ignore[no-any-return]
