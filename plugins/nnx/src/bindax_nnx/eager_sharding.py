"""Variables divided over devices when they are made, as their metadata ``out_sharding`` say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from bindax_core import config
from bindax_core.extend import ShapedArray as ShapeDtypeStruct
from bindax_core.extend import is_value, tree_map
from bindax_core.sharding import (
    AbstractMesh,
    Format,
    Mesh,
    NamedSharding,
    PartitionSpec,
    Sharding,
    get_mesh,
)
from bindax_nnx.modes import Switch
from bindax_nnx.settings import nnx_eager_sharding, nnx_logical_axis_rules
from bindax_transforms import with_sharding_constraint
from bindax_transforms.extend import reshard

Rules = Iterable[tuple[str, Any]]
"""Pairs of a logical name and the name of the axis, or axes, of a mesh."""


class use_eager_sharding(Switch):
    """Say whether variables with ``out_sharding`` are divided over devices when they are made.

    It is the value of the parameter ``eager_sharding`` of variables where that is not given. The
    change lasts, or to the end of a ``with`` block, or for the calls of a function.

    >>> with use_eager_sharding(False):
    ...     using_eager_sharding()
    False
    """

    _setting = nnx_eager_sharding


def using_eager_sharding() -> bool:
    """Tell whether variables with ``out_sharding`` are divided when they are made.

    >>> using_eager_sharding()
    True
    """
    return use_eager_sharding.current_value()


def logical_axis_rules(rules: Rules) -> AbstractContextManager[None]:
    """Translate names in the sharding metadata of variables to names of mesh axes, in a block.

    Args:
        rules: pairs of a logical name and what it stands for.

    >>> from bindax_nnx import Param, get_partition_spec
    >>> w = Param(1.0, out_sharding=("embed", None), eager_sharding=False)
    >>> with logical_axis_rules([("embed", "model")]):
    ...     get_partition_spec(w).value
    P('model', None)
    """
    return nnx_logical_axis_rules(rules)


def set_logical_axis_rules(rules: Rules) -> None:
    """Translate names in the sharding metadata of variables from now on; see the block of it.

    >>> set_logical_axis_rules([("embed", "model")])
    >>> get_logical_axis_rules()
    (('embed', 'model'),)
    >>> set_logical_axis_rules(())
    """
    config.nnx_logical_axis_rules = rules


def get_logical_axis_rules() -> tuple[tuple[str, Any], ...]:
    """The rules in force.

    >>> get_logical_axis_rules()
    ()
    """
    rules: tuple[tuple[str, Any], ...] = config.nnx_logical_axis_rules
    return rules


def spec_of(metadata: Mapping[str, Any]) -> Any:
    """The ``out_sharding`` after the rules: a ``PartitionSpec``, a sharding with a mesh, a format.

    Raises:
        TypeError: it is none of these, nor names of axes.
        ValueError: the metadata ``sharding_rules`` contradict those in force.
    """
    given = metadata.get("out_sharding") or ()
    rules = _combined(get_logical_axis_rules(), metadata.get("sharding_rules") or ())
    if isinstance(given, NamedSharding):
        spec = PartitionSpec(*[_translated(name, rules) for name in given.spec])
        return NamedSharding(given.mesh, spec, memory_kind=given.memory_kind)
    if isinstance(given, Sharding | Format):
        return given
    if not isinstance(given, tuple | list | PartitionSpec):
        raise TypeError(
            f"out_sharding of a variable must be a PartitionSpec, a tuple of names of mesh axes, a "
            f"Sharding or a Format, but it is {given!r:.60} of type {type(given).__name__}."
        )
    return PartitionSpec(*[_translated(name, rules) for name in given])


def _combined(rules: Rules, own: Rules) -> dict[str, Any]:
    found = dict(rules)
    for name, axis in own:
        if found.setdefault(name, axis) != axis:
            raise ValueError(
                f"the sharding_rules of a variable say {axis!r} for {name!r}, but the rules in "
                f"force say {found[name]!r}; correct one of the two."
            )
    return found


def _translated(name: Any, rules: Mapping[str, Any]) -> Any:
    if isinstance(name, tuple):
        return tuple([rules.get(one, one) for one in name])
    return rules.get(name, name)


def sharding_of(metadata: Mapping[str, Any]) -> Any:
    """The sharding that metadata and the mesh that is set describe.

    Returns:
        The sharding; None where there is no mesh.
    """
    spec = spec_of(metadata)
    if not isinstance(spec, PartitionSpec):
        return spec
    mesh = metadata.get("mesh") or get_mesh()
    return None if mesh is None else NamedSharding(mesh, spec)


def is_divided(value: Any) -> bool:
    """Tell whether an array, or what a type describes, lies on a mesh; an empty one is none."""
    of_type = isinstance(value, ShapeDtypeStruct)  # whose sharding is never None
    sharding = getattr(value, "placement" if of_type else "sharding", None)
    sharding = getattr(sharding, "sharding", sharding)  # that of a Format
    return isinstance(sharding, NamedSharding) and bool(sharding.mesh.axis_names)


def divided(kind: str, value: Any, metadata: Mapping[str, Any]) -> Any:
    """The value of a new variable, laid out as its metadata ``out_sharding`` say.

    Args:
        kind: the kind of the variable, for messages.
        value: an array, or a tree of arrays.
        metadata: the metadata.

    Raises:
        ValueError: there is no mesh, or one with axes of several types.
    """
    sharding = sharding_of(metadata)
    if sharding is None:
        raise ValueError(
            f"{kind}: out_sharding={metadata['out_sharding']!r} divides the variable over a mesh, "
            f"but none is set. Make the variable in `with set_mesh(mesh):`, give it mesh=..., or "
            f"pass eager_sharding=False to keep the names alone."
        )
    mesh = getattr(getattr(sharding, "sharding", sharding), "mesh", None)  # of a Format, too
    lay: Callable[[Any, Any], Any] = with_sharding_constraint
    if isinstance(mesh, AbstractMesh):
        if not (mesh.are_all_axes_auto or mesh.are_all_axes_explicit):
            raise ValueError(
                f"{kind}: the axes of the mesh of out_sharding={metadata['out_sharding']!r} must "
                f"all be Auto, or all be Explicit, but they are {mesh.axis_types!r}."
            )
        if not isinstance(mesh, Mesh):
            return value  # it has no devices
        if mesh.are_all_axes_explicit:
            lay = reshard  # as types say how arrays lie
    return tree_map(lambda x: lay(x, sharding) if is_value(x) else x, value)
