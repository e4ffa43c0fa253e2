"""Functions that every transformation is checked on, made of operators alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bindax_core.extend import PluginContents, Primitive, as_array, plugin_contents
from bindax_diagnosis import installed_plugins
from bindax_testing._cases import cases_of
from bindax_testing._plan import checking
from bindax_testing._samples import Sample
from bindax_testing._subjects import samples_of
from bindax_testing._transformations._subject import (
    Program,
    TransformationProgram,
    TransformationSample,
    transformation_program,
)
from bindax_transforms import checkpoint, custom_jvp, custom_vjp, jit

_X = np.array([0.3, -1.2, 2.0])
_Y = np.array([1.5, 0.4, -0.7])
_N = np.array([3, -1, 4], np.int32)
_TABLE = np.array([2.0, -3.0, 0.5])
_OTHER = np.array([0.25, 1.0, 4.0])


def _sequence(x: Any, y: Any) -> list[Any]:
    """Later operations need earlier ones, and each result is used more than once."""
    a = x * y
    b = a + y
    c = b - a * x
    return [c * b, a]


def _literals(x: Any) -> list[Any]:
    return [2.0 * x + 1.0 - x / 4.0]


def _constants(x: Any) -> list[Any]:
    return [as_array(_TABLE) * x - as_array(_OTHER)]


def _results(x: Any, y: Any) -> list[Any]:
    """One result of several that is an operand, one that is computed from none."""
    return [x - y, y, as_array(_OTHER), x + x]


def _unused(x: Any, y: Any) -> list[Any]:
    return [y * y]


def _numbers(s: Any) -> list[Any]:
    """Python numbers, whose types give way to others."""
    return [s * 2.0, s + s]


def _integers(n: Any) -> list[Any]:
    return [n * 3 + n]


def _comparisons(x: Any, y: Any) -> list[Any]:
    return [x > y]


def _single(x: Any) -> list[Any]:
    return [x * 0.5 + x]


def _inner(x: Any) -> Any:
    return x * x + x


def _custom_jvp(x: Any) -> list[Any]:
    squared = custom_jvp(_inner)
    squared.defjvp(lambda xs, ts: (squared(*xs), ts[0] * (2.0 * xs[0] + 1.0)))
    return [squared(x)]


def _custom_vjp(x: Any) -> list[Any]:
    squared = custom_vjp(_inner)
    squared.defvjp(lambda x: (_inner(x), x), lambda x, ct: (ct * (2.0 * x + 1.0),))
    return [squared(x)]


def programs() -> Iterator[TransformationProgram]:
    """Yield the functions; the first one is what checks take that need one alone."""
    yield transformation_program("sequence", _sequence, _X, _Y)
    yield transformation_program("literals", _literals, _X)
    yield transformation_program("constants", _constants, _X)
    yield transformation_program("several results", _results, _X, _Y)
    yield transformation_program("an operand that is not used", _unused, _X, _Y)
    yield transformation_program("Python numbers", _numbers, 1.5)
    yield transformation_program("integers", _integers, _N)
    yield transformation_program("comparisons", _comparisons, _X, _Y)
    yield transformation_program("single precision", _single, _X.astype(np.float32))
    yield transformation_program("no elements", _literals, _X[:0])

    def plain(x: Any) -> list[Any]:
        return [_inner(x)]

    for label, function in (
        ("jit", lambda x: [jit(_inner)(x)]),
        ("checkpoint", lambda x: [checkpoint(_inner)(x)]),
        ("custom_jvp", _custom_jvp),
        ("custom_vjp", _custom_vjp),
    ):
        yield transformation_program(label, function, _X, plain=plain)


def primitive_programs(
    given: TransformationSample, seed: int
) -> Iterator[tuple[Primitive, Program]]:
    """Yield each primitive that a sample of an installed plugin reaches, on one call of it."""
    for record in installed_plugins():
        for plugin in plugin_contents(record["plugin"]):
            yield from _of_plugin(given, plugin, seed)


def _of_plugin(
    given: TransformationSample, plugin: PluginContents, seed: int
) -> Iterator[tuple[Primitive, Program]]:
    wanted = set(plugin.primitives)
    for sample in samples_of(plugin)[0]:
        if not wanted:
            return
        if not isinstance(sample, Sample):
            continue
        if isinstance(sample.function, Primitive) and sample.function not in wanted:
            continue
        with checking():
            found = list(cases_of(sample, wanted, seed))
        for case in found:
            if case.primitive in wanted and case.size:
                wanted.discard(case.primitive)
                made = Program(given, case.call, case.draws, sample.label, seed=seed)
                yield case.primitive, made
