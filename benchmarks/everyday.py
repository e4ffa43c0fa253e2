"""The tasks that a user repeats all day, written once for either library.

Each takes the package (``bindax`` or ``jax``), prepares itself, and returns what is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.rows import Prepare, Row, Task, warm

EIGHT = np.linspace(0.1, 0.8, 8, dtype=np.float32)
SQUARE = np.linspace(0.1, 0.9, 64, dtype=np.float32).reshape(8, 8)


def _doubled(library: ModuleType) -> Callable[[Any], Any]:
    """A function of any tree, which next to nothing is computed in."""
    return lambda tree: library.tree.map(lambda leaf: library.lax.add(leaf, leaf), tree)


def _parameters(leaves: int) -> dict[str, Any]:
    return {f"layer{i:03}": EIGHT for i in range(leaves)}


def _layers(leaves: int) -> dict[str, Any]:
    layer = {"kernel": 1, "bias": 2, "scale": 3, "mean": 4}
    return {f"layer{i:03}": dict(layer) for i in range(leaves // 4)}


def call_of_leaf(library: ModuleType) -> Task:
    """One array."""
    double = library.jit(_doubled(library))
    x = double(EIGHT)
    return lambda: double(x)


def call_of_tree(library: ModuleType, leaves: int) -> Task:
    """A dict of arrays."""
    double = library.jit(_doubled(library))
    tree = double(_parameters(leaves))
    return lambda: double(tree)


def call_with_keyword(library: ModuleType) -> Task:
    """One array by position and one by name."""
    add = library.jit(lambda x, y: library.lax.add(x, y))
    x = add(EIGHT, y=EIGHT)
    return lambda: add(x, y=x)


def call_with_static(library: ModuleType, alive: int = 0) -> Task:
    """An array and a static number, perhaps while other functions are used too."""
    others = [call_among(library, 1, 30) for _ in range(alive)]

    def scale(x: Any, count: int) -> Any:
        return library.lax.mul(x, np.float32(count))

    scaled = library.jit(scale, static_argnums=1)
    x = scaled(EIGHT, 3)
    for other in others:
        other()
    return lambda: scaled(x, 3)


def call_with_numpy(library: ModuleType) -> Task:
    """A NumPy array, which has to be brought to the device."""
    double = library.jit(_doubled(library))
    return lambda: double(EIGHT)


def call_with_numpy_tree(library: ModuleType) -> Task:
    """A dict of five NumPy arrays."""
    double, tree = library.jit(_doubled(library)), _parameters(5)
    return lambda: double(tree)


def call_with_number(library: ModuleType) -> Task:
    """An array and a Python float."""
    scaled = library.jit(lambda x, factor: library.lax.mul(x, library.numpy.float32(factor)))
    x = scaled(EIGHT, 0.5)
    return lambda: scaled(x, 0.5)


def call_among(library: ModuleType, functions: int, leaves: int) -> Task:
    """Functions of different trees, called in turn."""
    calls = []
    for number in range(functions):
        double = library.jit(_doubled(library))
        tree = double({f"{key}_{number}": leaf for key, leaf in _parameters(leaves).items()})
        calls.append(partial(double, tree))

    def in_turn() -> None:
        for call in calls:
            call()

    return in_turn


def map_two_trees(library: ModuleType) -> Task:
    """A sum of two trees of 100 leaves."""
    first, second = _layers(100), _layers(100)
    return lambda: library.tree.map(_first, first, second)


def map_one_tree(library: ModuleType) -> Task:
    """A function of a tree of 100 leaves."""
    tree = _layers(100)
    return lambda: library.tree.map(_same, tree)


def map_large_tree(library: ModuleType) -> Task:
    """A function of a tree of 10,000 leaves in 2,500 dicts."""
    tree = _layers(10_000)
    return lambda: library.tree.map(_same, tree)


def flatten_large_tree(library: ModuleType) -> Task:
    """The leaves of a tree of 10,000 leaves in 2,500 dicts."""
    tree = _layers(10_000)
    return lambda: library.tree.flatten(tree)


def flatten_tree(library: ModuleType) -> Task:
    """The leaves and the structure of a small model's parameters."""
    tree = {"weights": [1, 2], "biases": (3, 4), "scale": 5, "offset": {"a": 6, "b": None}}
    return lambda: library.tree.flatten(tree)


def round_trip(library: ModuleType) -> Task:
    """A tree of 100 leaves in lists, tuples and dicts taken apart and put together."""
    tree = [{"weights": (i, i), "biases": [i, i, i]} for i in range(20)]
    flatten, unflatten = library.tree.flatten, library.tree.unflatten

    def task() -> Any:
        leaves, structure = flatten(tree)
        return unflatten(structure, leaves)

    return task


def _first(x: Any, y: Any) -> Any:
    return x


def _same(x: Any) -> Any:
    return x


def eager(library: ModuleType, name: str) -> Task:
    """One operation on a small array, to its end."""
    jnp = import_module(f"{library.__name__}.numpy")
    nn = import_module(f"{library.__name__}.nn")
    x, square = jnp.asarray(EIGHT), jnp.asarray(SQUARE)
    mask = jnp.asarray(EIGHT > 0.4)
    task: Task = {
        "dot": lambda: jnp.dot(x, x),
        "matmul": lambda: jnp.matmul(square, square),
        "mean": lambda: jnp.mean(x),
        "argmax": lambda: jnp.argmax(x),
        "softmax": lambda: nn.softmax(x),
        "where": lambda: jnp.where(mask, x, 0.0),
        "einsum": lambda: jnp.einsum("ij,jk->ik", square, square),
        "add": lambda: x + x,
        "sin": lambda: jnp.sin(x),
        "sum": lambda: jnp.sum(x),
        "index": lambda: x[2:5],
        "reshape": lambda: square.reshape(4, 16),
    }[name]
    if library.__name__ == "jax":
        return lambda: task().block_until_ready()
    return task


EAGER = (
    "dot",
    "matmul",
    "mean",
    "argmax",
    "softmax",
    "where",
    "einsum",
    "add",
    "sin",
    "sum",
    "index",
    "reshape",
)

TASKS: dict[str, tuple[Prepare, float]] = {
    "call, one array": (call_of_leaf, 1.2),
    "call, dict of 5": (partial(call_of_tree, leaves=5), 1.2),
    "call, dict of 100": (partial(call_of_tree, leaves=100), 1.2),
    "call, dict of 1,000": (partial(call_of_tree, leaves=1_000), 1.2),
    "call, keyword": (call_with_keyword, 1.4),
    "call, static": (call_with_static, 1.4),
    "call, static, 20 others": (partial(call_with_static, alive=20), 1.4),
    "call, NumPy array": (call_with_numpy, 2.1),
    "call, dict of 5 NumPy arrays": (call_with_numpy_tree, 2.1),
    "call, Python float": (call_with_number, 1.2),
    "3 functions of 30 arrays": (partial(call_among, functions=3, leaves=30), 1.2),
    "12 functions of 30 arrays": (partial(call_among, functions=12, leaves=30), 1.2),
    "100 functions of 30 arrays": (partial(call_among, functions=100, leaves=30), 1.2),
    "map, one tree of 100": (map_one_tree, 1.0),
    "map, two trees of 100": (map_two_trees, 1.0),
    "map, tree of 10,000": (map_large_tree, 4.0),
    "flatten, tree of 10,000": (flatten_large_tree, 4.0),
    "flatten, 7 leaves": (flatten_tree, 4.0),
    "round trip, 100 leaves": (round_trip, 4.0),
    **{f"eager {name}": (partial(eager, name=name), 1.0) for name in EAGER},
}
"""The tasks by name, each with the ratio that it should not exceed."""
TASKS["eager softmax"] = (TASKS["eager softmax"][0], 1.3)


def rows() -> Iterator[tuple[str, Row]]:
    """Yield all tasks."""
    for name, (prepare, most) in TASKS.items():
        yield name, warm(prepare, most, is_call=not name.startswith("eager"))
