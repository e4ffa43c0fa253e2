"""``shard_map`` as users call it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    flatten_prefix,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_core.sharding import AbstractMesh, get_mesh
from bindax_parallel.shard_map.primitive import bind_program, stage
from bindax_parallel.shard_map.specs import (
    Params,
    Sizes,
    Spec,
    as_spec,
    differing_axes,
    manual_axes,
    not_named_in,
    shard_shape,
)
from bindax_parallel.shard_map.varying import varying_axes
from bindax_transforms import argument_names, check_function, flatten_function, parameter_names

__all__ = ["shard_map"]


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any,
    mesh: Any = None,
    axis_names: Any = None,
    check_vma: bool = True,
) -> Callable[..., Any]:
    """A function that applies ``f`` on each device to the device's parts of the arguments.

    Inside of ``f`` the axes of the mesh have names, and collectives act across them.

    Args:
        f: a function of parts of arrays; when omitted, a decorator is returned.
        out_specs: a ``PartitionSpec`` for each result, or a prefix tree of them: how the results of
            the devices are put together. An axis of the mesh that is not named says that all
            devices along it have the same result.
        in_specs: for the positional arguments a tuple of ``PartitionSpec`` or prefix trees of them:
            how each is divided. An array that is not divided along an axis of the mesh is given
            to all devices along it.
        mesh: the mesh; the one of ``set_mesh`` when omitted. With an ``AbstractMesh``, which has no
            devices, all parts are computed on one.
        axis_names: the axes that ``f`` is a program of one device for; all when omitted. Along the
            others, the compiler divides the arrays.
        check_vma: check that what ``out_specs`` takes to be the same on several devices is.

    Raises:
        ValueError: when an axis is not a multiple of the number of its parts, a spec does not fit,
            or a result may differ between devices that should have the same.

    >>> import numpy as np
    >>> from bindax_core.sharding import AbstractMesh, PartitionSpec as P
    >>> from bindax_parallel import psum, shard_map
    >>> mesh = AbstractMesh((2,), ("i",))
    >>> def shares(x):
    ...     return x / psum(x.sum(), "i")
    >>> shard_map(shares, mesh=mesh, in_specs=P("i"), out_specs=P("i"))(np.arange(4.0))
    Array([0.        , 0.16666667, 0.33333333, 0.5       ], dtype=float64)
    """
    if f is None:
        options = {"mesh": mesh, "axis_names": axis_names, "check_vma": check_vma}
        return lambda f: shard_map(f, in_specs=in_specs, out_specs=out_specs, **options)
    check_function("shard_map", "f", f)
    function = f

    @wraps(function)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        params = _params(mesh, axis_names, check_vma)
        return _apply(function, args, kwargs, in_specs, out_specs, params)

    return mapped


def _apply(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    in_specs: Any,
    out_specs: Any,
    params: Params,
) -> Any:
    axes = manual_axes(params)
    operands, in_tree = tree_flatten((args, kwargs))
    names = parameter_names(f, args, kwargs)
    specs, avals = _divided(operands, _flat_specs(in_specs, args, len(operands)), axes, names)
    origin = DebugInfo("shard_map", f)
    flat_function, out_tree = flatten_function(f, in_tree, origin)
    closed = stage(flat_function, avals, params, origin)
    tree = out_tree()
    paths = argument_names(tree_unflatten(tree, [0] * tree.num_leaves), "output")
    outs = _out_specs(out_specs, tree, paths, closed.out_avals, axes)
    if params["check_vma"]:
        _check_results(closed, specs, outs, axes, paths)
    return tree_unflatten(tree, bind_program(closed, operands, params, specs, outs))


def _flat_specs(in_specs: Any, args: tuple[Any, ...], count: int) -> list[Any]:
    """The spec of each operand; keyword arguments are whole on every device."""
    given = tuple(in_specs) if isinstance(in_specs, list) else in_specs
    given = given if type(given) is tuple else (given,) * len(args)
    if len(given) != len(args):
        raise ValueError(
            f"shard_map: in_specs has {len(given)} entries for {len(args)} positional arguments."
        )
    flat = flatten_prefix(given, args, "in_specs")
    return flat + [None] * (count - len(flat))


def _divided(
    operands: Sequence[Any], given: Sequence[Any], axes: Sizes, names: Sequence[str]
) -> tuple[list[Spec], list[Any]]:
    """The specs of operands, and the types of one device's parts."""
    specs, avals = [], []
    for x, one, name in zip(operands, given, names, strict=True):
        aval = typeof(x)
        spec = as_spec(one, aval.ndim, axes, f"shard_map: in_specs for {name}")
        specs.append(spec)
        shape = shard_shape(spec, aval.shape, axes, f"shard_map: {name}")
        avals.append(aval.update(shape=shape))
    return specs, avals


def _params(mesh: Any, axis_names: Any, check_vma: bool) -> dict[str, Any]:
    mesh = get_mesh() if mesh is None else mesh
    if not isinstance(mesh, AbstractMesh):
        given = "there is none" if mesh is None else f"got {mesh!r:.80}"
        raise TypeError(
            f"shard_map: mesh must be a Mesh or an AbstractMesh, but {given}. Pass mesh=..., or "
            f"name one for a while by `with set_mesh(mesh):`."
        )
    names = frozenset(axis_names or mesh.axis_names)
    unknown = [name for name in names if name not in mesh.axis_names]
    if unknown:
        raise ValueError(
            f"shard_map: axis_names has {unknown[0]!r}, but the axes of the mesh are "
            f"{list(mesh.axis_names)}."
        )
    return {"mesh": mesh, "axis_names": names, "check_vma": check_vma}


def _out_specs(
    out_specs: Any, tree: Any, paths: Sequence[str], avals: Sequence[Any], axes: Sizes
) -> list[Spec]:
    full = tree_unflatten(tree, [object()] * tree.num_leaves)
    flat = flatten_prefix(out_specs, full, "out_specs")
    return [
        as_spec(given, aval.ndim, axes, f"shard_map: out_specs for {path}")
        for given, aval, path in zip(flat, avals, paths, strict=True)
    ]


def _check_results(
    closed: ClosedJaxpr,
    in_specs: Sequence[Spec],
    out_specs: Sequence[Spec],
    axes: Sizes,
    paths: Sequence[str],
) -> None:
    """Raise unless what the results are taken to have in common is the same on all devices."""
    inputs = differing_axes(axes, in_specs)
    for path, spec, varying in zip(paths, out_specs, varying_axes(closed, inputs), strict=True):
        wrong = [name for name in not_named_in(spec, axes) if name in varying]
        if wrong:
            raise ValueError(
                f"shard_map: {path} may differ between devices along the mesh axis {wrong[0]!r}, "
                f"but its out_specs entry does not name the axis, and so takes it to be the same. "
                f"Name the axis in out_specs, combine the results by a collective such as "
                f"psum(x, {wrong[0]!r}), or, if you know that they are equal, pass "
                f"check_vma=False."
            )
