"""Functions with names in compiled programs, and values that programs keep."""

from __future__ import annotations

import numpy as np
import pytest

import bindax
from bindax import lax

X = np.arange(4, dtype=np.float32)


def scaled(x, **attributes):
    return lax.composite(lambda x, **_: (x * 2, x), "my.scaled", version=3)(x, **attributes)


def test_a_composite_computes_what_it_is_made_of():
    for call in (scaled, bindax.jit(scaled), bindax.vmap(scaled), bindax.jit(bindax.vmap(scaled))):
        twice, same = call(X)
        np.testing.assert_array_equal(twice, 2 * X)
        np.testing.assert_array_equal(same, X)
    for wrap in (lambda f: f, bindax.jit):
        square = lax.composite(lambda x: x**3, "my.cube")
        assert float(wrap(bindax.grad(bindax.grad(square)))(2.0)) == 12
    assert float(lax.composite(lambda: 1.0 * np.float32(2), "my.two")()) == 2


def test_a_composite_of_what_it_closes_over():
    def inverse(x, y):
        return lax.composite(lambda x: x / y, "my.inverse")(x)

    assert float(bindax.jit(inverse)(6.0, 2.0)) == 3
    assert float(bindax.jit(bindax.grad(inverse, 1))(8.0, 2.0)) == -2


def test_a_composite_in_a_program():
    pytest.importorskip("jaxlib")
    told = {
        "a": None,
        "b": True,
        "c": 3,
        "d": 1.5,
        "e": 'a "text"',
        "f": np.dtype("bfloat16"),
        "g": np.array([[1.5, 2]]),
        "h": np.array([True, False]),
        "i": np.zeros((0, 2), np.int8),
    }
    text = bindax.jit(lambda x: scaled(x, **told)).lower(X).as_text()
    assert (
        'stablehlo.composite "my.scaled" %arg0 {composite_attributes = {b = true, c = 3 : i64, '
        r'd = 1.500000e+00 : f64, e = "a \22text\22", f = bf16, '
        "g = dense<[[1.500000e+00, 2.000000e+00]]> : tensor<1x2xf64>, "
        "h = dense<[true, false]> : tensor<2xi1>, i = dense<> : tensor<0x2xi8>}, "
        "decomposition = @my.scaled, version = 3 : i32} : (tensor<4xf32>)"
    ) in text
    with pytest.raises(TypeError, match=r"the attribute 'a' must be a number.*no attribute: pass"):
        bindax.jit(lambda x: scaled(x, a=x))(X)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((3, "my.name"), TypeError, "decomposition"),
        ((abs, "name"), ValueError, "such as 'my.square', but it is 'name'"),
        ((abs, 3), ValueError, "such as 'my.square', but it is 3"),
        ((abs, "my.name", 1.5), TypeError, "version must be an integer, but it is 1.5"),
    ],
)
def test_bad_composites(arguments, error, text):
    with pytest.raises(error, match=text):
        lax.composite(*arguments)


def test_what_is_used_is_kept():
    pytest.importorskip("jaxlib")

    def used(x, **options):
        lax.dce_sink({"a": x + 1}, **options)
        return x

    names = [eqn.primitive.name for eqn in bindax.make_jaxpr(used)(X).eqns]
    assert names == ["add", "dce_sink"]
    assert "add(" not in bindax.jit(used).lower(X).compile().as_text()
    kept = bindax.jit(lambda x: used(x, prevent_mlir_dce=True))
    assert "add(" in kept.lower(X).compile().as_text()
    np.testing.assert_array_equal(kept(X), X)
    np.testing.assert_array_equal(bindax.jit(bindax.vmap(used))(X), X)
    assert float(bindax.jit(bindax.grad(used))(2.0)) == 1


def test_what_is_used_in_loops():
    def step(carry):
        lax.dce_sink(carry[0] > 0)
        return carry[0] + 1, carry[1] + 1

    def loop(x):
        return lax.while_loop(lambda carry: carry[1] < 3, step, (x, 0))[0]

    np.testing.assert_array_equal(bindax.jit(bindax.vmap(loop))(X), X + 3)


def test_staged_values():
    kinds = []

    @bindax.jit
    def program():
        kinds.append(type(lax.stage(X)).__name__)
        return lax.stage(X) + lax.stage(1.0)

    np.testing.assert_array_equal(program(), X + 1)
    assert kinds == ["JaxprTracer"]
    assert type(lax.stage(2.0)) is type(bindax.numpy.ones(1))
    traced = bindax.grad(lambda x: lax.stage(x) * 2.0)(3.0)
    assert float(traced) == 2
