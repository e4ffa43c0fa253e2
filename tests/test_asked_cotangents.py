"""Cotangents that are asked for one by one, by ``with_refs`` of what ``vjp`` returns."""

from __future__ import annotations

import numpy as np

import bindax
from bindax_transforms.extend import DidntWant, DontWant, GradRef, GradValue, Reference


def test_cotangents_that_are_not_wanted_are_not_computed() -> None:
    x, w = np.arange(3.0), np.full(3, 2.0)
    _, f_vjp = bindax.vjp(lambda x, w: {"out": x * w["a"] * w["b"]}, x, {"a": w, "b": w})
    entries = (GradValue(), {"a": DontWant(), "b": GradValue()})
    for function in (f_vjp, bindax.jit(lambda: f_vjp)()):
        some = function.with_refs(*entries)
        slopes, others = some({"out": w})
        np.testing.assert_array_equal(slopes, w**3)
        np.testing.assert_array_equal(others["b"], x * w**2)
        assert others["a"] == DidntWant()
    none = f_vjp.with_refs(DontWant(), {"a": DontWant(), "b": DontWant()})
    assert none({"out": w}) == (DidntWant(), {"a": DidntWant(), "b": DidntWant()})
    program = bindax.jit(lambda ct: f_vjp.with_refs(*entries)({"out": ct})).trace(w)
    whole = bindax.jit(lambda ct: f_vjp({"out": ct})).trace(w)
    assert len(program.jaxpr.eqns) < len(whole.jaxpr.eqns)
    assert program.out_info[1]["a"] == DidntWant()


def test_cotangents_beside_references() -> None:
    total = Reference(np.zeros(3))
    for function in (lambda x, w: x * w, bindax.jit(lambda x, w: x * w)):
        _, f_vjp = bindax.vjp(function, np.ones(3), np.arange(3.0))
        assert f_vjp.with_refs(total, DontWant())(np.ones(3)) == (GradRef(), DidntWant())
    np.testing.assert_array_equal(total.load(), [0, 2, 4])
