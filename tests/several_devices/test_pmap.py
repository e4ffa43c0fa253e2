"""``pmap`` on eight devices, beside a loop over the elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
from bindax import P, lax
from bindax import numpy as jnp

ROWS = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)


def test_a_row_on_each_device() -> None:
    run = bindax.pmap(lambda x, y: (x / lax.psum(x, "i"), {"y": y * 2}), "i", in_axes=(0, None))
    share, more = run(ROWS, 3.0)
    np.testing.assert_allclose(share, ROWS / ROWS.sum(0), rtol=1e-5)
    np.testing.assert_array_equal(more["y"], np.full(8, 6.0))
    assert share.sharding.spec == P("i")
    assert [shard.data.shape for shard in share.addressable_shards] == [(1, 3)] * 8
    again, _ = run(share, 3.0)
    assert again.sharding == share.sharding


def test_axes_static_and_keyword_arguments() -> None:
    def f(scale: int, x: Any, *, shift: Any) -> Any:
        return x * scale + shift, shift * 0 + lax.psum(x.sum(), "i")

    run = bindax.pmap(f, "i", in_axes=(None, 1), out_axes=(-1, None), static_broadcasted_argnums=0)
    x, shift = ROWS[:4].T, np.arange(4.0, dtype=np.float32)
    moved, total = run(3, x, shift=shift)
    np.testing.assert_allclose(moved, x * 3 + shift, rtol=1e-5)
    np.testing.assert_allclose(total, x.sum(), rtol=1e-5)
    assert len(moved.devices()) == 4
    with pytest.raises(ValueError, match=r"static_broadcasted_argnums=\(1,\), but it was called w"):
        bindax.pmap(lambda x, y: x * y, static_broadcasted_argnums=1)(ROWS, y=2)


def test_devices_and_what_was_put_elsewhere() -> None:
    chosen = bindax.devices()[4:6]
    out = bindax.pmap(jnp.sin, devices=chosen)(ROWS[:2])
    assert out.devices() == set(chosen)
    moved = bindax.pmap(jnp.cos)(bindax.device_put(ROWS, bindax.devices()[3]))
    np.testing.assert_allclose(moved, np.cos(ROWS), rtol=1e-6)
    indices = bindax.pmap(lambda: lax.axis_index("i"), "i", axis_size=3)()
    np.testing.assert_array_equal(indices, [0, 1, 2])


def test_transformations_and_donation() -> None:
    def loss(w: Any, x: Any) -> Any:
        return bindax.pmap(lambda w, x: lax.pmean((x @ w) ** 2, "i"), "i", in_axes=(None, 0))(w, x)[
            0
        ]

    w = np.ones(3, np.float32)
    slopes = bindax.grad(loss)(w, ROWS)
    np.testing.assert_allclose(slopes, 2 * ROWS.T @ (ROWS @ w) / 8, rtol=1e-5)
    used = bindax.pmap(lambda x: x)(ROWS)
    bindax.pmap(lambda x: x + 1, donate_argnums=0)(used)
    assert used.is_deleted()


def test_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="the mapped axis has size 9, but there are 8 devices"):
        bindax.pmap(lambda x: x)(np.ones(9))
    with pytest.raises(ValueError, match=r"disagree: 8 \(argument leaf 0, .*, 3 \(argument leaf 1"):
        bindax.pmap(lambda x, y: x)(ROWS, ROWS[:3])
    with pytest.raises(ValueError, match="needs at least one mapped argument"):
        bindax.pmap(lambda x: x, in_axes=None)(1.0)
    with pytest.raises(ValueError, match=r"has the type float64.*no axis 0"):
        bindax.pmap(lambda x: x)(1.0)
    with pytest.raises(ValueError, match="in_axes has 3 entries for 1 positional"):
        bindax.pmap(lambda x: x, in_axes=(0, 0, 0))(ROWS)
    with pytest.raises(ValueError, match="out_axes has 5, but a result has 2 axes"):
        bindax.pmap(lambda x: x, out_axes=5)(ROWS)


def test_random_keys_on_several_devices() -> None:
    keys = bindax.random.split(bindax.random.key(0), 8)
    draw = bindax.vmap(lambda key: bindax.random.normal(key, (2,)))
    wanted = draw(keys)
    laid = bindax.shard_map(
        lambda keys: (draw(keys), bindax.random.split(keys[0])),
        mesh=bindax.make_mesh((4,), ("i",)),
        in_specs=P("i"),
        out_specs=P("i"),
    )
    for run in (laid, bindax.jit(laid)):
        numbers, made = run(keys)
        np.testing.assert_array_equal(numbers, wanted)
        assert (made.shape, made.dtype) == ((8,), keys.dtype)
    each = bindax.pmap(lambda key: bindax.random.normal(key, (2,)))
    np.testing.assert_array_equal(each(keys), wanted)
