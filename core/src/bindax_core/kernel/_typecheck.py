"""The type checker of jaxprs: each variable bound once and before use, equations well typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bindax_core.errors import JaxprTypeError
from bindax_core.kernel import _rules as rules
from bindax_core.kernel._jaxpr import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    require_jaxpr,
    subjaxprs,
)


class JaxprType(NamedTuple):
    """The type of a jaxpr: the types of its constants and arguments, and of its results."""

    in_types: list[Any]
    out_types: list[Any]

    def __repr__(self) -> str:
        ins = ", ".join(aval.str_short() for aval in self.in_types)
        outs = ", ".join(aval.str_short() for aval in self.out_types)
        return f"({ins}) -> ({outs})"


def typecheck_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> JaxprType:
    """Check a jaxpr and return its type.

    Raises:
        JaxprTypeError: naming the equation and the variable or type that is wrong.

    >>> from bindax_transforms import make_jaxpr
    >>> print(typecheck_jaxpr(make_jaxpr(lambda x: x)(3.0)))
    (float64[]) -> (float64[])
    """
    require_jaxpr("typecheck_jaxpr", jaxpr, Jaxpr, ClosedJaxpr)
    if isinstance(jaxpr, ClosedJaxpr):
        jaxpr = jaxpr.jaxpr
    bound: set[Var] = set()
    binders = [*jaxpr.constvars, *jaxpr.invars]
    for v in binders:
        _bind(bound, v, "the arguments")
    for i, eqn in enumerate(jaxpr.eqns):
        _typecheck_eqn(bound, eqn, i)
    for x in jaxpr.outvars:
        _typecheck_atom(bound, x, "the results")
    return JaxprType([v.aval for v in binders], [x.aval for x in jaxpr.outvars])


def _typecheck_eqn(bound: set[Var], eqn: JaxprEqn, index: int) -> None:
    primitive, params = eqn.primitive, eqn.params
    where = f"equation {index} ({primitive.name})"
    in_types = tuple([_typecheck_atom(bound, x, where) for x in eqn.invars])
    for _, program in subjaxprs(params):
        if "well typed" not in program.cache:  # many equations may share a jaxpr
            typecheck_jaxpr(program)
            program.cache["well typed"] = True
    rule = rules.typecheck.functions.get(primitive)
    if rule is None and all(aval is aval.plain() for aval in in_types):
        rule = rules.abstract_eval.get(primitive)
    try:
        out_types = rule(*in_types, **params) if rule else primitive.out_avals(in_types, params)
    except Exception as error:
        raise JaxprTypeError(f"{where}: {error}") from error
    _check_out_types(eqn, out_types, where)
    for v in eqn.outvars:
        _bind(bound, v, where)


def _check_out_types(eqn: JaxprEqn, out_types: Sequence[Any], where: str) -> None:
    if len(out_types) != len(eqn.outvars):
        raise JaxprTypeError(
            f"{where} binds {len(eqn.outvars)} variables to {len(out_types)} results."
        )
    for v, out_type in zip(eqn.outvars, out_types, strict=True):
        if v.aval.strip_weak_type() != out_type.strip_weak_type():
            raise JaxprTypeError(
                f"{where} binds a variable of type {v.aval.str_short()} to a result of type "
                f"{out_type.str_short()}."
            )


def _bind(bound: set[Var], v: Var, where: str) -> None:
    if v in bound:
        raise JaxprTypeError(f"{where}: a variable of type {v.aval.str_short()} is bound twice.")
    bound.add(v)


def _typecheck_atom(bound: set[Var], x: Atom, where: str) -> Any:
    if type(x) is Var and x not in bound:
        raise JaxprTypeError(
            f"{where}: a variable of type {x.aval.str_short()} is used before it is bound."
        )
    if not isinstance(x, (Var, Literal)):
        raise JaxprTypeError(f"{where}: {x!r} is neither a variable nor a literal.")
    return x.aval
