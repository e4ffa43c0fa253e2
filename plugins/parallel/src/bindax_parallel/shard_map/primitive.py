"""``shard_map`` as a primitive: on whole arrays, with the program of one device as parameter.

The program takes the device's index along each axis of the mesh, then the device's parts. Its rules
are those of a call of a program; in addition they keep account of how each operand, result and
residual is divided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import bindax_lax_basic as lax
from bindax_core import device_put
from bindax_core.extend import (
    Array,
    ClosedJaxpr,
    DebugInfo,
    JaxprEqn,
    Primitive,
    Printer,
    Var,
    as_array,
    compiling_backend,
    eval_jaxpr,
    executable_of,
    format_application,
    full_lower,
    primitive,
    rules,
    typeof,
)
from bindax_core.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec
from bindax_parallel.reductions import pmean, psum
from bindax_parallel.shard_map.blocks import evaluate
from bindax_parallel.shard_map.lowering import shard_map_lowering
from bindax_parallel.shard_map.needless import without_needless_sums
from bindax_parallel.shard_map.residuals import residuals_of, unzip
from bindax_parallel.shard_map.specs import (
    Params,
    Sizes,
    Spec,
    chosen,
    differing_axes,
    manual_axes,
    not_named_in,
    part_aval,
    whole_aval,
    with_axis,
)
from bindax_parallel.shard_map.staging import stage
from bindax_transforms import (
    NamedSize,
    axis_key,
    dce_jaxpr,
    find_named_axis,
    jvp_jaxpr,
    mesh_axes_of,
    physical_jaxpr,
    trace_to_jaxpr,
    vmap_jaxpr,
)
from bindax_transforms.extend import (
    are_logs_wanted,
    log_last,
    transpose_with_logs,
    varying_as,
    varying_of,
    with_varying,
)
from bindax_transforms.zeros import Zero, is_undef_primal


def bind_program(
    closed: ClosedJaxpr, operands: Sequence[Any], params: Params, in_specs: Any, out_specs: Any
) -> list[Any]:
    """Bind with another program, whose constants become operands that every device has."""
    count = len(manual_axes(params))
    jaxpr, consts = closed.jaxpr, list(closed.consts)
    if consts:
        indices, parts = jaxpr.invars[:count], jaxpr.invars[count:]
        invars = [*indices, *jaxpr.constvars, *parts]
        closed = ClosedJaxpr(jaxpr.replace(constvars=(), invars=invars))
    first = [PartitionSpec()] * len(consts)
    changed = {"jaxpr": closed, "in_specs": (*first, *in_specs), "out_specs": tuple(out_specs)}
    return shard_map_p.bind(*consts, *operands, **{**params, **changed})  # type: ignore[no-any-return]


# -------------------------------------------------------------------------------- evaluation


def _impl(*operands: Any, **params: Any) -> list[Any]:
    arrays = [as_array(x) for x in operands]
    params = {**params, "mesh": _with_devices(params["mesh"], arrays)}
    backend = compiling_backend(arrays) if isinstance(params["mesh"], Mesh) else None
    if backend is None:
        specs = params["in_specs"], params["out_specs"]
        return evaluate(params["jaxpr"], manual_axes(params), *specs, arrays)
    avals = tuple(typeof(x) for x in arrays)
    program = _program(avals, params)
    outs = list(executable_of(program, backend, name="shard_map")(*arrays))
    if len(manual_axes(params)) < len(params["mesh"].axis_names):
        return outs  # the compiler decides, in part
    places = [NamedSharding(params["mesh"], spec) for spec in params["out_specs"]]
    return [device_put(x, to, may_alias=True) for x, to in zip(outs, places, strict=True)]


def _with_devices(mesh: AbstractMesh, arrays: Sequence[Array]) -> AbstractMesh:
    """The mesh with the devices on which arrays lie, if they do on one of the same axes."""
    if isinstance(mesh, Mesh):
        return mesh
    named = [x.sharding for x in arrays if isinstance(x.sharding, NamedSharding)]
    return next((s.mesh for s in named if s.mesh.shape_tuple == mesh.shape_tuple), mesh)


def _program(avals: tuple[Any, ...], params: Params) -> ClosedJaxpr:
    """The program that applies the primitive, for the compiler; kept with the parameter."""
    cache = params["jaxpr"].cache
    key = ("alone", avals, *(params[k] for k in sorted(params) if k != "jaxpr"))
    if key not in cache:
        origin = DebugInfo("shard_map")
        cache[key] = trace_to_jaxpr(lambda *xs: shard_map_p.bind(*xs, **params), avals, origin)
    return cache[key]  # type: ignore[no-any-return]


def _abstract_eval(*avals: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    given = zip(params["in_specs"], jaxpr.in_avals[len(manual_axes(params)) :], strict=True)
    expected = [_plain(whole_aval(spec, aval, params)) for spec, aval in given]
    if [_plain(aval) for aval in avals] != expected:
        raise TypeError(
            f"shard_map of a program that takes ({', '.join(a.str_short() for a in expected)}) was "
            f"applied to ({', '.join(a.str_short() for a in avals)})."
        )
    around = frozenset().union(*(aval.mat.varying for aval in avals))
    results = zip(params["out_specs"], jaxpr.out_avals, strict=True)
    return [whole_aval(spec, aval, params, around) for spec, aval in results]


def _plain(aval: Any) -> Any:
    return aval.plain().strip_weak_type()


# ------------------------------------------------------------------------------- derivatives


def derived(
    transformed: Callable[[ClosedJaxpr], tuple[ClosedJaxpr, Any]],
    key: Any,
    avals: Sequence[Any],
    params: Params,
) -> tuple[ClosedJaxpr, Any]:
    """The program of one device that a transformation makes of that of ``params``, and more.

    It is staged where the axes have names: rules that users wrote run then, and name them. It takes
    the indices first, and is remembered by ``key``.
    """
    closed: ClosedJaxpr = params["jaxpr"]
    axes = manual_axes(params)
    key = (*key, params["mesh"].shape_tuple, params["axis_names"])
    if key not in closed.cache:
        found: list[Any] = []

        def program(*parts: Any) -> list[Any]:
            indices = [find_named_axis(name, "shard_map").index for name in axes]
            # A copy: what it remembers closes over the indices of this trace.
            made, more = transformed(ClosedJaxpr(closed.jaxpr, closed.consts))
            found.append(more)
            return eval_jaxpr(made.jaxpr, made.consts, *indices, *parts)

        closed.cache[key] = stage(program, avals, params, DebugInfo("shard_map")), found[0]
    return closed.cache[key]  # type: ignore[no-any-return]


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    nonzeros = [type(t) is not Zero for t in tangents]
    count = len(manual_axes(params))
    flags = [*[False] * count, *nonzeros]
    avals = params["jaxpr"].in_avals[count:]
    avals = [*avals, *(aval.tangent_aval() for aval in chosen(avals, nonzeros))]
    jaxpr, nonzeros_out = derived(
        lambda closed: jvp_jaxpr(closed, flags), ("jvp", tuple(nonzeros)), avals, params
    )
    in_specs, out_specs = params["in_specs"], params["out_specs"]
    outs = bind_program(
        jaxpr,
        [*primals, *(t for t in tangents if type(t) is not Zero)],
        params,
        (*in_specs, *chosen(in_specs, nonzeros)),
        (*out_specs, *chosen(out_specs, nonzeros_out)),
    )
    primals_out = outs[: len(nonzeros_out)]
    found = iter(outs[len(nonzeros_out) :])
    tangents_out = [
        next(found) if nonzero else Zero(typeof(x).tangent_aval())
        for nonzero, x in zip(nonzeros_out, primals_out, strict=True)
    ]
    return primals_out, tangents_out


def _partial_eval(trace: Any, tracers: Sequence[Any], **params: Any) -> list[Any]:
    in_unknowns = [not t.is_known for t in tracers]
    parts, known_params, unknown_params = unzip(params, in_unknowns)
    known = [full_lower(t.value) for t in tracers if t.is_known]
    outs = shard_map_p.bind(*known, **known_params)
    count = len(manual_axes(params))
    num_known = sum(not flag for flag in parts.out_unknowns)
    residuals = residuals_of(parts, count, known, outs[num_known:])
    unknown = [t for t in tracers if not t.is_known]
    avals = _abstract_eval(
        *[typeof(x) for x in residuals], *[t.aval for t in unknown], **unknown_params
    )
    unknown_outs = [trace.unknown(aval) for aval in avals]
    trace.add_eqn(shard_map_p, [*residuals, *unknown], unknown_outs, unknown_params)
    return list(parts.merge_results(outs[:num_known], unknown_outs))


def _partial_eval_jaxpr(
    in_unknowns: Sequence[bool], eqn: JaxprEqn
) -> tuple[JaxprEqn, JaxprEqn, list[bool], list[Any]]:
    parts, known_params, unknown_params = unzip(eqn.params, in_unknowns)
    count = len(manual_axes(eqn.params))
    known_ins = chosen(eqn.invars, [not flag for flag in in_unknowns])
    known_outs = chosen(eqn.outvars, [not flag for flag in parts.out_unknowns])
    new_specs = known_params["out_specs"][len(known_outs) :]
    new_avals = known_params["jaxpr"].out_avals[len(known_outs) :]
    made = zip(new_specs, new_avals, strict=True)
    computed = [Var(whole_aval(spec, aval, eqn.params)) for spec, aval in made]
    residuals = residuals_of(parts, count, known_ins, computed)
    known_eqn = eqn.replace(invars=known_ins, outvars=[*known_outs, *computed], params=known_params)
    unknown_eqn = eqn.replace(
        invars=[*residuals, *chosen(eqn.invars, in_unknowns)],
        outvars=chosen(eqn.outvars, parts.out_unknowns),
        params=unknown_params,
    )
    return known_eqn, unknown_eqn, parts.out_unknowns, residuals


def _transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    axes = manual_axes(params)
    linear = [is_undef_primal(x) for x in operands]
    nonzero_cts = [type(ct) is not Zero for ct in cotangents]
    others = [not flag for flag in linear]
    ct_specs = [s.of_cotangent() for s in chosen(params["out_specs"], nonzero_cts)]
    linear_specs = [s.of_cotangent() for s in chosen(params["in_specs"], linear)]
    avals = chosen(params["jaxpr"].in_avals[len(axes) :], others)
    cts = chosen(cotangents, nonzero_cts)
    out_avals = chosen(params["jaxpr"].out_avals, nonzero_cts)
    given = zip(ct_specs, cts, out_avals, strict=True)
    avals += [part_aval(spec, typeof(ct), aval.shape, params) for spec, ct, aval in given]

    def transformed(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, Any]:
        flags = [*[False] * len(axes), *linear]
        made, nonzero_out, logs = transpose_with_logs(closed, flags, nonzero_cts)
        if params["check_vma"]:  # types say what to sum up
            made = _of_divided(made, out_avals, avals)
        else:
            made = _summed(made, chosen(linear_specs, nonzero_out), axes)
        return _logging_vectors(made, sum(nonzero_out)) if logs else made, (nonzero_out, logs)

    flags = (*linear, *nonzero_cts, are_logs_wanted())
    key = ("transpose", flags, params["in_specs"], *avals)
    jaxpr, (nonzero_out, logs) = derived(transformed, key, avals, params)
    logged = jaxpr.out_avals[sum(nonzero_out) :]
    along = [varying_of([aval]) if params["check_vma"] else axes for aval in logged]
    log_specs = [PartitionSpec(tuple(name for name in axes if name in names)) for names in along]
    out_specs = [*chosen(linear_specs, nonzero_out), *log_specs]
    in_specs = (*chosen(params["in_specs"], others), *ct_specs)
    if not params["check_vma"]:
        jaxpr = without_needless_sums(jaxpr, differing_axes(axes, in_specs))
        pairs = zip(cts, ct_specs, strict=True)
        cts = [_share(ct, not_named_in(spec, axes), axes) for ct, spec in pairs]
    known = chosen(operands, others)
    found = iter(log_last(logs, bind_program(jaxpr, [*known, *cts], params, in_specs, out_specs)))
    nonzero = iter(nonzero_out)
    return [
        None if not flag else next(found) if next(nonzero) else Zero(x.aval.tangent_aval())
        for flag, x in zip(linear, operands, strict=True)
    ]


def _of_divided(jaxpr: ClosedJaxpr, out_avals: Sequence[Any], avals: Sequence[Any]) -> ClosedJaxpr:
    """The transposed program for cotangents that are divided where results are the same."""
    count = len(out_avals)

    def program(*args: Any) -> list[Any]:
        first, cts = args[: len(args) - count], args[len(args) - count :]
        pairs = zip(cts, out_avals, strict=True)
        summed = [varying_as(ct, aval.cotangent_aval()) for ct, aval in pairs]
        return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *first, *summed)

    indices = jaxpr.in_avals[: len(jaxpr.in_avals) - len(avals)]
    return trace_to_jaxpr(program, [*indices, *avals], DebugInfo("shard_map"))


def _logging_vectors(jaxpr: ClosedJaxpr, count: int) -> ClosedJaxpr:
    """The transposed program with an axis for scalars that it logs, after ``count`` cotangents."""

    def program(*args: Any) -> list[Any]:
        outs = eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)
        return [*outs[:count], *(lax.reshape(x, typeof(x).shape or (1,)) for x in outs[count:])]

    return trace_to_jaxpr(program, jaxpr.in_avals, DebugInfo("shard_map"))


def _share(ct: Any, names: Sequence[Any], axes: Sizes) -> Any:
    """One device's share of the cotangent of a result that is the same on several."""
    count = prod(axes[name] for name in names)
    return ct if count == 1 else lax.div(ct, lax.full_like(ct, count))


def _summed(jaxpr: ClosedJaxpr, specs: Sequence[Spec], axes: Sizes) -> ClosedJaxpr:
    """The program with its results summed over the devices that have the same part.

    Of copies, which are cotangents of terms of a sum, the mean is taken.
    """
    unnamed = [tuple(not_named_in(spec, axes)) for spec in specs]
    copied = [tuple(name for name in axes if name in spec.reduced) for spec in specs]

    def program(*args: Any) -> list[Any]:
        outs = eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)
        outs, logs = outs[: len(specs)], outs[len(specs) :]
        outs = [psum(x, names) if names else x for x, names in zip(outs, unnamed, strict=True)]
        outs = [pmean(x, names) if names else x for x, names in zip(outs, copied, strict=True)]
        return [*outs, *logs]

    return trace_to_jaxpr(program, jaxpr.in_avals, DebugInfo("shard_map"))


# ------------------------------------------------------------------------------ other rules


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[list[Any], list[int | None]]:
    count = len(manual_axes(params))
    names, part = _part_of_axis(axis_size, params)
    in_dims = [*[None] * count, *dims]
    along = frozenset(names if params["check_vma"] else ())
    avals = [
        aval if d is None else with_varying(aval.with_axis(d, int(part)), along)
        for aval, d in zip(params["jaxpr"].in_avals[count:], dims, strict=True)
    ]
    jaxpr, out_dims = derived(
        lambda closed: vmap_jaxpr(closed, part, in_dims),
        ("vmap", *axis_key(part), names, tuple(dims)),
        avals,
        params,
    )
    in_specs = [with_axis(spec, d, names) for spec, d in zip(params["in_specs"], dims, strict=True)]
    pairs = zip(params["out_specs"], out_dims, strict=True)
    out_specs = [with_axis(spec, d, names) for spec, d in pairs]
    return bind_program(jaxpr, operands, params, in_specs, out_specs), out_dims


def _part_of_axis(axis_size: int, params: Params) -> tuple[tuple[Any, ...], int]:
    """The mesh axes that divide a mapped axis, and the size of one device's part of it."""
    axes = manual_axes(params)
    names = tuple(name for name in mesh_axes_of(axis_size) if name in axes)
    if not names:
        return (), axis_size
    specs = [*params["in_specs"], *params["out_specs"]]
    taken = [name for name in names if any(name in spec.names for spec in specs)]
    if taken:
        raise ValueError(
            f"vmap spmd_axis_name cannot appear in the in_specs or out_specs of the shard_map "
            f"inside, but {taken[0]!r} divides an array there already."
        )
    parts, name = prod(axes[n] for n in names), axis_key(axis_size)[1]
    if axis_size % parts or name is not None:
        problem = f"has the size {axis_size}" if name is None else f"has the name {name!r}"
        raise ValueError(
            f"vmap: spmd_axis_name={names!r} divides the mapped axis into {parts} parts in a "
            f"shard_map, but the axis {problem}. The size must be a multiple of the number of "
            f"parts, and operations across a divided axis need the mesh axes' own names."
        )
    others = tuple(n for n in mesh_axes_of(axis_size) if n not in names)
    return names, NamedSize(axis_size // parts, None, others)


def _physical(
    avals: Sequence[Any], *operands: Any, jaxpr: ClosedJaxpr, **params: Any
) -> Sequence[Any]:
    """The call on the arrays that represent its operands, whose own axes are divided by nothing."""
    specs = params["in_specs"], params["out_specs"]
    return bind_program(physical_jaxpr(jaxpr), operands, params, *specs)


def _dce(used_outputs: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    closed: ClosedJaxpr = eqn.params["jaxpr"]
    count = len(manual_axes(eqn.params))
    key = ("dce", tuple(used_outputs), count)
    if key not in closed.cache:
        jaxpr, used = dce_jaxpr(closed.jaxpr, used_outputs)
        kept = [*jaxpr.invars[:count], *chosen(jaxpr.invars[count:], used[count:])]
        closed.cache[key] = ClosedJaxpr(jaxpr.replace(invars=kept)), used[count:]
    pruned, used = closed.cache[key]
    params = {
        **eqn.params,
        "jaxpr": pruned,
        "in_specs": tuple(chosen(eqn.params["in_specs"], used)),
        "out_specs": tuple(chosen(eqn.params["out_specs"], used_outputs)),
    }
    return eqn.replace(
        invars=chosen(eqn.invars, used),
        outvars=chosen(eqn.outvars, used_outputs),
        params=params,
    )


def _pretty_print(eqn: JaxprEqn, printer: Printer) -> list[str]:
    shown = {k: v for k, v in eqn.params.items() if k not in ("axis_names", "check_vma")}
    return format_application(eqn, shown, printer)


shard_map_p: Primitive = primitive(
    "shard_map",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(_transpose, symbolic_zeros=True),
    rules.partial_eval(_partial_eval),
    rules.partial_eval_jaxpr(_partial_eval_jaxpr),
    rules.physical(_physical),
    rules.dce(_dce),
    rules.pretty_print(_pretty_print),
    rules.lowering["stablehlo"](shard_map_lowering),
    multiple_results=True,
)
"""The program of each device, on its parts of arrays. Parameters: ``jaxpr``, a program without
constants of the device's index along each axis and of its parts; ``mesh``; ``axis_names``, those of
the axes that are divided by hand; ``in_specs`` and ``out_specs``, a ``PartitionSpec`` for each
operand and result."""
