"""Copies of traced values, which are values like others."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import toy

import bindax_transforms as bt
from bindax_core.extend import Primitive, eval_jaxpr

pytestmark = pytest.mark.usefixtures("toy_operations")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize(
    "wrap", [bt.jit, bt.grad, lambda f: lambda x: np.asarray(bt.vmap(f)(x[None]))]
)
def test_copies_of_traced_values(copied: Any, wrap: Any) -> None:
    def through(x: Any) -> Any:
        state = copied({"x": [x]})
        return toy.sin(state["x"][0])

    x = np.array(0.5)
    found, wanted = wrap(through)(x), wrap(lambda x: toy.sin(x))(x)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))


def test_copies_of_programs_have_the_same_primitives() -> None:
    program = bt.make_jaxpr(toy.sin)(0.5)
    again = copy.deepcopy(program)
    assert again is not program
    assert again.eqns[0].primitive is program.eqns[0].primitive
    (value,) = eval_jaxpr(again.jaxpr, again.consts, 0.5)
    np.testing.assert_array_equal(value, np.sin(0.5))


def test_a_primitive_is_its_own_copy() -> None:
    for copied in (copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))):
        assert copied(toy.sin_p) is toy.sin_p
    replaced = Primitive("only here")
    newer = Primitive("only here")
    assert copy.deepcopy([replaced, newer]) == [replaced, newer]
    with pytest.raises(pickle.PicklingError, match="only here"):
        pickle.dumps(replaced)
