"""Shardings along explicit axes of a mesh: said by the program, or left to the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, TypeVar

from bindax_core import device_put
from bindax_core.errors import ManualAxisError, ShardingTypeError
from bindax_core.extend import (
    Array,
    DebugInfo,
    config,
    flatten_prefix,
    is_value,
    tree_flatten,
    tree_map,
    tree_unflatten,
    typeof,
    wraps,
)
from bindax_core.sharding import (
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
    get_abstract_mesh,
    named,
    pinned,
    use_abstract_mesh,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import merge, partition
from bindax_transforms.compilation.laying import left_to_compiler, whole_beyond
from bindax_transforms.compilation.sharding_constraint import sharding_constraint_p
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr

R = TypeVar("R")


def reshard(xs: Any, out_shardings: Any) -> Any:
    """Lay the arrays of a tree on devices in another way; their values stay the same.

    Along explicit axes of a mesh their types say it, too. Cotangents lie as the arrays do.

    Args:
        xs: an array, or a tree of arrays.
        out_shardings: a ``Sharding``, or a ``PartitionSpec`` on the mesh that is set, or a tree of
            those that begins as ``xs`` does.

    Raises:
        ValueError: when an array cannot be divided so, or no mesh is set for a spec.

    >>> import numpy as np
    >>> from bindax_core.sharding import P, make_mesh, set_mesh
    >>> with set_mesh(make_mesh((1,), ("x",))):
    ...     reshard(np.ones(2), P("x"))
    Array([1., 1.], dtype=float64)
    """
    leaves, tree = tree_flatten(xs)
    targets = flatten_prefix(out_shardings, tree, "reshard: out_shardings", full_name="xs")
    pairs = zip(leaves, targets, strict=True)
    return tree_unflatten(tree, [_laid(x, target, "reshard") for x, target in pairs])


def _laid(x: Any, target: Any, what: str, sources: Sequence[Any] | None = None) -> Any:
    """One array in another sharding.

    It lies as its type says; unless the compiler decided, and ``sources`` are the operands' types.
    """
    if target is None:
        return x
    sharding, aval = _target(target, what), typeof(x)
    if not isinstance(sharding, NamedSharding):
        return device_put(x, sharding)
    _check_axes(sharding, what)
    if len(sharding.spec) > len(aval.shape):
        raise ValueError(
            f"{what}: Length of sharding.spec must be at most the number of axes, but "
            f"{sharding.spec!r} describes {len(sharding.spec)} of {aval.str_short()}; leave "
            f"entries out."
        )
    sharding = sharding.update(spec=sharding.spec.padded(len(aval.shape)))
    sharding.check(aval.shape, f"{what}: the array")
    x = pinned(x, sharding) if sources is None else whole_beyond(x, sharding, sources)
    return sharding_constraint_p.bind(x, sharding=sharding)


def _target(given: Any, what: str) -> Any:
    return named(given, f"{what}: out_sharding")


def _check_axes(sharding: NamedSharding, what: str) -> None:
    """Refuse a spec of automatic axes, where the program says by types how arrays lie."""
    mesh = sharding.mesh
    if not mesh.explicit_axes and config.abstract_mesh is None:
        return
    for name in sharding.spec.names:
        if name not in mesh.explicit_axes:
            raise ValueError(
                f"PartitionSpec passed to {what} cannot contain axis names that are of type Auto "
                f"or Manual, but {sharding.spec!r} names {name!r} of {mesh!r}: the compiler "
                f"decides along it."
            )


def auto_axes(
    f: Callable[..., Any] | None = None, /, *, axes: Any = None, out_sharding: Any = None
) -> Callable[..., Any]:
    """A function in which the compiler decides how arrays are divided.

    Inside, types say nothing of the axes of the mesh that are left to it.

    Args:
        f: the function; when omitted, a decorator is returned.
        axes: the names of the axes of the mesh that are left to the compiler; by default all that
            are not divided by hand, inside of ``shard_map``.
        out_sharding: how the results lie, as for ``reshard``. The keyword ``out_sharding`` of a
            call comes first.

    Raises:
        TypeError: when nothing says how the results lie.

    >>> import numpy as np
    >>> from bindax_core.sharding import AxisType, P, make_mesh, set_mesh
    >>> product = auto_axes(lambda x: x @ x.T, out_sharding=P("x"))
    >>> with set_mesh(make_mesh((1,), ("x",), AxisType.Explicit)):
    ...     product(np.ones((2, 3))).sharding.spec
    P('x', None)
    """
    if f is None:
        return lambda f: auto_axes(f, axes=axes, out_sharding=out_sharding)
    check_function("auto_axes", "f", f)
    function, usual = f, out_sharding

    @wraps(function)
    def laid(*args: Any, out_sharding: Any = None, **kwargs: Any) -> Any:
        target = usual if out_sharding is None else out_sharding
        return decided(function, target, args, kwargs, axes=axes, what="auto_axes")

    return laid


def decided(
    function: Callable[..., R],
    out_sharding: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    axes: Any = None,
    what: str = "",
) -> R:
    """Call a function whose results lie as is said, and in which the compiler decides the rest.

    Args:
        function: the function.
        out_sharding: how the results lie, as for ``reshard``.
        args: its arguments.
        kwargs: its keyword arguments.
        axes: the names of the mesh axes that are left to the compiler; by default all.
        what: the function that the user called, for messages; by default ``function``.

    >>> import numpy as np
    >>> from bindax_core.sharding import AxisType, P, make_mesh, set_mesh
    >>> with set_mesh(make_mesh((1,), ("x",), AxisType.Explicit)):
    ...     decided(sum, P("x"), ([np.ones(2), np.ones(2)],)).sharding.spec
    P('x')
    """
    kwargs, what = kwargs or {}, what or function.__name__
    mesh = _mesh_of((args, kwargs), out_sharding)
    inside = _with_types(mesh, axes, AxisType.Auto, what)
    if inside == mesh:  # nothing is left to the compiler that was not
        targets = tree_flatten(out_sharding)[0]
        if mesh.empty and not any(map(_names_axes, targets)):
            return function(*args, **kwargs)
        for given in map(_target, targets, repeat(what)):
            if isinstance(given, NamedSharding):
                _check_axes(given, what)
        return _relaid(function(*args, **kwargs), out_sharding, what)
    if out_sharding is None:
        raise TypeError(
            f"{what}: out_sharding is missing, so nothing says how the results lie; give it, such "
            f"as out_sharding=P() for results that are whole."
        )
    for target in tree_flatten(out_sharding)[0]:
        if isinstance(target, NamedSharding) and target.mesh.abstract_mesh != mesh:
            raise ValueError(
                f"{what}: Context mesh {mesh} should match the mesh of sharding "
                f"{target.mesh.abstract_mesh}, which out_sharding has."
            )
    sums, sources = _sums(out_sharding), []
    if sums and what != "auto_axes":
        sources = [typeof(x) for x in tree_flatten((args, kwargs))[0] if _is_divided(x)]
    if sources:
        _check_sums(function, (args, kwargs), inside, sums, what)
    with use_abstract_mesh(inside):
        args, kwargs = tree_map(lambda x: _left(x, inside), (args, kwargs))
        outs = function(*args, **kwargs)
    return _relaid(outs, out_sharding, what, sources)


def _relaid(outs: R, out_sharding: Any, what: str, sources: Sequence[Any] = ()) -> R:
    leaves, tree = tree_flatten(outs)
    targets = flatten_prefix(out_sharding, tree, f"{what}: out_sharding", full_name="the result")
    laid = [_laid(x, target, what, sources) for x, target in zip(leaves, targets, strict=True)]
    return tree_unflatten(tree, laid)  # type: ignore[no-any-return]


def _sums(target: Any) -> frozenset[Any]:
    """The mesh axes along which a sharding, or one of a tree, has sums that are left open."""
    specs = [getattr(given, "spec", given) for given in tree_flatten(target)[0]]
    return frozenset().union(*[getattr(spec, "unreduced", ()) for spec in specs])


def _is_divided(x: Any) -> bool:
    return is_value(x) and getattr(typeof(x), "is_divided", False)


def _check_sums(
    function: Callable[..., Any],
    given: Any,
    inside: AbstractMesh,
    sums: frozenset[Any],
    what: str,
) -> None:
    """Raise unless what a function sums is divided along the axes of sums that are left open.

    The compiler is not asked to leave any other sum open: it would give wrong values.
    """
    typed = inside.update_axis_types(dict.fromkeys(sums, AxisType.Explicit))
    leaves, tree = tree_flatten(given)
    flags = [*map(_is_divided, leaves)]

    def on_types(*values: Any) -> list[Any]:
        args, kwargs = tree_unflatten(tree, merge(flags, others, values))
        with use_abstract_mesh(typed), config.override(open_sums=sums):
            args, kwargs = tree_map(lambda x: _left(x, typed), (args, kwargs))
            return tree_flatten(function(*args, **kwargs))[0]

    others, arrays = partition(flags, leaves)
    avals = [typeof(x) for x in arrays]
    for aval in trace_to_jaxpr(on_types, avals, DebugInfo(what)).out_avals:
        if not aval.is_divided or aval.placement.spec.unreduced != sums:
            raise ShardingTypeError(
                f"{what}: out_sharding asks for a sum that is left open along "
                f"{', '.join(sorted(map(repr, sums)))}, but that is not what is summed here: "
                f"out_sharding's unreduced axes should be equal to the contracting specs, those "
                f"of the axes that are summed, of {', '.join([x.str_short() for x in avals])}."
            )


def _names_axes(target: Any) -> bool:
    return not isinstance(target, PartitionSpec) or target != PartitionSpec(*[None] * len(target))


def _left(x: Any, mesh: AbstractMesh) -> Any:
    return left_to_compiler(x, mesh) if is_value(x) else x


def _mesh_of(args: Any, target: Any) -> AbstractMesh:
    """The mesh at work; without one that of an argument, or of a sharding that is given."""
    present = get_abstract_mesh()
    if not present.empty:
        return present
    for x in tree_flatten(args)[0]:
        aval = typeof(x) if is_value(x) else None
        if getattr(aval, "is_divided", False):
            return aval.sharding.mesh  # type: ignore[union-attr,no-any-return]
        if isinstance(x, Array) and isinstance(x.sharding, NamedSharding):
            return x.sharding.mesh.abstract_mesh
    for given in tree_flatten(target)[0]:
        if isinstance(given, NamedSharding):
            return given.mesh.abstract_mesh
    return present


def _with_types(mesh: AbstractMesh, axes: Any, kind: AxisType, what: str) -> AbstractMesh:
    """The mesh with a type for some of its axes, or for all that are not divided by hand."""
    if axes is None:
        names: Iterable[Any] = [n for n in mesh.axis_names if n not in mesh.manual_axes]
    else:
        names = axes if isinstance(axes, (tuple, list, set, frozenset)) else (axes,)
    for name in names:
        if name in mesh.axis_names and name in mesh.manual_axes:
            raise ManualAxisError(
                f"{what}: Going from `Manual` to `Auto` or `Explicit` axes is not possible, but "
                f"{name!r} is a manual axis here: inside of the shard_map around the caller, each "
                f"device has its own part. Name other axes by axes=...; or leave this one out of "
                f"the axis_names of the shard_map."
            )
    return mesh.update_axis_types(dict.fromkeys(names, kind))


def explicit_axes(
    f: Callable[..., Any] | None = None, /, *, axes: Any = None, in_sharding: Any = None
) -> Callable[..., Any]:
    """A function in which types say how arrays lie.

    Args:
        f: the function; when omitted, a decorator is returned.
        axes: the names of the axes of the mesh that are explicit inside; by default all.
        in_sharding: how the arguments lie: one for all, or a tuple with one for each, as for
            ``reshard``. The keyword ``in_sharding`` of a call comes first.

    Raises:
        TypeError: when nothing says how the arguments lie.

    >>> import numpy as np
    >>> from bindax_core.sharding import P, make_mesh, set_mesh
    >>> shown = explicit_axes(lambda x: print(x.aval.str_short()), in_sharding=P("x"))
    >>> with set_mesh(make_mesh((1,), ("x",))):
    ...     shown(np.ones(2, np.float32))
    float32[2@x]
    """
    if f is None:
        return lambda f: explicit_axes(f, axes=axes, in_sharding=in_sharding)
    check_function("explicit_axes", "f", f)
    function, usual = f, in_sharding

    @wraps(function)
    def laid(*args: Any, in_sharding: Any = None, **kwargs: Any) -> Any:
        target = usual if in_sharding is None else in_sharding
        mesh = _mesh_of((args, kwargs), target)
        inside = _with_types(mesh, axes, AxisType.Explicit, "explicit_axes")
        if inside == mesh and target is None:
            return function(*args, **kwargs)
        if target is None:
            raise TypeError(
                "explicit_axes: in_sharding is missing, so nothing says how the arguments lie; "
                "give it, such as in_sharding=P() for arguments that are whole."
            )
        with use_abstract_mesh(inside):
            outs = function(*reshard(args, tree_map(_on(inside), target)), **kwargs)
            return tree_map(lambda x: _left(x, mesh), outs)

    return laid


def _on(mesh: AbstractMesh) -> Callable[[Any], Any]:
    """A function that puts a sharding on the devices of a mesh with other types of axes."""

    def moved(given: Any) -> Any:
        is_named = isinstance(given, NamedSharding)
        if is_named and type(given.mesh) is Mesh:
            return given.update(mesh=given.mesh.update(axis_types=mesh.axis_types))
        return given.update(mesh=mesh) if is_named else given

    return moved
