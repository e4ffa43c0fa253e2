"""Arguments that functions of JAX 0.12 take."""

from __future__ import annotations

import numpy as np
import pytest

import bindax

pytest.importorskip("bindax.numpy", reason="the package is not installed")

P = bindax.sharding.PartitionSpec


def test_products_in_another_dtype() -> None:
    x, y = np.array([200, 3], np.uint8), np.array([2, 100], np.uint8)
    for multiply in (bindax.lax.mul, bindax.jit(bindax.lax.mul, static_argnames="out_dtype")):
        out = multiply(x, y, out_dtype="int32")
        assert out.dtype == np.int32
        np.testing.assert_array_equal(out, [400, 300])
    slope = bindax.grad(lambda x: bindax.lax.mul(x, 3.0, out_dtype="float32"))(np.float16(2))
    assert slope.dtype == np.float16
    assert float(slope) == 3


def test_parts_of_a_spec_are_replaced() -> None:
    spec = P("x", unreduced={"y"})
    assert spec.update(reduced={"z"}) == P("x", unreduced={"y"}, reduced={"z"})
    assert spec.update(unreduced=()) == P("x")
    assert spec.update((None, "x")) == spec.update(partitions=[None, "x"])
    assert spec.update(()) == P(unreduced={"y"})
    assert spec.update() == spec
    with pytest.raises(ValueError, match="'x' among its partitions and as reduced"):
        spec.update(reduced={"x"})


def test_the_order_of_a_schur_form() -> None:
    x = np.array([[1.0, 2.0], [0.0, 3.0]])
    plain = bindax.lax.linalg.schur(x)
    given = bindax.lax.linalg.schur(x, sort_eig_vals=True, select_callable=bool)
    for one, other in zip(plain, given, strict=True):
        np.testing.assert_array_equal(one, other)


def test_pictures_have_the_width_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    sharding = bindax.sharding.SingleDeviceSharding(bindax.devices("numpy")[0])

    def drawn(**options: object) -> list[str]:
        bindax.debug.visualize_sharding((2, 2), sharding, **options)  # type: ignore[arg-type]
        return capsys.readouterr().out.splitlines()

    assert drawn()[1] == "│ host 0 │"
    assert drawn(min_width=12)[1] == "│   host 0   │"
    assert drawn(max_width=5)[0] == "┌─────┐"
    assert drawn(scale=40.0, max_width=20)[0] == f"┌{'─' * 20}┐"
    colored = drawn(use_color=True, color_map=lambda x: (x, 0.5, 1.0, 1.0))[1]
    assert colored == "│\x1b[48;2;0;128;255m host 0 \x1b[0m│"
    with bindax.config.override(backend="numpy"):
        x = bindax.device_put(np.ones(2), sharding)
    bindax.debug.visualize_array_sharding(x, min_width=10, use_color=False)
    assert "│  host 0  │" in capsys.readouterr().out
