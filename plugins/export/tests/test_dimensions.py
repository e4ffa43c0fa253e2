"""Symbolic dimensions: arithmetic, comparisons, text, and their way through programs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import bindax_lax_basic as lax
from bindax_core import ShapeDtypeStruct, config
from bindax_core.extend import typeof
from bindax_export import (
    InconclusiveDimensionOperation,
    SymbolicScope,
    is_symbolic_dim,
    symbolic_args_specs,
    symbolic_dim_bounds,
    symbolic_shape,
)
from bindax_transforms import jit, vmap

EXPRESSIONS = [
    "b", "2*b + 1", "b - 3", "b*n - n", "b^2 + n", "floordiv(2*b + n, 3)", "mod(n - b, 4)",
    "max(b, n) - 2", "min(b, 2*n) + mod(b, 2)", "floordiv(max(n, 3), b)", "-n + 7",
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_text_is_read_back(text: str) -> None:
    scope = SymbolicScope()
    (size,) = symbolic_shape(text, scope=scope)
    assert symbolic_shape(str(size), scope=scope) == (size,)
    assert hash(symbolic_shape(str(size), scope=scope)[0]) == hash(size)
    assert is_symbolic_dim(size)


@pytest.mark.parametrize(("a", "b"), list(itertools.pairwise(EXPRESSIONS)))
def test_arithmetic_is_that_of_integers(a: str, b: str) -> None:
    scope = SymbolicScope()
    x, y = symbolic_shape(f"{a}, {b}", scope=scope)
    values = [{"b": i, "n": j} for i in (1, 2, 5) for j in (1, 3, 4)]
    operations: list[Any] = [
        lambda x, y: x + y,
        lambda x, y: x * y - 2 * x,
        lambda x, y: (x * y + y) // 3,
        lambda x, y: (4 * x + y) % 2,
        lambda x, y: 3 - x // 2,
    ]
    for operation in operations:
        result = operation(x, y)
        for given in values:
            wanted = operation(x.evaluate(given), y.evaluate(given))
            assert (result.evaluate(given) if is_symbolic_dim(result) else result) == wanted
    low, high = scope.bounds(x - y)
    found = [x.evaluate(given) - y.evaluate(given) for given in values]
    assert low <= min(found)
    assert max(found) <= high


def test_what_cancels_is_an_integer() -> None:
    b, n = symbolic_shape("b, n")
    assert ((b + 1) * (b - 1) - b * b, (2 * b * n) // b - 2 * n, (6 * b + 4) % 2) == (-1, 0, 0)
    assert [b // b, (4 * b) // 4 == b, (b * n + n) // n] == [1, True, b + 1]
    assert (b.max(1), b.min(1), (b + 2).max(b)) == (b, 1, b + 2)
    assert divmod(2 * b + 3, 2) == (b + 1, 1)


def test_comparisons_that_are_decided() -> None:
    b, n = symbolic_shape("b, n")
    assert b >= 1
    assert b + n > b
    assert not 2 * b < b
    assert b != n
    assert b + 1 != b
    assert b**2 >= b
    assert b.max(n) >= b
    assert (b % 4) < 4
    assert (b // 2) * 2 <= b
    assert (b - 2).max(0) + 1 <= b + 1
    assert bool(b)


def test_constraints_decide() -> None:
    scope = SymbolicScope(["b >= 8", "n <= 2*b", "mod(n, 4) == 0", "k == b"])
    b, n, k = symbolic_shape("b, n, k", scope=scope)
    assert b > 7
    assert n < 2 * b + 1
    assert n % 4 == 0
    assert (n // 4) * 4 == n
    assert k is b or k == b
    assert repr(scope) == "SymbolicScope(['b >= 8', 'n <= 2*b', 'mod(n, 4) == 0', 'k == b'])"


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda b: b > 3, r"whether b > 3 depends on the values .* b\. Add a constraint"),
        (int, "the value of b depends"),
        (float, "the value of b depends"),
        (lambda b: range(b), "the value of b depends"),
        (lambda b: bool(b - 1), "whether b - 1 is 0"),
        (lambda b: b / 2, "the value of b depends"),
    ],
)
def test_questions_without_an_answer(use: Any, message: str) -> None:
    (b,) = symbolic_shape("b")
    with pytest.raises(InconclusiveDimensionOperation, match=message):
        use(b)


def test_message_states_the_constraints() -> None:
    (b,) = symbolic_shape("b", constraints=["b <= 9"])
    with pytest.raises(InconclusiveDimensionOperation, match="with the constraints b <= 9"):
        _ = b < 4


def test_scopes_are_apart() -> None:
    (b,), (other,) = symbolic_shape("b"), symbolic_shape("b")
    assert b != other
    with pytest.raises(ValueError, match=r"b and b are of two scopes.*scope=scope"):
        _ = b + other
    with pytest.raises(ValueError, match="both a scope and constraints"):
        symbolic_shape("b", scope=SymbolicScope(), constraints=["b > 1"])
    with pytest.raises(ZeroDivisionError, match="the dimension b was divided by 0"):
        _ = b // 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b, +", "it ends where a dimension is expected"),
        ("b $", r"'\$' is no part"),
        ("b c", "'c' stands where ',' is expected"),
        ("2^b", "the exponent 'b' is no integer"),
        ("b, _", "placeholder for dimension 1 .* pass like="),
        ("...", "placeholder for dimension 0"),
        ("max(b)", r"'\)' stands where ',' is expected"),
    ],
)
def test_text_that_does_not_parse(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        symbolic_shape(text)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (["b"], "no comparison of two"),
        ("b > 1", "a sequence of texts"),
        (["b >= 3", "b <= 2"], "'b <= 2' never holds"),
        (["2*b == 4"], "is not one term"),
        (["2 >= 3"], "never holds"),
    ],
)
def test_constraints_that_are_wrong(constraints: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SymbolicScope(constraints)


def test_shapes_like_others() -> None:
    b, three, four = symbolic_shape("(b, _, ...)", like=(2, 3, 4))
    assert (str(b), three, four) == ("b", 3, 4)
    with pytest.raises(ValueError, match=r"has 1 dimensions, but the array it is for has 2"):
        symbolic_shape("b", like=(2, 3))
    pair = symbolic_args_specs((np.ones(2), np.ones(3)), ["a", "b"])
    assert [str(spec.shape) for spec in pair] == ["(a,)", "(b,)"]
    specs = symbolic_args_specs({"x": np.ones((4, 3), np.float32)}, "b, ...")
    assert str(specs["x"]) == "ShapeDtypeStruct(shape=(b, 3), dtype=float32)"
    with pytest.raises(ValueError, match=r"shapes_specs for the argument \['y'\]"):
        symbolic_args_specs({"y": np.ones(3)}, "b, c")


def test_a_program_is_traced_without_a_compiler() -> None:
    (b,) = symbolic_shape("b")
    x = ShapeDtypeStruct((b, 4), np.float32)

    def f(x: Any) -> Any:
        mean = lax.reduce_sum(x, (0,)) / x.shape[0]
        return (
            vmap(lambda r: r * mean)(x),
            lax.reshape(x, (4 * x.shape[0],)),
            x[1:],
            x.shape[0] * 2.0,
        )

    traced = jit(f).trace(x)
    assert str([aval.str_short() for aval in traced.out_avals]) == (
        "['float32[b,4]', 'float32[4*b]', 'float32[b - 1,4]', 'float64[]']"
    )
    with pytest.raises(TypeError, match="a program with symbolic sizes is not compiled"):
        traced.lower()


def test_sizes_are_typed_as_python_integers() -> None:
    (b,) = symbolic_shape("b")
    with config.override(enable_x64=False):
        assert typeof(b) == typeof(3)
    assert typeof(b) == typeof(3)


def test_bounds_of_sizes() -> None:
    (b,) = symbolic_shape("b")
    (c,) = symbolic_shape("c", constraints=["c <= 8", "c >= 2"])
    cases = [(3, (3, 3)), (b, (1, math.inf)), (2 * b - 3, (-1, math.inf)), (10 - c, (2, 8))]
    assert [symbolic_dim_bounds(size) for size, _ in cases] == [bounds for _, bounds in cases]
    for wrong in ("b", 2.5, None):
        with pytest.raises(TypeError, match="symbolic_dim_bounds takes a symbolic size or an int"):
            symbolic_dim_bounds(wrong)
