"""Programs of documents 000 and 001 about pytrees print what the documents say.

The programs use the public API and are written anew; what they print is the documents'. Two things
differ: ``vmap`` passes no ``object()`` to a constructor, as in the newer document 001, and a dict
that is unflattened has its keys in the order of insertion, where the documents print them sorted.
"""

from __future__ import annotations

import functools
import itertools
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax.errors import TreeError, UnhashableMetadataNotice
from bindax.lax import add
from bindax.tree_util import (
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    scoped_registration,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)

Point = namedtuple("Point", ["x", "y"])


class Special:
    """The documents' class that nobody registered."""

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


class Scaled:
    """A container with metadata."""

    def __init__(self, x: Any, unit: Any) -> None:
        self.x, self.unit = x, unit


class MyOtherContainer(NamedTuple):
    """All fields of a named tuple are children."""

    name: str
    a: Any
    b: Any
    c: Any


@dataclass
class Unregistered:
    """A dataclass is a leaf until it is registered."""

    name: str
    a: Any
    b: Any
    c: Any


class MyDataclassContainer(Unregistered):
    """The one that is registered, with a name as metadata."""


class Converting:
    """The documents' ``MyTree``."""

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


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """Register the documents' types, for one test."""

    def flatten(tree: Any) -> Any:
        return (tree.a,), None

    with scoped_registration():
        register_pytree_node(
            RegisteredSpecial, lambda v: ((v.x, v.y), None), lambda _, xs: RegisteredSpecial(*xs)
        )
        assert register_pytree_node_class(RegisteredSpecial2) is RegisteredSpecial2
        register_pytree_node(Scaled, lambda s: ((s.x,), s.unit), lambda u, xs: Scaled(*xs, u))
        register_pytree_node(Converting, flatten, lambda _, args: Converting(*args))
        register_pytree_node(Lenient, flatten, lambda _, args: Lenient(*args))
        register_pytree_node(Bare, flatten, unflatten_bare)
        register = functools.partial(
            register_dataclass, data_fields=["a", "b", "c"], meta_fields=["name"]
        )
        assert register(MyDataclassContainer) is MyDataclassContainer
        yield


# --------------------------------------------------------------------- what programs print

PRINTED: list[Any] = []
"""Programs, each with the lines that it prints."""


def prints(*lines: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Add a program to the table."""

    def listed(program: Callable[[], None]) -> Callable[[], None]:
        PRINTED.append(pytest.param(program, lines, id=program.__name__))
        return program

    return listed


@prints("PyTreeDef(*)")
def structure_of_an_object() -> None:
    print(tree_structure(object))


@prints(
    "value_flat=[1.0, 2.0, 3.0]",
    "value_tree=PyTreeDef([*, (*, *)])",
    "transformed_flat=[2.0, 4.0, 6.0]",
    "transformed_structured=[2.0, (4.0, 6.0)]",
)
def flatten_transform_unflatten() -> None:
    value_flat, value_tree = tree_flatten([1.0, (2.0, 3.0)])
    print(f"{value_flat=}\n{value_tree=}")
    transformed_flat = [2.0 * v for v in value_flat]
    print(f"{transformed_flat=}")
    transformed_structured = tree_unflatten(value_tree, transformed_flat)
    print(f"{transformed_structured=}")


@prints("[RegisteredSpecial(x=1, y=2), RegisteredSpecial(x=3, y=5)]")
def map_of_registered_ones() -> None:
    trees = [RegisteredSpecial(0, 1), RegisteredSpecial(2, 4)]
    print(bindax.tree.map(lambda x: x + 1, trees))


@prints(
    "structured=RegisteredSpecial2(x=1.0, y=2.0)",
    "  flat=(1.0, 2.0)",
    "  tree=None",
    "  unflattened=RegisteredSpecial2(x=1.0, y=2.0)",
)
def methods_of_a_registered_class() -> None:
    structured = RegisteredSpecial2(1.0, 2.0)
    flat, tree = structured.tree_flatten()
    unflattened = RegisteredSpecial2.tree_unflatten(tree, flat)
    print(f"{structured=}\n  {flat=}\n  {tree=}\n  {unflattened=}")


@prints("[2.0, 3.0] PyTreeDef(CustomNode(OrderedDict[('b', 'a')], [*, *]))")
def an_ordered_dictionary() -> None:
    print(*tree_flatten(OrderedDict(b=2.0, a=3.0)))


@prints("['Alice', 1, 2, 3, 'Bob', 4, 5, 6]")
def leaves_of_named_tuples() -> None:
    trees = [MyOtherContainer("Alice", 1, 2, 3), MyOtherContainer("Bob", 4, 5, 6)]
    print(bindax.tree.leaves(trees))


@prints("[5.3, 1.2, Array([0., 0., 0., 0.], dtype=float32), array([3, 4]), -1.0, 0.0]")
def leaves_of_dataclasses() -> None:
    trees = [
        MyDataclassContainer("apple", 5.3, 1.2, jnp.zeros([4])),
        MyDataclassContainer("banana", np.array([3, 4]), -1.0, 0.0),
    ]
    print(bindax.tree.leaves(trees))


@pytest.mark.parametrize(("program", "lines"), PRINTED)
def test_program_prints_what_the_documents_print(
    program: Callable[[], None], lines: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    program()
    assert tuple(capsys.readouterr().out.splitlines()) == lines


@pytest.mark.parametrize(
    ("text", "flat", "tree"),
    [
        ("(1.0, [2.0, 3.0])", "[1.0, 2.0, 3.0]", "(*, [*, *])"),
        ("(1.0, {'b': 2.0, 'a': 3.0})", "[1.0, 3.0, 2.0]", "(*, {'a': *, 'b': *})"),
        ("1.0", "[1.0]", "*"),
        ("None", "[]", "None"),
        ("Array([0., 0.], dtype=float32)", "[Array([0., 0.], dtype=float32)]", "*"),
        ("Point(x=1.0, y=2.0)", "[1.0, 2.0]", "CustomNode(namedtuple[Point], [*, *])"),
        ("Special(x=1.0, y=2.0)", "[Special(x=1.0, y=2.0)]", "*"),
        *(
            (f"{name}(x=1.0, y=2.0)", "[1.0, 2.0]", f"CustomNode({name}[None], [*, *])")
            for name in ("RegisteredSpecial", "RegisteredSpecial2")
        ),
    ],
)
def test_example_containers(text: str, flat: str, tree: str) -> None:
    structured = eval(text, {**globals(), "Array": jnp.asarray, "float32": "float32"})
    leaves, structure = tree_flatten(structured)
    unflattened = tree_unflatten(structure, leaves)
    assert [repr(structured), repr(unflattened)] == [text, text]
    assert [repr(leaves), repr(structure)] == [flat, f"PyTreeDef({tree})"]


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


@pytest.mark.parametrize(
    "leaf",
    [1, "a", object(), np.ones(2), {1, 2}, Special(0, 1), Unregistered("apple", 1, 2, 3)],
    ids=lambda leaf: type(leaf).__name__,
)
def test_objects_of_other_types_are_leaf_pytrees(leaf: Any) -> None:
    leaves, structure = tree_flatten(leaf)
    assert leaves[0] is leaf
    assert str(structure) == "PyTreeDef(*)"


def test_map_that_expects_what_is_inside_raises() -> None:
    with pytest.raises(TypeError) as info:
        bindax.tree.map(lambda x: x + 1, [Special(0, 1), Special(2, 4)])
    assert str(info.value) == "unsupported operand type(s) for +: 'Special' and 'int'"


@pytest.mark.parametrize(
    "container",
    [
        *([1.0], (1.0,), {"a": 1.0}, Point(1.0, 2.0), OrderedDict(b=1.0, a=2.0)),
        *(defaultdict(list, a=1.0), deque([1.0, 2.0], maxlen=3)),
    ],
)
def test_containers_by_default(container: Any) -> None:
    leaves, structure = tree_flatten(container)
    assert all(type(leaf) is float for leaf in leaves)
    made = tree_unflatten(structure, leaves)
    assert type(made) is type(container)
    assert made == container


def test_values_of_registered_types_are_traversed_recursively() -> None:
    tree = RegisteredSpecial([1.0, RegisteredSpecial(2.0, None)], {"k": 3.0})
    assert tree_leaves(tree) == [1.0, 2.0, 3.0]
    assert tree_leaves(RegisteredSpecial2(1.0, 2.0)) == [1.0, 2.0]


def test_trees_have_no_cycles_and_may_share() -> None:
    shared = [1.0]
    assert tree_leaves((shared, shared)) == [1.0, 1.0]
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(TreeError, match="contains itself"):
        tree_leaves(cyclic)


def test_transformations_take_and_return_pytrees() -> None:
    def f(tree: Any) -> Any:
        return {"sum": tree[0] + tree[1]["k"], "same": [tree[0]]}

    result = bindax.jit(f)((np.float32(1.0), {"k": np.float32(2.0)}))
    assert str(tree_structure(result)) == "PyTreeDef({'same': [*], 'sum': *})"
    assert [float(leaf) for leaf in tree_leaves(result)] == [1.0, 3.0]
    gradient = bindax.grad(lambda tree: f(tree)["sum"])((1.0, {"k": 2.0}))
    assert tree_map(float, gradient) == (1.0, {"k": 1.0})


def test_functions_see_containers_and_the_system_flat_lists() -> None:
    seen = []

    def f(tree: Any) -> Any:
        seen.append(type(tree))
        return {"a": tree[0]}

    jaxpr = bindax.make_jaxpr(f)([1.0, (2.0, 3.0)])
    assert seen == [list]
    assert len(jaxpr.in_avals) == 3
    assert len(jaxpr.out_avals) == 1


# ------------------------------------------------------- optional parameters and prefixes

a1, a2, a3 = np.arange(2.0), np.arange(2.0) + 10, np.arange(2.0) + 20


def shapes_inside(**in_axes: Any) -> Any:
    """The shapes that a function sees under ``vmap``."""
    inside = []

    def f(first: Any, second: Any) -> Any:
        inside.append(tree_map(np.shape, (first, second), is_leaf=lambda x: hasattr(x, "shape")))
        return tree_leaves(second)[-1]

    bindax.vmap(f, **in_axes)(a1, {"k1": a2, "k2": a3})
    return inside[0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"in_axes": (None, {"k1": None, "k2": 0})}, ((2,), {"k1": (2,), "k2": ()})),
        ({"in_axes": (None, {"k1": 0, "k2": 0})}, ((2,), {"k1": (), "k2": ()})),
        ({"in_axes": (None, 0)}, ((2,), {"k1": (), "k2": ()})),
        ({"in_axes": 0}, ((), {"k1": (), "k2": ()})),
        ({}, ((), {"k1": (), "k2": ()})),  # by default every argument is mapped
    ],
)
def test_in_axes_is_a_tree_prefix(options: Any, expected: Any) -> None:
    assert shapes_inside(**options) == expected


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
        shapes_inside(in_axes=(None, {"k1": None, "k3": 0}))
    for part in ("in_axes is not a tree prefix", "at path in_axes[1]", "['k1', 'k3']"):
        assert part in str(info.value)
    assert "['k1', 'k2']" in str(info.value)
    with pytest.raises(TreeError, match=r"out_axes"):
        bindax.vmap(lambda x: [x], out_axes=[0, 0])(a1)


# -------------------------------------------------------------------------------- metadata

WITH_METADATA = [lambda meta: Scaled(1.0, meta), lambda meta: MyDataclassContainer(meta, 1, 2, 3)]
with_metadata = pytest.mark.parametrize("made", WITH_METADATA, ids=["node", "dataclass"])


@with_metadata
def test_metadata_takes_part_in_equality_hash_and_the_cache_of_jit(made: Any) -> None:
    metre, second = tree_structure(made("m")), tree_structure(made("s"))
    assert metre == tree_structure(made("m"))
    assert hash(metre) == hash(tree_structure(made("m")))
    assert metre != second
    traced = []

    @bindax.jit
    def f(tree: Any) -> Any:
        traced.append(getattr(tree, "unit", None) or tree.name)
        return sum(tree_leaves(tree))

    results = [float(f(made(meta))) for meta in ("m", "m", "s", "m")]
    assert results == [sum(tree_leaves(made("m")))] * 4
    assert traced == ["m", "s"]


@with_metadata
@pytest.mark.parametrize("meta", [np.arange(2), ("m", np.arange(2))], ids=str)
def test_metadata_without_usable_hash_raises_at_its_first_use(made: Any, meta: Any) -> None:
    name = type(made("m")).__name__
    with pytest.raises(TreeError, match=rf"metadata of the pytree node of type .*{name}") as info:
        bindax.jit(lambda tree: tree_leaves(tree)[0])({"k": made(meta)})
    assert "['k']" in str(info.value)


@with_metadata
def test_metadata_that_compares_but_has_no_hash_is_compared_with_a_notice(made: Any) -> None:
    f = bindax.jit(lambda tree: tree_leaves(tree)[0])
    with pytest.warns(UnhashableMetadataNotice, match="cannot be hashed"):
        assert float(f({"k": made(["m"])})) == 1.0
    assert float(f({"k": made(["m"])})) == 1.0


@with_metadata
@pytest.mark.filterwarnings("ignore::bindax.errors.UnhashableMetadataNotice")
def test_arrays_without_axes_in_metadata_are_compared_by_value(made: Any) -> None:
    traces = itertools.count()
    f = bindax.jit(lambda tree: next(traces) * tree_leaves(tree)[0])
    numbers = [float(f(made(("m", jnp.asarray(value))))) for value in (1.5, 1.5, 2.5)]
    assert numbers == [0.0, 0.0, 1.0]
    assert tree_structure(made(jnp.asarray(1.5))) == tree_structure(made(np.asarray(1.5)))


@with_metadata
@pytest.mark.filterwarnings("ignore::bindax.errors.UnhashableMetadataNotice")
def test_the_same_array_in_metadata_is_equal_with_the_conventions_of_jax(made: Any) -> None:
    f = bindax.jit(lambda tree: tree_leaves(tree)[0])
    table = jnp.arange(3.0)
    with bindax.config.override(conventions="jax"):
        assert float(f(made(("a", 1.5)))) == float(f(made(("a", [1.5])))) == 1.0
        assert float(f(made(("m", table)))) == float(f(made(("m", table)))) == 1.0
        with pytest.raises(TreeError, match="instead of a bool"):
            f(made(("m", jnp.arange(3.0))))
    with pytest.raises(TreeError, match="cannot be hashed"):
        f(made(("m", table)))


def test_a_leaf_that_is_no_array_is_an_error_that_names_its_path() -> None:
    @bindax.jit
    def f(x: Any) -> Any:
        return x.a + x.b

    with pytest.raises(TypeError) as info:
        f(MyOtherContainer("moc", 1, 2, 3))
    for part in ("x.name", "str", "jit of", "static_argnums", "static_argnames"):
        assert part in str(info.value)


# ---------------------------------------------- initialization with unexpected values


def test_a_converting_init_fails() -> None:
    tree = Converting(jnp.arange(5.0))
    name = f"unflatten function of the pytree node type {__name__}.Converting"
    with pytest.raises(TypeError) as info:
        tree_structure(tree).unflatten([object()])
    assert name in info.value.__notes__[0]
    # The structure of a tree is known without building it from objects, so that this is none.
    assert isinstance(bindax.vmap(lambda x: x)(tree), Converting)
    with pytest.raises(TypeError, match="of type Converting") as info:
        bindax.jacobian(lambda x: x)(tree)
    notes = "\n".join(info.value.__notes__)
    assert name in notes
    assert "must not convert or validate" in notes


@pytest.mark.parametrize("kind", [Lenient, Bare])
def test_both_remedies(kind: Any) -> None:
    tree = kind(jnp.arange(5.0))
    sentinel = object()
    assert tree_structure(tree).unflatten([sentinel]).a is sentinel
    mapped = bindax.vmap(lambda x: x)(tree)
    assert type(mapped) is kind
    np.testing.assert_array_equal(mapped.a, np.arange(5.0))
    jacobian = bindax.jacobian(lambda x: x)(tree)
    assert type(jacobian) is type(jacobian.a) is kind  # a tree of trees
    np.testing.assert_array_equal(jacobian.a.a, np.eye(5))
    doubled = bindax.jit(lambda tree: kind(add(tree.a, tree.a)))(tree)
    np.testing.assert_array_equal(doubled.a, 2 * np.arange(5.0))
    gradient = bindax.grad(lambda tree: (tree.a * tree.a).sum())(tree)
    assert type(gradient) is kind
    np.testing.assert_array_equal(gradient.a, 2 * np.arange(5.0))
