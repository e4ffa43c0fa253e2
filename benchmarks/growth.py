"""Rows of growth: more equations, nesting, leaves, functions and plugins."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.everyday import EIGHT, call_of_tree
from benchmarks.measure import Sampler
from benchmarks.rows import Prepare, Row, Task, first, warm
from benchmarks.startup import FIRST_RESULT, dummy_plugins, fresh_process

SCALAR = np.float32(0.5)

_numbers = itertools.count()


def long_function(library: ModuleType, equations: int) -> Callable[[Any], Any]:
    """Make a function of so many equations; a new one, which no cache knows."""
    lax = library.lax

    def function(x: Any) -> Any:
        for _ in range(equations // 2):
            x = lax.mul(lax.sin(x), x)
        return x

    return function


def trace(library: ModuleType, equations: int) -> Task:
    """Trace a function of so many equations."""
    function = long_function(library, equations)
    return lambda: library.make_jaxpr(function)(SCALAR)


def lower(library: ModuleType, equations: int) -> Task:
    """Trace and lower a function of so many equations."""
    function = library.jit(long_function(library, equations))
    return lambda: function.lower(SCALAR)


def compile_(library: ModuleType, equations: int) -> Task:
    """Trace, lower, compile and run a function of so many equations, with a number of its own."""
    function, number = long_function(library, equations), np.float32(next(_numbers))
    jitted = library.jit(lambda x: library.lax.add(function(x), number))
    return lambda: jitted(SCALAR).block_until_ready()


def nested_jit(library: ModuleType, depth: int) -> Task:
    """Trace jitted functions that call each other, so many deep."""

    def wrap(inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return library.jit(lambda x: library.lax.sin(inner(x)))  # type: ignore[no-any-return]

    function: Callable[[Any], Any] = library.lax.cos
    for _ in range(depth):
        function = wrap(function)
    return lambda: library.make_jaxpr(function)(SCALAR)


def nested_grad(library: ModuleType, depth: int) -> Task:
    """Trace the derivative of such an order."""
    lax = library.lax
    function: Callable[[Any], Any] = lambda x: lax.mul(lax.sin(x), lax.exp(x))  # noqa: E731
    for _ in range(depth):
        function = library.grad(function)
    return lambda: library.make_jaxpr(function)(SCALAR)


def nested_tree(library: ModuleType, depth: int) -> Task:
    """Flatten dicts in each other, so many deep."""
    tree: Any = 1
    for _ in range(depth):
        tree = {"inner": tree, "leaf": 2}
    return lambda: library.tree.flatten(tree)


def call_while_alive(library: ModuleType, alive: int) -> Task:
    """One call of one of so many jitted functions, in turn."""
    functions = [library.jit(partial(_shifted, library, i)) for i in range(alive)]
    x = functions[0](EIGHT)
    for function in functions:
        function(x)
    following = itertools.cycle(functions).__next__
    return lambda: following()(x)


def _shifted(library: ModuleType, number: int, x: Any) -> Any:
    return library.lax.add(x, np.float32(number))


def start_with(library: ModuleType, plugins: int) -> Sampler:
    """A first result in a new process with so many foreign packages installed."""
    path = dummy_plugins(plugins) if plugins else None
    return fresh_process(FIRST_RESULT.replace("bindax", library.__name__), path=path)


FAMILIES: tuple[tuple[str, Callable[..., Row], Any, tuple[int, ...], int], ...] = (
    ("trace, {:,} equations", first, trace, (100, 1_000, 10_000, 100_000), 1_000),
    ("lower, {:,} equations", first, lower, (100, 1_000, 10_000), 1_000),
    ("compile, {:,} equations", first, compile_, (100, 1_000), 100),
    ("trace, jit nested {} deep", first, nested_jit, (1, 10, 50), 10),
    ("trace, derivative of order {}", first, nested_grad, (1, 2, 3), 2),
    ("flatten, dicts nested {} deep", warm, nested_tree, (10, 100), 100),
    ("call, {:,} leaves", warm, call_of_tree, (1, 10, 100, 1_000, 10_000), 100),
    ("call, {} functions alive", warm, call_while_alive, (1, 10, 100), 100),
)
"""Of each family: the name, how it is measured, the task, the sizes, the largest of every day."""


def rows() -> Iterator[tuple[str, Row]]:
    """Yield each family at each of its sizes, and starts with ever more plugins."""
    for name, way, task, sizes, largest in FAMILIES:
        for size in sizes:
            prepare: Prepare = partial(_at_size, task, size)
            yield name.format(size), way(prepare, is_long=size > largest)
    for plugins in (0, 100, 200, 400):
        sampler = partial(start_with, plugins=plugins)
        yield f"start, {plugins} plugins", Row(sampler, is_long=plugins not in (0, 400))


def _at_size(task: Callable[[ModuleType, int], Task], size: int, library: ModuleType) -> Task:
    return task(library, size)
