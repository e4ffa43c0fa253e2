"""``make_jaxpr``, whose programs have scalar arrays that a function closes over as constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bindax
from bindax_core.extend import Array, ClosedJaxpr, Literal, Var, wraps

__all__ = ["make_jaxpr"]


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Any = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """``bindax.make_jaxpr``, where scalar arrays are constants and not literals.

    Packages compare the constants of programs, some of which were traced with arrays and some with
    traced values in their place.
    """
    traced = bindax.make_jaxpr(fun, static_argnums, axis_env, return_shape)

    @wraps(traced)
    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        found = traced(*args, **kwargs)
        if return_shape:
            program, types = found
            return _with_constants(program), types
        return _with_constants(found)

    jaxpr_of.__module__ = "jax"
    return jaxpr_of


def _with_constants(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with a constant for each scalar array, in the order of first use."""
    jaxpr = program.jaxpr
    given = dict(zip(jaxpr.constvars, program.consts, strict=True))
    constants: dict[Var, Any] = {}
    lifted: dict[int, Var] = {}

    def place(atom: Any) -> Any:
        if isinstance(atom, Literal) and isinstance(atom.val, Array):
            var = lifted.setdefault(id(atom.val), Var(atom.aval))
            constants.setdefault(var, atom.val)
            return var
        if atom in given:
            constants.setdefault(atom, given[atom])
        return atom

    eqns = [eqn.replace(invars=[place(atom) for atom in eqn.invars]) for eqn in jaxpr.eqns]
    outs = [place(atom) for atom in jaxpr.outvars]
    constants = {**constants, **{v: x for v, x in given.items() if v not in constants}}
    whole = jaxpr.replace(constvars=list(constants), eqns=eqns, outvars=outs)
    return ClosedJaxpr(whole, list(constants.values()))
