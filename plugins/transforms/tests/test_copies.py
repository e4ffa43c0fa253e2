"""Copies of traced values, which are values like others."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import toy

import bindax_transforms as bt

pytestmark = pytest.mark.usefixtures("toy_operations")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("wrap", [bt.jit, bt.grad, lambda f: lambda x: bt.vmap(f)(x[None])[0]])
def test_copies_of_traced_values(copied: Any, wrap: Any) -> None:
    def through(x: Any) -> Any:
        state = copied({"x": [x]})
        return toy.sin(state["x"][0])

    x = np.array(0.5)
    np.testing.assert_array_equal(wrap(through)(x), wrap(lambda x: toy.sin(x))(x))
