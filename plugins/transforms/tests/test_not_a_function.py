"""What is no function in place of one: the error says which argument, and what to pass."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_transforms import checkpoint_policies as policies

ITSELF = "Pass the function itself, not what it returns: f, not f(x)."
POLICY = "Pass one of checkpoint_policies, or a function (primitive, *avals, **params) -> bool."

Call = Callable[[Any], Any]


def identity(x: Any) -> Any:
    return x


TRANSFORMATIONS: dict[str, Call] = {
    "jit": lambda f: bt.jit(f),
    "checkpoint": lambda f: bt.checkpoint(f),
    "grad": lambda f: bt.grad(f),
    "value_and_grad": lambda f: bt.value_and_grad(f),
    "jacfwd": lambda f: bt.jacfwd(f),
    "jacrev": lambda f: bt.jacrev(f),
    "hessian": lambda f: bt.hessian(f),
    "vjp": lambda f: bt.vjp(f, 1.0),
    "jvp": lambda f: bt.jvp(f, (1.0,), (1.0,)),
    "linearize": lambda f: bt.linearize(f, 1.0),
    "linear_call": lambda f: bt.linear_call(f, f, (), 1.0),
    "linear_transpose": lambda f: bt.linear_transpose(f, 1.0),
    "vmap": lambda f: bt.vmap(f),
    "named_call": lambda f: bt.named_call(f),
    "make_jaxpr": lambda f: bt.make_jaxpr(f),
    "eval_shape": lambda f: bt.eval_shape(f, 1.0),
    "closure_convert": lambda f: bt.closure_convert(f, 1.0),
    "custom_gradient": lambda f: bt.custom_gradient(f),
    "custom_jvp": lambda f: bt.custom_jvp(f),
    "custom_vjp": lambda f: bt.custom_vjp(f),
    "custom_vmap": lambda f: bt.custom_vmap(f),
    "saved_residuals": lambda f: bt.saved_residuals(f, 1.0),
    "print_saved_residuals": lambda f: bt.print_saved_residuals(f, 1.0),
}
"""By the name that messages have; the argument is called ``fun``."""

DECORATORS: dict[str, Call] = {
    "jit": lambda f: bt.jit(inline=True)(f),
    "checkpoint": lambda f: bt.checkpoint(prevent_cse=False)(f),
}

OTHERS: dict[tuple[str, str], Call] = {
    ("composition", "function"): lambda f: bt.composition(f),
    ("defjvp of the custom_jvp function identity (", "jvp"): (
        lambda f: bt.custom_jvp(identity).defjvp(f)
    ),
    ("defjvps of the custom_jvp function identity (", "jvps[0]"): (
        lambda f: bt.custom_jvp(identity).defjvps(f)
    ),
    ("defvjp of the custom_vjp function identity (", "fwd"): (
        lambda f: bt.custom_vjp(identity).defvjp(f, identity)
    ),
    ("defvjp of the custom_vjp function identity (", "bwd"): (
        lambda f: bt.custom_vjp(identity).defvjp(identity, f)
    ),
    ("def_vmap of the custom_vmap function identity (", "vmap_rule"): (
        lambda f: bt.custom_vmap(identity).def_vmap(f)
    ),
}

POLICIES: dict[tuple[str, str], Call] = {
    ("checkpoint", "policy"): lambda f: bt.checkpoint(identity, policy=f),
    ("save_from_both_policies", "policy_1"): (
        lambda f: policies.save_from_both_policies(f, policies.dots_saveable)
    ),
    ("save_from_both_policies", "policy_2"): (
        lambda f: policies.save_from_both_policies(policies.dots_saveable, f)
    ),
}


def refusal(call: Call, given: Any) -> str:
    """The text of the error, the traceback of which is the user's alone."""
    with bx.config.override(traceback="filtered"), pytest.raises(TypeError) as caught:
        call(given)
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert [file for file in files if file != __file__] == []
    return str(caught.value)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_every_transformation_says_what_it_was_given(name: str) -> None:
    start = f"fun of {name} must be a function, but got "
    assert refusal(TRANSFORMATIONS[name], 3) == f"{start}3 of type int. {ITSELF}"
    array = bx.Array.from_numpy(np.ones(2))
    assert refusal(TRANSFORMATIONS[name], array) == f"{start}{array!r} of type Array. {ITSELF}"


def yields(x: Any) -> Any:
    yield x


async def awaits(x: Any) -> Any:
    return x


@pytest.mark.parametrize("name", TRANSFORMATIONS)
@pytest.mark.parametrize("given", [yields, awaits])
def test_functions_that_return_before_they_have_run(name: str, given: Any) -> None:
    text = refusal(TRANSFORMATIONS[name], given)
    start = f"fun of {name} must return its results, but got a generator function or a coroutine"
    assert text.startswith(f"{start}, {given.__name__} (")


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_static_methods(name: str) -> None:
    text = refusal(TRANSFORMATIONS[name], staticmethod(identity))
    assert "Apply staticmethod last, as the first of the decorators." in text


@pytest.mark.parametrize("name", DECORATORS)
def test_decorators_with_options(name: str) -> None:
    text = f"fun of {name} must be a function, but got 3 of type int. {ITSELF}"
    assert refusal(DECORATORS[name], 3) == text


@pytest.mark.parametrize(("name", "argument"), OTHERS)
def test_rules(name: str, argument: str) -> None:
    text = refusal(OTHERS[name, argument], "a")
    assert text.startswith(f"{argument} of {name}")
    assert text.endswith(f" must be a function, but got 'a' of type str. {ITSELF}")


@pytest.mark.parametrize(("name", "argument"), POLICIES)
def test_policies(name: str, argument: str) -> None:
    text = f"{argument} of {name} must be a function, but got True of type bool. {POLICY}"
    assert refusal(POLICIES[name, argument], True) == text


def test_a_vjp_function_that_is_none() -> None:
    given = bt.custom_gradient(lambda x: (x, x))
    text = refusal(given, 3.0)
    assert text.startswith("the second output of the custom_gradient function <lambda> (")
    assert text.endswith(
        " must be its vjp function, but it returned 3.0 of type float. Return a function from the "
        "cotangent of the output to those of the arguments."
    )


def test_every_transformation_is_tested() -> None:
    """Whatever is public and has an argument ``fun`` is above."""
    functions = [f for f in vars(bt).values() if inspect.isfunction(f) or inspect.isclass(f)]
    found = {f.__name__ for f in functions if "fun" in _parameters(f)}
    assert found - {"JittedFunction", "parameter_names"} == set(TRANSFORMATIONS)


def _parameters(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:  # a class with a constructor written in C
        return []


def test_objects_that_answer_to_any_name_are_functions_too() -> None:
    double = mock.MagicMock(side_effect=lambda x: x * 2.0)
    assert float(bt.grad(double)(3.0)) == 2.0
