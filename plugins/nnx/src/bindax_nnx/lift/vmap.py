"""``vmap`` of functions of objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import bindax_transforms
from bindax_core.extend import api_boundary, is_value, typeof
from bindax_nnx.lift._decorators import lift_of, preserving
from bindax_nnx.lift.axes import Axes, mapped, repeated, with_axes
from bindax_nnx.lift.call import Call
from bindax_nnx.lift.prefixes import check_prefixes


@preserving
def vmap(
    f: Callable[..., Any],
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    transform_metadata: Mapping[str, Any] | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., Any]:
    """A function that applies ``f`` along an axis of its arguments, all elements at once.

    What ``f`` changes in objects is changed in the originals, along the axis of these.

    Args:
        f: a function of objects, arrays and trees of these.
        in_axes: an axis, None for "the same for all elements", ``StateAxes`` for an object, or a
            tuple of these and of trees that are prefixes of the arguments. Keyword arguments are
            mapped along axis 0.
        out_axes: where the mapped axis goes in the result: likewise.
        axis_name: a name for the axis, for operations across it.
        axis_size: the size of the axis, needed only when no argument is mapped.
        spmd_axis_name: axes of a mesh over which the elements are spread.
        transform_metadata: with the key ``PARTITION_NAME``, the name of the axis in the sharding
            metadata of the variables.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Raises:
        ValueError: axes or sizes do not fit, or a variable is shared where it must not be.

    >>> import numpy as np
    >>> from bindax_nnx import Param
    >>> factors = vmap(Param)(np.arange(3.0))
    >>> vmap(lambda factor, x: factor * x, in_axes=(0, None))(factors, 2.0)
    Array([0., 2., 4.], dtype=float64)
    """
    lift = lift_of("vmap", "f", f, graph, graph_updates)
    check_prefixes("vmap", lift.mode, in_axes=in_axes, out_axes=out_axes)
    axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    metadata = dict(transform_metadata or {})
    options = {"axis_name": axis_name, "axis_size": axis_size, "spmd_axis_name": spmd_axis_name}

    @wraps(f)
    @api_boundary
    def batched(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = with_axes("vmap", f, axes, args, kwargs)
        call = Call(f, args, kwargs, lift=lift)
        entry = Axes(call.arguments, (axes, 0), "in_axes")
        _check_sizes(call, entry, axis_size)
        flat, exits = mapped(call, entry, out_axes, metadata)
        run = bindax_transforms.vmap(flat, (entry.of_leaves(),), exits, **options)
        try:
            return call.finish(run(call.leaves))
        except bindax_transforms.OutAxesError as error:
            raise _with_name(call, error) from None

    return batched


def _with_name(call: Call, error: bindax_transforms.OutAxesError) -> ValueError:
    """The error with the name of the variable that is the same for all elements, if it is one."""
    scope, outcome = call.scope, call.outcome
    if scope is None or outcome is None or error.output >= outcome.size:
        return error
    old = [scope.variables[i] for i, _ in scope.changed]
    variable = repeated([*old, *scope.new], scope.sizes)[error.output]
    return ValueError(
        f"vmap: {variable._describe()} is the same for all elements, since its axis is None, but "
        f"was given a value that depends on a mapped argument; map it, with StateAxes for an "
        f"object of which only parts are mapped, or take a mean or sum over the elements."
    )


def _check_sizes(call: Call, entry: Axes, given: int | None) -> None:
    """Raise where a variable cannot be mapped, by the name of the variable."""
    sizes: dict[int, str] = {} if given is None else {given: "axis_size"}
    for variable, axis in zip(call.arguments.variables, entry.variables, strict=True):
        if axis is None or not is_value(variable._value):
            continue
        shape = typeof(variable._value).shape
        if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
            raise ValueError(
                f"vmap was asked to map axis {axis!r} of {variable._describe()}, which has the "
                f"shape {shape}; use None, or StateAxes with None for {type(variable).__name__}, "
                f"for what is the same for all elements."
            )
        sizes.setdefault(shape[axis], f"{variable._describe()} of the shape {shape}")
    if len(sizes) > 1:
        listed = ", ".join(f"{size} of {name}" for size, name in sizes.items())
        raise ValueError(f"vmap got inconsistent sizes for the mapped axes: {listed}.")
