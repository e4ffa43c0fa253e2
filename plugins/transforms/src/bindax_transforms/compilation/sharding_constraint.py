"""Shardings inside of programs and at their ends: a primitive that lays a value out on devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

from bindax_core import device_put
from bindax_core.extend import (
    Array,
    ClosedJaxpr,
    DebugInfo,
    LoweringContext,
    Primitive,
    PyTreeDef,
    Tracer,
    as_array,
    default_placement,
    describe_function,
    executable_of,
    find_backend,
    flatten_prefix,
    place_on,
    primitive,
    rules,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_core.sharding import (
    Format,
    Mesh,
    NamedSharding,
    PartitionSpec,
    Sharding,
    Space,
    get_mesh,
    named,
    open_axes,
    pinned,
    split_format,
    with_devices,
)
from bindax_transforms.batching.axis_sizes import mesh_axes_of
from bindax_transforms.batching.named_axes import device_axes
from bindax_transforms.compilation.layout_constraint import check_shardings, laid_out
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr
from bindax_transforms.zeros import Zero

_ARGUMENT = "One of with_sharding_constraint arguments"


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """Say which parts of the arrays of a tree lie on which devices; their values stay the same.

    Inside of ``jit`` it directs the compiler, which moves data where that is needed, and pads what
    it cannot divide evenly; outside it moves the arrays. Tangents, cotangents and the arrays of a
    ``vmap`` are laid out alike.

    Args:
        x: an array, or a tree of arrays.
        shardings: a ``Sharding``, a ``PartitionSpec`` on the mesh that is set, or a ``Format``, or
            a tree of those that begins as ``x`` does. None leaves arrays as they are.

    Raises:
        ValueError: when a sharding has more axes than the array, or does not divide one that is
            known evenly, a spec is given and no mesh is set, or an axis is named along which
            ``shard_map`` divides.
        AssertionError: where all axes of the mesh are explicit, and the array does not lie so.

    >>> import numpy as np
    >>> from bindax_core.sharding import NamedSharding, P, make_mesh
    >>> sharding = NamedSharding(make_mesh((1,), ("x",)), P("x"))
    >>> with_sharding_constraint(np.ones(2), sharding)
    Array([1., 1.], dtype=float64)
    """
    leaves, tree = tree_flatten(x)
    given = flatten_prefix(shardings, tree, "shardings", full_name="x")
    what = "with_sharding_constraint: shardings"
    outs = [
        _result(x, *_asserted(x, target, what), what, _ARGUMENT)
        for x, target in zip(leaves, given, strict=True)
    ]
    return tree_unflatten(tree, outs)


def _sharding(given: Any, what: str) -> Any:
    """The sharding that is meant, of which the axes are divided by the compiler."""
    sharding = named(given, what)
    names = sharding.spec.names if isinstance(sharding, NamedSharding) else ()
    divided = [name for name in names if name in device_axes()]
    if divided:
        raise ValueError(
            f"{what}={given!r} names {divided[0]!r}, a manual axis here: inside of the shard_map "
            f"around the caller, an array is the part of one device along "
            f"{', '.join(map(repr, device_axes()))}. Name the other axes of the mesh alone."
        )
    return sharding


def _asserted(x: Any, target: Any, what: str) -> tuple[Any, Any]:
    """The layout and the sharding to bring about; where types say the latter, it is asserted."""
    layout, sharding = split_format(target)
    if sharding is None:
        return layout, None
    sharding = _sharding(sharding, what)
    if not isinstance(sharding, NamedSharding) or not sharding.mesh.explicit_axes:
        return layout, sharding
    aval = typeof(x)
    if not sharding.mesh.are_all_axes_explicit:
        return layout, _beside_type(aval, sharding, what)
    wanted = aval.lying(sharding) if len(sharding.spec) <= len(aval.shape) else None
    if wanted is not aval:
        raise AssertionError(
            f"`with_sharding_constraint` acts as an assert when all axes of mesh are of type "
            f"`Explicit`, but {aval.str_short()} does not lie as {sharding.spec!r} says. Lay it "
            f"out by reshard."
        )
    return layout, None


def _beside_type(aval: Any, sharding: NamedSharding, what: str) -> NamedSharding:
    """The sharding of an array along automatic axes, with what its type says of explicit ones."""
    sharding.check(aval.shape, "with_sharding_constraint: the array")
    spec, mesh = sharding.spec.padded(len(aval.shape)), sharding.mesh
    said = [name for name in spec.names if name in mesh.explicit_axes]
    if said:
        raise ValueError(
            f"{what}={sharding.spec!r} can only refer to Auto axes of the mesh, but types say how "
            f"arrays lie along {said[0]!r} of {mesh!r}. Leave it out, or lay the array out by "
            f"reshard."
        )
    if not aval.is_divided:
        return sharding
    own = aval.placement.spec
    entries = [
        (*axes, *more) or entry for axes, more, entry in zip(own.axes, spec.axes, spec, strict=True)
    ]
    return sharding.update(spec=own.update(entries))


def _impl(x: Any, *, sharding: Sharding | Space) -> list[Any]:
    if isinstance(sharding, Space):
        same = (x.sharding.other_memory if isinstance(x, Array) else None) == sharding.value
        return [as_array(x) if same else device_put(x, sharding)]
    if isinstance(sharding, NamedSharding) and not isinstance(sharding.mesh, Mesh):
        mesh = _devices_of(x)
        if mesh is None or mesh.size != sharding.mesh.size:
            return [as_array(x)]  # of which nobody has said devices
        sharding = sharding.update(mesh=with_devices(sharding.mesh, mesh))
    is_bound = isinstance(x, Array) and x.committed
    if isinstance(sharding, NamedSharding) and sharding.spec.unreduced and not is_bound:
        # The compiler would take an operand that lies nowhere for a term that each device has.
        x, is_bound = device_put(x, sharding.update(spec=PartitionSpec(*sharding.spec))), True
    backend = x.placement.backend if is_bound else find_backend()
    placement = place_on(backend, sharding)
    if placement is default_placement(backend):  # which has one device
        return [as_array(x)]
    if isinstance(x, Array) and x.placement is placement:
        return [x]
    if sharding.other_memory or (isinstance(x, Array) and x.sharding.other_memory):
        return [device_put(x, sharding)]
    program = _program(sharding, typeof(x))
    run = executable_of(program, backend, name="with_sharding_constraint", operands=[x])
    return list(run(x))


def _devices_of(x: Any) -> Mesh | None:
    """The mesh that an array lies on, or the one at work."""
    own = x.sharding if isinstance(x, Array) and x.committed else None
    is_on_mesh = isinstance(own, NamedSharding) and isinstance(own.mesh, Mesh)
    return own.mesh if is_on_mesh else get_mesh()  # type: ignore[union-attr]


@lru_cache(maxsize=1024)
def _program(sharding: Sharding, aval: Any) -> ClosedJaxpr:
    """The identity that leaves its result in a sharding; the executable is kept with it."""
    moved = partial(sharding_constraint_p.bind, sharding=sharding)
    return trace_to_jaxpr(lambda x: [moved(x)], [aval], DebugInfo("with_sharding_constraint"))


def _abstract_eval(x: Any, *, sharding: Sharding | Space) -> Any:
    if isinstance(sharding, NamedSharding) and len(sharding.spec) > len(x.shape):
        sharding.check(x.shape, _ARGUMENT)
    return x if isinstance(sharding, Space) else x.lying(sharding)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = sharding_constraint_p.bind(x, **params)
    return out, Zero.like(out) if type(t) is Zero else sharding_constraint_p.bind(t, **params)


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[Any], *, sharding: Sharding | Space
) -> tuple[Any, Any]:
    (x,), (dim,) = operands, dims
    if isinstance(sharding, NamedSharding):
        # Unless the vmap says it, the compiler decides on the new axis.
        names = mesh_axes_of(axis_size)
        taken = [name for name in sharding.spec.names if name in names]
        if taken:
            raise ValueError(
                f"vmap: the mesh axis {taken[0]!r} divides the mapped axis, as spmd_axis_name or "
                f"an argument says, but {sharding.spec!r} of a value inside names it, too. "
                f"Unmapped values passed to vmap cannot be sharded along it; lay them out by "
                f"reshard, or leave it out of the with_sharding_constraint."
            )
        entry = None if sharding.mesh.explicit_axes else PartitionSpec.UNCONSTRAINED
        spec = sharding.spec.inserted(dim, names or entry)
        sharding = NamedSharding(sharding.mesh, spec, memory_kind=sharding.other_memory)
    return sharding_constraint_p.bind(x, sharding=sharding), dim


def _transpose(ct: Any, x: Any, **params: Any) -> list[Any]:
    return [sharding_constraint_p.bind(ct, **params)]


def _lowering(ctx: LoweringContext, x: Any, *, sharding: Sharding | Space) -> Any:
    # The memory concerns results of programs alone: the backend leaves them there.
    if not isinstance(sharding, NamedSharding) or sharding.mesh.size == 1:
        return x
    ndim = len(ctx.avals_in[0].shape)
    if ndim and all(open_axes(sharding, ndim)) and not sharding.spec.unreduced:
        return x  # it leaves all to the compiler
    attributes = {"sharding": ctx.sharding(sharding, len(ctx.avals_in[0].shape))}
    return ctx.op("sdy.sharding_constraint", [x], attributes=attributes)[0]


sharding_constraint_p: Primitive = primitive(
    "sharding_constraint",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(_transpose),
    rules.lowering["stablehlo"](_lowering),
)
"""A value with a sharding. Parameter ``sharding``: which part lies on which device, or a ``Space``
for the memory alone."""


def shardings_of(
    in_shardings: Any, out_shardings: Any, device: Any
) -> tuple[tuple[Any, ...], PyTreeDef] | None:
    """The options of ``jit`` as one value with equality, or None where nothing was given."""
    if device is not None:
        if in_shardings is not None or out_shardings is not None:
            raise ValueError(
                "jit: device is given besides in_shardings or out_shardings; leave one of them out."
            )
        out_shardings = named(device, "jit: device")
    if in_shardings is None and out_shardings is None:
        return None
    arguments = tuple(in_shardings) if isinstance(in_shardings, list) else in_shardings
    leaves, tree = tree_flatten((arguments, out_shardings), lambda x: x is None)
    check_shardings(leaves, "jit: in_shardings and out_shardings")
    for leaf in leaves:
        spec = getattr(leaf, "spec", leaf)
        if isinstance(spec, PartitionSpec) and PartitionSpec.UNCONSTRAINED in spec:
            raise ValueError(
                f"jit: Unconstrained dims are not allowed in in_shardings and out_shardings, but "
                f"got {spec!r}. Leave the sharding out, or constrain a value inside by "
                f"with_sharding_constraint."
            )
    return tuple(leaves), tree


def with_shardings(
    flat: Callable[..., list[Any]],
    out_tree: Callable[[], PyTreeDef],
    fun: Callable[..., Any],
    tree: PyTreeDef,
    shardings: tuple[tuple[Any, ...], PyTreeDef],
) -> Callable[..., list[Any]]:
    """The function ``flat`` that ``jit`` traces, with both ends constrained as it was given.

    ``tree`` is the structure of ``(args, kwargs)``; ``out_tree`` gives that of the result.
    """
    leaves, structure = shardings
    arguments, results = tree_unflatten(structure, leaves)
    what = f"jit of {describe_function(fun)}"

    def placed(*leaves: Any) -> list[Any]:
        given = (arguments, None)
        targets = flatten_prefix(given, tree, "(in_shardings, None)", full_name="(args, kwargs)")
        outs = flat(*_constrained(leaves, targets, what, "in_shardings", "argument"))
        targets = flatten_prefix(results, out_tree(), "out_shardings", full_name="the result")
        return _constrained(outs, targets, what, "out_shardings", "output")

    return placed


def placements_of_results(
    out_tree: PyTreeDef, shardings: tuple[tuple[Any, ...], PyTreeDef] | None
) -> list[Any]:
    """For each result the sharding or ``Format`` that ``jit`` was given for it, or None."""
    if shardings is None:
        return [None] * out_tree.num_leaves
    leaves, structure = shardings
    _, results = tree_unflatten(structure, leaves)
    targets = flatten_prefix(results, out_tree, "out_shardings", full_name="the result")
    return [
        x if x is None or isinstance(x, Format) else named(x, "jit: out_shardings") for x in targets
    ]


def _constrained(
    values: Sequence[Any], targets: Sequence[Any], what: str, option: str, kind: str
) -> list[Any]:
    made = []
    constrained = _operand if kind == "argument" else _result
    for i, (x, target) in enumerate(zip(values, targets, strict=True)):
        array = f"{what}: {option}: One of pjit {kind}s, leaf {i},"
        made.append(constrained(x, *split_format(target), f"{what}: {option}", array))
    return made


def _operand(x: Any, layout: Any, sharding: Any, what: str, array: str) -> Any:
    """An argument of a program that lies as users say; ``what`` and ``array`` are for messages."""
    aval = typeof(x)
    if sharding is not None and getattr(aval, "is_divided", False):
        wanted = _sharding(sharding, what)
        wanted.check(aval.shape, array)
        if aval.lying(wanted) is not aval:
            raise ValueError(
                f"{array} lies as {aval.str_short()}, but {wanted.spec!r} was given for it. Leave "
                f"it out, or lay the argument out by reshard."
            )
    return _divided(laid_out(x, layout, of_operand=True, what=array), sharding, what, array)


def _result(x: Any, layout: Any, sharding: Any, what: str, array: str) -> Any:
    """A result of a program, likewise; the last thing that is said of it is how it is left."""
    return laid_out(_divided(x, sharding, what, array), layout, of_operand=False, what=array)


def _divided(x: Any, sharding: Any, what: str, array: str) -> Any:
    if sharding is None:
        return x
    sharding = _sharding(sharding, what)
    if array is not _ARGUMENT or not isinstance(x, Tracer):  # no array lies so at last
        sharding.check(typeof(x).shape, array)
    x = pinned(x, sharding) if isinstance(sharding, NamedSharding) else x
    return sharding_constraint_p.bind(x, sharding=sharding)
