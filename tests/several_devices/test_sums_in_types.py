"""Types of values that are reduced along a mesh axis, and of their gradients, which are sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import P, lax
from bindax.errors import ShardingTypeError
from bindax.sharding import AxisType, reshard

WEIGHTS = np.arange(64, dtype=np.float32).reshape(8, 8) / 64


@pytest.fixture(autouse=True)
def explicit(mesh: Any) -> Any:
    with bindax.set_mesh(mesh.update(axis_types=(AxisType.Explicit,) * 2)) as _:
        yield


@pytest.fixture
def copies() -> Any:
    return reshard(WEIGHTS, P(reduced={"x"}))


def joined(w: Any, x: Any) -> Any:
    first, second = jnp.split(w, 2, axis=1)
    return jnp.sin(x @ jnp.concatenate([second, first], axis=1)).sum()


def chosen(w: Any, x: Any) -> Any:
    return (lax.select(w > 0.3, w, -w) * lax.reduce_precision(w, 8, 20)).sum()


def computed_again(w: Any, x: Any) -> Any:
    return bindax.checkpoint(jnp.sin)(w).sum()


def branched(w: Any, x: Any) -> Any:
    same = reshard(x, w.aval.sharding)
    return lax.fori_loop(0, 3, lambda _, w: lax.cond(x.size > 9, lambda: same, lambda: w), w).sum()


@pytest.mark.parametrize("function", [joined, chosen, computed_again, branched])
def test_gradients_are_sums_of_what_devices_have(function: Any, copies: Any, numbers: Any) -> None:
    x = reshard(numbers, P("x"))
    found = bindax.jit(bindax.grad(function, argnums=(0, 1)))(copies, x)
    shown = [slope.aval.str_short() for slope in found]
    assert shown == ["float32[8,8]{U:x}", "float32[8@x,8]"]
    wanted = bindax.grad(function, argnums=(0, 1))(reshard(WEIGHTS, P()), x)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(reshard(ours, P()), reshard(theirs, P()), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ruled", [False, True])
def test_gradients_of_layers_are_added_up_once(ruled: bool, copies: Any, numbers: Any) -> None:
    @bindax.custom_vjp
    def product(x: Any, w: Any) -> Any:
        return x @ w

    def backward(kept: Any, ct: Any) -> Any:
        terms = jnp.dot(kept[0].T, ct, out_sharding=P(unreduced={"x"}))
        return ct @ kept[1].T, terms

    product.defvjp(lambda x, w: (x @ w, (x, w)), backward)

    def loss(stack: Any, x: Any, layer: Any = product if ruled else jnp.matmul) -> Any:
        return lax.scan(lambda x, w: (layer(x, w), None), x, stack)[0].sum()

    stack, x = jnp.stack([copies] * 3), reshard(numbers, P("x"))
    step = bindax.jit(lambda stack, x: reshard(bindax.grad(loss)(stack, x), P()))
    text = step.lower(stack, x).compile().as_text()
    assert text.count(" all-reduce(") == 1
    wanted = bindax.grad(loss)(reshard(stack, P()), x, jnp.matmul)
    np.testing.assert_allclose(step(stack, x), wanted, rtol=1e-5)


def test_cotangents_that_are_sums_are_taken(copies: Any) -> None:
    _, pulled = bindax.vjp(lambda x, y: y, copies, copies)
    terms = reshard(WEIGHTS, P(unreduced={"x"}))
    assert [ct.aval.str_short() for ct in pulled(terms)] == ["float32[8,8]{U:x}"] * 2
    with pytest.raises(ShardingTypeError, match="passed to dot_general cannot be unreduced"):
        terms @ WEIGHTS


def test_out_sharding_of_sums(copies: Any, numbers: Any) -> None:
    columns, rows = reshard(numbers, P(None, "x")), reshard(numbers, P("x"))
    whole, terms = P(), P(unreduced={"x"})
    ids = reshard(np.array([0, 1, 1, 3, 0, 0, 2, 3]), P("x"))
    for function, args in (
        (jnp.matmul, (columns, rows)),
        (lambda x, y, **given: jnp.einsum("ab,bc->ca", x, y, **given), (columns, rows)),
        (lambda x, **given: lax.reduce_sum(x, (0,), **given), (rows,)),
        (lambda x, i, **given: bindax.ops.segment_sum(x, i, 4, **given), (rows, ids)),
        (lambda i, **given: jnp.bincount(i, length=4, **given), (ids,)),
        (lambda **given: jnp.ones((2, 2), **given), ()),
        (lambda x, out_sharding: bindax.jit(jnp.sin, out_shardings=out_sharding)(x), (numbers,)),
        (lambda x, **given: jnp.reshape(x, (4, 16), **given), (reshard(numbers, terms),)),
    ):
        wanted = function(*args, out_sharding=whole)
        for run in (function, bindax.jit(function, static_argnames="out_sharding")):
            found = run(*args, out_sharding=terms)
            assert found.aval.str_short() == f"{wanted.aval.str_short()}{{U:x}}"
            np.testing.assert_allclose(reshard(found, whole), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        (P(None, "x"), P(), "lhs and rhs contracting dims should be sharded identically"),
        (P(), P(None, "x"), "unreduced axes should be equal to the contracting specs"),
        (P(None, "y"), P("y"), "unreduced axes should be equal to the contracting specs"),
    ],
)
def test_sums_that_the_compiler_would_get_wrong(
    left: Any, right: Any, text: str, numbers: Any
) -> None:
    with pytest.raises(ShardingTypeError, match=text):
        jnp.matmul(reshard(numbers, left), reshard(numbers, right), out_sharding=P(unreduced={"x"}))


@pytest.mark.parametrize("kinds", [(AxisType.Explicit, AxisType.Auto), (AxisType.Explicit,) * 2])
def test_sums_beside_axes_of_other_types(kinds: Any, mesh: Any, numbers: Any) -> None:
    def loss(w: Any, x: Any) -> Any:
        return jnp.sin(x @ w).sum()

    with bindax.set_mesh(mesh.update(axis_types=kinds)):
        w, x = reshard(WEIGHTS, P(reduced={"x"})), reshard(numbers, P("x"))
        slope = bindax.jit(bindax.grad(loss))(w, x)
        assert slope.aval.str_short() == "float32[8,8]{U:x}"
        wanted = bindax.grad(loss)(WEIGHTS, numbers)
        np.testing.assert_allclose(reshard(slope + slope, P()), 2 * wanted, rtol=1e-5, atol=1e-5)


def test_a_number_on_another_backend_comes_to_what_is_divided(numbers: Any) -> None:
    with bindax.config.override(backend="xla"):
        two = bindax.jit(lambda: jnp.float32(2))()
    divided = reshard(numbers, P("x"))
    for found in (two * divided, divided * two):
        assert found.aval.sharding.spec == P("x", None)
        np.testing.assert_array_equal(found, 2 * numbers)
