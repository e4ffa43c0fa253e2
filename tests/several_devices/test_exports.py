"""Exported programs for several devices, whose types say how arrays lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import NamedSharding, P, export
from bindax.sharding import AxisType, reshard, use_abstract_mesh

A = np.arange(16.0, dtype=np.float32).reshape(8, 2)


@pytest.fixture
def explicit(mesh: Any) -> Any:
    return mesh.update(axis_types=(AxisType.Explicit,) * 2)


def saved(f: Any, *args: Any) -> export.Exported:
    """Export for types on a mesh without devices: exports know the usual backend alone."""
    types = [
        bindax.ShapeDtypeStruct(
            x.shape, x.dtype, sharding=NamedSharding(x.sharding.mesh.abstract_mesh, x.sharding.spec)
        )
        for x in args
    ]
    with use_abstract_mesh(types[0].sharding.mesh):
        exported = export.export(bindax.jit(f))(*types)
        return export.deserialize(exported.serialize(vjp_order=1))


def test_types_that_say_how_arrays_lie(explicit: Any) -> None:
    x = bindax.device_put(A, NamedSharding(explicit, P("x")))
    y = bindax.device_put(A.T, NamedSharding(explicit, P(None, "y")))
    exported = saved(lambda x, y: x @ y, x, y)
    assert [aval.str_short() for aval in exported.in_avals] == ["float32[8@x,2]", "float32[2,8@y]"]
    assert exported.out_avals[0].str_short() == "float32[8@x,8@y]"
    assert exported.in_shardings_jax(explicit)[0] == NamedSharding(explicit, P("x", None))
    abstract = exported.in_shardings_jax(explicit.abstract_mesh)[0]
    assert abstract == NamedSharding(explicit.abstract_mesh, P("x", None), memory_kind="device")
    out = bindax.jit(exported.call)(x, y)
    assert out.sharding == NamedSharding(explicit, P("x", "y"))
    np.testing.assert_array_equal(out, A @ A.T)
    left, right = bindax.jit(bindax.grad(lambda *xs: exported.call(*xs).sum(), (0, 1)))(x, y)
    assert (left.sharding.spec, right.sharding.spec) == (P("x", None), P(None, "y"))
    np.testing.assert_allclose(left, np.ones((8, 8)) @ A)


def test_sums_that_are_still_to_be_added_up(explicit: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return jnp.einsum("ab,bc->ac", x, y, out_sharding=P(None, None, unreduced={"y"}))

    x = bindax.device_put(A, NamedSharding(explicit, P(None, "y")))
    y = bindax.device_put(A.T, NamedSharding(explicit, P("y")))
    out = bindax.jit(saved(f, x, y).call)(x, y)
    assert out.sharding.spec.unreduced == {"y"}
    np.testing.assert_array_equal(reshard(out, NamedSharding(explicit, P(None, None))), A @ A.T)


def test_older_readers_take_programs_for_one_device(explicit: Any) -> None:
    with (
        bindax.config.override(export_calling_convention_version=9),
        pytest.raises(export.ExportError, match="is for 8 devices, which programs of the calling"),
    ):
        saved(lambda x: x, bindax.device_put(A, NamedSharding(explicit, P("x"))))


def test_a_call_on_another_number_of_devices(explicit: Any) -> None:
    exported = saved(lambda x: x * 2, bindax.device_put(A, NamedSharding(explicit, P("x"))))
    with pytest.raises(export.ExportError, match=r"exported for 8 devices and is called in a"):
        bindax.jit(exported.call)(A)
