"""``inspect``: a function becomes one that returns the report of its program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import ClosedJaxpr, api_boundary, is_value, typeof, wraps
from bindax_core.tree_util import tree_leaves
from bindax_inspect.program.equations import Program
from bindax_inspect.report.report import Report, zeros_for
from bindax_transforms import JittedFunction, check_function, jit, jit_p, recompilations


def inspect(
    fun: Callable[..., Any], *, runs: int = 10, values: bool = False
) -> Callable[..., Report]:
    """Make a function that returns the report of the program that ``fun`` is for its arguments.

    Args:
        fun: a function of pytrees of arrays, transformed or not.
        runs: the most times that the program is run to measure its time; 0 for none.
        values: whether the report shows constants of the program. Without, a report holds no
            values of arrays or numbers but those that are in every program, such as 0 and 1.

    Returns:
        A function of the arguments of ``fun``, or of their types, that returns a ``Report``.

    Raises:
        TypeError: when ``fun`` is not callable. What ``fun`` raises while it is traced, is raised.

    >>> import bindax_lax_basic as lax
    >>> inspect(lambda x: lax.sin(x) * 2.0)(1.0).jaxpr.out_avals
    [ShapeDtypeStruct(shape=(), dtype=float64, weak_type=True)]
    """
    check_function("inspect", "fun", fun)

    @wraps(fun)
    @api_boundary
    def inspected(*args: Any, **kwargs: Any) -> Report:
        staged: Any = fun if hasattr(fun, "trace") else jit(fun)
        made = recompilations(fun) if isinstance(fun, JittedFunction) else None
        traced = staged.trace(*args, **kwargs)
        jaxpr = _body(traced.jaxpr)
        operands = _operands(jaxpr, tree_leaves((args, kwargs)))
        return Report(
            Program(traced.fun_name, jaxpr),
            operands,
            shardings=traced.argument_shardings,
            runs=runs,
            values=values,
            recompilations=made,
        )

    return inspected


def _body(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The jaxpr of a function under ``jit``, where the program is one call of it."""
    while len(closed.eqns) == 1 and closed.eqns[0].primitive is jit_p and not closed.consts:
        (eqn,) = closed.eqns
        given, inner = closed.jaxpr, eqn.params["jaxpr"]
        if list(eqn.invars) != given.invars or list(eqn.outvars) != given.outvars:
            break
        closed = inner
    return closed


def _operands(jaxpr: ClosedJaxpr, leaves: Sequence[Any]) -> list[Any]:
    """The arguments of the program, or zeros where only their types are known."""
    given = [x for x in leaves if is_value(x)]
    wanted = [aval.strip_weak_type() for aval in jaxpr.in_avals]
    if [typeof(x).strip_weak_type() for x in given] == wanted:
        return given
    return zeros_for(jaxpr.in_avals)
