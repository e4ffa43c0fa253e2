"""Evaluation of jaxprs, on values or tracers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

from bindax_core.kernel._jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var, require_jaxpr
from bindax_core.kernel._primitive import Primitive
from bindax_core.kernel._source_info import current_source


def bind_flat(
    primitive: Primitive, operands: Sequence[Any], params: dict[str, Any]
) -> Sequence[Any]:
    """Apply a primitive; returns a list also where it has one result."""
    outs = primitive.bind(*operands, **params)
    return outs if primitive.multiple_results else [outs]


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Return the list of results of a jaxpr on values, or on tracers.

    Args:
        jaxpr: the jaxpr.
        consts: one value for each of its constants.
        args: one value for each of its arguments.

    Raises:
        TypeError: when the number of values is wrong.
    """
    require_jaxpr("eval_jaxpr", jaxpr, Jaxpr)
    if len(args) != len(jaxpr.invars) or len(consts) != len(jaxpr.constvars):
        raise TypeError(
            f"a jaxpr of {len(jaxpr.constvars)} constants and {len(jaxpr.invars)} arguments was "
            f"applied to {len(consts)} constants and {len(args)} arguments."
        )
    return interpret_jaxpr(
        jaxpr, consts, args, lambda e, xs: bind_flat(e.primitive, xs, e.params), frees_values=True
    )


def interpret_jaxpr(
    jaxpr: Jaxpr,
    consts: Iterable[Any],
    args: Iterable[Any],
    apply: Callable[[JaxprEqn, list[Any]], Sequence[Any]],
    *,
    frees_values: bool = False,
) -> list[Any]:
    """Evaluate a jaxpr, each equation by a function; what that makes has the equation's line.

    Args:
        jaxpr: the jaxpr.
        consts: one value for each of its constants.
        args: one value for each of its arguments.
        apply: takes an equation and the values of its operands, returns those of its results.
        frees_values: whether to drop each value after its last use, which pays where memory counts.
    """
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    unused = jaxpr.last_uses if frees_values else repeat(())
    outer = current_source.info
    try:
        for eqn, freed in zip(jaxpr.eqns, unused, strict=False):
            operands = [env[x] if isinstance(x, Var) else x.val for x in eqn.invars]
            current_source.info = outer.around(eqn.source_info)
            outvars, outs = eqn.outvars, apply(eqn, operands)
            if len(outvars) == 1:
                (env[outvars[0]],) = outs
            else:
                env.update(zip(outvars, outs, strict=True))
            del operands, outs
            for v in freed:
                env.pop(v, None)
    finally:
        current_source.info = outer
    return [env[x] if isinstance(x, Var) else x.val for x in jaxpr.outvars]


def jaxpr_as_fun(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """Return a jaxpr as a function from flat values to the list of results."""
    return lambda *args: eval_jaxpr(closed.jaxpr, closed.consts, *args)
