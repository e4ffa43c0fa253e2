"""Comparisons of the accelerator with the Python code, for a process that finds the accelerator."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import bindax
from bindax._cli import main
from bindax_core import tree_util
from bindax_core.errors import TreeError
from bindax_core.extend import fast_paths
from bindax_core.tree._paths import postorder

loaded_by_import = "bindax_accelerator" in sys.modules
tree_util.tree_flatten([1])  # which loads it
NAMES = ("flatten", "unflatten")
several = settings(max_examples=500 if os.environ.get("BINDAX_NIGHTLY") else 25, deadline=None)


@contextmanager
def python_alone() -> Iterator[None]:
    """Have the Python code do everything."""
    saved = {name: getattr(fast_paths, name) for name in NAMES}
    for name in NAMES:
        setattr(fast_paths, name, None)
    try:
        yield
    finally:
        for name, function in saved.items():
            setattr(fast_paths, name, function)


Point = namedtuple("Point", ["x", "y"])


class Mapping(dict[Any, Any]):
    """A subclass of dict, which is a leaf."""


class Pair:
    """A registered node; ``how`` says what its flatten function does."""

    def __init__(self, how: str, *children: Any) -> None:
        self.how, self.children = how, children

    def __repr__(self) -> str:
        return f"Pair({self.how!r}, {self.children!r})"


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashable)


def _flatten_pair(pair: Pair) -> Any:
    return {
        "tuple": lambda: (pair.children, pair.how),
        "list": lambda: (list(pair.children), None),
        "iterator": lambda: (iter(pair.children), ("a", 1, True)),
        "unhashable": lambda: (pair.children, Unhashable()),
        "float": lambda: (pair.children, 1.5),
        "single": lambda: pair.children,
        "text": lambda: ("ab", None),
        "none": lambda: None,
        "raises": lambda: 1 / 0,
    }[pair.how]()


WORKING = ("tuple", "list", "iterator", "float")
FAILING = ("unhashable", "single", "text", "none", "raises")
tree_util.register_pytree_node(
    Pair, _flatten_pair, lambda data, children: Pair(str(data), *children)
)


@dataclass(frozen=True)
class Layer:
    kernel: Any
    bias: Any
    name: str = "layer"


tree_util.register_dataclass(Layer, ["kernel", "bias"], ["name"])


class Built(Exception):
    """Raised by an unflatten function."""


class Strict:
    """A node whose unflatten function refuses some children."""

    def __init__(self, child: Any) -> None:
        self.child = child


def _strict(data: Any, children: Any) -> Strict:
    if children[0] == "refused":
        raise Built("refused")
    return Strict(*children)


tree_util.register_pytree_node(Strict, lambda one: ((one.child,), None), _strict)


def _containers(children: st.SearchStrategy[Any], how: tuple[str, ...]) -> st.SearchStrategy[Any]:
    keys = st.one_of(st.sampled_from("zyxabc"), st.integers(-2, 2), st.booleans())
    odd = st.one_of(keys, st.none(), st.floats(-1, 1), st.tuples(keys, keys), st.binary(max_size=2))
    few = st.lists(children, max_size=4)
    return st.one_of(
        few,
        few.map(tuple),
        few.map(deque),
        st.dictionaries(st.sampled_from("zyxabcdef"), children, max_size=4),
        st.dictionaries(odd, children, max_size=4),
        st.dictionaries(odd, children, max_size=3).map(OrderedDict),
        st.dictionaries(keys, children, max_size=3).map(lambda one: defaultdict(list, one)),
        st.dictionaries(keys, children, max_size=3).map(Mapping),
        st.builds(Point, children, children),
        st.builds(Layer, children, children, st.sampled_from(["one", "two", ("a", 1)])),
        st.builds(lambda how, xs: Pair(how, *xs), st.sampled_from(how), few),
    )


LEAVES = st.one_of(st.none(), st.integers(-3, 3), st.text(max_size=2), st.booleans())
TREES = st.recursive(LEAVES, lambda below: _containers(below, WORKING), max_leaves=20)
ODD_TREES = st.recursive(LEAVES, lambda below: _containers(below, WORKING + FAILING), max_leaves=12)


def _outcome(function: Callable[..., Any], *given: Any) -> Any:
    """Return what a function returns, or the error that it raises."""
    try:
        return "returned", function(*given)
    except Exception as error:
        return "raised", type(error), str(error), getattr(error, "__notes__", None)


def _same(ours: Any, theirs: Any) -> None:
    """Structures with equal records: types, metadata, and the order in which keys came."""
    assert ours == theirs
    assert [repr(one) for one in ours.records()] == [repr(one) for one in theirs.records()]
    assert ours.num_leaves == theirs.num_leaves
    assert [one.num_leaves for one in postorder(ours)] == [
        one.num_leaves for one in postorder(theirs)
    ]


def test_importing_does_not_load_it() -> None:
    assert not loaded_by_import
    assert "bindax_accelerator" in sys.modules


def test_doctor_says_which_code_runs() -> None:
    with mock.patch("bindax_diagnosis.diagnose_plugins", list):
        said = CliRunner().invoke(main, ["doctor"]).output
    assert "calls and pytrees: in C, by bindax-accelerator 0." in said


@several
@given(TREES)
def test_flatten_and_unflatten(tree: Any) -> None:
    leaves, structure = tree_util.tree_flatten(tree)
    with python_alone():
        expected, reference = tree_util.tree_flatten(tree)
        rebuilt = tree_util.tree_unflatten(reference, expected)
    assert len(leaves) == len(expected)
    assert all(a is b for a, b in zip(leaves, expected, strict=True))
    _same(structure, reference)
    built = tree_util.tree_unflatten(structure, leaves)
    assert repr(built) == repr(rebuilt)
    with python_alone():
        assert repr(tree_util.tree_unflatten(structure, leaves)) == repr(rebuilt)
    again = tree_util.tree_flatten(tree)[1]
    assert again == structure


@several
@given(ODD_TREES)
def test_errors_are_the_same(tree: Any) -> None:
    ours = _outcome(tree_util.tree_flatten, tree)
    with python_alone():
        theirs = _outcome(tree_util.tree_flatten, tree)
    assert ours[0] == theirs[0]
    if ours[0] == "raised":
        assert ours == theirs
    else:
        assert ours[1][0] == theirs[1][0]
        equal = _outcome(ours[1][1].__eq__, theirs[1][1])
        assert equal == _outcome(theirs[1][1].__eq__, ours[1][1])


def test_trees_that_are_alike_share_a_structure() -> None:
    for tree in ([1, (2, {"b": 3, "a": [None, 4]})], Point(1, Layer(2, [3])), Pair("tuple", 1)):
        assert tree_util.tree_structure(tree) is tree_util.tree_structure(tree)
    assert tree_util.tree_structure({1: 0}) is not tree_util.tree_structure({True: 0})
    one, other = Layer(1, 2, "a"), Layer(1, 2, "b")
    assert tree_util.tree_structure(one) != tree_util.tree_structure(other)
    assert tree_util.tree_structure(one) is tree_util.tree_structure(one)


def test_trees_that_are_nearly_alike_do_not() -> None:
    alike = [Layer((), [0], 1), Layer((), [0], True), {"a": (), "b": [0]}, {"b": [0], "a": ()}]
    structures = [[tree_util.tree_structure(x) for x in alike] for _ in range(3)]
    assert structures[0] == structures[1] == structures[2]
    for row in structures:
        assert repr([x.unflatten([0]) for x in row]) == repr(alike)


@pytest.mark.parametrize("depth", [200, 299, 301, 10_000])
def test_deep_trees(depth: int) -> None:
    tree: Any = 1
    for _ in range(depth):
        tree = [tree]
    leaves, structure = tree_util.tree_flatten(tree)
    assert leaves == [1]
    assert structure.num_nodes == depth + 1
    built = tree_util.tree_unflatten(structure, [2])
    for _ in range(depth):
        (built,) = built
    assert built == 2


def test_cycles() -> None:
    cycle: Any = [1, {"a": (2,)}]
    cycle[1]["b"] = cycle
    with pytest.raises(TreeError) as ours:
        tree_util.tree_flatten(cycle)
    with python_alone(), pytest.raises(TreeError) as theirs:
        tree_util.tree_flatten(cycle)
    assert str(ours.value) == str(theirs.value)


def test_interrupts_are_not_held_back() -> None:
    class Stops:
        pass

    def stop(node: Stops) -> Any:
        raise KeyboardInterrupt

    tree_util.register_pytree_node(Stops, stop, lambda data, children: Stops())
    with pytest.raises(KeyboardInterrupt):
        tree_util.tree_flatten([Stops()])


def test_errors_of_unflatten_functions() -> None:
    structure = tree_util.tree_structure({"a": [Strict(1)]})
    with pytest.raises(Built) as ours:
        tree_util.tree_unflatten(structure, ["refused"])
    with python_alone(), pytest.raises(Built) as theirs:
        tree_util.tree_unflatten(structure, ["refused"])
    assert ours.value.__notes__ == theirs.value.__notes__


def test_containers_that_change_meanwhile() -> None:
    class Changes:
        pass

    def flatten(node: Changes) -> Any:
        tree.clear()
        mapping.clear()
        gc.collect()
        return (1, 2), None

    tree: Any = []
    mapping: Any = {}

    tree_util.register_pytree_node(Changes, flatten, lambda data, children: Changes())
    tree.extend([Changes(), *[object() for _ in range(50)]])
    assert len(tree_util.tree_leaves(tree)) == 52
    mapping.update({"a": Changes(), **{f"b{i}": [object()] for i in range(50)}})
    assert len(tree_util.tree_leaves(mapping)) == 52


def test_types_that_are_registered_meanwhile() -> None:
    class Outer:
        pass

    def flatten(node: Outer) -> Any:
        class Inner:
            pass

        tree_util.register_pytree_node(Inner, lambda one: ((5,), None), lambda data, xs: Inner())
        assert tree_util.tree_leaves([Inner(), {"k": 1}]) == [5, 1]
        return ([Inner()], {"k": Inner()}), None

    tree_util.register_pytree_node(Outer, flatten, lambda data, children: Outer())
    for _ in range(20):
        assert tree_util.tree_leaves({"a": [Outer(), 1], "b": Outer()}) == [5, 5, 1, 5, 5]


def test_a_type_is_a_leaf_again() -> None:
    class Box(list[Any]):
        pass

    with tree_util.scoped_registration():
        tree_util.register_pytree_node(Box, lambda b: (tuple(b), None), lambda _, xs: Box(xs))
        assert tree_util.tree_leaves([Box([1, 2])]) == [1, 2]
    assert tree_util.tree_leaves([Box([1, 2])]) == [Box([1, 2])]


def test_many_types_and_structures() -> None:
    for number in range(5_000):
        kind: Any = type(f"Kind{number}", (), {})
        leaf = kind()
        assert tree_util.tree_leaves([leaf, {f"key{number}": number}]) == [leaf, number]
    wide = list(range(300_000))
    leaves, structure = tree_util.tree_flatten([wide, [[one] for one in wide[:150_000]]])
    assert structure.num_leaves == len(leaves) == 450_000


def _cycle_of_everything() -> None:
    tree = {"b": [Point(1, Layer(2.0, [None])), Pair("tuple", 3)], "a": OrderedDict(x=(4, 5))}
    leaves, structure = tree_util.tree_flatten(tree)
    tree_util.tree_unflatten(structure, leaves)
    _outcome(tree_util.tree_flatten, [Pair("raises")])
    _outcome(tree_util.tree_unflatten, tree_util.tree_structure([Strict(1)]), ["refused"])
    double(tree={"w": ARRAY, "b": [ARRAY]}, count=2)
    _outcome(double, {"w": object()}, 2)


ARRAY = bindax.numpy.ones(3, np.float32)
double = bindax.jit(
    lambda tree, count: bindax.tree.map(lambda x: x * count, tree), static_argnames="count"
)


def test_references_are_kept_and_given_back() -> None:
    watched = (None, 1.5, "text", True, ARRAY, ARRAY.aval, Point, Layer, list, dict, double)
    for _ in range(300):
        _cycle_of_everything()
    gc.collect()
    before, blocks = [sys.getrefcount(one) for one in watched], sys.getallocatedblocks()
    for _ in range(300):
        _cycle_of_everything()
    gc.collect()
    after, more = [sys.getrefcount(one) for one in watched], sys.getallocatedblocks()
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < 100, (before, after)
    assert more - blocks < 600


def test_threads() -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(200):
                tree = {f"key{number}": [Pair("tuple", step), Point(step, None)], "b": {step: 1}}
                leaves, structure = tree_util.tree_flatten(tree)
                assert repr(structure.unflatten(leaves)) == repr(tree)
                assert float(double({"w": ARRAY}, number % 3 + 1)["w"][0]) == number % 3 + 1
                if step % 50 == 0:
                    kind: Any = type(f"New{number}_{step}", (), {})
                    tree_util.register_pytree_node(
                        kind, lambda one: ((), None), lambda data, children: None
                    )
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_calls_of_compiled_functions() -> None:
    f = bindax.jit(lambda x, y=1.0, *, z=2.0: {"sum": x + y, "rest": [z]}, static_argnames="z")
    x = bindax.numpy.arange(3, dtype=np.float32)
    for _ in range(3):
        for args, kwargs in (((x,), {}), ((x, 2.0), {}), ((x,), {"y": x}), ((x, x), {"z": 5})):
            result = f(*args, **kwargs)
            y = args[1] if len(args) > 1 else kwargs.get("y", 1.0)
            np.testing.assert_array_equal(result["sum"], np.asarray(x) + np.asarray(y))
            assert float(result["rest"][0]) == kwargs.get("z", 2.0)
    info = f.cache_info()
    assert (info.misses, info.size) == (4, 4)
    assert info.hits == 8
    assert float(f(x, np.float32(1))["sum"][0]) == 1.0
    # A tracer in the place of an array, another type, and another static value are seen.
    np.testing.assert_array_equal(bindax.vmap(lambda v: f(v)["sum"])(x), np.asarray(x) + 1)
    assert f(bindax.numpy.ones((2, 2)))["sum"].shape == (2, 2)
    assert [float(f(x, z=z)["rest"][0]) for z in (1, True, 2)] == [1.0, 1.0, 2.0]
    with bindax.debug_nans(True):
        assert float(f(x)["sum"][0]) == 1.0
    f.clear_cache()
    assert float(f(x)["sum"][1]) == 2.0
    assert f.__call__(x)["sum"].shape == (3,)


def _shown(*args: Any, **named: Any) -> Any:
    """The arrays in a call times two, and all else in the names of the results."""
    given = {**{str(i): x for i, x in enumerate(args)}, **named}
    statics = {name: repr(x) for name, x in given.items() if isinstance(x, int | str | tuple)}
    arrays = [x + x for name, x in sorted(given.items()) if name not in statics]
    return {str(sorted(statics.items())): arrays}


STATICS = st.sampled_from([0, 1, True, False, "a", "c", (1, "a")])
ARRAYS = st.sampled_from([ARRAY, bindax.numpy.ones(2), np.ones(3, np.float32), 0.5, -0.0, 0.0])
CALLS = st.tuples(
    st.lists(st.tuples(ARRAYS, STATICS), max_size=3),
    st.dictionaries(st.sampled_from(["a0", "names"]), ARRAYS),
    st.dictionaries(st.sampled_from(["c", "not a name"]), STATICS),
    st.booleans(),
)


@pytest.mark.filterwarnings("ignore:jit compiles")
@several
@given(st.lists(CALLS, min_size=1, max_size=3))
def test_static_arguments(calls: Any) -> None:
    shown = bindax.jit(
        lambda *args, **named: _shown(*args, **named),
        static_argnums=(1, -1),
        static_argnames=("c", "not a name"),
    )
    for pairs, dynamic, static, is_first in 3 * calls:
        positions = {i % len(pairs) for i in (1, -1) if -len(pairs) <= i < len(pairs)}
        args = [pair[i in positions] for i, pair in enumerate(pairs)]
        named = {**static, **dynamic} if is_first else {**dynamic, **static}
        found, expected = shown(*args, **named), _shown(*args, **named)
        assert found.keys() == expected.keys()
        found, expected = [bindax.tree.map(np.asarray, one) for one in (found, expected)]
        assert str(found) == str(expected)


def test_errors_of_calls_are_the_same() -> None:
    f = bindax.jit(lambda x: x["a"] + 1.0, donate_argnums=0)
    tree = {"a": bindax.numpy.ones(3)}
    assert float(f(tree)[0]) == 2.0
    with pytest.raises(Exception, match="deleted or donated") as info:
        f(tree)
    assert "bindax_transforms" not in str(info.traceback[-1].path)
    with pytest.raises(TypeError, match=r"argument x\['a'\] is not an array"):
        f({"a": object()})


def test_functions_are_freed() -> None:
    import weakref

    def make() -> weakref.ref[Any]:
        f = bindax.jit(lambda x: x + 1.0)
        for _ in range(3):
            f(ARRAY)
        return weakref.ref(f)

    made = [make() for _ in range(5)]
    gc.collect()
    assert not any(one() for one in made)


def test_methods() -> None:
    class Model:
        def __init__(self, scale: float) -> None:
            self.scale = bindax.numpy.float32(scale)

        @bindax.jit
        def __call__(self, x: Any) -> Any:
            return self.scale * x

    tree_util.register_pytree_node(
        Model, lambda one: ((one.scale,), None), lambda _, xs: _model(Model, xs[0])
    )
    for scale in (2.0, 3.0):
        assert float(Model(scale)(ARRAY)[0]) == scale


def _model(kind: Any, scale: Any) -> Any:
    made = object.__new__(kind)
    made.scale = scale
    return made


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
