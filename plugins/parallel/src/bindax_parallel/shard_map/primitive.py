"""``shard_map`` as a primitive: on whole arrays, with the program of one device as parameter.

The program takes the device's index along each axis of the mesh, then the device's parts. Its rules
are those of a call of a program; in addition they keep account of how each operand, result and
residual is divided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import (
    ClosedJaxpr,
    JaxprEqn,
    Origin,
    Primitive,
    Printer,
    ShapedArray,
    Var,
    Zero,
    as_array,
    compiling_backend,
    eval_jaxpr,
    executable_of,
    format_application,
    full_lower,
    is_undef_primal,
    primitive,
    rules,
    typeof,
)
from bindax_core.sharding import Mesh
from bindax_parallel.reductions import psum
from bindax_parallel.shard_map.blocks import evaluate
from bindax_parallel.shard_map.lowering import shard_map_lowering
from bindax_parallel.shard_map.specs import (
    Sizes,
    Spec,
    named_in,
    not_named_in,
    whole_aval,
    with_axis,
)
from bindax_parallel.shard_map.varying import varying_axes, without_needless_sums
from bindax_transforms import (
    NamedAxis,
    dce_jaxpr,
    find_named_axis,
    jvp_jaxpr,
    name_axes,
    partial_eval_jaxpr,
    trace_to_jaxpr,
    transpose_jaxpr,
    vmap_jaxpr,
)

Params = dict[str, Any]
INDEX = ShapedArray((), np.int32)


def manual_axes(params: Params) -> Sizes:
    """The axes that the program divides by hand, with their sizes, in the order of the mesh."""
    chosen = params["axis_names"]
    return {name: size for name, size in params["mesh"].shape_tuple if name in chosen}


def stage(
    function: Callable[..., Sequence[Any]], avals: Sequence[Any], params: Params, origin: Origin
) -> ClosedJaxpr:
    """The program of one device, from a function of its parts in which the axes have names."""
    axes, mesh = manual_axes(params), params["mesh"].shape_tuple

    def with_names(*args: Any) -> Sequence[Any]:
        indices, parts = args[: len(axes)], args[len(axes) :]
        pairs = zip(axes.items(), indices, strict=True)
        with name_axes([NamedAxis(name, size, index, mesh) for (name, size), index in pairs]):
            return function(*parts)

    return trace_to_jaxpr(with_names, [INDEX] * len(axes) + list(avals), origin)


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
    whole = [((),) * typeof(x).ndim for x in consts]
    changed = {"jaxpr": closed, "in_specs": (*whole, *in_specs), "out_specs": tuple(out_specs)}
    return shard_map_p.bind(*consts, *operands, **{**params, **changed})  # type: ignore[no-any-return]


# -------------------------------------------------------------------------------- evaluation


def _impl(*operands: Any, **params: Any) -> list[Any]:
    arrays = [as_array(x) for x in operands]
    backend = compiling_backend(arrays) if isinstance(params["mesh"], Mesh) else None
    if backend is None:
        specs = params["in_specs"], params["out_specs"]
        return evaluate(params["jaxpr"], manual_axes(params), *specs, arrays)
    avals = tuple(typeof(x) for x in arrays)
    program = _program(avals, params)
    return list(executable_of(program, backend, name="shard_map")(*arrays))


def _program(avals: tuple[Any, ...], params: Params) -> ClosedJaxpr:
    """The program that applies the primitive, for the compiler; kept with the parameter."""
    cache = params["jaxpr"].cache
    key = ("alone", avals, *(params[k] for k in sorted(params) if k != "jaxpr"))
    if key not in cache:
        origin = Origin("shard_map")
        cache[key] = trace_to_jaxpr(lambda *xs: shard_map_p.bind(*xs, **params), avals, origin)
    return cache[key]  # type: ignore[no-any-return]


def _abstract_eval(*avals: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    axes = manual_axes(params)
    given = zip(params["in_specs"], jaxpr.in_avals[len(axes) :], strict=True)
    expected = [whole_aval(spec, aval, axes).strip_weak_type() for spec, aval in given]
    if [aval.strip_weak_type() for aval in avals] != expected:
        raise TypeError(
            f"shard_map of a program that takes ({', '.join(a.str_short() for a in expected)}) was "
            f"applied to ({', '.join(a.str_short() for a in avals)})."
        )
    results = zip(params["out_specs"], jaxpr.out_avals, strict=True)
    return [whole_aval(spec, aval, axes) for spec, aval in results]


# ------------------------------------------------------------------------------- derivatives


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    nonzeros = [type(t) is not Zero for t in tangents]
    unvaried = [False] * len(manual_axes(params))
    jaxpr, nonzeros_out = jvp_jaxpr(params["jaxpr"], [*unvaried, *nonzeros])
    in_specs, out_specs = params["in_specs"], params["out_specs"]
    outs = bind_program(
        jaxpr,
        [*primals, *(t for t in tangents if type(t) is not Zero)],
        params,
        (*in_specs, *_chosen(in_specs, nonzeros)),
        (*out_specs, *_chosen(out_specs, nonzeros_out)),
    )
    primals_out = outs[: len(nonzeros_out)]
    found = iter(outs[len(nonzeros_out) :])
    tangents_out = [
        next(found) if nonzero else Zero(typeof(x).tangent_aval())
        for nonzero, x in zip(nonzeros_out, primals_out, strict=True)
    ]
    return primals_out, tangents_out


def _chosen(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    return [value for value, flag in zip(values, flags, strict=True) if flag]


def _partial_eval(trace: Any, tracers: Sequence[Any], **params: Any) -> list[Any]:
    in_unknowns = [not t.is_known for t in tracers]
    parts, known_params, unknown_params = _unzipped(params, in_unknowns)
    known = [full_lower(t.value) for t in tracers if t.is_known]
    outs = shard_map_p.bind(*known, **known_params)
    count = len(manual_axes(params))
    num_known = sum(not flag for flag in parts.out_unknowns)
    computed = iter(outs[num_known:])
    residuals = [
        next(computed) if source is None else known[source - count]
        for source in parts.forwarded
        if source is None or source >= count
    ]
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
    parts, known_params, unknown_params = _unzipped(eqn.params, in_unknowns)
    count = len(manual_axes(eqn.params))
    known_ins = _chosen(eqn.invars, [not flag for flag in in_unknowns])
    known_outs = _chosen(eqn.outvars, [not flag for flag in parts.out_unknowns])
    axes = manual_axes(eqn.params)
    new_specs = known_params["out_specs"][len(known_outs) :]
    new_avals = known_params["jaxpr"].out_avals[len(known_outs) :]
    computed = [Var(whole_aval(s, a, axes)) for s, a in zip(new_specs, new_avals, strict=True)]
    source_of = iter(computed)
    residuals = [
        next(source_of) if source is None else known_ins[source - count]
        for source in parts.forwarded
        if source is None or source >= count
    ]
    known_eqn = eqn.replace(invars=known_ins, outvars=[*known_outs, *computed], params=known_params)
    unknown_eqn = eqn.replace(
        invars=[*residuals, *_chosen(eqn.invars, in_unknowns)],
        outvars=_chosen(eqn.outvars, parts.out_unknowns),
        params=unknown_params,
    )
    return known_eqn, unknown_eqn, parts.out_unknowns, residuals


def _unzipped(params: Params, in_unknowns: Sequence[bool]) -> tuple[Any, Params, Params]:
    """The two parts of the program, and the parameters of the two calls.

    What the first leaves for the second may be different on each device: it passes as an array with
    one more axis, which those axes of the mesh divide along which it may differ.
    """
    axes = manual_axes(params)
    count = len(axes)
    parts = partial_eval_jaxpr(params["jaxpr"], [*[False] * count, *in_unknowns])
    known_specs = _chosen(params["in_specs"], [not flag for flag in in_unknowns])
    num_known = sum(not flag for flag in parts.out_unknowns)
    differing = varying_axes(parts.known, _differing(axes, known_specs))[num_known:]
    new = [
        (tuple(name for name in axes if name in along), *((),) * aval.ndim)
        for along, aval in zip(differing, parts.known.out_avals[num_known:], strict=True)
    ]
    known = _with_front_axes(parts.known, num_known)
    known_out = _chosen(params["out_specs"], [not flag for flag in parts.out_unknowns])
    known_params = {
        **params,
        "jaxpr": known,
        "in_specs": tuple(known_specs),
        "out_specs": (*known_out, *new),
    }
    fresh = iter(new)
    specs: list[Spec] = []
    for source in parts.forwarded:
        if source is None:
            specs.append(next(fresh))
        elif source >= count:
            specs.append(known_specs[source - count])
    unknown_params = {
        **params,
        "jaxpr": _second_part(parts, count),
        "in_specs": (*specs, *_chosen(params["in_specs"], in_unknowns)),
        "out_specs": tuple(_chosen(params["out_specs"], parts.out_unknowns)),
    }
    return parts, known_params, unknown_params


def _differing(axes: Sizes, specs: Sequence[Spec]) -> list[frozenset[Any]]:
    """For each argument of the program, the axes of the mesh along which it may differ."""
    return [frozenset({name}) for name in axes] + [frozenset(named_in(spec)) for spec in specs]


def _with_front_axes(known: ClosedJaxpr, num_known: int) -> ClosedJaxpr:
    """The first part, with one more axis in front of each residual."""
    if "front_axes" not in known.cache:

        def program(*args: Any) -> list[Any]:
            outs = eval_jaxpr(known.jaxpr, known.consts, *args)
            return [*outs[:num_known], *(lax.expand_dims(x, (0,)) for x in outs[num_known:])]

        known.cache["front_axes"] = trace_to_jaxpr(program, known.in_avals, Origin("shard_map"))
    return known.cache["front_axes"]  # type: ignore[no-any-return]


def _second_part(parts: Any, count: int) -> ClosedJaxpr:
    """The second part, from the indices, the residuals with their front axes, and the rest."""
    unknown = parts.unknown
    key = ("second_part", count)
    if key not in unknown.cache:
        sources = list(parts.forwarded)
        avals = [
            aval if source is not None else aval.update(shape=(1, *aval.shape))
            for aval, source in zip(parts.residual_avals, sources, strict=True)
            if source is None or source >= count
        ]
        avals += unknown.in_avals[len(sources) :]

        def program(*args: Any) -> list[Any]:
            indices, rest = args[:count], iter(args[count:])
            residuals = []
            for source in sources:
                if source is not None and source < count:
                    residuals.append(indices[source])
                else:
                    x = next(rest)
                    residuals.append(lax.squeeze(x, (0,)) if source is None else x)
            return eval_jaxpr(unknown.jaxpr, unknown.consts, *residuals, *rest)

        unknown.cache[key] = trace_to_jaxpr(program, [INDEX] * count + avals, Origin("shard_map"))
    return unknown.cache[key]  # type: ignore[no-any-return]


def _transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    axes = manual_axes(params)
    linear = [is_undef_primal(x) for x in operands]
    nonzero_cts = [type(ct) is not Zero for ct in cotangents]
    jaxpr, nonzero_out = transpose_jaxpr(
        params["jaxpr"], [*[False] * len(axes), *linear], nonzero_cts
    )
    ct_specs = _chosen(params["out_specs"], nonzero_cts)
    linear_specs = _chosen(params["in_specs"], linear)
    out_specs = _chosen(linear_specs, nonzero_out)
    residuals = _chosen(operands, [not flag for flag in linear])
    residual_specs = _chosen(params["in_specs"], [not flag for flag in linear])
    given = [
        _share(ct, not_named_in(spec, axes), axes)
        for ct, spec in zip(_chosen(cotangents, nonzero_cts), ct_specs, strict=True)
    ]
    in_specs = (*residual_specs, *ct_specs)
    summed = _summed(jaxpr, out_specs, params)
    summed = without_needless_sums(summed, _differing(axes, in_specs))
    found = iter(bind_program(summed, [*residuals, *given], params, in_specs, out_specs))
    nonzero = iter(nonzero_out)
    return [
        None if not flag else next(found) if next(nonzero) else Zero(x.aval.tangent_aval())
        for flag, x in zip(linear, operands, strict=True)
    ]


def _share(ct: Any, names: Sequence[Any], axes: Sizes) -> Any:
    """One device's share of the cotangent of a result that is the same on several."""
    count = prod(axes[name] for name in names)
    return ct if count == 1 else lax.div(ct, lax.full_like(ct, count))


def _summed(jaxpr: ClosedJaxpr, specs: Sequence[Spec], params: Params) -> ClosedJaxpr:
    """The program with its results summed over the devices that have the same part."""
    axes = manual_axes(params)
    unnamed = [tuple(not_named_in(spec, axes)) for spec in specs]
    if not any(unnamed):
        return jaxpr
    key = ("summed", tuple(unnamed), params["mesh"].shape_tuple, params["axis_names"])
    if key not in jaxpr.cache:

        def program(*parts: Any) -> list[Any]:
            indices = [find_named_axis(name, "shard_map").index for name in axes]
            outs = eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *indices, *parts)
            return [psum(x, names) if names else x for x, names in zip(outs, unnamed, strict=True)]

        jaxpr.cache[key] = stage(program, jaxpr.in_avals[len(axes) :], params, Origin("shard_map"))
    return jaxpr.cache[key]  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------ other rules


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[list[Any], list[int | None]]:
    unmapped = [None] * len(manual_axes(params))
    jaxpr, out_dims = vmap_jaxpr(params["jaxpr"], axis_size, [*unmapped, *dims])
    in_specs = [with_axis(spec, d) for spec, d in zip(params["in_specs"], dims, strict=True)]
    pairs = zip(params["out_specs"], out_dims, strict=True)
    outs = bind_program(jaxpr, operands, params, in_specs, [with_axis(s, d) for s, d in pairs])
    return outs, out_dims


def _dce(used_outputs: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    closed: ClosedJaxpr = eqn.params["jaxpr"]
    count = len(manual_axes(eqn.params))
    key = ("dce", tuple(used_outputs), count)
    if key not in closed.cache:
        jaxpr, used = dce_jaxpr(closed.jaxpr, used_outputs)
        kept = [*jaxpr.invars[:count], *_chosen(jaxpr.invars[count:], used[count:])]
        closed.cache[key] = ClosedJaxpr(jaxpr.replace(invars=kept)), used[count:]
    pruned, used = closed.cache[key]
    params = {
        **eqn.params,
        "jaxpr": pruned,
        "in_specs": tuple(_chosen(eqn.params["in_specs"], used)),
        "out_specs": tuple(_chosen(eqn.params["out_specs"], used_outputs)),
    }
    return eqn.replace(
        invars=_chosen(eqn.invars, used),
        outvars=_chosen(eqn.outvars, used_outputs),
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
    rules.dce(_dce),
    rules.pretty_print(_pretty_print),
    rules.lowering["stablehlo"](shard_map_lowering),
    multiple_results=True,
)
"""The program of each device, on its parts of arrays. Parameters: ``jaxpr``, a program without
constants of the device's index along each axis and of its parts; ``mesh``; ``axis_names``, those of
the axes that are divided by hand; ``in_specs`` and ``out_specs``, for each operand and result the
names that divide each of its axes."""
