"""Residuals: the values that reverse mode keeps of an evaluation, and the origin of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Jaxpr,
    JaxprEqn,
    Var,
    api_boundary,
    describe_function,
    subjaxprs,
    tree_flatten,
    typeof,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import check_values, flatten_function, parameter_names
from bindax_transforms.autodiff.linearize import linearize_flat
from bindax_transforms.remat._name import name_p
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr


class Residual(NamedTuple):
    """A value that is kept for the derivative.

    Attributes:
        aval: its type.
        description: where it comes from: an argument, a constant, or a line of the program.
    """

    aval: Any
    description: str

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return int(self.aval.size * self.aval.dtype.itemsize)

    def __str__(self) -> str:
        return f"{self.aval.str_short()} {self.description}"


@api_boundary
def saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Residual]:
    """The values that reverse mode keeps from the evaluation of a function.

    Nothing is computed; only the types of the arguments are used.

    Args:
        fun: a function of arrays and trees of arrays.
        args: the arguments.
        kwargs: keyword arguments.

    Returns:
        A ``Residual`` for each value that is kept: arguments, constants, then what was computed, in
        order. Scalar constants are a part of the program, and are not counted.

    >>> import numpy as np
    >>> from bindax_transforms import checkpoint, saved_residuals
    >>> def f(x):
    ...     return (x * x) * x
    >>> [residual.aval for residual in saved_residuals(f, np.ones(3))]
    [ShapeDtypeStruct(shape=(3,), dtype=float64), ShapeDtypeStruct(shape=(3,), dtype=float64)]
    >>> [residual.description for residual in saved_residuals(checkpoint(f), np.ones(3))]
    ['is the argument x']
    """
    check_function("saved_residuals", "fun", fun)
    leaves, tree = tree_flatten((args, kwargs))
    paths = parameter_names(fun, args, kwargs)
    check_values(leaves, lambda: paths, "saved_residuals of argument")
    origin = DebugInfo("saved_residuals", fun)
    flat_function, _ = flatten_function(fun, tree, origin)

    def residuals_of(*values: Any) -> list[Any]:
        return linearize_flat(flat_function, values, origin).jaxpr.consts

    closed = trace_to_jaxpr(residuals_of, [typeof(x) for x in leaves], origin)
    arguments = dict(zip(closed.jaxpr.invars, paths, strict=True))
    kept = {x for x in closed.jaxpr.outvars if type(x) is Var}
    computed = [v for eqn in closed.eqns for v in eqn.outvars]
    ordered = [v for v in (*arguments, *closed.jaxpr.constvars, *computed) if v in kept]
    return [Residual(v.aval, _describe(closed.jaxpr, v, arguments)) for v in ordered]


def _describe(jaxpr: Jaxpr, x: Var, arguments: dict[Var, str]) -> str:
    if x in arguments:
        return f"is the argument {arguments[x]}"
    eqn = _binding(jaxpr, x)
    return "is a constant" if eqn is None else _describe_result(*_innermost(eqn, x))


def _binding(jaxpr: Jaxpr, x: Any) -> JaxprEqn | None:
    return next((eqn for eqn in jaxpr.eqns if x in eqn.outvars), None)


def _innermost(eqn: JaxprEqn, x: Var) -> tuple[JaxprEqn, int]:
    """The equation that makes a value: inside the jaxpr of a call or a loop, where it is one."""
    index = list(eqn.outvars).index(x)
    programs: list[ClosedJaxpr] = [program for _, program in subjaxprs(eqn.params)]
    if len(programs) == 1 and len(programs[0].out_avals) == len(eqn.outvars):
        inner = programs[0].jaxpr.outvars[index]
        found = _binding(programs[0].jaxpr, inner)
        if found is not None:
            return _innermost(found, inner)  # type: ignore[arg-type]
    return eqn, index


def _describe_result(eqn: JaxprEqn, index: int) -> str:
    if eqn.primitive is name_p:
        what = f"is named {eqn.params['name']!r}"
    elif len(eqn.outvars) > 1:
        what = f"is result {index} of {eqn.primitive.name}"
    else:
        what = f"is the result of {eqn.primitive.name}"
    return what if eqn.source_info is None else f"{what} at {eqn.source_info}"


@api_boundary
def print_saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print the values that reverse mode keeps from the evaluation of a function.

    One line for each value: its type, its size, and where it comes from; and the sum.

    Args:
        fun: a function of arrays and trees of arrays.
        args: the arguments; only their types are used.
        kwargs: keyword arguments.

    >>> import numpy as np
    >>> from bindax_transforms import checkpoint, print_saved_residuals
    >>> print_saved_residuals(checkpoint(lambda x, y: x * y * y), np.ones(3), 2.0)
    residuals of <lambda> (...):
      float64[3]  24 bytes  is the argument x
      float64[]    8 bytes  is the argument y
      2 values, 32 bytes
    """
    check_function("print_saved_residuals", "fun", fun)
    residuals = saved_residuals(fun, *args, **kwargs)
    types = [residual.aval.str_short() for residual in residuals]
    sizes = [f"{residual.nbytes:,} bytes" for residual in residuals]
    width, room = max(map(len, types), default=0), max(map(len, sizes), default=0)
    lines = [f"residuals of {describe_function(fun)}:"]
    lines += [
        f"  {name:<{width}}  {size:>{room}}  {residual.description}"
        for name, size, residual in zip(types, sizes, residuals, strict=True)
    ]
    total = sum(residual.nbytes for residual in residuals)
    lines.append(f"  {len(residuals)} value{'s' * (len(residuals) != 1)}, {total:,} bytes")
    print("\n".join(lines))  # noqa: T201 -- what it is for
