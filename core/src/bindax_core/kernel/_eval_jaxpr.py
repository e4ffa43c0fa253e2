"""The interpreter of jaxprs: applies a program to values, or to tracers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.errors import NonFiniteError
from bindax_core.kernel._jaxpr import ClosedJaxpr, Jaxpr, Var, require_program
from bindax_core.kernel._primitive import Primitive


def bind_flat(
    primitive: Primitive, operands: Sequence[Any], params: dict[str, Any]
) -> Sequence[Any]:
    """Apply a primitive; returns a list also where it has one result."""
    outs = primitive.bind(*operands, **params)
    return outs if primitive.multiple_results else [outs]


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Apply a program to values, or to tracers.

    Args:
        jaxpr: the program.
        consts: one value for each of its constants.
        args: one value for each of its arguments.

    Returns:
        The list of results.

    Raises:
        TypeError: when the number of values is wrong.
    """
    require_program("eval_jaxpr", jaxpr, Jaxpr)
    if len(args) != len(jaxpr.invars) or len(consts) != len(jaxpr.constvars):
        raise TypeError(
            f"a jaxpr of {len(jaxpr.constvars)} constants and {len(jaxpr.invars)} arguments was "
            f"applied to {len(consts)} constants and {len(args)} arguments."
        )
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    for eqn, freed in zip(jaxpr.eqns, jaxpr.last_uses, strict=True):
        operands = [env[x] if isinstance(x, Var) else x.val for x in eqn.invars]
        try:
            outs = eqn.primitive.bind(*operands, **eqn.params)
        except NonFiniteError as error:
            error.comes_from(eqn.source_info)
            raise
        if eqn.primitive.multiple_results:
            env.update(zip(eqn.outvars, outs, strict=True))
        else:
            env[eqn.outvars[0]] = outs
        del operands, outs
        for v in freed:
            env.pop(v, None)
    return [env[x] if isinstance(x, Var) else x.val for x in jaxpr.outvars]


def jaxpr_as_fun(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """A program as a function from flat values to the list of results."""
    return lambda *args: eval_jaxpr(closed.jaxpr, closed.consts, *args)
