"""The arrays that transformations return are their own: they share no memory with the caller's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import toy

import bindax_core as bx
import bindax_transforms as bt
from bindax_core import tree

pytestmark = pytest.mark.usefixtures("toy_operations")

Array = np.ndarray[Any, Any]


def identity(x: Any) -> Any:
    return x


def with_jvp_rule() -> Any:
    f = bt.custom_jvp(identity)
    f.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    return f


def with_vjp_rule() -> Any:
    f = bt.custom_vjp(identity)
    f.defvjp(lambda x: (x, x), lambda residual, ct: (ct,))
    return f


def with_vmap_rule() -> Any:
    f = bt.custom_vmap(identity)
    f.def_vmap(lambda size, batched, x: (x, batched[0]))
    return f


def linearized(f: Callable[[Any], Any], x: Array, has_aux: bool = False) -> Any:
    out, f_lin, *aux = bt.linearize(f, x, has_aux=has_aux)
    return out, f_lin(x), aux


def pulled_back(f: Callable[[Any], Any], x: Array, has_aux: bool = False) -> Any:
    out, f_vjp, *aux = bt.vjp(f, x, has_aux=has_aux)
    return out, f_vjp(x), aux


def total(x: Any) -> Any:
    return toy.reduce_sum(x)


TRANSFORMATIONS: dict[str, Callable[[Array], Any]] = {
    "jvp": lambda x: bt.jvp(identity, (x,), (x,)),
    "jvp with aux": lambda x: bt.jvp(lambda y: (y, [x, y]), (x,), (x,), has_aux=True),
    "linearize": lambda x: linearized(identity, x),
    "linearize with aux": lambda x: linearized(lambda y: (y, [x, y]), x, has_aux=True),
    "vjp": lambda x: pulled_back(identity, x),
    "vjp with aux": lambda x: pulled_back(lambda y: (y, [x, y]), x, has_aux=True),
    "vjp of a constant": lambda x: bt.vjp(lambda y: x, 1.0)[0],
    "grad with aux": lambda x: bt.grad(lambda y: (total(y), [x, y]), has_aux=True)(x),
    "value_and_grad with aux": lambda x: bt.value_and_grad(
        lambda y: (total(y), [x, y]), has_aux=True
    )(x),
    "linear_transpose": lambda x: bt.linear_transpose(identity, x)(x),
    "vmap": lambda x: bt.vmap(identity)(x),
    "vmap of a constant": lambda x: bt.vmap(lambda y: x, out_axes=None)(x),
    "jit": lambda x: bt.jit(identity)(x),
    "jit of a constant": lambda x: bt.jit(lambda: x)(),
    "compiled": lambda x: bt.jit(identity).lower(x).compile()(x),
    "checkpoint": lambda x: bt.checkpoint(identity)(x),
    "closure_convert": lambda x: bt.closure_convert(identity, x)[0](x),
    "closure_convert of a constant": lambda x: bt.closure_convert(lambda y: x, 1.0)[0](1.0),
    "custom_gradient": lambda x: bt.custom_gradient(lambda y: (y, identity))(x),
    "custom_jvp": lambda x: with_jvp_rule()(x),
    "jvp of custom_jvp": lambda x: bt.jvp(with_jvp_rule(), (x,), (x,)),
    "custom_vjp": lambda x: with_vjp_rule()(x),
    "vjp of custom_vjp": lambda x: pulled_back(with_vjp_rule(), x),
    "custom_vmap": lambda x: with_vmap_rule()(x),
    "vmap of custom_vmap": lambda x: bt.vmap(with_vmap_rule())(x),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
@pytest.mark.parametrize("writeable", [True, False])
def test_what_passes_through_is_not_the_callers_array(name: str, writeable: bool) -> None:
    memory = np.arange(3.0)
    given = memory.view()
    given.flags.writeable = writeable
    results = tree.leaves(TRANSFORMATIONS[name](given))
    before = [np.array(x) for x in results]
    memory[:] = 7.0  # a view that is read-only changes too
    assert {type(x) for x in results} == {bx.Array}
    for x, expected in zip(results, before, strict=True):
        np.testing.assert_array_equal(x, expected)


def test_numbers_pass_through_as_they_are() -> None:
    assert bt.jvp(identity, (3.0,), (1.0,)) == (3.0, 1.0)
    results = tree.leaves([bt.jvp(identity, (3.0,), (1.0,)), bt.vjp(identity, 2.0)[0]])
    assert {type(x) for x in results} == {float}


def test_auxiliary_output_that_is_no_operand_passes_as_it_is() -> None:
    names = np.array(["a", "b"])
    _, (found, text) = bt.grad(lambda x: (x, (names, "text")), has_aux=True)(1.0)
    assert found is names
    assert text == "text"
