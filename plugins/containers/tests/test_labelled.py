"""Variables, data arrays and datasets of xarray in transformations, and there and back."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

xarray = pytest.importorskip("xarray", reason="needs the extra bindax-containers[xarray]")

import bindax_core  # noqa: E402
import bindax_transforms  # noqa: E402
from bindax_containers._frozen import Frozen  # noqa: E402
from bindax_containers.dimensions import vmap_dimension  # noqa: E402
from bindax_core import errors, tree  # noqa: E402
from bindax_core.extend import keystr  # noqa: E402
from bindax_core.tree_util import registered_by  # noqa: E402
from bindax_testing import check_pytree  # noqa: E402

operations = pytest.mark.skipif(
    importlib.util.find_spec("bindax_numpy") is None,
    reason="operations of xarray on traced values need an array namespace",
)


arithmetic = pytest.mark.skipif(
    importlib.util.find_spec("bindax_lax_basic") is None,
    reason="the functions that are transformed here need operations of arrays",
)


def variable() -> Any:
    attrs = {"units": "K", "flags": np.array([0, 1], np.int8), "nan": float("nan")}
    return xarray.Variable(("time", "place"), np.arange(6.0).reshape(2, 3), attrs)


def array(name: str = "temperature") -> Any:
    coords = {
        "time": np.array(["2020-01-01", "2020-01-02"], "datetime64[ns]"),
        "place": ["a", "b", "c"],
        "height": ("place", np.array([1.0, np.nan, 3.0])),
        "run": 7,
    }
    return xarray.DataArray(variable(), coords, name=name)


def dataset() -> Any:
    return xarray.Dataset(
        {"t": array(), "p": ("place", np.ones(3)), "scalar": 2.0}, attrs={"title": "x"}
    )


OBJECTS = {"Variable": variable, "DataArray": array, "Dataset": dataset}
each = pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)


@each
def test_round_trip(make: Any) -> None:
    value = make()
    leaves, structure = tree.flatten(value)
    made = tree.unflatten(structure, leaves)
    assert type(made) is type(value)
    assert made.identical(value)
    assert tree.structure(made) == structure
    assert tree.structure(make()) == structure
    assert hash(tree.structure(make())) == hash(structure)
    assert pickle.loads(pickle.dumps(structure)) == structure


@each
def test_conformance(make: Any) -> None:
    report = check_pytree({"k": make()})
    assert report.ok, str(report)
    assert not report.of_status("skipped")


def test_paths_are_expressions() -> None:
    paths = [keystr(path) for path, _ in tree.leaves_with_path(dataset())]
    assert paths == ["['t'].data", "['p'].data", "['scalar'].data"]
    assert [keystr(path) for path, _ in tree.leaves_with_path(array())] == [".variable.data"]


@arithmetic
@each
def test_jit(make: Any) -> None:
    traced = []

    @bindax_transforms.jit
    def f(value: Any) -> Any:
        traced.append(type(value))
        return tree.map(lambda x: x * 2.0, value)

    value = make()
    doubled = f(value)
    assert type(doubled) is type(value)
    assert tree.structure(doubled) == tree.structure(value)
    for ours, theirs in zip(tree.leaves(doubled), tree.leaves(value), strict=True):
        np.testing.assert_array_equal(np.asarray(ours), 2.0 * theirs)
    f(make())
    assert len(traced) == 1
    f(value.assign_attrs(units="C") if make is not variable else value._replace(attrs={}))
    assert len(traced) == 2


@arithmetic
def test_other_labels_are_traced_again() -> None:
    traced = []

    @bindax_transforms.jit
    def f(value: Any) -> Any:
        traced.append(value.name)
        return value

    for value in (array(), array(), array("other"), array().assign_coords(place=["a", "b", "z"])):
        assert f(value).identical(value)
    assert len(traced) == 3


@arithmetic
def test_grad_has_the_labels_of_its_argument() -> None:
    def loss(value: Any) -> Any:
        return sum((leaf * leaf).sum() for leaf in tree.leaves(value))

    gradient = bindax_transforms.grad(loss)(dataset())
    assert list(gradient.data_vars) == ["t", "p", "scalar"]
    assert gradient["t"].coords.identical(dataset()["t"].coords)
    np.testing.assert_array_equal(gradient["t"].values, 2.0 * variable().values)


@arithmetic
def test_vmap_and_jacobian() -> None:
    value = xarray.DataArray(np.arange(3.0), dims="place", coords={"place": ["a", "b", "c"]})
    mapped = bindax_transforms.vmap(lambda v: tree.map(lambda x: x + 1.0, v))(value)
    assert mapped.copy(data=np.asarray(mapped.data)).identical(value + 1.0)
    jacobian = bindax_transforms.jacobian(lambda v: tree.map(lambda x: x * 2.0, v))(value)
    (leaf,) = tree.leaves(jacobian)
    np.testing.assert_array_equal(np.asarray(leaf), 2.0 * np.eye(3))


# ------------------------------------------------------------------------- xarray's operations


@operations
@pytest.mark.parametrize(
    "operation",
    [
        lambda v: v * 2.0 + v,
        lambda v: v.sum("place"),
        lambda v: v.mean(skipna=False),
        lambda v: v.isel(time=0),
        lambda v: v.sel(place="b"),
        lambda v: v.sel(place=["c", "a"]),
        lambda v: v.transpose("place", "time"),
        lambda v: xarray.where(v > 2.0, v, 0.0),
        lambda v: xarray.concat([v, v], "time"),
        lambda v: v.expand_dims("new"),
        lambda v: v.rename("renamed"),
        lambda v: v - v.max("time", skipna=False),
    ],
)
def test_operations_of_xarray_on_traced_values(operation: Any) -> None:
    value = array()
    result = bindax_transforms.jit(operation)(value)
    assert isinstance(result.variable._data, bindax_core.Array)
    expected = operation(value)
    xarray.testing.assert_allclose(result.copy(data=np.asarray(result.data)), expected)
    assert result.name == expected.name


@operations
def test_gradient_through_operations_of_xarray() -> None:
    def loss(values: Any) -> Any:
        return (values["t"].sel(place="b") * values["scalar"]).sum(skipna=False).data

    gradient = bindax_transforms.grad(loss)(dataset())
    np.testing.assert_array_equal(gradient["t"].values, [[0.0, 2.0, 0.0]] * 2)
    assert float(gradient["scalar"]) == 5.0


@operations
def test_traced_coordinates_are_children() -> None:
    def f(value: Any) -> Any:
        return value.assign_coords(total=("place", value.sum("time").data))

    result = bindax_transforms.jit(f)(array())
    assert [keystr(path) for path, _ in tree.leaves_with_path(result)] == [
        ".variable.data",
        "['total'].data",
    ]
    np.testing.assert_array_equal(result.coords["total"].values, [3.0, 5.0, 7.0])
    assert check_pytree(result).ok


@operations
def test_vmap_over_a_named_dimension() -> None:
    def normalized(place: Any) -> Any:
        assert place["t"].dims == ("time",)
        assert place["p"].dims == ()
        assert "place" not in place.coords
        return place["t"] * place["p"] + place["scalar"]

    result = vmap_dimension(normalized, "place")(dataset())
    expected = dataset()["t"] * dataset()["p"] + dataset()["scalar"]
    assert result.dims == ("place", "time")
    np.testing.assert_array_equal(result.values, expected.transpose("place", "time").values)
    assert list(result.coords["place"].values) == ["a", "b", "c"]
    np.testing.assert_array_equal(result.coords["height"].values, [1.0, np.nan, 3.0])
    with pytest.raises(errors.TreeError, match=r"dimension 'x'; the dimensions are \['place', 'ti"):
        vmap_dimension(normalized, "x")(dataset())


# ----------------------------------------------------------------------------------- metadata


def test_results_own_their_attributes_and_constant_coordinates_are_read_only() -> None:
    value = array()
    leaves, structure = tree.flatten(value)
    value.attrs["units"] = "changed"
    value.coords["height"].values[0] = -1.0
    made = tree.unflatten(structure, leaves)
    assert made.attrs["units"] == "K"
    assert made.coords["height"].values[0] == 1.0
    made.attrs["units"] = "again"
    assert tree.unflatten(structure, leaves).attrs["units"] == "K"
    with pytest.raises(ValueError, match="read-only"):
        made.coords["height"].values[0] = 2.0


def test_dimension_coordinates_multi_indexes_and_categories() -> None:
    pandas = pytest.importorskip("pandas")
    place = array().coords["place"]
    assert tree.unflatten(tree.structure(place), ["abc"]).variable._data == "abc"
    stacked = array().stack(all=("time", "place"))
    categories = xarray.Dataset(coords={"c": pandas.CategoricalIndex(["u", "v", "u"])})
    for value in (stacked, categories):
        leaves, structure = tree.flatten(value)
        assert structure == tree.structure(copy.deepcopy(value))
        assert tree.unflatten(structure, leaves).identical(value)
    assert tree.structure(stacked) != tree.structure(stacked.isel(all=slice(1, None)))


def test_values_that_are_still_in_a_file_are_read() -> None:
    from xarray.core import indexing

    data = indexing.LazilyIndexedArray(np.arange(3.0))
    lazy = xarray.Variable("x", data)
    (leaf,) = tree.leaves(lazy)
    np.testing.assert_array_equal(leaf, np.arange(3.0))


def test_traced_attributes_are_an_error_with_name_and_path() -> None:
    def f(x: Any) -> Any:
        return {"k": xarray.Variable((), 1.0, attrs={"scale": x})}

    with pytest.raises(errors.TreeError, match=r"attrs\['scale'\] is a traced value.*\['k'\]"):
        bindax_transforms.jit(f)(1.0)


def test_attributes_that_cannot_be_hashed_are_an_error() -> None:
    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

    value = xarray.Variable((), 1.0, attrs={"a": [Unhashable()]})
    with pytest.raises(errors.TreeError, match=r"attrs\['a'\]\[0\] is of type .*Unhashable"):
        tree.leaves(value)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (float("nan"), float("nan"), True),
        (np.array([np.nan]), np.array([np.nan]), True),
        (1, 1.0, False),
        (1, True, False),
        (0.0, -0.0, False),
        (np.int8(1), np.int16(1), False),
        (np.array([1]), [1], False),
        ([1, (2,)], [1, (2,)], True),
        ({"a": 1, "b": {2}}, {"b": {2}, "a": 1}, True),
        (np.array(["a", None], object), np.array(["a", None], object), True),
        (np.datetime64("NaT", "s"), np.datetime64("NaT", "s"), True),
    ],
)
def test_equality_of_constants(one: Any, other: Any, equal: bool) -> None:
    assert (Frozen(one) == Frozen(other)) is equal
    if equal:
        assert hash(Frozen(one)) == hash(Frozen(other))
    assert pickle.loads(pickle.dumps(Frozen(one))) == Frozen(one)


# ----------------------------------------------------------------------------------- registry


def test_nothing_is_imported_before_an_instance_appears() -> None:
    program = """
import sys
import bindax_core
from bindax_core import tree
assert [r["status"] for r in bindax_core.container_types() if r["type"] == "xarray:Dataset"] == [
    "available"
]
tree.leaves([1, {"a": 2}])
assert not any(name.startswith(("xarray", "bindax_containers")) for name in sys.modules)
import xarray
tree.leaves(1.0)
assert "bindax_containers" not in sys.modules
assert tree.leaves(xarray.Dataset({"a": 1.0}))[0] == 1.0
assert "bindax_containers.labelled" in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_provenance() -> None:
    provenance = registered_by(xarray.Dataset)
    assert provenance is not None
    assert provenance.distribution == "bindax-containers"
    assert provenance.file.endswith("labelled.py")
    assert not [p for p in bindax_core.diagnose_plugins() if "containers" in p["subject"]]
