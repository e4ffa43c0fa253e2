"""Copies of graphs with other attributes, values or parts, and values without their variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bindax_core.extend import tree_map
from bindax_nnx.filters import Filter, Path, to_predicate
from bindax_nnx.graph import iter_variables
from bindax_nnx.module import Module, set_where_present, view
from bindax_nnx.split_merge import merge, split, state
from bindax_nnx.state import State, map_state
from bindax_nnx.variables import Variable

T = TypeVar("T")


def with_attributes(
    node: T,
    /,
    *,
    only: Filter = ...,
    raise_if_not_found: bool = True,
    graph: bool | None = None,
    **attributes: Any,
) -> T:
    """A copy of the objects of a graph with other attributes, around the same variables.

    Args:
        node: the root.
        only: which modules are changed.
        raise_if_not_found: whether each attribute must be found somewhere.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.
        attributes: values by name.

    Raises:
        ValueError: no module has an attribute of a name.

    >>> from bindax_nnx import Dropout
    >>> layer = Dropout(0.5)
    >>> with_attributes(layer, deterministic=True).deterministic, layer.deterministic
    (True, False)
    """
    copy = view(node, graph=graph)
    missing = set_where_present(copy, only, attributes)
    if missing and raise_if_not_found:
        raise ValueError(
            f"with_attributes: no module of {type(node).__name__} that the filter takes has the "
            f"attributes {missing}."
        )
    return copy


def map(
    f: Callable[[Path, Any], Any],
    node: Any,
    /,
    *,
    graph: bool | None = None,
    recreate_variables: bool = True,
) -> Any:
    """A copy of a graph whose variables hold other values.

    Args:
        f: from a path and the variable there to the new value, or a variable.
        node: the root.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.
        recreate_variables: whether variables are made anew where the function returns one.

    >>> from bindax_nnx import Linear, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> map(lambda path, x: x * 0, layer).kernel.value.sum(), layer.kernel.shape
    (Array(0., dtype=float32), (2, 3))
    """
    values: Any  # of a variable alone, the variable
    graphdef, values = split(node, graph=graph)
    changed = map_state(f, values) if isinstance(values, State) else f((), values)
    return merge(graphdef, changed, recreate_variables=recreate_variables)


def set_metadata(node: Any, /, *, only: Filter = Variable, **metadata: Any) -> None:
    """Give the variables of a graph metadata, in place.

    Args:
        node: the root.
        only: which variables.
        metadata: values by name.

    >>> from bindax_nnx import Linear, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> set_metadata(layer, only="kernel", role="weights")
    """
    takes = to_predicate(only)
    for path, variable in iter_variables(node):
        if takes(path, variable):
            variable.set_metadata(**metadata)


def pure(tree: Any) -> Any:
    """A tree with values in the place of variables, and nested dictionaries for states.

    >>> from bindax_nnx import Param
    >>> pure({"scale": Param(2.0)})
    {'scale': 2.0}
    """
    values = state(tree) if isinstance(tree, Module) else tree
    if hasattr(values, "to_pure_dict"):
        return values.to_pure_dict()
    return tree_map(
        lambda x: x.raw_value if isinstance(x, Variable) else x,
        values,
        is_leaf=lambda x: isinstance(x, Variable),
    )


as_pure = pure
"""The name that newer versions of Flax have for ``pure``."""
