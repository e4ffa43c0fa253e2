"""What is no function in place of one: the error says which argument, and what to pass."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bindax_control_flow import (
    associative_scan,
    cond,
    custom_linear_solve,
    custom_root,
    fori_loop,
    map,
    platform_dependent,
    scan,
    switch,
    while_loop,
)
from bindax_core import config

ONES = np.ones(2)


def f(*args: Any) -> Any:
    return args[-1]


CALLS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("scan", "f"): lambda given: scan(given, 0.0, ONES),
    ("map", "f"): lambda given: map(given, ONES),
    ("associative_scan", "fn"): lambda given: associative_scan(given, ONES),
    ("fori_loop", "body_fun"): lambda given: fori_loop(0, 3, given, 1.0),
    ("while_loop", "cond_fun"): lambda given: while_loop(given, f, 1.0),
    ("while_loop", "body_fun"): lambda given: while_loop(f, given, 1.0),
    ("cond", "true_fun"): lambda given: cond(True, given, f, 1.0),
    ("cond", "false_fun"): lambda given: cond(True, f, given, 1.0),
    ("switch", "branches[1]"): lambda given: switch(0, [f, given], 1.0),
    ("platform_dependent", "tpu"): lambda given: platform_dependent(1.0, cpu=f, tpu=given),
    ("platform_dependent", "default"): lambda given: platform_dependent(1.0, default=given),
    ("custom_root", "f"): lambda given: custom_root(given, 1.0, f, f),
    ("custom_root", "solve"): lambda given: custom_root(f, 1.0, given, f),
    ("custom_root", "tangent_solve"): lambda given: custom_root(f, 1.0, f, given),
    ("custom_linear_solve", "matvec"): lambda given: custom_linear_solve(given, ONES, f),
    ("custom_linear_solve", "solve"): lambda given: custom_linear_solve(f, ONES, given),
    ("custom_linear_solve", "transpose_solve"): (
        lambda given: custom_linear_solve(f, ONES, f, given)
    ),
}


@pytest.mark.parametrize(("name", "argument"), CALLS)
def test_the_error_says_what_to_pass(name: str, argument: str) -> None:
    with config.override(traceback="filtered"), pytest.raises(TypeError) as caught:
        CALLS[name, argument](3)
    assert str(caught.value) == (
        f"{argument} of {name} must be a function, but got 3 of type int. Pass the function "
        f"itself, not what it returns: f, not f(x)."
    )
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert [file for file in files if file != __file__] == []
