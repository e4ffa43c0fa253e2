"""Reports of programs on several devices: they are compiled for where the operands are."""

from __future__ import annotations

from typing import Any

import bindax
import bindax.numpy as jnp


def test_a_sharded_operand(on: Any, numbers: Any) -> None:
    x = bindax.device_put(numbers, on("x"))
    report = bindax.inspect(lambda x: jnp.tanh(x @ x.T).sum(), runs=1)(x)
    assert report.missing == ()
    assert 'sdy.mesh @mesh = <["x"=4, "y"=2]>' in str(report.stablehlo)
    assert report.time is not None
    assert report.time.attributed > 0.95


def test_collectives_are_attributed(mesh: Any, numbers: Any) -> None:
    def total(x: Any) -> Any:
        return bindax.lax.psum(x * 2.0, "x")

    spec = bindax.P("x")
    mapped = bindax.shard_map(total, mesh=mesh, in_specs=spec, out_specs=bindax.P())
    report = bindax.inspect(mapped, runs=1)(numbers)
    assert report.missing == ()
    assert {one.eqn.primitive.name for one in report.program.equations} >= {"psum", "shard_map"}
