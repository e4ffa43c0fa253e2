"""Memory does not grow with the number of operations, traces and functions that are gone."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import lax
from bindax_core.extend import executable_cache, find_backend
from bindax_core.kernel import _source_info

X = np.linspace(0.1, 0.8, 8, dtype=np.float32)
RESIDENT = Path("/proc/self/statm")
PAGE = 4096
SLACK = 16_384
"""The bytes by which what is held may differ from one moment to another."""
CACHED = 4_000_000
"""The bytes of a cache of 4,096 numbers, which is cleared when it is full."""


def new_numbers(i: int) -> None:
    """Do ten operations, with numbers that were not met before."""
    x = jnp.asarray(X) + float(i)
    y = jnp.where(x > 1.0, lax.sin(x), x * i)
    jnp.dot(y, y).item()
    y[2:5].reshape(3, 1).mean()


def operations(i: int) -> None:
    """Do ten operations, with numbers that come again."""
    new_numbers(i % 16)


def traces(i: int) -> None:
    """Trace functions that nobody has seen before, by each transformation."""

    def f(x: Any) -> Any:
        return jnp.sum(lax.sin(x) * float(i % 16))

    bindax.make_jaxpr(f)(X)
    bindax.make_jaxpr(bindax.grad(f))(X)
    bindax.eval_shape(bindax.vmap(f), X[None])
    bindax.linearize(f, X)


def compiled(i: int) -> None:
    """Compile a function that is dropped at once."""
    bindax.jit(lambda x: lax.sin(x) * float(i))(X).block_until_ready()


def held_after(task: Callable[[int], None], numbers: range) -> int:
    """Return the bytes of Python objects after so many rounds of a task."""
    for i in numbers:
        task(i)
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def growth(task: Callable[[int], None], warm: int, rounds: int, most: int = SLACK) -> int:
    """Return by how many bytes a number of rounds grows what is held after some.

    Where that is too much, as many more rounds are measured, and theirs counts: a leak goes on. A
    hash table from before the measurement, whose entries come and go, is written anew once in a
    while. Then the new memory counts, and the old one, which is given back, never counted.

    Args:
        task: does one round, whose number it takes.
        warm: how many rounds come before the measurement.
        rounds: how many are measured.
        most: the bytes that are too much.
    """
    tracemalloc.start()
    try:
        held = held_after(task, range(warm))
        for first in (warm, warm + rounds):
            before, held = held, held_after(task, range(first, first + rounds))
            if held - before < most:
                break
        return held - before
    finally:
        tracemalloc.stop()


@contextmanager
def few_programs() -> Iterator[None]:
    """Keep few programs, among them few of those that nobody uses."""
    kept: Any = getattr(find_backend(), "compiled", None)
    before = getattr(kept, "_limit", 0)
    executable_cache.clear()
    if kept is not None:
        kept._limit = 1
    try:
        with bindax.config.override(compiled_programs=1):
            yield
    finally:
        if kept is not None:
            kept._limit = before


night = pytest.mark.nightly


@pytest.mark.parametrize(
    ("task", "warm", "rounds", "most"),
    [
        (operations, 50, 100, SLACK),
        (traces, 10, 20, SLACK),
        (compiled, 4, 6, SLACK),
        pytest.param(operations, 1_000, 100_000, SLACK, marks=night),
        pytest.param(new_numbers, 1_000, 100_000, CACHED, marks=night),
        pytest.param(traces, 500, 2_500, SLACK, marks=night),
    ],
)
def test_memory_does_not_grow(
    task: Callable[[int], None], warm: int, rounds: int, most: int
) -> None:
    with few_programs():
        assert growth(task, warm, rounds, most) < most


@pytest.mark.parametrize(
    "leak", [lambda i: kept.append(bytes(1_000)), lambda i: kept.append({i: X + i})]
)
def test_what_is_kept_is_seen(leak: Callable[[int], None]) -> None:
    assert growth(leak, 10, 100) > SLACK
    kept.clear()


def test_a_table_that_is_written_anew_is_no_growth() -> None:
    entries = dict.fromkeys(range(600))

    def replace(i: int) -> None:
        entries[600 + i] = entries.pop(i)

    assert growth(replace, 50, 100) < SLACK


kept: list[Any] = []
"""Values that the functions of the last test keep."""


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::bindax.errors.RecompilationWarning")
@pytest.mark.skipif(not RESIDENT.exists(), reason="the system does not show it")
@pytest.mark.skipif(bindax.default_backend() == "numpy", reason="nothing is compiled")
def test_dropped_programs_give_the_memory_of_the_process_back() -> None:
    def resident() -> int:
        gc.collect()
        return PAGE * int(RESIDENT.read_text(encoding="utf-8").split()[1])

    with few_programs():
        for i in range(200):
            compiled(i)
        before = resident()
        for i in range(200, 1_200):
            compiled(i)
        assert resident() - before < 20_000_000  # one program alone holds more than 20 kB


WAYS: dict[str, Callable[[Any], Any]] = {
    "make_jaxpr": lambda f: bindax.make_jaxpr(f)(1.0),
    "jit": lambda f: bindax.jit(f)(1.0),
    "grad": lambda f: bindax.grad(lambda x: f(x).sum())(1.0),
    "linearize": lambda f: bindax.linearize(f, 1.0)[1](1.0),
    "vmap": lambda f: bindax.vmap(f)(np.ones(2, np.float32)),
    "jvp": lambda f: bindax.jvp(f, (1.0,), (1.0,)),
    "scan": lambda f: lax.scan(lambda c, _: (c + f(c).sum(), None), 1.0, None, length=2),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_was_traced_is_freed_without_the_collector(way: str) -> None:
    closed_over = np.arange(3, dtype=np.float32)
    alive = weakref.ref(closed_over)
    gc.collect()
    gc.disable()
    try:
        WAYS[way](lambda x, closed=closed_over: x * closed)
        del closed_over
        assert alive() is None
    finally:
        gc.enable()


def test_equations_of_one_line_share_their_source() -> None:
    def f(x: Any) -> Any:
        for _ in range(3):
            x = lax.sin(x)
        return x

    first, *others = [eqn.source_info for eqn in bindax.make_jaxpr(f)(1.0).eqns]
    assert all(other is first for other in others)
    with bindax.named_scope("inner"):
        again = bindax.make_jaxpr(f)(1.0).eqns[0].source_info
    assert again is not None
    assert first is not None
    assert (again.file, again.line) == (first.file, first.line)


def test_sources_that_are_kept_are_few() -> None:
    lines = "\n".join(f"    x = sin(x + {i})" for i in range(2_200))
    names: dict[str, Any] = {"sin": lax.sin}
    exec(f"def f(x):\n{lines}\n    return x", names)
    program = bindax.make_jaxpr(names["f"])(1.0)
    assert len(program.eqns) == 4_400
    assert 0 < len(_source_info._known) <= _source_info._MOST
    assert [eqn.source_info.line for eqn in program.eqns[-2:]] == [2_201, 2_201]
