"""Calls of compiled functions that look like former ones: what is remembered must still hold."""

import collections
import gc
import math
import threading
import weakref
from typing import Any

import jax
import numpy as np
import pytest

import bindax
from bindax import jit, lax
from bindax.errors import DeletedArrayError
from bindax_core.extend import config

OFTEN = 80
"""More calls than it takes until functions are generated for a structure."""

Pair = collections.namedtuple("Pair", "x y")


class Loose:
    """Metadata that says of itself that it is equal to all others."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loose)

    def __hash__(self) -> int:
        return 0


class Changing:
    """Metadata with a hash of its content, which can be changed."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Changing) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)


class Box:
    """A node of one child with metadata."""

    def __init__(self, child: Any, data: Any) -> None:
        self.child, self.data = child, data


bindax.tree_util.register_pytree_node(
    Box, lambda box: ((box.child,), box.data), lambda data, children: Box(*children, data)
)


def array(*values: float) -> Any:
    return bindax.numpy.asarray(np.array(values, np.float32))


def again(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The result after many calls alike."""
    for _ in range(OFTEN):
        result = function(*args, **kwargs)
    return result


@pytest.mark.parametrize(
    "numbers", [(0.0, -0.0), (-0.0, 0.0), (math.nan, 1.0), (1, 1.0), (True, 1), (0, False)]
)
def test_numbers_that_are_equal_are_told_apart(numbers):
    f = jit(lambda x, y: (lax.div(bindax.numpy.float32(1.0), bindax.numpy.float32(y)), x, y * 1))
    g = jax.jit(lambda x, y: (jax.lax.div(jax.numpy.float32(1), jax.numpy.float32(y)), x, y * 1))
    x = array(1.0, 2.0)
    for number in numbers * 2:
        expected = g(np.asarray(x), number)
        for ours, theirs in zip(again(f, x, number), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
            assert np.signbit(ours).tolist() == np.signbit(theirs).tolist()
            assert np.dtype(ours.dtype).kind == theirs.dtype.kind


def test_many_numbers_leave_no_trace():
    f = jit(lambda x, y: x + y)
    for number in range(300):
        assert f(array(1.0), number / 8)[0] == 1 + number / 8


def test_a_number_is_not_used_up_by_donation():
    f = jit(lambda x, y: y + 1.0, donate_argnums=1)
    for _ in range(5):
        assert float(f(array(1.0), 2.5)) == 3.5


def test_a_donated_array_cannot_be_used_again():
    f = jit(lambda tree: {"a": tree["a"] + 1}, donate_argnums=0)
    tree = {"a": array(1.0)}
    for _ in range(OFTEN):
        tree, old = f(tree), tree
    assert old["a"].is_deleted()
    with pytest.raises(DeletedArrayError):
        f(old)


def test_an_array_that_is_changed_is_read_again():
    f, x = jit(lambda x: x * 2), np.ones(3, np.float32)
    again(f, x)
    x[1] = 5.0
    assert f(x).tolist() == [2.0, 10.0, 2.0]


def test_arrays_of_other_orders_and_dtypes():
    f = jit(lambda x: x * 2)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for given in (x, x.T, x[:, ::2], x.astype(">f4"), x.astype(np.float16), x[0, 0], x[:0]):
        for _ in range(3):
            np.testing.assert_array_equal(f(given), given * 2)
        assert f(given).dtype == given.dtype.newbyteorder("=")


def test_a_tracer_in_the_place_of_an_array():
    f = jit(lambda tree, y: tree["a"] * y)
    x, y = array(1.0, 2.0), array(3.0, 4.0)
    again(f, {"a": x}, y)
    again(f, {"a": x}, y=y)
    for call in (lambda x: f({"a": x}, y).sum(), lambda x: f({"a": x}, y=y).sum()):
        assert bindax.grad(call)(x).tolist() == [3.0, 4.0]
        assert bindax.vmap(lambda x, call=call: call(x))(x[:, None] * y).shape == (2,)
        assert "mul" in str(bindax.make_jaxpr(call)(x))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": 1.0, "b": 2.0}, {"b": 1.0, "a": 2.0}),
        ([1.0, 2.0], (1.0, 2.0)),
        ((1.0, 2.0), Pair(1.0, 2.0)),
        ({"a": 1.0, "b": 2.0}, collections.OrderedDict(a=1.0, b=2.0)),
        ({"a": 1.0}, collections.defaultdict(None, a=1.0)),
        ({1: 1.0}, {True: 1.0}),
        ({"a": None, "b": 1.0}, {"a": 1.0, "b": None}),
        ([[], [1.0]], [[1.0], []]),
        (Box(1.0, 1), Box(1.0, "1")),
        (Box(1.0, (1,)), Box(1.0, (True,))),
        (Box(1.0, 0.0), Box(1.0, 0.5)),
    ],
)
def test_structures_that_look_alike(first, second):
    def seen(tree):
        return tree

    f = jit(seen)
    for tree in (first, second, first, second):
        result = again(f, tree)
        assert bindax.tree.structure(result) == bindax.tree.structure(tree)
        assert bindax.tree.leaves(result) == bindax.tree.leaves(tree)
        assert type(result) is type(tree)


def test_a_container_that_is_changed_between_calls():
    f = jit(lambda tree: sum(x.sum() for x in bindax.tree.leaves(tree)))
    tree = {"a": [array(1.0)], "b": array(2.0)}
    assert float(again(f, tree)) == 3.0
    tree["a"].append(array(4.0))
    assert float(again(f, tree)) == 7.0
    del tree["b"]
    assert float(again(f, tree)) == 5.0
    tree["a"][0] = np.ones((2, 2), np.float32)
    assert float(again(f, tree)) == 8.0


def test_a_structure_has_the_metadata_of_its_own_tree():
    for number in range(2 * OFTEN):
        mapped = bindax.tree.map(lambda x: x, [Box(1, Loose(number))])
        assert mapped[0].data.number == number


def test_metadata_that_is_changed_in_place_is_seen():
    f = jit(lambda box: box.child * box.data.number)
    box = Box(array(1.0), Changing(2))
    assert float(again(f, box)[0]) == 2.0
    box.data.number = 3
    assert float(again(f, box)[0]) == 3.0
    g = jit(lambda x, data: x * data.number, static_argnums=1)
    assert float(again(g, array(1.0), box.data)[0]) == 3.0
    box.data.number = 4
    assert float(again(g, array(1.0), box.data)[0]) == 4.0


def test_static_values_of_other_types_are_told_apart():
    f = jit(lambda x, n: (x, repr(n)) and x * (2 if n is True else n), static_argnums=1)
    assert [float(again(f, array(1.0), n)[0]) for n in (1, True, 1.0, 3)] == [1.0, 2.0, 1.0, 3.0]
    assert f.cache_info().misses == 4


def test_names_in_any_order_and_with_static_ones():
    f = jit(lambda x, *, b, a, n=1: x + 10 * a + 100 * b * n, static_argnames="n")
    x = array(1.0)
    for _ in range(OFTEN):
        assert float(f(x, a=x, b=2 * x)[0]) == 211.0
        assert float(f(x, b=2 * x, a=x)[0]) == 211.0
        assert float(f(x, b=x, a=x)[0]) == 111.0
        assert float(f(x, n=2, b=2 * x, a=x)[0]) == 411.0
    assert f.cache_info().misses == 2


def test_one_object_under_two_names_fixes_no_order():
    f, x = jit(lambda *, b, a: a - b), array(3.0)
    again(f, b=x, a=x)
    assert float(f(b=array(1.0), a=x)[0]) == 2.0
    assert float(f(a=array(1.0), b=x)[0]) == -2.0


def test_settings_belong_to_what_is_remembered():
    f = jit(lambda tree: bindax.numpy.zeros(2) + tree["a"].sum().astype(np.float32))
    tree = {"a": array(1.0)}
    assert again(f, tree).dtype == np.float32
    with config.override(default_dtype_bits=64):
        assert again(f, tree).dtype == np.float64
        with config.override(backend="numpy"):
            assert again(f, tree).dtype == np.float64
    assert again(f, tree).dtype == np.float32
    g = jit(lambda tree: tree["a"] * 1)
    wide = {"a": np.ones(2)}
    assert again(g, wide).dtype == np.float64
    with config.override(enable_x64=False):
        assert again(g, wide).dtype == np.float32
    assert again(g, wide).dtype == np.float64


def test_weak_types_are_told_apart():
    f = jit(lambda tree: tree["a"] + np.float16(1))
    assert again(f, {"a": 1.0}).dtype == np.float16
    assert again(f, {"a": np.float32(1.0)}).dtype == np.float32
    assert again(f, {"a": 1.0}).dtype == np.float16


def test_cleared_caches_are_filled_again():
    traces = []
    f = jit(lambda tree: traces.append(1) or tree["a"] * 2)
    tree = {"a": array(1.0)}
    again(f, tree)
    f.clear_cache()
    again(f, tree)
    bindax.clear_caches()
    assert float(again(f, tree)[0]) == 2.0
    assert len(traces) == 3


def test_a_type_that_is_registered_later_or_no_more():
    class Late(list):
        pass

    f = jit(lambda tree: [x * 2 for x in tree["a"]])
    assert len(again(f, {"a": [array(1.0)]})) == 1
    with pytest.raises(TypeError, match="not an array"):
        f({"a": Late([array(1.0)])})
    with bindax.tree_util.scoped_registration(
        bindax.tree_util.NodeDefinition(Late, lambda x: (tuple(x), None), lambda _, xs: Late(xs))
    ):
        assert len(again(f, {"a": Late([array(1.0)])})) == 1
    with pytest.raises(TypeError, match="not an array"):
        f({"a": Late([array(1.0)])})


def test_functions_that_are_dropped_are_freed():
    def function():
        f = jit(lambda tree, n=1: tree["a"] * n, static_argnames="n")
        again(f, {"a": array(1.0)}, n=2)
        return weakref.ref(f)

    dropped = [function() for _ in range(3)]
    gc.collect()
    assert [reference() for reference in dropped] == [None] * 3


def test_threads_share_what_is_remembered():
    f = jit(lambda tree, n: tree["a"] * n + tree["b"], static_argnums=1)
    failures = []

    def work(seed: int) -> None:
        for i in range(150):
            n, x = 1 + (i + seed) % 3, array(float(i))
            tree = {"a": x, "b": x} if i % 2 else {"b": x, "a": x}
            if float(f(tree, n)[0]) != i * n + i:
                failures.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_programs_that_make_random_keys_from_numbers_and_arrays():
    f = jit(bindax.random.key)
    for seed in (3, np.int32(3), np.array(3, np.int32), bindax.numpy.int32(3)) * 2:
        made = again(f, seed)
        assert bindax.random.key_data(made).tolist() == [0, 3]


def test_types_of_operands_that_take_turns():
    f = jit(lambda x, y: x * 2 + y)
    for _ in range(OFTEN):
        for x in (array(1.0), np.ones(2, np.float32), array(1.0, 1.0, 1.0), 1.0, {"a": 1}["a"]):
            assert set(np.ravel(f(x, 3.0)).tolist()) == {5.0}
    assert f.cache_info().misses == 5
    assert f.cache_info().hits == 5 * OFTEN - 5


def test_a_static_value_without_a_hash_after_one_with():
    f = jit(lambda x, n: x * len(n), static_argnums=1)
    assert float(again(f, array(1.0), (1, 2))[0]) == 2.0
    with pytest.raises(ValueError, match="Non-hashable static arguments"):
        f(array(1.0), [1, 2])


def test_guards_of_transfers_hold_for_what_is_remembered():
    f = jit(lambda x, y: x * y)
    again(f, array(1.0), 2.0)
    with bindax.transfer_guard("disallow"), pytest.raises(bindax.errors.TransferError):
        f(array(1.0), 2.0)
    assert float(f(array(1.0), 2.0)[0]) == 2.0


def test_a_deleted_array_in_the_place_of_others():
    f = jit(lambda x: x * 2)
    again(f, array(1.0))
    x = f(array(1.0))
    x.delete()
    with pytest.raises(DeletedArrayError):
        f(x)


def test_arrays_that_are_bound_in_the_place_of_others():
    f = jit(lambda x, y: x * y)
    x, there = np.ones(1, np.float32), bindax.devices()[0]
    again(f, x, x)
    found = again(f, bindax.device_put(x, there), bindax.device_put(x, there))
    assert found.committed
