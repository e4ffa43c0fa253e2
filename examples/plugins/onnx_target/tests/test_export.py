"""Exported models compute in onnxruntime what the functions compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from bindax_example_onnx import export, to_onnx

import bindax_lax_basic as lax
from bindax_core import ShapeDtypeStruct, find_primitive, rule_coverage, tree
from bindax_core.extend import MissingRuleError
from bindax_transforms import grad, jit, vmap


def run(model: Any, *args: Any) -> list[np.ndarray[Any, Any]]:
    """The results of a model in onnxruntime."""
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [one.name for one in session.get_inputs()]
    leaves = [np.asarray(x) for x in tree.leaves(args)]
    found: list[np.ndarray[Any, Any]] = session.run(None, dict(zip(names, leaves, strict=True)))
    return found


def check(function: Any, *args: Any, tolerance: float = 1e-5) -> None:
    wanted = [np.asarray(x) for x in tree.leaves(function(*args))]
    got = run(export(function, *args), *args)
    for x, y in zip(got, wanted, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


X = np.linspace(-0.9, 0.9, 12, dtype=np.float32).reshape(3, 4)
UNARY = (
    "abs acos asin asinh atan atanh ceil cos cosh erf exp expm1 floor log1p logistic neg sign sin "
    "sinh square stop_gradient tan tanh"
)
BINARY = "add sub mul div max min eq ne lt le gt ge"


@pytest.mark.parametrize("name", UNARY.split())
def test_functions_of_one_array(name: str) -> None:
    check(getattr(lax, name), X)


@pytest.mark.parametrize("name", BINARY.split())
def test_functions_of_two_arrays(name: str) -> None:
    check(getattr(lax, name), X, np.flip(X).copy())


FUNCTIONS = {
    "positive": lambda x: lax.log(x + 2) + lax.sqrt(x + 1) + lax.rsqrt(x + 1) + (x + 1) ** 2.5,
    "acosh": lambda x: lax.acosh(x + 2),
    "powers": lambda x: x**3 + lax.integer_pow(x + 2, -2),
    "selection": lambda x: lax.select(x > 0, x, -x) + lax.clamp(-0.5, x, 0.5),
    "logic": lambda x: ((x > 0) & (x < 0.5)) | ~(x > -0.5) ^ (x > 0.1),
    "choice of three": lambda x: lax.select_n(
        lax.clamp(0, (x * 3 + 1).astype(np.int32), 2), x, 2 * x, 3 * x
    ),
    "shapes": lambda x: lax.concatenate([x.reshape(2, 6), -x.T.reshape(2, 6)], 1)[:, None],
    "slices": lambda x: (x[1:, ::2], lax.rev(x, (0, 1)), lax.squeeze(x[:1], (0,))),
    "broadcasts": lambda x: lax.broadcast_in_dim(x[0], (2, 4, 3), (1,)),
    "reductions": lambda x: (x.sum(0), x.max(), x.min(1), lax.reduce_prod(x, (0, 1))),
    "positions": lambda x: (lax.argmax(x, 1, np.int32), lax.argmin(x, 0, np.int32)),
    "cumulative": lambda x: (lax.cumsum(x, 0), lax.cumsum(x, 1, reverse=True)),
    "conversions": lambda x: (x.astype(np.float64), (10 * x).astype(np.int32), x > 0),
    "counting": lambda x: x + lax.iota(np.float32, 4),
    "matrices": lambda x: (x @ x.T, lax.dot(x, x[0]), x.T @ x),
    "batched matrices": lambda x: vmap(lambda a, b: a @ b)(x.reshape(3, 2, 2), x.reshape(3, 2, 2)),
    "padding": lambda x: lax.pad(x, np.float32(2), [(1, 2, 0), (-1, 0, 0)]),
    "compiled": jit(lambda x: jit(lambda y: y * y)(x) + 1),
    "constant": lambda x: 3.0,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs(name: str) -> None:
    check(FUNCTIONS[name], X)


def network(weights: Any, x: Any) -> Any:
    """A small network with layer normalization and a softmax."""
    for weight, bias in weights:
        x = lax.tanh(x @ weight + bias)
        mean = x.sum(-1, keepdims=True) / x.shape[-1]
        x = (x - mean) * lax.rsqrt(((x - mean) ** 2).sum(-1, keepdims=True) / x.shape[-1] + 1e-5)
    y = lax.exp(x - x.max(-1, keepdims=True))
    return y / y.sum(-1, keepdims=True)


def weights() -> Any:
    rng = np.random.default_rng(0)
    sizes = [(4, 8), (8, 8), (8, 3)]
    return [(rng.standard_normal(s).astype(np.float32), np.zeros(s[1], np.float32)) for s in sizes]


def test_a_network_with_its_weights_as_inputs_or_inside() -> None:
    given = weights()
    check(network, given, X)
    model = export(lambda x: network(given, x), ShapeDtypeStruct((3, 4), np.float32))
    assert [one.name for one in model.graph.input] == ["arg0"]
    np.testing.assert_allclose(run(model, X)[0], np.asarray(network(given, X)), rtol=1e-5)
    names = [one.name for one in export(network, given, X).graph.input]
    assert names[0] == "arg0[0][0]"
    assert names[-1] == "arg1"


def test_a_gradient_is_a_program_like_any_other() -> None:
    given = weights()
    check(grad(lambda w, x: (network(w, x)[:, 0] ** 2).sum()), given, X)
    check(vmap(lambda row: network(given, row)), X)


def test_a_primitive_without_rule_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(MissingRuleError) as caught:
        export(lambda x: lax.nextafter(x, x), X)
    text = str(caught.value)
    assert "nextafter has no lowering.onnx rule" in text
    assert "bindax-example-onnx" in text


def test_padding_between_elements_is_an_error_that_says_why() -> None:
    with pytest.raises(TypeError, match="ONNX has no padding between elements"):
        export(lambda x: lax.pad(x, np.float32(0), [(0, 0, 1), (0, 0, 0)]), X)


def test_coverage_shows_the_rules_with_their_package() -> None:
    find_primitive("sin")
    to_onnx.find(find_primitive("sin"))
    rules = {rule["kind"]: rule for rule in rule_coverage("sin")["rules"]}
    assert rules["lowering.onnx"]["distribution"] == "bindax-example-onnx"
