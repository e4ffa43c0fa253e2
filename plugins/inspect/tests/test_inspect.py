"""A report has the program of a function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax_lax_basic as lax
from bindax_inspect import inspect
from bindax_transforms import grad


def test_report_has_the_jaxpr() -> None:
    report = inspect(grad(lax.sin))(np.float32(1.0))
    assert [eqn.primitive.name for eqn in report.jaxpr.eqns] == ["sin", "cos", "mul"]


def test_what_is_no_function_is_an_error() -> None:
    not_a_function: Any = 3
    with pytest.raises(TypeError, match="fun of inspect must be a function, but got 3 of type int"):
        inspect(not_a_function)
