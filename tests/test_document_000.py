"""What document 000 shows about pytrees, with the public API: the same programs print the same.

The programs are written anew; their printed results are the document's. Two things differ:
``vmap`` passes no ``object()`` to a constructor, as in the newer document 001, and a dict that is
unflattened has its keys in the order of insertion, where the document prints them sorted.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax.errors import TreeError
from bindax.lax import add
from bindax.tree_util import (
    register_pytree_node,
    register_pytree_node_class,
    scoped_registration,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)

Printed = pytest.CaptureFixture[str]
Point = namedtuple("Point", ["x", "y"])


@pytest.fixture(autouse=True)
def scope() -> Iterator[None]:
    """What a test registers, it registers for itself."""
    with scoped_registration():
        yield


class Special:
    """The document's class that nobody registered."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __repr__(self) -> str:
        return f"{type(self).__name__}(x={self.x}, y={self.y})"


class RegisteredSpecial(Special):
    """The one that is registered by functions."""


class RegisteredSpecial2(Special):
    """The one that is registered by its methods."""

    def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
        return (self.x, self.y), None

    @classmethod
    def tree_unflatten(cls, aux_data: None, children: Any) -> RegisteredSpecial2:
        return cls(*children)


def register_special() -> None:
    register_pytree_node(
        RegisteredSpecial, lambda v: ((v.x, v.y), None), lambda _, xs: RegisteredSpecial(*xs)
    )


def shown(structured: Any, capsys: Printed) -> list[str]:
    """The lines that the document's ``show_example`` prints."""
    flat, tree = tree_flatten(structured)
    unflattened = tree_unflatten(tree, flat)
    print(f"{structured=}\n  {flat=}\n  {tree=}\n  {unflattened=}")
    return capsys.readouterr().out.splitlines()


# ------------------------------------------------------------------------ what is a pytree?


@pytest.mark.parametrize(
    ("tree", "count"),
    [
        ([1, "a", object()], 3),
        ((1, (2, 3), ()), 3),
        ([1, {"k1": 2, "k2": (3, 4)}, 5], 5),
    ],
)
def test_numbers_of_leaves(tree: Any, count: int) -> None:
    assert len(tree_leaves(tree)) == count


def test_objects_of_other_types_are_leaf_pytrees() -> None:
    for leaf in (1, "a", object(), np.ones(2), {1, 2}):
        leaves, structure = tree_flatten(leaf)
        assert leaves[0] is leaf
        assert str(structure) == "PyTreeDef(*)"


def test_transformations_take_and_return_pytrees() -> None:
    def f(tree: Any) -> Any:
        return {"sum": tree[0] + tree[1]["k"], "same": [tree[0]]}

    result = bindax.jit(f)((np.float32(1.0), {"k": np.float32(2.0)}))
    assert str(tree_structure(result)) == "PyTreeDef({'same': [*], 'sum': *})"
    assert [float(leaf) for leaf in tree_leaves(result)] == [1.0, 3.0]
    gradient = bindax.grad(lambda tree: f(tree)["sum"])((1.0, {"k": 2.0}))
    assert tree_map(float, gradient) == (1.0, {"k": 1.0})


# ------------------------------------------------------- optional parameters and prefixes

a1, a2, a3 = np.arange(2.0), np.arange(2.0) + 10, np.arange(2.0) + 20
ARGUMENTS = (a1, {"k1": a2, "k2": a3})


def shapes(*args: Any) -> Any:
    return tree_map(np.shape, args, is_leaf=lambda x: hasattr(x, "shape"))


def seen(in_axes: Any) -> Any:
    """The shapes that a function sees under ``vmap``."""
    inside = []

    def f(first: Any, second: Any) -> Any:
        inside.append(shapes(first, second))
        return tree_leaves(second)[-1]

    bindax.vmap(f, in_axes=in_axes)(*ARGUMENTS)
    return inside[0]


@pytest.mark.parametrize(
    ("in_axes", "expected"),
    [
        ((None, {"k1": None, "k2": 0}), ((2,), {"k1": (2,), "k2": ()})),
        ((None, {"k1": 0, "k2": 0}), ((2,), {"k1": (), "k2": ()})),
        ((None, 0), ((2,), {"k1": (), "k2": ()})),
        (0, ((), {"k1": (), "k2": ()})),
    ],
)
def test_in_axes_is_a_tree_prefix(in_axes: Any, expected: Any) -> None:
    assert seen(in_axes) == expected


def test_the_default_in_axes_maps_every_argument() -> None:
    inside = []
    bindax.vmap(lambda *args: inside.append(shapes(*args)) or args[0])(*ARGUMENTS)
    assert inside == [((), {"k1": (), "k2": ()})]


def test_out_axes_is_a_tree_prefix() -> None:
    def f(x: Any) -> Any:
        return {"rows": x, "columns": [x, x]}

    batch = np.arange(6.0).reshape(2, 3)
    result = bindax.vmap(f, out_axes={"rows": 0, "columns": 1})(batch)
    np.testing.assert_array_equal(result["rows"], batch)
    for columns in result["columns"]:
        np.testing.assert_array_equal(columns, batch.T)
    np.testing.assert_array_equal(bindax.vmap(f, out_axes=1)(batch)["rows"], batch.T)


def test_a_prefix_that_does_not_match_names_the_path_and_both_sides() -> None:
    with pytest.raises(TreeError) as info:
        seen((None, {"k1": None, "k3": 0}))
    text = str(info.value)
    assert "in_axes is not a tree prefix" in text
    assert "at path in_axes[1]" in text
    assert "['k1', 'k3']" in text
    assert "['k1', 'k2']" in text
    with pytest.raises(TreeError, match=r"out_axes"):
        bindax.vmap(lambda x: [x], out_axes=[0, 0])(a1)


# -------------------------------------------------------------- viewing and flattening trees


def test_the_structure_of_an_object(capsys: Printed) -> None:
    print(tree_structure(object))
    assert capsys.readouterr().out == "PyTreeDef(*)\n"


def test_flatten_transform_unflatten(capsys: Printed) -> None:
    value_flat, value_tree = tree_flatten([1.0, (2.0, 3.0)])
    print(f"{value_flat=}\n{value_tree=}")
    transformed_flat = [2.0 * v for v in value_flat]
    print(f"{transformed_flat=}")
    transformed_structured = tree_unflatten(value_tree, transformed_flat)
    print(f"{transformed_structured=}")
    assert capsys.readouterr().out.splitlines() == [
        "value_flat=[1.0, 2.0, 3.0]",
        "value_tree=PyTreeDef([*, (*, *)])",
        "transformed_flat=[2.0, 4.0, 6.0]",
        "transformed_structured=[2.0, (4.0, 6.0)]",
    ]


@pytest.mark.parametrize(
    ("structured", "lines"),
    [
        (
            (1.0, [2.0, 3.0]),
            [
                "structured=(1.0, [2.0, 3.0])",
                "  flat=[1.0, 2.0, 3.0]",
                "  tree=PyTreeDef((*, [*, *]))",
                "  unflattened=(1.0, [2.0, 3.0])",
            ],
        ),
        (
            (1.0, {"b": 2.0, "a": 3.0}),
            [
                "structured=(1.0, {'b': 2.0, 'a': 3.0})",
                "  flat=[1.0, 3.0, 2.0]",
                "  tree=PyTreeDef((*, {'a': *, 'b': *}))",
                # Where the document prints the keys sorted, the order of insertion survives.
                "  unflattened=(1.0, {'b': 2.0, 'a': 3.0})",
            ],
        ),
        (
            1.0,
            ["structured=1.0", "  flat=[1.0]", "  tree=PyTreeDef(*)", "  unflattened=1.0"],
        ),
        (
            None,
            ["structured=None", "  flat=[]", "  tree=PyTreeDef(None)", "  unflattened=None"],
        ),
        (
            jnp.zeros(2),
            [
                "structured=Array([0., 0.], dtype=float32)",
                "  flat=[Array([0., 0.], dtype=float32)]",
                "  tree=PyTreeDef(*)",
                "  unflattened=Array([0., 0.], dtype=float32)",
            ],
        ),
        (
            Point(1.0, 2.0),
            [
                "structured=Point(x=1.0, y=2.0)",
                "  flat=[1.0, 2.0]",
                "  tree=PyTreeDef(CustomNode(namedtuple[Point], [*, *]))",
                "  unflattened=Point(x=1.0, y=2.0)",
            ],
        ),
        (
            Special(1.0, 2.0),
            [
                "structured=Special(x=1.0, y=2.0)",
                "  flat=[Special(x=1.0, y=2.0)]",
                "  tree=PyTreeDef(*)",
                "  unflattened=Special(x=1.0, y=2.0)",
            ],
        ),
    ],
    ids=["tuple", "dict", "float", "None", "array", "namedtuple", "unregistered"],
)
def test_example_containers(structured: Any, lines: list[str], capsys: Printed) -> None:
    assert shown(structured, capsys) == lines


@pytest.mark.parametrize(
    "container",
    [
        [1.0],
        (1.0,),
        {"a": 1.0},
        Point(1.0, 2.0),
        OrderedDict(b=1.0, a=2.0),
        defaultdict(list, a=1.0),
        deque([1.0, 2.0], maxlen=3),
    ],
)
def test_containers_by_default(container: Any) -> None:
    leaves, structure = tree_flatten(container)
    assert all(type(leaf) is float for leaf in leaves)
    made = tree_unflatten(structure, leaves)
    assert type(made) is type(container)
    assert made == container


def test_trees_have_no_cycles_and_may_share() -> None:
    shared = [1.0]
    assert tree_leaves((shared, shared)) == [1.0, 1.0]
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(TreeError, match="contains itself"):
        tree_leaves(cyclic)


# -------------------------------------------------------------------------- extending pytrees


def test_registered_by_functions(capsys: Printed) -> None:
    register_special()
    assert shown(RegisteredSpecial(1.0, 2.0), capsys) == [
        "structured=RegisteredSpecial(x=1.0, y=2.0)",
        "  flat=[1.0, 2.0]",
        "  tree=PyTreeDef(CustomNode(RegisteredSpecial[None], [*, *]))",
        "  unflattened=RegisteredSpecial(x=1.0, y=2.0)",
    ]


def test_values_of_registered_types_are_traversed_recursively() -> None:
    register_special()
    tree = RegisteredSpecial([1.0, RegisteredSpecial(2.0, None)], {"k": 3.0})
    assert tree_leaves(tree) == [1.0, 2.0, 3.0]


def test_registered_by_methods(capsys: Printed) -> None:
    assert register_pytree_node_class(RegisteredSpecial2) is RegisteredSpecial2
    assert shown(RegisteredSpecial2(1.0, 2.0), capsys) == [
        "structured=RegisteredSpecial2(x=1.0, y=2.0)",
        "  flat=[1.0, 2.0]",
        "  tree=PyTreeDef(CustomNode(RegisteredSpecial2[None], [*, *]))",
        "  unflattened=RegisteredSpecial2(x=1.0, y=2.0)",
    ]


class Scaled:
    """A container with metadata."""

    def __init__(self, x: Any, unit: Any) -> None:
        self.x, self.unit = x, unit


def register_scaled() -> None:
    register_pytree_node(Scaled, lambda s: ((s.x,), s.unit), lambda unit, xs: Scaled(*xs, unit))


def test_metadata_takes_part_in_equality_hash_and_the_cache_of_jit() -> None:
    register_scaled()
    metre, second = tree_structure(Scaled(1.0, "m")), tree_structure(Scaled(1.0, "s"))
    assert metre == tree_structure(Scaled(2.0, "m"))
    assert hash(metre) == hash(tree_structure(Scaled(2.0, "m")))
    assert metre != second
    traced = []

    @bindax.jit
    def f(s: Scaled) -> Any:
        traced.append(s.unit)
        return s.x

    for unit in ("m", "m", "s", "m"):
        f(Scaled(1.0, unit))
    assert traced == ["m", "s"]


@pytest.mark.parametrize("unit", [np.arange(2), ("m", np.arange(2))], ids=str)
def test_metadata_without_usable_hash_raises_at_its_first_use(unit: Any) -> None:
    register_scaled()
    with pytest.raises(TreeError, match=r"metadata of the pytree node of type .*Scaled") as info:
        bindax.jit(lambda tree: tree["k"].x)({"k": Scaled(1.0, unit)})
    assert "['k']" in str(info.value)


def test_metadata_that_compares_but_has_no_hash_is_compared_with_a_notice() -> None:
    register_scaled()
    f = bindax.jit(lambda tree: tree["k"].x)
    with pytest.warns(bindax.errors.UnhashableMetadataNotice, match="cannot be hashed"):
        assert float(f({"k": Scaled(1.0, ["m"])})) == 1.0
    assert float(f({"k": Scaled(2.0, ["m"])})) == 2.0


# ---------------------------------------------- initialization with unexpected values


class Converting:
    """The document's ``MyTree``."""

    def __init__(self, a: Any) -> None:
        self.a = jnp.asarray(a)


class Lenient:
    """The first remedy: ``__init__`` foresees what transformations pass."""

    def __init__(self, a: Any) -> None:
        if not (type(a) is object or a is None or isinstance(a, Lenient)):
            a = jnp.asarray(a)
        self.a = a


class Bare(Converting):
    """The second remedy: ``tree_unflatten`` does not call ``__init__``."""


def unflatten_bare(aux_data: None, children: Any) -> Bare:
    made = object.__new__(Bare)
    (made.a,) = children
    return made


def register_all() -> None:
    def flatten(tree: Any) -> Any:
        return (tree.a,), None

    register_pytree_node(Converting, flatten, lambda _, args: Converting(*args))
    register_pytree_node(Lenient, flatten, lambda _, args: Lenient(*args))
    register_pytree_node(Bare, flatten, unflatten_bare)


def test_a_converting_init_fails() -> None:
    register_all()
    tree = Converting(jnp.arange(5.0))
    with pytest.raises(TypeError) as info:
        tree_structure(tree).unflatten([object()])
    assert "unflatten function of the pytree node type" in info.value.__notes__[0]
    # The structure of a tree is known without building it from objects, so that this is none.
    assert isinstance(bindax.vmap(lambda x: x)(tree), Converting)
    with pytest.raises(TypeError, match="of type Converting"):
        bindax.jacobian(lambda x: x)(tree)


@pytest.mark.parametrize("kind", [Lenient, Bare])
def test_both_remedies(kind: Any) -> None:
    register_all()
    tree = kind(jnp.arange(5.0))
    sentinel = object()
    assert tree_structure(tree).unflatten([sentinel]).a is sentinel
    mapped = bindax.vmap(lambda x: x)(tree)
    assert type(mapped) is kind
    np.testing.assert_array_equal(mapped.a, np.arange(5.0))
    jacobian = bindax.jacobian(lambda x: x)(tree)
    assert type(jacobian) is type(jacobian.a) is kind  # a tree of trees
    np.testing.assert_array_equal(jacobian.a.a, np.eye(5))


@pytest.mark.parametrize("kind", [Lenient, Bare])
def test_the_remedies_in_other_transformations(kind: Any) -> None:
    register_all()
    tree = kind(jnp.arange(3.0))

    def f(tree: Any) -> Any:
        return kind(add(tree.a, tree.a))

    np.testing.assert_array_equal(bindax.jit(f)(tree).a, 2 * np.arange(3.0))
    gradient = bindax.grad(lambda tree: (tree.a * tree.a).sum())(tree)
    assert type(gradient) is kind
    np.testing.assert_array_equal(gradient.a, 2 * np.arange(3.0))
