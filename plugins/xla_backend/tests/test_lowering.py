"""The StableHLO that jaxprs become, and what happens when a rule is wrong or missing."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

from bindax_core import config, errors
from bindax_core.errors import DerivedRuleNotice
from bindax_core.extend import lowering
from bindax_transforms import jit, make_jaxpr
from bindax_xla_backend.extend import (
    CompilationError,
    ExecutionError,
    LoweringError,
    element_type,
    tensor_text,
)

EXPECTED = """\
module @jit_f {
  func.func public @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.sine %arg0 : tensor<2xf32>
    %1 = stablehlo.multiply %0, %arg1 : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}"""


def test_text(ops):
    def f(x, y):
        return ops.mul(ops.sin(x), y)

    text = jit(f).lower(np.ones(2, np.float32), np.ones(2, np.float32)).as_text()
    assert text.rstrip() == EXPECTED


def test_locations_name_the_users_line(ops, backend):
    closed = make_jaxpr(lambda x: ops.sin(x))(1.0)
    text = backend.lower(closed, name="f").as_text(debug_info=True)
    assert f'"{__file__}":' in text
    assert "xla_test.sin" in text


def test_unused_operands_are_pruned(ops, backend):
    closed = make_jaxpr(lambda x, y: ops.sin(y))(1.0, 2.0)
    assert "%arg1" not in backend.lower(closed, name="f").as_text()
    assert "%arg1" in backend.lower(closed, name="f", keep_unused=True).as_text()
    assert float(backend.compile(closed, name="f")(1.0, 2.0)[0]) == pytest.approx(np.sin(2.0))
    kept = backend.compile(closed, name="f", keep_unused=True)
    assert float(kept(1.0, 2.0)[0]) == pytest.approx(np.sin(2.0))


def test_large_constants_are_not_part_of_the_program(ops, backend):
    def program(small, large):
        closed = make_jaxpr(lambda x: (ops.sin(small), ops.sin(large), x))(1.0)
        return backend.lower(closed, name="f")

    small, large = np.arange(16.0), np.arange(17.0)
    first, second = program(small, large), program(small, -large)
    assert first.as_text() == second.as_text()
    assert first.as_text() != program(-small, large).as_text()
    a, b, _ = first.compile()(1.0)
    np.testing.assert_allclose(a, np.sin(small))
    np.testing.assert_allclose(b, np.sin(large))
    np.testing.assert_allclose(second.compile()(1.0)[1], np.sin(-large))


def test_names_of_functions_are_symbols(ops):
    inner = jit(lambda x: ops.sin(x))
    other = jit(lambda x: ops.sin(ops.sin(x)))
    text = jit(lambda x: other(inner(x))).lower(1.0).as_text()
    assert "module @jit__lambda_ " in text
    assert "@_lambda_(" in text
    assert "@_lambda__1(" in text


def test_type_names():
    assert element_type(np.dtype(bool)) == "i1"
    assert tensor_text(make_jaxpr(lambda x: x)(np.zeros((2, 0), np.uint8)).out_avals[0]) == (
        "tensor<2x0xui8>"
    )


def test_host_callback(ops, no_notices):
    f = jit(lambda x: ops.add(ops.host_cos(ops.sin(x)), x))
    x = np.linspace(0, 1, 5)
    np.testing.assert_allclose(f(x), np.cos(np.sin(x)) + x)


def test_host_callback_with_several_results(ops, no_notices):
    sin, cos = jit(lambda x: tuple(ops.sin_and_host_cos(x)))(np.float32(0.5))
    assert float(sin) == pytest.approx(np.sin(0.5))
    assert float(cos) == pytest.approx(np.cos(0.5))


def test_a_missing_lowering_is_noticed_once(ops):
    silent = ops.declare("noticed", np.negative, None)
    with pytest.warns(DerivedRuleNotice, match=r"xla_test\.noticed has no lowering\.stablehlo"):
        jit(lambda x: silent.bind(x))(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit(lambda x: silent.bind(x))(np.ones(2))


def test_a_missing_lowering_can_be_an_error(ops):
    with (
        config.override(derived_rules="error"),
        pytest.raises(errors.MissingRuleError, match="host_cos has no lowering"),
    ):
        jit(lambda x: ops.host_cos(x))(np.ones(11))


def test_callback_that_returns_something_else(ops, no_notices):
    wrong = ops.declare("wrong_shape", lambda x: np.zeros(x.shape + (2,)), None)
    with pytest.raises(ExecutionError, match=r"but float64\[3\] was announced"):
        np.asarray(jit(lambda x: wrong.bind(x))(np.ones(3)))


def test_callback_that_raises(ops, no_notices):
    def explode(x):
        raise ValueError("no such luck")

    failing = ops.declare("failing", explode, None)
    message = r"because the host callback impl of xla_test\.failing raised ValueError: no such luck"
    with pytest.raises(ExecutionError, match=message) as caught:
        np.asarray(jit(lambda x: failing.bind(x))(np.ones(3)))
    assert isinstance(caught.value.__cause__, ValueError)


def test_callback_runs_compiled_code(ops, no_notices):
    inner = jit(ops.sin)
    outer = ops.declare("reentrant", lambda x: np.asarray(inner(x)), None)
    x = np.ones(1000)
    for _ in range(50):
        x = jit(lambda x: outer.bind(x))(x)
    assert 0 < float(np.asarray(x)[0]) < 1


def test_slow_callbacks_do_not_block_for_ever(ops, no_notices):
    slow = ops.declare("slow", lambda x: (time.sleep(0.001), x)[1], None)
    f = jit(lambda x: slow.bind(x))
    x = np.ones(3)
    for _ in range(200):
        x = f(x)
    np.testing.assert_array_equal(x, np.ones(3))


def test_wrong_operation(ops):
    bad = ops.declare("bad_operation", np.sin, ops.op("stablehlo.dot_general"))
    with pytest.raises(
        LoweringError, match=r"(?s)operation that is not valid.*expected 2 operands"
    ):
        jit(lambda x: bad.bind(x))(np.ones(3))


def test_wrong_attribute(ops):
    bad = ops.declare(
        "bad_attribute",
        np.sin,
        lambda ctx, x: ctx.op("stablehlo.sine", [x], attributes={"a": "no text"})[0],
    )
    with pytest.raises(LoweringError, match=r"an attribute of stablehlo\.sine is not MLIR"):
        jit(lambda x: bad.bind(x))(np.ones(3))


def test_rule_that_raises(ops):
    def lower(ctx, x):
        raise KeyError("axis")

    bad = ops.declare("bad_rule", np.sin, lower)
    with pytest.raises(KeyError) as caught:
        jit(lambda x: bad.bind(x))(np.ones(3))
    rule, note = caught.value.__notes__
    assert "the lowering.stablehlo rule of xla_test.bad_rule, from" in rule
    assert "while xla_test.bad_rule was lowered, which is applied at" in note
    assert __file__ in note


def test_rule_for_a_platform(ops):
    kind = lowering["stablehlo"]
    p = ops.declare("for_platforms", np.sin, ops.op("stablehlo.sine"))
    kind.install(p, kind(ops.op("stablehlo.cosine"), platform="cpu"))
    kind.install(p, kind(ops.op("stablehlo.tan"), platform="other"))
    assert "stablehlo.cosine" in jit(lambda x: p.bind(x)).lower(1.0).as_text()


def test_wrong_number_of_results(ops):
    kind = lowering["stablehlo"]
    bad = ops.declare(
        "bad_count",
        lambda x: [x, x],
        lambda ctx, x: [x],
        types=lambda aval: [aval, aval],
        multiple_results=True,
    )
    assert kind.find(bad) is not None
    message = r"lowering.stablehlo rule of .*bad_count, .*py:\d+.* of 2 values, .* a list of 1"
    with pytest.raises(LoweringError, match=f"{message}.*config.check_rules"):
        jit(lambda x: bad.bind(x))(np.ones(3))


@pytest.mark.parametrize(("wrap", "got"), [(lambda x: [x], "a list of 1"), (lambda x: (), "of 0")])
def test_a_list_where_one_value_is_due(ops, wrap, got):
    bad = ops.declare("bad_list", np.sin, lambda ctx, x: wrap(x))
    message = rf"lowering.stablehlo rule of .*bad_list, .*py:\d+.* return one value, .* {got}"
    with pytest.raises(LoweringError, match=f"{message}.*config.check_rules"):
        jit(lambda x: bad.bind(x) + 1.0)(np.ones(3))


def test_program_that_xla_rejects(ops):
    bad = ops.declare(
        "bad_target",
        np.sin,
        lambda ctx, x: ctx.op(
            "stablehlo.custom_call", [x], attributes={"call_target_name": '"no_such_target"'}
        )[0],
    )
    with pytest.raises((CompilationError, ExecutionError), match="no_such_target"):
        np.asarray(jit(lambda x: bad.bind(x))(np.ones(3)))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (lambda ctx, x: None, "should return one value, but returned a NoneType"),
        (lambda ctx, x: 3, "should return one value, but returned a int"),
        (lambda ctx, x: np.ones(3), "should return one value, but returned a ndarray"),
        (lambda ctx, x: x.owner, "should return one value, but returned a Block"),
        (lambda ctx, x: (y for y in [x]), "should return one value, but returned a generator"),
        (
            lambda ctx, x: ctx.constant(np.ones(3, bool)),
            r"type tensor<3xf64>, but .*xi1>",
        ),
        (
            lambda ctx, x: ctx.constant(1.0),
            "the type tensor<3xf64>, but has tensor<f64>",
        ),
        (lambda ctx, x: ctx.op("add", [x, x])[0], "built an operation that is not valid"),
        (lambda ctx, x: ctx.op("stablehlo.add", [x])[0], "(?s)not valid.*expected 2 operands"),
    ],
)
def test_wrong_results(ops, rule, text):
    bad = ops.declare("bad_results", np.sin, rule)
    for call in (bad.bind, lambda x: bad.bind(x) + 1):
        with pytest.raises(LoweringError, match=text) as caught:
            jit(call)(np.ones(3))
        message = str(caught.value)
        assert message.startswith("the lowering.stablehlo rule of xla_test.bad_results, from")
        assert f"{__file__}:{rule.__code__.co_firstlineno}" in message


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (lambda ctx, x: ctx.op("stablehlo.sine", x), r"operands are a \w+, where a list is due"),
        (
            lambda ctx, x: ctx.op("stablehlo.add", [x, 2.0]),
            r"operand 1 is a float, .*constant",
        ),
        (
            lambda ctx, x: ctx.op("stablehlo.sine", [x], ctx.avals_out[0]),
            "result_avals must be",
        ),
        (lambda ctx, x: ctx.op("stablehlo.sine", [x], ["f32"]), r"not \['f32'\]"),
        (
            lambda ctx, x: ctx.op("stablehlo.reverse", [x], None, {"dimensions": 0}),
            "as text",
        ),
    ],
)
def test_wrong_arguments_of_operations(ops, rule, text):
    bad = ops.declare("bad_arguments", np.sin, rule)
    with pytest.raises(LoweringError, match=rf"^the operation stablehlo\.\w+: .*{text}") as caught:
        jit(lambda x: bad.bind(x))(np.ones(3))
    assert "while xla_test.bad_arguments was lowered" in caught.value.__notes__[-1]


def test_rule_that_takes_something_else(ops):
    bad = ops.declare("bad_form", np.sin, lambda x: x)
    with pytest.raises(errors.RuleOutputError, match=r"rule of xla_test\.bad_form.*2 arguments"):
        jit(lambda x: bad.bind(x))(np.ones(3))
