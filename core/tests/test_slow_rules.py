"""A rule that says it is slow runs only where nothing compiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bindax_core import config
from bindax_core.arrays._backend import register_backend, unregister_backend
from bindax_core.extend import (
    Array,
    InterpretedProgram,
    ShapedArray,
    abstract_eval,
    default_placement,
    impl,
    jvp,
    lowering,
    primitive,
    transpose,
    vmap,
)


def declare(calls: list[str], slow: Any = True) -> Any:
    def run(x: Any) -> Any:
        calls.append("impl")
        return 2 * x

    return primitive(
        "tests.slow",
        impl(run, slow=slow),
        abstract_eval(lambda x: x),
        jvp.absent("a test"),
        vmap.absent("a test"),
        transpose.absent("a test"),
        lowering["stablehlo"](lambda ctx, x: x),
    )


class Compiler:
    """A backend that compiles everything to the same program."""

    name, priority, platform, host_accessible = "tests.compiler", 1000, "cpu", True

    def __init__(self, calls: list[str]) -> None:
        self.calls = calls

    def compile(self, jaxpr: Any, **options: Any) -> Any:
        def run(*operands: Any) -> list[Any]:
            self.calls.append("compiled")
            return [np.asarray(operands[0]) * 2]

        return run

    def lower(self, jaxpr: Any, **options: Any) -> Any:
        return InterpretedProgram(jaxpr, self.compile(jaxpr))


@pytest.fixture
def calls() -> Iterator[list[str]]:
    found: list[str] = []
    backend: Any = Compiler(found)
    register_backend(backend)
    with config.override(backend=None):
        yield found
    unregister_backend(backend)


def test_a_compiler_is_preferred(calls: list[str]) -> None:
    slow = declare(calls)
    assert float(np.asarray(slow.bind(np.float32(2)))) == 4.0
    assert calls == ["compiled"]
    assert slow.prefers_compiler


def test_the_rule_runs_where_nothing_compiles(calls: list[str]) -> None:
    slow = declare(calls)
    with config.override(backend="numpy"):
        assert float(np.asarray(slow.bind(np.float32(2)))) == 4.0
    assert calls == ["impl"]


def test_every_operation_is_compiled_where_the_setting_says_so(calls: list[str]) -> None:
    fast = declare(calls, False)
    for eager in ("numpy", "compile"):
        with config.override(eager=eager):
            for size in (1, 100_000):  # the size of an array decides nothing
                fast.bind(np.ones(size, np.float32))
    assert calls == ["impl", "impl", "compiled", "compiled"]
    with config.override(eager="compile", backend="numpy"):
        fast.bind(np.float32(2))
    assert calls[4:] == ["impl"]


def test_the_compiler_that_holds_the_operands_is_preferred(calls: list[str]) -> None:
    slow = declare(calls)
    found: list[str] = []
    other: Any = Compiler(found)
    other.name, other.priority = "tests.other", 2000
    register_backend(other)
    try:
        x = Array(
            ShapedArray((), np.dtype(np.float32)),
            np.ones((), np.float32),
            object(),
            default_placement(other),
        )
        slow.bind(x)
        slow.bind(np.float32(2))
        assert (calls, found) == ([], ["compiled", "compiled"])
        with config.override(backend="tests.compiler"):
            slow.bind(np.float32(2))
        assert calls == ["compiled"]
        with config.override(backend="numpy"):
            slow.bind(x)
        assert calls == ["compiled", "impl"]
    finally:
        unregister_backend(other)
    slow.bind(x)  # its backend is gone, so another one is found
    assert (found, calls[2:]) == (["compiled", "compiled"], ["compiled"])


def test_types_of_operands_are_not_checked_twice(calls: list[str]) -> None:
    class Unchecked:
        def run_unchecked(self, operands: Any) -> list[Any]:
            calls.append("unchecked")
            return list(operands)

    backend: Any = Compiler(calls)
    backend.name, backend.priority = "tests.unchecked", 3000
    backend.compile = lambda jaxpr, **options: Unchecked()
    register_backend(backend)
    try:
        declare(calls).bind(np.float32(2))
    finally:
        unregister_backend(backend)
    assert calls == ["unchecked"]
