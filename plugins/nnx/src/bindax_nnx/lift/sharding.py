"""Modules on several devices: shardings of arguments and results, and ``shard_map``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Any

import bindax_transforms
from bindax_core import device_put
from bindax_core.extend import Array, api_boundary
from bindax_core.sharding import Mesh, NamedSharding, PartitionSpec, get_mesh
from bindax_nnx.lift._decorators import lift_of, preserving
from bindax_nnx.lift.axes import Axes, mapped
from bindax_nnx.lift.call import Call
from bindax_nnx.lift.prefixes import check_prefixes
from bindax_nnx.lift.structure import CallScope
from bindax_nnx.variables import store_value


class Placement:
    """The shardings of the positional arguments of a call, but the static, and of its results."""

    def __init__(self, in_shardings: Any, out_shardings: Any) -> None:
        self._given = tuple(in_shardings) if isinstance(in_shardings, list) else in_shardings
        self._out = out_shardings

    @property
    def is_there(self) -> bool:
        """True if any sharding is given."""
        return self._given is not None or self._out is not None

    def of_arguments(self, arguments: Any, args: Sequence[Any], static: Sequence[int]) -> Axes:
        """The sharding of each variable and each array of a call; static positions have none."""
        given = self._given
        if isinstance(given, tuple):
            dynamic = [i for i in range(len(args)) if i not in static]
            if len(given) != len(dynamic):
                raise ValueError(
                    f"in_shardings of jit has {len(given)} entries for {len(dynamic)} positional "
                    f"arguments that are not static: in_shardings={given!r:.200}."
                )
            by_position = dict(zip(dynamic, given, strict=True))
            given = tuple([by_position.get(i) for i in range(len(args))])
        return Axes(arguments, (given, None), "in_shardings")

    def lay_out(self, scope: CallScope, entry: Axes, outs: Sequence[Any]) -> list[Any]:
        """The results of a call in their shardings; what changed keeps that of the argument."""
        targets = entry.of_results(scope, self._out, len(outs), "out_shardings")
        place = bindax_transforms.with_sharding_constraint
        return [
            x if target is None else place(x, target)
            for x, target in zip(outs, targets, strict=True)
        ]


def lay_out_arguments(variables: Sequence[Any], shardings: Sequence[Any]) -> None:
    """Leave the variables of arguments where a transformation needed them, changed or not."""
    for variable, sharding in zip(variables, shardings, strict=True):
        value = variable._value
        has_devices = isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, Mesh)
        if has_devices and isinstance(value, Array) and value.sharding != sharding:
            store_value(variable, device_put(value, sharding))


@preserving
def shard_map(
    f: Callable[..., Any],
    *,
    mesh: Any = None,
    in_specs: Any,
    out_specs: Any,
    axis_names: Any = None,
    check_vma: bool = True,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., Any]:
    """A function that applies ``f`` on each device to the device's parts of its arguments.

    Objects are divided as the variables in them are. What ``f`` changes in them is put together
    again as it came in.

    Args:
        f: a function of objects, parts of arrays and trees of these.
        mesh: the mesh; the one of ``set_mesh`` when omitted.
        in_specs: a ``PartitionSpec``, ``StateSharding`` with such for an object, or a tuple of
            these and of trees that are prefixes of the arguments.
        out_specs: the same for the result.
        axis_names: the axes that ``f`` is a program of one device for; all when omitted.
        check_vma: whether to check that what ``out_specs`` takes to be the same on several devices
            is.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Raises:
        AliasingError: a variable appears several times, to be divided in different ways.
        ImportError: bindax-parallel is not installed.

    >>> import numpy as np
    >>> from bindax_core.sharding import AbstractMesh, PartitionSpec as P
    >>> from bindax_nnx import Module, Param
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(np.arange(4.0))
    >>> @shard_map(mesh=AbstractMesh((2,), ("data",)), in_specs=P("data"), out_specs=P("data"))
    ... def double(scale):
    ...     assert scale.factor.shape == (2,)
    ...     scale.factor.value = scale.factor.value * 2
    ...     return scale.factor.value + 1
    >>> scale = Scale()
    >>> double(scale), scale.factor.value
    (Array([1., 3., 5., 7.], dtype=float64), Array([0., 2., 4., 6.], dtype=float64))
    """
    lift = lift_of("shard_map", "f", f, graph, graph_updates)
    check_prefixes("shard_map", lift.mode, in_specs=in_specs, out_specs=out_specs)
    specs = tuple(in_specs) if isinstance(in_specs, list) else in_specs
    options = {"mesh": mesh, "axis_names": axis_names, "check_vma": check_vma}

    @wraps(f)
    @api_boundary
    def divided(*args: Any, **kwargs: Any) -> Any:
        return _divide(Call(f, args, kwargs, lift=lift), args, specs, out_specs, options)

    return divided


def _divide(
    call: Call, args: Sequence[Any], in_specs: Any, out_specs: Any, options: dict[str, Any]
) -> Any:
    if isinstance(in_specs, tuple) and len(in_specs) != len(args):
        raise ValueError(
            f"in_specs of shard_map has {len(in_specs)} entries for {len(args)} positional "
            f"arguments."
        )
    try:
        plain = import_module("bindax_parallel").shard_map
    except ImportError as error:
        raise ImportError("shard_map needs bindax-parallel; install it.") from error
    entry = Axes(call.arguments, (in_specs, None), "in_specs")
    flat, exits = mapped(call, entry, out_specs, {}, "out_specs")
    outs = plain(flat, in_specs=(entry.of_leaves(),), out_specs=exits, **options)(call.leaves)
    mesh = get_mesh() if options["mesh"] is None else options["mesh"]
    if isinstance(mesh, Mesh):
        places = [NamedSharding(mesh, PartitionSpec() if x is None else x) for x in entry.variables]
        lay_out_arguments(call.arguments.variables, places)
    return call.finish(outs)
