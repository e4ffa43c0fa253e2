"""A box that names the mesh axis along which each axis of an array is divided."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from bindax_axis_metadata.box import AxisMetadata, is_axis_metadata
from bindax_core.extend import tree_map
from bindax_core.sharding import AbstractMesh, NamedSharding, PartitionSpec
from bindax_core.tree_util import register_dataclass

Names = tuple[str | None, ...]


@dataclasses.dataclass(frozen=True)
class Partitioned(AxisMetadata):
    """An array with a name, or None, for each of its axes.

    Attributes:
        value: the array, or another box.
        names: one entry for each axis.

    >>> box = Partitioned(1.0, (None, "data"))
    >>> box.add_axis(0, {Partitioned.AXIS_NAME: "layers"})
    Partitioned(value=1.0, names=('layers', None, 'data'))
    """

    AXIS_NAME: ClassVar[str] = "partition_name"

    value: Any
    names: Names

    def unbox(self) -> Any:
        """The array."""
        return self.value

    def replace(self, **changes: Any) -> Partitioned:
        """A copy with another ``value`` or other ``names``."""
        return dataclasses.replace(self, **changes)

    def add_axis(self, index: int, params: Mapping[Any, Any]) -> Partitioned:
        """Insert the name that the transformation gives its axis.

        Raises:
            ValueError: the transformation gives no name, or there are too few axes.
        """
        name = _axis_name(params)
        if not 0 <= index <= len(self.names):
            raise ValueError(
                f"Partitioned.add_axis: an axis cannot be inserted at position {index} of the "
                f"axes named {self.names!r}; give one name, or None, for each axis of the value."
            )
        return self.replace(names=(*self.names[:index], name, *self.names[index:]))

    def remove_axis(self, index: int, params: Mapping[Any, Any]) -> Partitioned:
        """Take away the name of the axis that the transformation takes away.

        Raises:
            ValueError: the transformation gives no name, there is no such axis, or it has another
                name.
        """
        name = _axis_name(params)
        if not 0 <= index < len(self.names):
            raise ValueError(
                f"Partitioned.remove_axis: there is no axis {index} among the axes named "
                f"{self.names!r}; give one name, or None, for each axis of the value."
            )
        if self.names[index] != name:
            raise ValueError(
                f"Partitioned.remove_axis: axis {index} of {self.names!r} is named "
                f"{self.names[index]!r}, but the transformation that removes it has "
                f"metadata_params={{{self.AXIS_NAME!r}: {name!r}}}. Map the axis named {name!r}, "
                f"or give the name {self.names[index]!r}."
            )
        return self.replace(names=(*self.names[:index], *self.names[index + 1 :]))


register_dataclass(Partitioned, data_fields=["value"], meta_fields=["names"])


def _axis_name(params: Mapping[Any, Any]) -> Any:
    if Partitioned.AXIS_NAME not in params:
        raise ValueError(
            f"A transformation adds or removes an axis of a Partitioned value without a name for "
            f"it: pass metadata_params={{{Partitioned.AXIS_NAME!r}: 'name of the axis'}}, or None "
            f"as the name of an axis that is not partitioned."
        )
    return params[Partitioned.AXIS_NAME]


def with_partitioning(init_fn: Callable[..., Any], names: Names) -> Callable[..., Partitioned]:
    """An initializer that puts what another one returns in a ``Partitioned`` box.

    Args:
        init_fn: returns an array.
        names: one name, or None, for each axis of that array.

    >>> import numpy as np
    >>> with_partitioning(np.zeros, (None, "data"))((4, 8)).names
    (None, 'data')
    """

    def init(*args: Any, **kwargs: Any) -> Partitioned:
        return Partitioned(init_fn(*args, **kwargs), tuple(names))

    return init


def get_partition_spec(tree: Any) -> Any:
    """The tree with a ``PartitionSpec`` in the place of each box and each array.

    Arrays without a box, and boxes that know of no names, are not divided.

    >>> get_partition_spec({"kernel": Partitioned(1.0, (None, "data")), "bias": 2.0})
    {'kernel': P(None, 'data'), 'bias': P()}
    """
    return tree_map(_spec, tree, is_leaf=is_axis_metadata)


def _spec(value: Any) -> PartitionSpec:
    while isinstance(value, AxisMetadata):
        if isinstance(value, Partitioned):
            return PartitionSpec(*value.names)
        value = value.unbox()
    return PartitionSpec()


def get_sharding(tree: Any, mesh: AbstractMesh) -> Any:
    """The tree with a ``NamedSharding`` in the place of each box and each array.

    Args:
        tree: a tree with boxes.
        mesh: the devices, whose axes the boxes name.

    >>> from bindax_core.sharding import AbstractMesh
    >>> mesh = AbstractMesh((2,), ("data",))
    >>> get_sharding({"kernel": Partitioned(1.0, (None, "data"))}, mesh)["kernel"].spec
    P(None, 'data')
    """
    return tree_map(lambda x: NamedSharding(mesh, _spec(x)), tree, is_leaf=is_axis_metadata)
