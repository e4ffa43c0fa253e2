"""Variables, data arrays and datasets of xarray as pytree nodes.

The data are children, and so are coordinates that hold arrays of bindax. Names, dimensions,
attributes and all other coordinates are metadata, which is compared by content: what labels an
array is no argument of a computation, and a gradient has the labels of what it belongs to. Of a
``DataArray`` and a ``Dataset`` the children are variables, so that dimensions and attributes are
written down in one place.

Instances are put together without their constructors, which convert and check what transformations
put into them. ``encoding``, which says how a file was written, is left out, as it is by the
computations of xarray itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray

from bindax_containers._frozen import Frozen, content_key, read_only
from bindax_core.errors import TreeError
from bindax_core.extend import NodeDefinition
from bindax_core.tree_util import DictKey, GetAttrKey

# --------------------------------------------------------------------------------- variables


def _raw_data(variable: Any) -> Any:
    """Return the data of a variable; values that are still in a file are read."""
    data = variable._data
    read = getattr(data, "get_duck_array", None)
    return data if read is None else read()


def _variable(dims: tuple[Hashable, ...], data: Any, attrs: Any) -> xarray.Variable:
    made: Any = object.__new__(xarray.Variable)
    made._dims = dims
    made._data = data
    made._attrs = attrs or None
    made._encoding = None
    return made  # type: ignore[no-any-return]


def with_dims(variable: xarray.Variable, dims: tuple[Hashable, ...]) -> xarray.Variable:
    """A variable with the same data and attributes, and other dimensions; nothing is checked."""
    return _variable(dims, variable._data, dict(variable.attrs))


class VariableLabels(NamedTuple):
    """The metadata of a ``Variable``."""

    dims: tuple[Hashable, ...]
    attrs: Frozen

    def __repr__(self) -> str:
        attrs = "" if self.attrs == _NO_ATTRS else f", attrs={self.attrs!r}"
        return f"dims={self.dims!r}{attrs}"


_NO_ATTRS = Frozen({})


def _frozen_attrs(attrs: Mapping[Any, Any] | None) -> Frozen:
    return Frozen(dict(attrs), "attrs") if attrs else _NO_ATTRS


def _flatten_variable(variable: xarray.Variable) -> tuple[tuple[Any], VariableLabels]:
    labels = VariableLabels(variable.dims, _frozen_attrs(variable._attrs))
    return (_raw_data(variable),), labels


def _unflatten_variable(labels: VariableLabels, children: Any) -> xarray.Variable:
    (data,) = children
    return _variable(labels.dims, data, labels.attrs.thaw())


# ------------------------------------------------------------------------------- coordinates


class Coordinates:
    """The coordinates of a ``DataArray`` or ``Dataset`` that are constants, and all indexes.

    Compared by content. The variables are snapshots that cannot be written to.
    """

    __slots__ = ("_hash", "_key", "indexes", "variables")

    def __init__(
        self, variables: dict[Hashable, xarray.Variable], indexes: dict[Hashable, Any]
    ) -> None:
        self.variables: dict[Hashable, xarray.Variable] = {
            name: v if name in indexes else _variable(v.dims, read_only(v.values), dict(v.attrs))
            for name, v in variables.items()
        }
        self.indexes: dict[Hashable, Any] = indexes
        self._key = frozenset(self._keys())
        self._hash = hash(self._key)

    def _keys(self) -> Iterable[Any]:
        groups: dict[int, list[Hashable]] = {}
        for name, index in self.indexes.items():
            groups.setdefault(id(index), []).append(name)
        for name, variable in self.variables.items():
            labels = variable.dims, _frozen_attrs(variable._attrs)
            index = self.indexes.get(name)
            if index is None:
                yield name, labels, content_key(variable.values, f"the coordinate {name!r}")
            else:
                yield name, labels, type(index), tuple(groups[id(index)]), _index_key(index)

    def copies(self) -> dict[Hashable, xarray.Variable]:
        """The variables, with attributes that are the caller's own."""
        return {name: variable.copy(deep=False) for name, variable in self.variables.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Coordinates) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"{list(self.variables)}"

    def __reduce__(self) -> Any:
        return Coordinates, (self.variables, self.indexes)


_index_keys: dict[int, tuple[weakref.ref[Any], Any]] = {}
"""Keys of pandas indexes, which are immutable, by identity."""


def _index_key(index: Any) -> Any:
    """The content of an index of xarray; other than pandas ones are compared by identity."""
    labels = getattr(index, "index", None)
    if labels is None or not hasattr(labels, "tolist"):
        return _Same(index)
    known = _index_keys.get(id(labels))
    if known is not None and known[0]() is labels:
        return known[1]
    values = labels.to_numpy() if isinstance(labels.dtype, np.dtype) else labels.tolist()
    key = (type(labels), str(labels.dtype), content_key(values, "the index"))
    identity = id(labels)
    _index_keys[identity] = weakref.ref(labels, lambda _: _index_keys.pop(identity, None)), key
    return key


class _Same:
    """Equal for one and the same object."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _split(
    coords: Mapping[Hashable, xarray.Variable], indexes: Mapping[Hashable, Any]
) -> tuple[dict[Hashable, xarray.Variable], Coordinates]:
    """Divide coordinates into those that are children and those that are constants."""
    constant = {
        name: variable
        for name, variable in coords.items()
        if name in indexes or _holds_numpy(variable)
    }
    children = {name: variable for name, variable in coords.items() if name not in constant}
    return children, Coordinates(constant, dict(indexes))


def _holds_numpy(variable: Any) -> bool:
    return isinstance(variable, xarray.Variable) and isinstance(_raw_data(variable), np.ndarray)


# ------------------------------------------------------------------------------- data arrays


class DataArrayLabels(NamedTuple):
    """The metadata of a ``DataArray``: name, constant coordinates, names of those with arrays."""

    name: Hashable
    coords: Coordinates
    children: tuple[Hashable, ...]

    def __repr__(self) -> str:
        children = f", traced coords={list(self.children)!r}" if self.children else ""
        return f"name={self.name!r}, coords={self.coords!r}{children}"


def _plain(variable: Any) -> Any:
    """The variable as one that can hold anything; that of a dimension coordinate cannot."""
    return variable.to_base_variable() if type(variable) is xarray.IndexVariable else variable


def _flatten_data_array(array: xarray.DataArray) -> tuple[tuple[Any, ...], DataArrayLabels]:
    children, coords = _split(array._coords, array._indexes)
    labels = DataArrayLabels(array.name, coords, tuple(children))
    return (_plain(array.variable), *map(_plain, children.values())), labels


def _flatten_data_array_with_keys(array: xarray.DataArray) -> tuple[list[Any], DataArrayLabels]:
    children, labels = _flatten_data_array(array)
    keys = (GetAttrKey("variable"), *map(DictKey, labels.children))
    return list(zip(keys, children, strict=True)), labels


def _unflatten_data_array(labels: DataArrayLabels, children: Any) -> xarray.DataArray:
    variable, *traced = children
    coords = {**labels.coords.copies(), **dict(zip(labels.children, traced, strict=True))}
    make: Callable[..., xarray.DataArray] = xarray.DataArray
    indexes = dict(labels.coords.indexes)
    # The way without checks that xarray itself takes for results of computations.
    return make(variable, coords, name=labels.name, indexes=indexes, fastpath=True)


# ---------------------------------------------------------------------------------- datasets


class DatasetLabels(NamedTuple):
    """The metadata of a ``Dataset``: the names of its data variables, and as for ``DataArray``."""

    names: tuple[Hashable, ...]
    coords: Coordinates
    children: tuple[Hashable, ...]
    attrs: Frozen

    def __repr__(self) -> str:
        children = f", traced coords={list(self.children)!r}" if self.children else ""
        attrs = "" if self.attrs == _NO_ATTRS else f", attrs={self.attrs!r}"
        return f"{list(self.names)}, coords={self.coords!r}{children}{attrs}"


def _flatten_dataset(dataset: xarray.Dataset) -> tuple[tuple[Any, ...], DatasetLabels]:
    variables, coord_names = dataset._variables, dataset._coord_names
    data = {name: variable for name, variable in variables.items() if name not in coord_names}
    coords = {name: variable for name, variable in variables.items() if name in coord_names}
    children, constant = _split(coords, dataset._indexes)
    labels = DatasetLabels(tuple(data), constant, tuple(children), _frozen_attrs(dataset._attrs))
    return (*map(_plain, data.values()), *map(_plain, children.values())), labels


def _flatten_dataset_with_keys(dataset: xarray.Dataset) -> tuple[list[Any], DatasetLabels]:
    children, labels = _flatten_dataset(dataset)
    keys = map(DictKey, (*labels.names, *labels.children))
    return list(zip(keys, children, strict=True)), labels


def _unflatten_dataset(labels: DatasetLabels, children: Any) -> xarray.Dataset:
    data = dict(zip((*labels.names, *labels.children), children, strict=True))
    constant = labels.coords.copies()
    variables = {**data, **constant}
    return xarray.Dataset._construct_direct(
        variables,
        {*constant, *labels.children},
        dims=_sizes(variables.values()),
        attrs=labels.attrs.thaw() or None,
        indexes=dict(labels.coords.indexes),
    )


def _sizes(variables: Iterable[Any]) -> dict[Any, int]:
    """The sizes of the dimensions, as far as the variables hold arrays."""
    sizes: dict[Any, int] = {}
    for variable in variables:
        if isinstance(variable, xarray.Variable):
            shape = getattr(variable._data, "shape", ())
            if len(shape) == len(variable.dims):
                sizes.update(zip(variable.dims, shape, strict=True))
    return sizes


# ------------------------------------------------------------------------------- definitions


def _not_serializable(labels: Any) -> Any:
    raise TreeError("labels of xarray objects have no stable written form; pickle the structure")


variable: NodeDefinition = NodeDefinition(
    xarray.Variable,
    _flatten_variable,
    _unflatten_variable,
    serialized_name="xarray:Variable",
    attributes=("data",),
    encode_metadata=_not_serializable,
)
data_array: NodeDefinition = NodeDefinition(
    xarray.DataArray,
    _flatten_data_array,
    _unflatten_data_array,
    _flatten_data_array_with_keys,
    serialized_name="xarray:DataArray",
    encode_metadata=_not_serializable,
)
dataset: NodeDefinition = NodeDefinition(
    xarray.Dataset,
    _flatten_dataset,
    _unflatten_dataset,
    _flatten_dataset_with_keys,
    serialized_name="xarray:Dataset",
    encode_metadata=_not_serializable,
)
