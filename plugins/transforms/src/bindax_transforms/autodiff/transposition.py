"""Transposition: running a linear jaxpr backwards, from cotangents to cotangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.errors import ShardingTypeError
from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Jaxpr,
    JaxprEqn,
    PyTreeDef,
    SourceInfo,
    Var,
    bind_flat,
    current_source,
    explain_failure,
    interpret_jaxpr,
    rules,
    typeof,
)
from bindax_core.sharding import laid_as
from bindax_transforms._flat import cached_on_jaxpr, merge, partition, split, with_zeros
from bindax_transforms._rule_checks import check_cotangents
from bindax_transforms.compilation.laying import laid_on_mesh_of, left_to_compiler
from bindax_transforms.manual_axes import varying_as
from bindax_transforms.staging.backward_logs import are_logs_wanted
from bindax_transforms.staging.staged_program import StagedProgram, stage_with_references
from bindax_transforms.zeros import UndefPrimal, Zero, add_tangents


def eval_jaxpr_transposed(
    jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any], cotangents: Sequence[Any]
) -> list[Any]:
    """The cotangents, or ``Zero``, of the arguments of a jaxpr that are ``UndefPrimal``.

    It is linear in those; ``Zero`` also stands for results that have no cotangent.
    """
    linear: list[tuple[JaxprEqn, list[Any], SourceInfo]] = []

    def apply(eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        if any(type(x) is UndefPrimal for x in operands):
            linear.append((eqn, operands, current_source.info))
            return [UndefPrimal(v.aval) for v in eqn.outvars]
        return bind_flat(eqn.primitive, operands, eqn.params)

    outs = interpret_jaxpr(jaxpr, consts, args, apply)
    collected: dict[Var, Any] = {}

    def collect(x: Any, cotangent: Any) -> None:
        if type(x) is Var and cotangent is not None and type(cotangent) is not Zero:
            aval = x.aval
            if typeof(cotangent) is not aval or getattr(aval, "placement", None) is not None:
                wanted = aval.cotangent_aval()
                cotangent = varying_as(laid_as(cotangent, wanted), wanted)
            present = collected.get(x)
            collected[x] = cotangent if present is None else add_tangents(present, cotangent)

    for x, out, cotangent in zip(jaxpr.outvars, outs, cotangents, strict=True):
        if type(out) is UndefPrimal:
            collect(x, cotangent)
    outer = current_source.info
    try:
        while linear:
            eqn, operands, source = linear.pop()
            cts_out = [collected.pop(v, None) for v in eqn.outvars]
            # What has effects on linear values is never dropped in silence: its rule says why not.
            if any(ct is not None for ct in cts_out) or eqn.effects:
                current_source.info = source
                found = _transpose_eqn(eqn, operands, cts_out)
                for x, cotangent in zip(eqn.invars, found, strict=True):
                    collect(x, cotangent)
    finally:
        current_source.info = outer
    return [
        collected.get(v, Zero(v.aval.cotangent_aval()))
        for v, x in zip(jaxpr.invars, args, strict=True)
        if type(x) is UndefPrimal
    ]


def _transpose_eqn(
    eqn: JaxprEqn, operands: Sequence[Any], cotangents: Sequence[Any]
) -> Sequence[Any]:
    primitive = eqn.primitive
    cts = [
        Zero(v.aval.cotangent_aval()) if ct is None else ct
        for v, ct in zip(eqn.outvars, cotangents, strict=True)
    ]
    rule = rules.transpose.functions.get(primitive) or rules.transpose.get(primitive)
    try:
        result = rule(cts, *operands, **eqn.params)
    except ShardingTypeError:
        # The operands say how their cotangents lie, so what is ambiguous here is left open.
        result = rule([*map(_undecided, cts)], *map(_undecided, operands), **eqn.params)
        result = [
            laid_on_mesh_of(ct, x.aval.cotangent_aval(), [*cts, *operands])
            if type(x) is UndefPrimal
            else None
            for ct, x in zip(result, operands, strict=True)
        ]
    except Exception as error:
        explain_failure(primitive, "transpose", error, (cts, *operands), eqn.params)
        raise
    check_cotangents(primitive, operands, result)
    return result  # type: ignore[no-any-return]


def _undecided(x: Any) -> Any:
    """An operand or a cotangent of a transpose rule, of which the compiler decides how it lies."""
    if type(x) in (Zero, UndefPrimal):
        return type(x)(x.aval.plain())
    return left_to_compiler(x)


def transpose_jaxpr(
    jaxpr: ClosedJaxpr, linear: Sequence[bool], nonzero_cts: Sequence[bool]
) -> tuple[ClosedJaxpr, list[bool]]:
    """The transpose of a jaxpr, as a jaxpr.

    Args:
        jaxpr: a jaxpr without constants.
        linear: which arguments it is linear in.
        nonzero_cts: which results have a cotangent.

    Returns:
        A jaxpr from the other arguments and the cotangents to the nonzero cotangents of the
        linear arguments, and which those are.

    >>> from bindax_transforms import make_jaxpr
    >>> transpose_jaxpr(make_jaxpr(lambda x, y: x * y)(1.0, 1.0), [False, True], [True])
    ({ lambda a:float64[], b:float64[] .
      let c:float64[] = mul a b
      in ( c ) }, [True])
    """
    program, nonzero_out, logs = transpose_with_logs(jaxpr, linear, nonzero_cts)
    if logs is not None:
        raise ValueError(
            "a backward rule logs inside of a primitive whose transpose rule does not hand logs "
            "on. Log outside of it, or call the derivative without with_logs."
        )
    return program, nonzero_out


def transpose_with_logs(
    jaxpr: ClosedJaxpr, linear: Sequence[bool], nonzero_cts: Sequence[bool]
) -> tuple[ClosedJaxpr, list[bool], PyTreeDef | None]:
    """The transpose of a jaxpr, as for ``transpose_jaxpr``, and the structure of what it logs.

    The leaves of what backward rules log are the last results of the jaxpr; the structure is None
    when nothing is logged, or nobody asks for it.
    """
    staged, nonzero_out = transpose_with_references(jaxpr, linear, nonzero_cts)
    if staged.references:
        raise ValueError(
            f"the transpose of a program uses a mutable array reference of type "
            f"{staged.references[0].aval.str_short()}, in a backward rule of a custom function. "
            f"Differentiate the function before it is traced: jit(grad(f)) in place of "
            f"grad(jit(f))."
        )
    return staged.program, nonzero_out, staged.logs


def transpose_with_references(
    jaxpr: ClosedJaxpr, linear: Sequence[bool], nonzero_cts: Sequence[bool]
) -> tuple[StagedProgram, list[bool]]:
    """The transpose of a jaxpr whose backward rules may use references; see ``transpose_jaxpr``."""
    flags, nonzeros = tuple(linear), tuple(nonzero_cts)
    key = ("transpose", flags, nonzeros, are_logs_wanted())
    return cached_on_jaxpr(jaxpr, key, lambda: _transpose_jaxpr(jaxpr, flags, nonzeros))


def _transpose_jaxpr(
    jaxpr: ClosedJaxpr, linear: tuple[bool, ...], nonzero_cts: tuple[bool, ...]
) -> tuple[StagedProgram, list[bool]]:
    residual_avals, linear_avals = partition(linear, jaxpr.in_avals)
    out_ct_avals = [aval.cotangent_aval() for aval in jaxpr.out_avals]
    ct_avals = partition(nonzero_cts, out_ct_avals)[1]
    nonzero_out: list[bool] = []

    def function(*values: Any) -> list[Any]:
        residuals, given = split(values, len(residual_avals))
        args = merge(linear, residuals, map(UndefPrimal, linear_avals))
        cts = with_zeros(nonzero_cts, given, out_ct_avals)
        outs = eval_jaxpr_transposed(jaxpr.jaxpr, jaxpr.consts, args, cts)
        nonzero_out.extend(type(ct) is not Zero for ct in outs)
        return [ct for ct in outs if type(ct) is not Zero]

    origin = DebugInfo("transpose")
    return stage_with_references(function, [*residual_avals, *ct_avals], origin), nonzero_out
