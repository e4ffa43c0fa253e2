"""What document 001 shows about custom pytree nodes: the same programs print the same.

The programs are written anew; their printed results are the document's, but for the order of keys
in a dict that is unflattened: it is that of insertion, and the document prints them sorted.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax.errors import TreeError
from bindax.tree_util import (
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    scoped_registration,
    tree_flatten,
    tree_unflatten,
)

Printed = pytest.CaptureFixture[str]
Point = namedtuple("Point", ["x", "y"])


@pytest.fixture(autouse=True)
def scope() -> Iterator[None]:
    """What a test registers, it registers for itself."""
    with scoped_registration():
        yield


def printed(capsys: Printed) -> list[str]:
    return capsys.readouterr().out.splitlines()


class Special:
    """The document's class that nobody registered."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class RegisteredSpecial(Special):
    """The registered one."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(x={self.x}, y={self.y})"


class RegisteredSpecial2(RegisteredSpecial):
    """The one that is registered by its methods."""

    def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
        return (self.x, self.y), None

    @classmethod
    def tree_unflatten(cls, aux_data: None, children: Any) -> RegisteredSpecial2:
        return cls(*children)


# --------------------------------------------------------------- types that are not registered


def test_instances_of_other_types_are_leaves() -> None:
    instances = [Special(0, 1), Special(2, 4)]
    leaves = bindax.tree.leaves(instances)
    assert leaves == instances
    assert [repr(leaf).partition(" at ")[0] for leaf in leaves] == [
        f"<{__name__}.Special object"
    ] * 2


def test_map_that_expects_what_is_inside_raises() -> None:
    with pytest.raises(TypeError) as info:
        bindax.tree.map(lambda x: x + 1, [Special(0, 1), Special(2, 4)])
    assert str(info.value) == "unsupported operand type(s) for +: 'Special' and 'int'"


# ------------------------------------------------------------------------------- registration


def test_registered_by_functions(capsys: Printed) -> None:
    register_pytree_node(
        RegisteredSpecial, lambda v: ((v.x, v.y), None), lambda _, xs: RegisteredSpecial(*xs)
    )
    trees = [RegisteredSpecial(0, 1), RegisteredSpecial(2, 4)]
    print(bindax.tree.map(lambda x: x + 1, trees))
    assert printed(capsys) == ["[RegisteredSpecial(x=1, y=2), RegisteredSpecial(x=3, y=5)]"]


def test_registered_by_methods(capsys: Printed) -> None:
    assert register_pytree_node_class(RegisteredSpecial2) is RegisteredSpecial2
    structured = RegisteredSpecial2(1.0, 2.0)
    flat, tree = structured.tree_flatten()
    unflattened = RegisteredSpecial2.tree_unflatten(tree, flat)
    print(f"{structured=}\n  {flat=}\n  {tree=}\n  {unflattened=}")
    assert printed(capsys) == [
        "structured=RegisteredSpecial2(x=1.0, y=2.0)",
        "  flat=(1.0, 2.0)",
        "  tree=None",
        "  unflattened=RegisteredSpecial2(x=1.0, y=2.0)",
    ]
    assert bindax.tree.leaves(structured) == [1.0, 2.0]


# ------------------------------------------------------------- named tuples and dataclasses


class MyOtherContainer(NamedTuple):
    """All fields of a named tuple are children."""

    name: str
    a: Any
    b: Any
    c: Any


@dataclass
class MyDataclassContainer:
    """A dataclass is a leaf until it is registered."""

    name: str
    a: Any
    b: Any
    c: Any


def register_container() -> None:
    register = functools.partial(
        register_dataclass, data_fields=["a", "b", "c"], meta_fields=["name"]
    )
    assert register(MyDataclassContainer) is MyDataclassContainer


def test_named_tuples_need_no_registration(capsys: Printed) -> None:
    trees = [MyOtherContainer("Alice", 1, 2, 3), MyOtherContainer("Bob", 4, 5, 6)]
    print(bindax.tree.leaves(trees))
    assert printed(capsys) == ["['Alice', 1, 2, 3, 'Bob', 4, 5, 6]"]


def test_dataclasses_are_not_registered_by_themselves() -> None:
    value = MyDataclassContainer("apple", 1, 2, 3)
    assert bindax.tree.leaves(value) == [value]


def test_registered_dataclass(capsys: Printed) -> None:
    register_container()
    trees = [
        MyDataclassContainer("apple", 5.3, 1.2, jnp.zeros([4])),
        MyDataclassContainer("banana", np.array([3, 4]), -1.0, 0.0),
    ]
    print(bindax.tree.leaves(trees))
    assert printed(capsys) == [
        "[5.3, 1.2, Array([0., 0., 0., 0.], dtype=float32), array([3, 4]), -1.0, 0.0]"
    ]


def test_metadata_is_static_in_jit() -> None:
    register_container()
    names = []

    @bindax.jit
    def f(x: Any) -> Any:
        names.append(x.name)
        return x.a + x.b

    y = f(MyDataclassContainer("mdc", 1, 2, 3))
    assert int(y) == 3
    f(MyDataclassContainer("mdc", 4, 5, 6))
    f(MyDataclassContainer("other", 4, 5, 6))
    assert names == ["mdc", "other"]


def test_a_leaf_that_is_no_array_is_an_error_that_names_its_path() -> None:
    @bindax.jit
    def f(x: Any) -> Any:
        return x.a + x.b

    with pytest.raises(TypeError) as info:
        f(MyOtherContainer("moc", 1, 2, 3))
    text = str(info.value)
    assert "x.name" in text
    assert "str" in text
    assert "jit of" in text
    assert "static_argnums" in text
    assert "static_argnames" in text


def test_metadata_needs_equality_and_hash() -> None:
    register_container()
    tree = MyDataclassContainer(np.arange(2), 1, 2, 3)  # type: ignore[arg-type]
    with pytest.raises(TreeError, match=r"metadata of the pytree node of type .*MyDataclassCont"):
        bindax.jit(lambda x: x.a)(tree)


# ---------------------------------------------- initialization with unexpected values


class MyTree:
    """An ``__init__`` that converts."""

    def __init__(self, a: Any) -> None:
        self.a = jnp.asarray(a)


def flatten_tree(tree: Any) -> Any:
    return (tree.a,), None


def test_converting_init_under_vmap_and_jacobian(capsys: Printed) -> None:
    register_pytree_node(MyTree, flatten_tree, lambda _, args: MyTree(*args))
    tree = MyTree(jnp.arange(5.0))
    print(bindax.vmap(lambda x: x)(tree))
    (line,) = printed(capsys)
    assert line.startswith(f"<{__name__}.MyTree object at 0x")
    with pytest.raises((TypeError, ValueError)) as info:
        bindax.jacobian(lambda x: x)(tree)
    notes = "\n".join(info.value.__notes__)
    assert f"unflatten function of the pytree node type {__name__}.MyTree" in notes
    assert "must not convert or validate" in notes


class Lenient:
    """Potential solution 1."""

    def __init__(self, a: Any) -> None:
        if not (type(a) is object or a is None or isinstance(a, Lenient)):
            a = jnp.asarray(a)
        self.a = a


def test_solution_1_init_handles_the_special_cases() -> None:
    register_pytree_node(Lenient, flatten_tree, lambda _, args: Lenient(*args))
    check_solution(Lenient)


def test_solution_2_unflatten_avoids_init() -> None:
    def tree_unflatten(aux_data: None, children: Any) -> MyTree:
        made = object.__new__(MyTree)
        made.a = children[0]
        return made

    register_pytree_node(MyTree, flatten_tree, tree_unflatten)
    check_solution(MyTree)


def check_solution(kind: Any) -> None:
    tree = kind(jnp.arange(5.0))
    np.testing.assert_array_equal(bindax.vmap(lambda x: x)(tree).a, np.arange(5.0))
    jacobian = bindax.jacobian(lambda x: x)(tree)
    assert type(jacobian) is kind
    assert type(jacobian.a) is kind
    np.testing.assert_array_equal(jacobian.a.a, np.eye(5))


# ------------------------------------------------------------------ internal pytree handling


def test_flatten_transform_unflatten(capsys: Printed) -> None:
    value_flat, value_tree = tree_flatten([1.0, (2.0, 3.0)])
    print(f"{value_flat=}\n{value_tree=}")
    transformed_flat = [2.0 * v for v in value_flat]
    print(f"{transformed_flat=}")
    transformed_structured = tree_unflatten(value_tree, transformed_flat)
    print(f"{transformed_structured=}")
    assert printed(capsys) == [
        "value_flat=[1.0, 2.0, 3.0]",
        "value_tree=PyTreeDef([*, (*, *)])",
        "transformed_flat=[2.0, 4.0, 6.0]",
        "transformed_structured=[2.0, (4.0, 6.0)]",
    ]


def test_example_containers(capsys: Printed) -> None:
    for structured in [
        (1.0, [2.0, 3.0]),
        (1.0, {"b": 2.0, "a": 3.0}),
        1.0,
        None,
        jnp.zeros(2),
        Point(1.0, 2.0),
        OrderedDict(b=2.0, a=3.0),
    ]:
        flat, tree = tree_flatten(structured)
        assert repr(tree_unflatten(tree, flat)) == repr(structured)
        print(f"{flat=} {tree=}")
    assert printed(capsys) == [
        "flat=[1.0, 2.0, 3.0] tree=PyTreeDef((*, [*, *]))",
        "flat=[1.0, 3.0, 2.0] tree=PyTreeDef((*, {'a': *, 'b': *}))",
        "flat=[1.0] tree=PyTreeDef(*)",
        "flat=[] tree=PyTreeDef(None)",
        "flat=[Array([0., 0.], dtype=float32)] tree=PyTreeDef(*)",
        "flat=[1.0, 2.0] tree=PyTreeDef(CustomNode(namedtuple[Point], [*, *]))",
        "flat=[2.0, 3.0] tree=PyTreeDef(CustomNode(OrderedDict[('b', 'a')], [*, *]))",
    ]


def test_functions_see_containers_and_the_system_flat_lists() -> None:
    seen = []

    def f(tree: Any) -> Any:
        seen.append(type(tree))
        return {"a": tree[0]}

    jaxpr = bindax.make_jaxpr(f)([1.0, (2.0, 3.0)])
    assert seen == [list]
    assert len(jaxpr.in_avals) == 3
    assert len(jaxpr.out_avals) == 1
