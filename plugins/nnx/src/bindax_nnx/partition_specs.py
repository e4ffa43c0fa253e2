"""Shardings of the variables of an object, as their metadata describe them."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import tree_map
from bindax_core.sharding import AbstractMesh, Format, NamedSharding, PartitionSpec
from bindax_nnx.eager_sharding import spec_of
from bindax_nnx.errors import GraphError
from bindax_nnx.object import Object
from bindax_nnx.split_merge import state
from bindax_nnx.variables import Variable


def get_partition_spec(tree: Any) -> Any:
    """The specs that the metadata of variables describe, in the places of their values.

    Args:
        tree: a ``State``, an object, whose state is taken, or a tree with variables.

    Returns:
        The tree with a ``PartitionSpec`` as the value of each variable and for each array: of the
        names in its metadata ``out_sharding``, after ``logical_axis_rules``, or else one that
        divides nothing.

    >>> import numpy as np
    >>> from bindax_nnx import Param, State
    >>> kernel = Param(np.ones((2, 4)), out_sharding=(None, "data"), eager_sharding=False)
    >>> get_partition_spec(State({"kernel": kernel}))["kernel"].raw_value
    P(None, 'data')
    """
    tree = state(tree) if isinstance(tree, Object) else tree
    return tree_map(_spec_of, tree, is_leaf=lambda x: isinstance(x, Variable))


def _spec_of(x: Any) -> Any:
    if not isinstance(x, Variable):
        return PartitionSpec()
    given = spec_of(x.get_metadata())
    given = given.sharding if isinstance(given, Format) else given
    return x.replace(given.spec if isinstance(given, NamedSharding) else given)


def get_named_sharding(tree: Any, mesh: AbstractMesh) -> Any:
    """The shardings that the metadata of variables describe, in the places of their values.

    Args:
        tree: a ``State``, an object, whose state is taken, or a tree with variables.
        mesh: the devices, whose axes the metadata name.

    Returns:
        The tree with a ``NamedSharding`` as the value of each variable and for each array.

    Raises:
        GraphError: the metadata of a variable name an axis that the mesh does not have.

    >>> import numpy as np
    >>> from bindax_core import devices
    >>> from bindax_core.sharding import Mesh
    >>> from bindax_nnx import Param, State
    >>> mesh = Mesh(np.array(devices()[:1]), ("rows",))
    >>> state = State({"w": Param(np.ones((2, 3)), out_sharding=("rows", None), mesh=mesh)})
    >>> get_named_sharding(state, mesh)["w"].value.spec
    P('rows', None)
    """
    specs = get_partition_spec(tree)

    def named(x: Any) -> Any:
        if not isinstance(x, Variable):
            return NamedSharding(mesh, x)
        try:
            return x.replace(NamedSharding(mesh, x.raw_value))
        except ValueError as error:
            raise GraphError(
                f"get_named_sharding: the metadata of a {type(x).__name__} do not fit the mesh. "
                f"{error}"
            ) from None

    return tree_map(named, specs, is_leaf=lambda x: isinstance(x, Variable))
