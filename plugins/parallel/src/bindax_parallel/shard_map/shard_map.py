"""``shard_map`` as users call it, and ``smap``, for one axis of the mesh at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from bindax_core.extend import ClosedJaxpr, DebugInfo, flatten_prefix, tree_unflatten, wraps
from bindax_core.sharding import AbstractMesh, get_mesh
from bindax_parallel.shard_map.arguments import INFERRED, divided, spec_of_axis
from bindax_parallel.shard_map.primitive import bind_program
from bindax_parallel.shard_map.specs import (
    Params,
    Sizes,
    Spec,
    as_spec,
    differing_axes,
    manual_axes,
    not_named_in,
)
from bindax_parallel.shard_map.staging import stage
from bindax_parallel.varying import varying_axes
from bindax_transforms import argument_names, check_function, device_axes, flatten_function

__all__ = ["shard_map", "smap"]


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = INFERRED,
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
            to all devices along it. What has None in place of a spec, array or not, reaches ``f``
            as it is. When omitted, arrays are divided as they lie, if all axes are explicit.
        mesh: the mesh; the one of ``set_mesh`` or of a ``shard_map`` around when omitted. An
            ``AbstractMesh`` stands for the devices on which the arguments lie, if they do on a mesh
            of the same axes; else all parts are computed on one device.
        axis_names: the axes that ``f`` is a program of one device for; when omitted all, but for
            those of a ``shard_map`` around. Along the others, the compiler divides the arrays.
        check_vma: check that what ``out_specs`` takes to be the same on several devices is.

    Raises:
        TypeError: when the mesh is none, or ``in_specs`` is omitted and not known.
        ValueError: when there is no mesh, an axis is not a multiple of the number of its parts, a
            spec does not fit, an array lies otherwise along an explicit axis, a ``shard_map``
            around divides along one of the axes, or a result may differ between devices that should
            have the same.

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
        params = _params("shard_map", mesh, axis_names, check_vma)
        return _apply(function, (args, kwargs), in_specs, out_specs, params)

    return mapped


def smap(
    f: Callable[..., Any] | None = None,
    /,
    *,
    in_axes: Any = INFERRED,
    out_axes: Any,
    axis_name: Hashable,
) -> Callable[..., Any]:
    """A function that applies ``f`` to the parts of the arguments along one axis of the mesh.

    It is ``shard_map`` on the mesh of ``set_mesh``, for one axis, with the numbers of axes in place
    of specs. One inside of another divides along a further axis.

    Args:
        f: a function of parts of arrays; when omitted, a decorator is returned.
        in_axes: an integer for all positional arguments, or a tuple with one for each: the axis of
            the array that is divided, counted from the end when negative. None gives the whole
            array to all devices. When omitted, arrays are divided as they lie, if the axis of the
            mesh is explicit.
        out_axes: the same for results: the axis along which those of the devices are joined. None
            says that all devices have the same result.
        axis_name: the axis of the mesh.

    Raises:
        TypeError: when ``in_axes`` is omitted and not known.
        ValueError: when there is no mesh, an axis does not exist or is not a multiple of the number
            of its parts, or a result may differ between devices that should have the same.

    >>> import numpy as np
    >>> from bindax_core.sharding import make_mesh, set_mesh
    >>> from bindax_parallel import psum, smap
    >>> with set_mesh(make_mesh((1,), ("i",))):
    ...     smap(lambda x: psum(x, "i"), in_axes=0, out_axes=None, axis_name="i")(np.arange(3.0))
    Array([0., 1., 2.], dtype=float64)
    """
    if f is None:
        return partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)
    check_function("smap", "f", f)
    function = f

    @wraps(function)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        params = _params("smap", None, (axis_name,), True)
        return _apply(function, (args, kwargs), in_axes, out_axes, params, axis_name)

    return mapped


def _apply(
    f: Callable[..., Any],
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    in_specs: Any,
    out_specs: Any,
    params: Params,
    axis: Hashable | None = None,
) -> Any:
    """The call; with the one axis of ``smap``, specs are numbers of axes."""
    given = divided(f, arguments, in_specs, params, axis)
    origin = DebugInfo("shard_map" if axis is None else "smap", f)
    flat_function, out_tree = flatten_function(f, given.tree, origin)

    def function(*parts: Any) -> Sequence[Any]:
        return flat_function(*given.leaves(parts))

    axes = manual_axes(params)
    closed = stage(function, given.avals, params, origin)
    tree = out_tree()
    paths = argument_names(tree_unflatten(tree, [0] * tree.num_leaves), "output")
    outs = _out_specs(out_specs, tree, paths, closed.out_avals, params, axis)
    if params["check_vma"]:
        _check_results(closed, given.specs, outs, axes, paths)
    return tree_unflatten(tree, bind_program(closed, given.operands, params, given.specs, outs))


def _params(operation: str, mesh: Any, axis_names: Any, check_vma: bool) -> dict[str, Any]:
    mesh = _mesh_around() if mesh is None else mesh
    advice = "Pass mesh=..., or name one for a while by `with set_mesh(mesh):`."
    if mesh is None:
        raise ValueError(
            f"{operation}: The context mesh cannot be empty without mesh=.... {advice}"
        )
    if not isinstance(mesh, AbstractMesh):
        raise TypeError(
            f"{operation}: mesh must be a Mesh or an AbstractMesh, but got {mesh!r:.80}. {advice}"
        )
    around = device_axes()
    left = [name for name in mesh.axis_names if name not in around]
    names = frozenset(axis_names or left)
    unknown = [name for name in names if name not in mesh.axis_names]
    if unknown:
        raise ValueError(
            f"{operation}: axis_names has {unknown[0]!r}, but the axes of the mesh are "
            f"{list(mesh.axis_names)}."
        )
    taken = [name for name in mesh.axis_names if name in around and name in (axis_names or around)]
    if taken and (axis_names or not left):
        raise ValueError(
            f"{operation}: a shard_map around the caller divides along {taken[0]!r} already; axes "
            f"of the mesh that are left are {left}."
        )
    return {"mesh": mesh, "axis_names": names, "check_vma": check_vma}


def _mesh_around() -> AbstractMesh | None:
    """The mesh of a ``shard_map`` around the caller, or the one that is set."""
    found = get_mesh()
    for axis in device_axes().values():
        if axis.mesh is not None and (found is None or found.shape_tuple != axis.mesh):
            names, sizes = zip(*axis.mesh, strict=True)
            return AbstractMesh(sizes, names)
    return found


def _out_specs(
    out_specs: Any,
    tree: Any,
    paths: Sequence[str],
    avals: Sequence[Any],
    params: Params,
    axis: Hashable | None,
) -> list[Spec]:
    full = tree_unflatten(tree, [object()] * tree.num_leaves)
    flat = flatten_prefix(out_specs, full, "out_specs" if axis is None else "out_axes")
    found = []
    for given, aval, path in zip(flat, avals, paths, strict=True):
        if axis is None:
            found.append(as_spec(given, aval.ndim, params, "out_specs", path))
        else:
            found.append(spec_of_axis(given, aval.ndim, axis, f"smap: out_axes for {path}"))
    return found


def _check_results(
    closed: ClosedJaxpr,
    in_specs: Sequence[Spec],
    out_specs: Sequence[Spec],
    axes: Sizes,
    paths: Sequence[str],
) -> None:
    """Raise unless what the results are taken to have in common is the same on all devices."""
    inputs = differing_axes(axes, in_specs)
    along, avals = varying_axes(closed, inputs), closed.out_avals
    for path, spec, varying, aval in zip(paths, out_specs, along, avals, strict=True):
        wrong = [name for name in not_named_in(spec, axes) if name in varying - aval.mat.unreduced]
        if wrong:
            raise ValueError(
                f"shard_map: {path} may differ between devices along the mesh axis {wrong[0]!r}, "
                f"but its out_specs entry does not name the axis: results that it takes to be the "
                f"same require replication, which is statically inferred from the function. "
                f"Name the axis in out_specs, combine the results by a collective such as "
                f"psum(x, {wrong[0]!r}), or, if you know that they are equal, pass "
                f"check_vma=False."
            )
        for kind in ("unreduced", "reduced"):
            given, own = getattr(spec, kind), getattr(aval.mat, kind)
            if given != own.intersection(axes):
                raise ValueError(
                    f"shard_map: {path} is {aval.str_short()}, but its out_specs entry says "
                    f"{kind}={set(given) or '{}'}: out_specs passed to shard_map must say the same "
                    f"of sums as the result, which pcast(..., to={kind!r}) or psum changes."
                )
