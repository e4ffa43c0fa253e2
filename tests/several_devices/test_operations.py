"""Operations of all kinds on arrays in parts, beside the same on one device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import lax

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda a: a[:6, :3],
    "concatenate": lambda a: jnp.concatenate([a, a[:3]]),
    "pad": lambda a: jnp.pad(a, ((1, 2), (0, 3))),
    "flatten": lambda a: a.reshape(-1)[:13],
    "reshape": lambda a: (a.reshape(4, 2, 8), a.reshape(2, 32)),
    "transpose": lambda a: jnp.transpose(a[:7]),
    "sort": lambda a: jnp.sort(a, axis=0),
    "cumsum": lambda a: jnp.cumsum(a, 0),
    "reduce": lambda a: (a.sum(0), a.max(1), a[:5].sum(1), jnp.argmax(a, 0)),
    "gather": lambda a: a[jnp.array([1, 5, 2])],
    "scatter": lambda a: a.at[jnp.array([1, 2])].set(0),
    "convolve": lambda a: jnp.convolve(a[:, 0], jnp.ones(3)),
    "fft": lambda a: jnp.fft.fft(a).real,
    "svd": lambda a: jnp.linalg.svd(a + jnp.eye(8))[1],
    "solve": lambda a: jnp.linalg.solve(a + 9 * jnp.eye(8), a),
    "reverse": lambda a: (a[::-1], jnp.roll(a, 3, 0)),
    "loop": lambda a: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, a)),
    "branch": lambda a: lax.cond(a.sum() > 0, lambda a: a + 1, lambda a: a - 1, a),
    "random": lambda a: a + bindax.random.normal(bindax.random.key(0), (8, 8)),
    "top_k": lambda a: lax.top_k(a, 3),
    "constants": lambda a: (a, jnp.arange(9), 3.0),
    "bits": lambda a: lax.bitcast_convert_type(a, np.uint32),
    "einsum": lambda a: jnp.einsum("ij,kj->ik", a, a[:3]),
    "empty": lambda a: a[:0],
    "narrow": lambda a: (a.astype("int4"), a.astype("bfloat16") * 2),
    "triangle": lambda a: (jnp.tril(a), jnp.diag(a)),
}
SPECS = ((("x", "y"),), ("y",), (None, "x"), ("x", "y"))


@pytest.mark.nightly
@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_on_one_device(name: str, spec: Any, on: Any, numbers: Any) -> None:
    jitted = bindax.jit(FUNCTIONS[name])
    divided = bindax.tree.leaves(jitted(bindax.device_put(numbers, on(*spec))))
    alone = bindax.tree.leaves(jitted(numbers))
    for x, y in zip(divided, alone, strict=True):
        np.testing.assert_allclose(
            np.asarray(x, np.float64), np.asarray(y, np.float64), rtol=2e-4, atol=1e-4
        )
        for shard in x.addressable_shards:
            np.testing.assert_array_equal(np.asarray(shard.data), np.asarray(x)[shard.index])


@pytest.mark.parametrize(
    ("groups", "size", "stride", "spec"),
    [
        (2, 3, 1, ("x",)),
        (4, 3, 1, ("x",)),
        (1, 3, 1, (None, None, "x")),
        (1, 6, 3, (None, None, "x")),
    ],
)
def test_slopes_of_kernels_of_divided_inputs(
    on: Any, groups: int, size: int, stride: int, spec: Any
) -> None:
    rng = np.random.default_rng(groups)
    x, kernel = rng.standard_normal((8, 4, 12)), rng.standard_normal((4, 4 // groups, size))

    def loss(x: Any, kernel: Any) -> Any:
        out = lax.conv_general_dilated(x, kernel, (stride,), "SAME", feature_group_count=groups)
        out = lax.with_sharding_constraint(out, on(*spec))
        return jnp.sin(out).sum()

    slope = bindax.jit(bindax.grad(loss, 1))
    found = slope(bindax.device_put(x, on(*spec)), kernel)
    np.testing.assert_allclose(found, bindax.grad(loss, 1)(x, kernel), rtol=1e-6)


def test_convolutions_in_groups_of_a_batch_with_divided_features(on: Any) -> None:
    rng = np.random.default_rng(0)
    x, kernel = rng.standard_normal((8, 4, 8)), rng.standard_normal((8, 4, 3))
    convolve = bindax.jit(
        lambda x, kernel: lax.conv_general_dilated(x, kernel, (1,), "SAME", batch_group_count=2)
    )
    wanted = convolve(x, kernel)
    divided = bindax.device_put(x, on(None, "x"))
    for spec in (("x",), (None, "x"), ()):
        found = convolve(divided, bindax.device_put(kernel, on(*spec)))
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_upper_halves_of_products(on: Any, dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 3, limits.max // 3], dtype)
    found = bindax.jit(lax.mulhi)(bindax.device_put(x, on("x")), x[::-1].copy())
    np.testing.assert_array_equal(found, lax.mulhi(x, x[::-1].copy()))
    assert [int(a) for a in found] == [
        int(a) * int(b) >> 64 for a, b in zip(x, x[::-1], strict=True)
    ]
