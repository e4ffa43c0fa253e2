"""Registration, and who registered what."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import warnings
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from bindax_core._extension_points import Plugins, runtime
from bindax_core.errors import TreeError
from bindax_core.tree._registry import forget_unregistered
from bindax_core.tree_util import (
    NodeDefinition,
    RedefinitionNotice,
    is_registered,
    keystr,
    register_node,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys_class,
    register_static,
    registered_by,
    registered_nodes,
    scoped_registration,
    tree_flatten,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_structure,
    unregister_pytree_node,
)


class Box:
    def __init__(self, *content: Any) -> None:
        self.content = content


def flatten(box: Box) -> tuple[Any, None]:
    return box.content, None


def unflatten(_: None, children: Any) -> Box:
    return Box(*children)


BOX = NodeDefinition(Box, flatten, unflatten)


def define(directory: Path, module: str, source: str) -> Any:
    """Import a module of the given source."""
    (directory / f"{module}.py").write_text(source, encoding="utf-8")
    importlib.invalidate_caches()
    sys.modules.pop(module, None)
    return importlib.import_module(module)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_questions() -> None:
    assert not is_registered(Box)
    assert registered_by(Box) is None
    register_node(BOX)
    try:
        assert is_registered(Box)
        who = registered_by(Box)
        assert who is not None
        assert who.module.endswith("test_registry")
        assert who.file == __file__
        assert BOX in registered_nodes()
    finally:
        assert unregister_pytree_node(Box) is BOX
    assert not is_registered(Box)
    assert BOX not in registered_nodes()
    with pytest.raises(TreeError, match="Box is not registered"):
        unregister_pytree_node(Box)


def test_built_in_containers() -> None:
    assert is_registered(dict)
    assert is_registered(namedtuple("P", "x"))
    assert not is_registered(int)
    with pytest.raises(TreeError, match="list is a pytree node type of bindax itself"):
        register_pytree_node(list, flatten, unflatten)
    with pytest.raises(TreeError, match="dict is a pytree node type of bindax itself"):
        unregister_pytree_node(dict)


def test_scopes_nest_and_restore_what_they_replaced() -> None:
    other = NodeDefinition(Box, lambda b: ((), len(b.content)), lambda n, _: Box(*[0] * n))
    value = [Box(1, 2)]
    with scoped_registration(BOX):
        assert tree_leaves(value) == [1, 2]
        with pytest.warns(RedefinitionNotice), scoped_registration(other):
            assert tree_leaves(value) == []
        assert tree_leaves(value) == [1, 2]
        with scoped_registration():
            unregister_pytree_node(Box)
            assert tree_leaves(value) == value
        assert tree_leaves(value) == [1, 2]
        with contextlib.suppress(ZeroDivisionError), scoped_registration():
            unregister_pytree_node(Box)
            raise ZeroDivisionError
        assert tree_leaves(value) == [1, 2]
    assert tree_leaves(value) == value


def test_structures_keep_their_definition() -> None:
    with scoped_registration(BOX):
        leaves, structure = tree_flatten([Box(1)])
    assert tree_leaves([Box(1)]) != leaves
    (made,) = structure.unflatten([5])
    assert made.content == (5,)
    assert structure.flatten_up_to([Box((1, 2))]) == [(1, 2)]


CELL = """
from bindax_core.tree_util import register_pytree_node
class Model:
    def __init__(self, w): self.w = w
register_pytree_node(Model, lambda m: ((m.w,), {version!r}), lambda _, xs: Model(*xs))
"""


def test_running_a_cell_twice_replaces_with_a_notice() -> None:
    with scoped_registration():
        cell: dict[str, Any] = {"__name__": "notebook"}
        exec(CELL.format(version=1), cell)
        old = cell["Model"]
        before = tree_structure(old(1))
        with pytest.warns(RedefinitionNotice, match="notebook:Model was registered again"):
            exec(CELL.format(version=2), cell)
        new = cell["Model"]
        assert new is not old
        assert tree_structure(new(1)).node_data() == (new, 2)
        assert before.node_data() == (old, 1)
        assert before.unflatten([3]).w == 3
        assert tree_leaves(old(4)) == [4]
        assert [d.type for d in registered_nodes() if d.serialized_name == "notebook:Model"] == [
            new
        ]


def test_a_class_that_is_defined_again_may_be_registered_by_another_module(modules: Path) -> None:
    with scoped_registration():
        cell: dict[str, Any] = {"__name__": "notebook"}
        exec(CELL.format(version=1), cell)
        exec("class Model: pass", cell)
        registrar = (
            "from bindax_core.tree_util import register_pytree_node\n"
            "def register(cls):\n"
            "    register_pytree_node(cls, lambda m: ((), 3), lambda _, xs: cls())\n"
        )
        define(modules, "registrar", registrar)
        with pytest.warns(RedefinitionNotice, match="the newer definition .registrar, "):
            sys.modules["registrar"].register(cell["Model"])
        assert tree_structure(cell["Model"]()).node_data() == (cell["Model"], 3)


def test_registering_one_class_twice_in_a_notebook() -> None:
    with scoped_registration():
        register_node(BOX)
        with pytest.warns(RedefinitionNotice):
            register_pytree_node(Box, lambda b: ((b.content[0],), None), unflatten)
        assert tree_leaves(Box(1, 2)) == [1]


def test_a_duplicate_of_another_module_names_both(modules: Path) -> None:
    define(modules, "owner_a", "class Grid: pass")
    register = (
        "from owner_a import Grid\nfrom bindax_core.tree_util import register_pytree_node as r\n"
        "r(Grid, lambda g: ((), 1), lambda d, xs: Grid())\n"
    )
    with scoped_registration():
        define(modules, "owner_b", register)
        with pytest.raises(TreeError, match="Duplicate registration") as info:
            define(modules, "owner_c", register)
        message = str(info.value)
        assert "owner_a.Grid" in message
        for owner in ("owner_b", "owner_c"):
            assert f"module {owner} of no installed distribution" in message
            assert str(modules / f"{owner}.py") in message
        kind = sys.modules["owner_a"].Grid
        assert tree_structure(kind()).node_data() == (kind, 1)


def test_local_classes_of_one_name_live_side_by_side() -> None:
    def make(n: int) -> type:
        class Local:
            pass

        register_pytree_node(Local, lambda _: ((), n), lambda _, xs: Local())
        return Local

    with scoped_registration(), warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = make(1), make(2)
        assert str(tree_structure(first())) == "PyTreeDef(CustomNode(Local[1], []))"
        assert str(tree_structure(second())) == "PyTreeDef(CustomNode(Local[2], []))"


def test_many_threads_lose_nothing() -> None:
    kinds = [type(f"Kind{i}", (Box,), {}) for i in range(16 * 40)]
    failures: list[BaseException] = []
    barrier = threading.Barrier(16)

    def work(part: list[type]) -> None:
        try:
            barrier.wait()
            for kind in part:
                assert tree_leaves([kind(1, 2)])  # classified as a leaf type first
                register_pytree_node(kind, flatten, unflatten)
                assert tree_leaves([kind(1, 2)]) == [1, 2]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(kinds[i::16],)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert all(map(is_registered, kinds))
    for kind in kinds:
        unregister_pytree_node(kind)


# ------------------------------------------------------------------------- missing types


class Asked:
    pass


@pytest.fixture
def hook() -> Any:
    """Installs what is asked about unknown types, and puts back what was there."""
    before = runtime.plugins

    def install(load: Any) -> None:
        runtime.plugins = Plugins()
        runtime.plugins.load_for_type = load  # type: ignore[method-assign]
        forget_unregistered()

    yield install
    runtime.plugins = before
    forget_unregistered()


def test_the_hook_is_asked_once_per_type(hook: Any) -> None:
    asked: list[type] = []

    def load(kind: type) -> bool:
        asked.append(kind)
        return False

    hook(load)
    for _ in range(3):
        tree_leaves([Asked(), Asked()])
    assert asked.count(Asked) == 1


def test_the_hook_registers(hook: Any) -> None:
    def load(kind: type) -> bool:
        if kind is Asked:
            register_pytree_node(Asked, lambda _: ((1, 2), None), lambda _, xs: Asked())
        return kind is Asked

    with scoped_registration():
        hook(load)
        assert tree_leaves([Asked()]) == [1, 2]


def test_what_the_hook_raises_reaches_the_caller_each_time(hook: Any) -> None:
    class PluginFailed(Exception):
        pass

    def load(kind: type) -> bool:
        if kind is Asked:
            raise PluginFailed
        return False

    hook(load)
    for _ in range(2):
        with pytest.raises(PluginFailed):
            tree_leaves(Asked())
        with pytest.raises(PluginFailed):
            tree_leaves([1, {"a": Asked()}])


# ---------------------------------------------------------------------- ways to register


def test_by_methods_with_keys() -> None:
    from bindax_core.tree_util import GetAttrKey

    with scoped_registration():

        @register_pytree_with_keys_class
        class Keyed:
            def __init__(self, x: Any) -> None:
                self.x = x

            def tree_flatten_with_keys(self) -> Any:
                return ((GetAttrKey("x"), self.x),), None

            @classmethod
            def tree_unflatten(cls, _: None, children: Any) -> Any:
                return cls(*children)

        value = {"a": Keyed([1, 2])}
        assert tree_leaves(value) == [1, 2]
        assert [keystr(p) for p, _ in tree_leaves_with_path(value)] == ["['a'].x[0]", "['a'].x[1]"]
        assert tree_map(lambda x: x + 1, value)["a"].x == [2, 3]


def test_classes_without_the_methods() -> None:
    with pytest.raises(TreeError, match="it has no method tree_flatten"):
        register_pytree_node_class(Box)
    with pytest.raises(TreeError, match="it has no method tree_flatten_with_keys"):
        register_pytree_with_keys_class(Box)


def test_static() -> None:
    with scoped_registration():

        @register_static
        class Mode(str):
            __slots__ = ()

        first, second = tree_structure([1, Mode("a")]), tree_structure([1, Mode("b")])
        assert tree_leaves([1, Mode("a")]) == [1]
        assert first != second
        assert first == tree_structure([2, Mode("a")])
        assert first.unflatten([3]) == [3, Mode("a")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Box(), flatten, unflatten), "Only a class can be registered"),
        ((Box, 1, unflatten), "The flatten argument .*Box must be a function, got 1"),
        ((Box, flatten, None), "The unflatten argument .*Box must be a function, got None"),
        ((Box, flatten, unflatten, 1), "The flatten_with_keys argument"),
    ],
)
def test_bad_arguments(arguments: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        register_pytree_node(*arguments)
