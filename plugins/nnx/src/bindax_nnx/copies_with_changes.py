"""Copies of graphs with other attributes, values or parts, and values without their variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bindax_core.extend import tree_map
from bindax_nnx.duplicates import find_duplicates
from bindax_nnx.filters import Filter, Path, to_predicate
from bindax_nnx.graph import iter_variables
from bindax_nnx.module import Module, set_where_present, view
from bindax_nnx.sharing import key_text
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


def with_vars(
    node: Any,
    /,
    *,
    hijax: bool | None = None,
    ref: bool | None = None,
    mutable: bool | None = None,
    only: Filter = ...,
    allow_duplicates: bool = False,
) -> Any:
    """A copy of a graph whose variables hold their values in mutable arrays, or no longer do.

    Variables that are as they are to be stay the same.

    Args:
        node: the root.
        hijax: False, or None: there are no variables of this kind.
        ref: the metadata ``ref`` of the copies; None leaves it as it is.
        mutable: the same for the metadata of this name, which the variables must have.
        only: which variables.
        allow_duplicates: whether a variable that is to be copied may appear twice.

    Raises:
        ValueError: one does, the message names its paths; or ``hijax`` is True.

    >>> from bindax_nnx import Linear, PathContains, Rngs
    >>> layer = with_vars(Linear(2, 3, rngs=Rngs(0)), ref=True, only=PathContains("kernel"))
    >>> layer.kernel.ref, layer.bias.ref
    (True, False)
    """
    given = {"hijax": hijax, "ref": ref, "mutable": mutable}
    wanted = {k: x for k, x in given.items() if x is not None}
    takes = to_predicate(only)

    def is_changed(path: Path, x: Any) -> bool:
        is_other = isinstance(x, Variable) and any(getattr(x, k) != v for k, v in wanted.items())
        return is_other and takes(path, x)

    found = [] if allow_duplicates else find_duplicates(node, only=is_changed)
    if found:
        listed = "; ".join(" and ".join(key_text(path) for path in paths) for paths in found)
        raise ValueError(
            f"with_vars: a variable that is to be copied is at {listed}. Pass "
            f"allow_duplicates=True for a copy that these places share, or leave it out by only=..."
        )
    copies: dict[int, Any] = {}

    def changed(path: Path, x: Any) -> Any:
        if not is_changed(path, x):
            return x
        return copies.setdefault(id(x), x.copy(**wanted))

    return map(changed, node, recreate_variables=False)


vars_as = with_vars
"""The name that older versions of Flax have for ``with_vars``."""


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
