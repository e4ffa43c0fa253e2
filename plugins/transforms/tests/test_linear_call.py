"""``linear_call``: a linear function, with a function that says what its transpose is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax_transforms as bt


def scaled(r: Any, x: Any) -> Any:
    return x / r


def doubled(r: Any, ct: Any) -> Any:
    """The transpose of ``scaled`` with a factor, by which it is told."""
    return 2.0 * ct / r


def divide(x: Any, by: Any) -> Any:
    return bt.linear_call(scaled, doubled, by, x)


def transposed(fun: Any) -> Any:
    return lambda ct: bt.linear_transpose(fun, 1.0)(ct)[0]


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6)


def test_forward_mode_uses_the_function_and_reverse_mode_the_transpose() -> None:
    close(divide(9.0, 3.0), 3.0)
    close(bt.jvp(lambda x: divide(x, 3.0), (9.0,), (1.0,)), (3.0, 1 / 3))
    close(bt.grad(divide)(9.0, 3.0), 2 / 3)
    close(bt.jit(bt.grad(divide))(9.0, 3.0), 2 / 3)
    close(bt.grad(bt.jit(divide))(9.0, 3.0), 2 / 3)
    close(bt.grad(bt.checkpoint(divide))(9.0, 3.0), 2 / 3)


def test_the_transpose_of_the_transpose_is_the_function() -> None:
    def fun(x: Any) -> Any:
        return divide(x, 3.0)

    close(transposed(fun)(18.0), 12.0)
    close(transposed(transposed(fun))(18.0), 6.0)
    close(transposed(transposed(transposed(fun)))(18.0), 12.0)
    close(transposed(lambda x: x + fun(x))(18.0), 30.0)


def test_residuals_are_differentiated_as_operands_of_the_function() -> None:
    close(bt.grad(divide, 1)(9.0, 3.0), -1.0)
    close(bt.grad(divide, (0, 1))(9.0, 3.0), (2 / 3, -1.0))
    close(bt.jvp(divide, (9.0, 3.0), (1.0, 1.0)), (3.0, 1 / 3 - 1.0))
    # the derivative of what reverse mode computes, which is the transpose
    close(bt.grad(bt.grad(divide), 1)(9.0, 3.0), -2 / 9)


def test_what_is_linear_in_residuals_is_transposed_in_them() -> None:
    def product(r: Any) -> Any:
        return bt.linear_call(lambda r, x: r * x, lambda r, ct: r * ct, r, 2.0)

    close(transposed(product)(5.0), 10.0)


def test_batches_have_the_transposes_of_their_elements() -> None:
    x, by = np.arange(3.0), np.arange(1.0, 4.0)
    close(bt.vmap(divide, (0, None))(x, 3.0), x / 3)
    close(bt.vmap(bt.grad(divide), (0, None))(x, 3.0), [2 / 3] * 3)
    close(bt.vmap(bt.grad(divide), (None, 0))(9.0, by), 2 / by)
    total = bt.grad(lambda x: bt.vmap(divide, (None, 0))(x, by) @ np.ones(3))
    close(total(9.0), np.sum(2 / by))
    close(bt.vmap(total)(x), [np.sum(2 / by)] * 3)
    nested = bt.vmap(bt.vmap(bt.grad(divide), (0, None)), (None, 0))
    close(nested(x, by), np.broadcast_to(2 / by[:, None], (3, 3)))


def test_trees_of_residuals_and_of_linear_arguments() -> None:
    def fun(tree: Any) -> Any:
        return bt.linear_call(
            lambda r, x: {"sum": r[0] * x["a"] + r[1] * x["b"]},
            lambda r, ct: {"a": r[0] * ct["sum"], "b": 7.0 * ct["sum"]},
            (2.0, 3.0),
            tree,
        )["sum"]

    found = bt.grad(fun)({"a": 1.0, "b": 2.0})
    assert (float(found["a"]), float(found["b"])) == (2.0, 7.0)
    close(bt.grad(lambda b: fun({"a": 1.0, "b": b}))(2.0), 7.0)


def test_integers_pass_and_have_transposes_of_their_own() -> None:
    assert float(divide(9, 3)) == 3.0
    thrice = bt.linear_transpose(
        lambda x: bt.linear_call(lambda r, x: x * r, lambda r, ct: 3 * ct, 2, x), 1
    )
    assert int(thrice(5)[0]) == 15


def test_functions_close_over_what_is_traced() -> None:
    def fun(c: Any, x: Any) -> Any:
        return bt.linear_call(lambda r, x: c * x, lambda r, ct: 5.0 * c * ct, (), x)

    close(bt.grad(fun, (0, 1))(3.0, 2.0), (2.0, 15.0))
    close(bt.jit(bt.vmap(bt.grad(fun, 1)))(np.arange(3.0), np.ones(3)), [0.0, 5.0, 10.0])


def test_the_call_is_one_equation_of_two_functions() -> None:
    eqn = bt.make_jaxpr(divide)(9.0, 3.0).jaxpr.eqns[-1]
    assert eqn.primitive.name == "linear_call"
    assert [e.primitive.name for e in eqn.params["jaxpr"].jaxpr.eqns] == ["div"]
    assert eqn.params["num_residuals"] == 1


@pytest.mark.parametrize(
    ("fun_transpose", "message"),
    [
        (
            lambda r, ct: (ct, ct),
            r"the transpose <lambda> .* must return the structure of linear_args, PyTreeDef",
        ),
        (
            lambda r, ct: np.ones(3) * ct,
            r"must return float64\[\] for linear_args, but it returned float64\[3\]\.",
        ),
        (3.0, r"fun_transpose of linear_call must be a function, but got 3.0"),
    ],
)
def test_a_wrong_transpose_is_told_at_the_call(fun_transpose: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        bt.linear_call(lambda r, x: x, fun_transpose, (), 2.0)


def test_arguments_that_are_no_arrays_are_told() -> None:
    with pytest.raises(TypeError, match=r"linear_call: residual_args\[0\].*str"):
        bt.linear_call(scaled, doubled, ["a"], 2.0)
    with pytest.raises(TypeError, match=r"linear_call: linear_args.*str"):
        bt.linear_call(scaled, doubled, 1.0, "a")
