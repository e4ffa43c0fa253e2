"""``jax.core``: the kernel's classes under JAX's names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import bindax_core
from bindax_core import Literal as Literal
from bindax_core import Var as Var
from bindax_core import jaxpr_as_fun as jaxpr_as_fun
from bindax_core.extend import AbstractValue as AbstractValue
from bindax_core.extend import Atom as Atom
from bindax_core.extend import ClosedJaxpr as ClosedJaxpr
from bindax_core.extend import Dimension
from bindax_core.extend import Jaxpr as Jaxpr
from bindax_core.extend import JaxprEqn as JaxprEqn
from bindax_core.extend import ShapedArray as ShapedArray
from bindax_core.extend import Trace as Trace
from bindax_core.extend import Tracer as Tracer
from bindax_jax_names.shims._primitive import Primitive as Primitive
from bindax_jax_names.shims.top import typeof as get_aval
from bindax_transforms import ensure_compile_time_eval as ensure_compile_time_eval

__all__ = [
    "AbstractValue",
    "Atom",
    "ClosedJaxpr",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "ParamDict",
    "Primitive",
    "ShapedArray",
    "Trace",
    "Tracer",
    "Value",
    "Var",
    "ensure_compile_time_eval",
    "eval_context",
    "eval_jaxpr",
    "get_aval",
    "jaxpr_as_fun",
    "max_dim",
    "min_dim",
    "pytype_aval_mappings",
]

Value = Any
ParamDict = dict[str, Any]
eval_context = ensure_compile_time_eval
pytype_aval_mappings: dict[type, Callable[[Any], Any]] = dict.fromkeys(
    (bool, int, float, complex, np.ndarray), get_aval
)
"""By Python type, what gives the types of its instances. Types that packages add are kept and read
back; what is an operand of bindax is decided by its own plugins."""


def eval_jaxpr(jaxpr: Any, consts: Any, *args: Any) -> list[Any]:
    """The results of a program for some operands; a closed one may be given without constants."""
    if isinstance(jaxpr, ClosedJaxpr):
        return bindax_core.eval_jaxpr(jaxpr.jaxpr, consts or jaxpr.consts, *args)
    return bindax_core.eval_jaxpr(jaxpr, consts, *args)


def max_dim(d1: Any, d2: Any) -> Any:
    """The larger of two sizes of axes, which can be symbolic."""
    return _of_sizes("max_dim", max, d1, d2)


def min_dim(d1: Any, d2: Any) -> Any:
    """The smaller of two sizes of axes, which can be symbolic."""
    return _of_sizes("min_dim", min, d1, d2)


def _of_sizes(name: str, of_numbers: Callable[..., Any], *sizes: Any) -> Any:
    if any(isinstance(size, Dimension) for size in sizes):
        return getattr(import_module("bindax_export._dimensions"), name)(*sizes)
    return of_numbers(*sizes)
