"""What is evaluated at once is what the functions say, for all types of operands."""

from __future__ import annotations

import inspect
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import bindax_lax_basic as lax
from bindax_core import config
from bindax_core.extend import Array, ShapedArray
from bindax_lax_basic.direct_calls import direct_calls
from bindax_lax_basic.plugin import bindax_primitives
from bindax_transforms import direct

CALLS = direct_calls()
DTYPES = (
    *("bool", "int4", "int8", "int32", "int64", "uint2", "uint8", "uint32", "uint64"),
    *("float8_e5m2", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
SHAPES = ((), (3,), (2, 3), (0, 2), (4, 4))
# Others whose name is that of a primitive without parameters: they return their operand, or more.
NOT_DIRECT = {"copy", "optimization_barrier", "stop_gradient", "select_n"}


def arrays(dtype: str, count: int) -> list[list[Array]]:
    """Operands of equal shapes, an array beside a scalar, and weak ones."""
    rng = np.random.default_rng(0)
    found = []
    for shape in SHAPES:
        for shapes in {(shape,) * count, (shape, ())[:count], ((), shape)[-count:]}:
            values = [rng.uniform(0.1, 0.9, s) * (1 if "float" in dtype else 3) for s in shapes]
            kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
            hosts = [np.asarray(value).astype(kind) for value in values]
            found.append([Array.from_numpy(host) for host in hosts])
            if dtype in ("int32", "float32", "complex64"):
                weak = [Array(ShapedArray(host.shape, kind, True), host) for host in hosts]
                found += [weak, [found[-1][0], *weak[1:]]]
    return found


def outcome(function: Any, operands: list[Array]) -> Any:
    try:
        out = function(*operands)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    return out.aval, out.numpy().tobytes()


@pytest.mark.parametrize("name", CALLS)
def test_evaluated_at_once(name: str) -> None:
    plain = getattr(lax, name)
    parameters = inspect.signature(plain).parameters.values()
    count = sum(one.default is one.empty for one in parameters)
    calls = 0

    def counted(*operands: Any) -> Any:
        nonlocal calls
        calls += 1
        return plain(*operands)

    one, two = (lambda x: counted(x)), (lambda x, y: counted(x, y))
    function = direct(one if count == 1 else two, *CALLS[name])
    evaluated = 0
    with config.override(backend="numpy"):
        for operands in [each for dtype in DTYPES for each in arrays(dtype, count)]:
            expected = outcome(plain, operands)
            calls = 0
            for _ in range(3):
                assert outcome(function, operands) == expected
            evaluated += calls < 3
    assert evaluated


def test_all_functions_that_could_be_are() -> None:
    bitwise = {name: f"bitwise_{name}" for name in ("and", "not", "or", "xor")}
    found = set()
    for primitive in bindax_primitives():
        name = bitwise.get(primitive.name, primitive.name)
        for dtype in ("float32", "int32", "bool", "complex64"):
            x = arrays(dtype, 1)[1]
            for operands in (x, x * 2):
                if type(outcome(getattr(lax, name, None), operands)[0]) is not ShapedArray:
                    continue
                if primitive.evaluation(tuple([x.aval for x in operands]), {}):
                    found.add(name)
    assert found - NOT_DIRECT == {name for name, (_, params) in CALLS.items() if params is None}
