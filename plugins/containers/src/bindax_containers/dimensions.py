"""``vmap`` over a dimension of labelled arrays, by its name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any

import xarray

from bindax_containers.labelled import with_dims
from bindax_core.errors import TreeError
from bindax_core.tree_util import tree_leaves, tree_map, tree_structure
from bindax_transforms import vmap

_LABELLED = (xarray.DataArray, xarray.Dataset)


def vmap_dimension(fun: Callable[..., Any], dim: Hashable) -> Callable[..., Any]:
    """Vectorize a function of labelled arrays over the dimension with a name.

    ``bindax.vmap`` knows positions of axes and no names, so that inside of it a ``DataArray`` has
    one axis less than its dimensions say. Here the function gets objects without the dimension,
    and without the coordinates along it; variables that do not have it are the same for all.
    Results have the dimension first, and its coordinates again.

    Args:
        fun: a function of pytrees of xarray objects and arrays.
        dim: the name of the dimension; at least one argument has it.

    Returns:
        A function of the same arguments, by position.

    Raises:
        TreeError: no variable in the arguments has the dimension; raised by the function returned.

    >>> import numpy as np
    >>> import xarray as xr
    >>> rows = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("row", "column"))
    >>> vmap_dimension(lambda row: row.isel(column=0) + row.isel(column=2), "row")(rows).values
    array([2., 8.])
    """

    @functools.wraps(fun)
    def by_name(*args: Any) -> Any:
        bare, coords = _without_coordinates(args, dim)
        axes = [_axis(part, dim) for part in tree_leaves(bare, is_leaf=_is_variable)]
        if all(axis is None for axis in axes):
            dims = sorted({str(name) for part in _variables(args) for name in part.dims})
            raise TreeError(
                f"vmap_dimension: no variable in the arguments has the dimension {dim!r}; the "
                f"dimensions are {dims}."
            )
        reduced = tree_structure(
            _on_variables(lambda v: with_dims(v, tuple(d for d in v.dims if d != dim)), bare)
        )
        mapped = vmap(lambda *leaves: fun(*reduced.unflatten(leaves)), in_axes=tuple(axes))
        tree = mapped(*tree_leaves(bare))
        tree = _on_variables(lambda v: with_dims(v, (dim, *v.dims)), tree)
        return tree_map(lambda part: _labelled(part, dim, coords), tree, is_leaf=_is_labelled)

    return by_name


def _is_variable(part: Any) -> bool:
    return isinstance(part, xarray.Variable)


def _is_labelled(part: Any) -> bool:
    return isinstance(part, _LABELLED)


def _variables(tree: Any) -> list[xarray.Variable]:
    return [part for part in tree_leaves(tree, is_leaf=_is_variable) if _is_variable(part)]


def _on_variables(function: Callable[[xarray.Variable], Any], tree: Any) -> Any:
    return tree_map(
        lambda part: function(part) if _is_variable(part) else part, tree, is_leaf=_is_variable
    )


def _axis(part: Any, dim: Hashable) -> int | None:
    return part.dims.index(dim) if _is_variable(part) and dim in part.dims else None


def _without_coordinates(args: Any, dim: Hashable) -> tuple[Any, dict[Hashable, Any]]:
    """The arguments without the coordinates along a dimension, and these coordinates."""
    coords: dict[Hashable, Any] = {}

    def strip(part: Any) -> Any:
        if not _is_labelled(part):
            return part
        along = {name: value for name, value in part.coords.items() if dim in value.dims}
        coords.update({name: value for name, value in along.items() if value.dims == (dim,)})
        return part.drop_vars(list(along))

    return tree_map(strip, args, is_leaf=_is_labelled), coords


def _labelled(part: Any, dim: Hashable, coords: dict[Hashable, Any]) -> Any:
    if not _is_labelled(part) or dim not in part.dims:
        return part
    return part.assign_coords({name: value.variable for name, value in coords.items()})
