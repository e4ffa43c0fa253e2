"""Mistakes of users with optimizers: the texts of errors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from bindax import optimizers as o

W = {"w": np.ones((2, 2), "f4")}
TWO = {"w": np.ones(2, "f4"), "b": np.ones(1, "f4")}


def update(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
    return optimizer.update(W, optimizer.init(W), *args, **kwargs)


MISTAKES = {
    "label": (
        lambda: o.partition({"fast": o.sgd(0.1)}, {"w": "fast", "b": "slow"}).init(TWO),
        r"the labels \['slow'\] have no optimizer; there are those of \['fast'\]",
    ),
    "labels": (lambda: o.partition({"a": o.sgd(0.1)}, {"w": "a"}).init(TWO), "param_labels"),
    "mask": (lambda: o.masked(o.sgd(0.1), {"w": True}).init(TWO), "mask.*the parameters"),
    "mask of decay": (lambda: o.adamw(0.1, mask={"w": True}).init(TWO), "mask.*the parameters"),
    "params": (lambda: update(o.adafactor(0.1)), r"scale_by_factored_rms needs the parameters"),
    "params of lookahead": (
        lambda: update(o.lookahead(o.sgd(0.1), 2, 0.5), W),
        r"lookahead needs LookaheadParams as parameters, but got dict; make them with",
    ),
    "period": (lambda: o.lookahead(o.sgd(0.1), 0, 0.5), "sync_period must be at least 1, but is 0"),
    "names": (
        lambda: o.named_chain(("a", o.sgd(0.1)), ("a", o.sgd(0.1))),
        r"the names must differ, but are \['a', 'a'\]",
    ),
    "every": (
        lambda: o.MultiSteps(o.sgd(0.1), 0),
        "one gradient .* every_k_schedule is 0",
    ),
    "skip": (
        lambda: update(o.MultiSteps(o.sgd(0.1), 2, True, lambda *args: (np.float32(1), ()))),
        "should_skip_update_fn must return a boolean scalar",
    ),
    "static": (
        lambda: o.inject_hyperparams(o.sgd, static_args="rate"),
        r"static_args names \['rate'\], but the arguments are \['learning_rate', 'momentum'",
    ),
    "memory": (lambda: o.scale_by_lbfgs(0), "memory_size must be at least 1, but is 0"),
    "strategy": (
        lambda: o.scale_by_zoom_linesearch(3, initial_guess_strategy="two"),
        "initial_guess_strategy must be 'keep' or 'one', but is 'two'",
    ),
    "no value": (
        lambda: o.value_and_grad_from_state(abs)(1.0, state=o.sgd(0.1).init(W)),
        "the state has no value and gradient.*store_grad=True",
    ),
    "variant": (lambda: o.polyak_sgd(variant="x"), "variant must be 'sps' or 'sps\\+', but is 'x'"),
    "mode": (lambda: o.scale_by_lion(mode="x"), "mode must be one of .* but is 'x'"),
    "preset": (lambda: o.muon(0.1, "x"), r"ns_coeffs must be numbers or one of .* but is 'x'"),
    "coefficients": (
        lambda: o.muon(0.1, (1.0, 2.0)).init(W),
        r"or \(n, 3\), but have \(2,\)",
    ),
    "rows": (lambda: o.muon(0.1, "dion", 3).init(W), "5 rows of coefficients are more than 3"),
    "preconditioning": (
        lambda: update(o.muon(0.1, preconditioning="x"), W),
        "preconditioning must be one of .* but is 'x'",
    ),
    "axes": (
        lambda: update(o.muon(0.1, muon_weight_dimension_numbers=o.MuonDimensionNumbers(0, -2)), W),
        r"rows and columns must differ, but are \(0,\) and \(0,\)",
    ),
    "vector": (
        lambda: o.orthogonalize_via_newton_schulz(np.ones(3), np.ones(3)),
        r"an array of shape \(3,\) needs dimension_numbers",
    ),
    "average": (
        lambda: o.schedule_free_eval_params(o.sgd(0.1).init(W), W),
        "needs the state of schedule_free, but got tuple",
    ),
    "key and seed": (
        lambda: o.add_noise(1.0, 1.0, key=0, seed=0),
        "key or seed, and got both",
    ),
    "order": (lambda: o.tree.norm(W, ord=3), "knows the orders 1, 2 and inf, but ord is 3"),
    "dtypes": (
        lambda: o.tree.dtype({"a": np.float32(1), "b": np.int32(1)}),
        r"the first array is float32, but that at \['b'\] int32; pass a mixed_dtype_handler",
    ),
    "handler": (lambda: o.tree.dtype(W, "x"), "must be None or one of .* but is 'x'"),
    "no order": (
        lambda: o.tree.dtype({"a": np.ones(1, "f2"), "b": np.ones(1, "bfloat16")}, "highest"),
        "neither of float16 and bfloat16 is promoted to the other",
    ),
    "count": (lambda: o.safe_increment(np.bool_(True)), "counts with integers or floats.* bool"),
    "unit": (lambda: o.unitwise_norm(np.ones((2,) * 6)), "weights of up to 5 dimensions"),
    "shapes": (
        lambda: o.unitwise_clip(np.ones(2), np.ones(3), np.ones(2)),
        r"must have one shape, but have \(2,\), \(3,\), \(2,\)",
    ),
    "examples": (
        lambda: o.per_example_global_norm_clip(TWO, 1.0),
        "vmap the gradient over the examples",
    ),
    "complex": (
        lambda: o.sm3(0.1).init(np.ones(2, "c8")),
        "scale_by_sm3 knows no order of complex numbers",
    ),
    "interpolation": (
        lambda: o.piecewise_interpolate_schedule("x", 1.0),
        "interpolate_type must be 'linear' or 'cosine', but is 'x'",
    ),
    "scales": (lambda: o.piecewise_constant_schedule(1.0, {3: -1.0}), "must not be negative"),
    "cycle": (
        lambda: o.linear_onecycle_schedule(0, 1.0),
        "must be positive, but is 0",
    ),
    "cosine": (lambda: o.cosine_decay_schedule(1.0, 0), "decay_steps must be positive, but is 0"),
    "ctc": (
        lambda: o.ctc_loss(np.ones((1, 2, 3)), np.ones((1, 3)), np.ones((1, 1)), np.ones((1, 1))),
        r"ctc_loss needs logits of shape \(batch, time, classes\)",
    ),
    "pairs": (
        lambda: o.ntxent(np.ones((2, 3)), np.ones(3)),
        "needs a label for each embedding",
    ),
    "reduction": (
        lambda: o.losses.dice_loss(np.ones((1, 2)), np.ones((1, 2)), reduction="x"),
        "reduction must be one of .* but is 'x'",
    ),
    "masks": (
        lambda: o.losses.dice_loss(np.ones((1, 2)), np.ones((1, 3))),
        r"predictions of shape \(1, 2\) need targets of the same, but they have \(1, 3\)",
    ),
}


def test_what_is_no_optimizer_is_refused() -> None:
    with pytest.raises(TypeError, match=r"has the functions init and update, but got 3\.$"):
        o.chain(o.sgd(0.1), 3)
    with pytest.raises(
        TypeError, match=r"^monitor: measures must be a mapping of names .* is 3\.$"
    ):
        o.monitor(3)  # type: ignore[arg-type]


def test_python_numbers_are_arrays_of_a_tree() -> None:
    assert o.tree.cast({"w": 1.5}, "float16")["w"].dtype == np.float16
    assert float(o.tree.bias_correction(1.0, 0.5, 1)) == 2.0


@pytest.mark.parametrize("name", MISTAKES)
def test_errors_say_what_is_wrong(name: str) -> None:
    call, text = MISTAKES[name]
    with pytest.raises(ValueError, match=text):
        call()


def test_several_values_of_a_name() -> None:
    state = (o.adam(0.1).init(W), o.adam(0.1).init(W))
    with pytest.raises(KeyError, match="several values have the name 'count'"):
        o.tree.get(state, "count")
    with pytest.raises(KeyError, match="no value has the name 'x'"):
        o.tree.set(state, x=1)


def test_arguments_that_a_function_does_not_take() -> None:
    optimizer = o.lbfgs()
    with pytest.raises(TypeError, match="value_fn does not take batch, which the update was given"):
        update(optimizer, W, value=1.0, grad=W, value_fn=lambda p: p["w"].sum(), batch=3)


def test_infinite_gradients_are_skipped_so_often() -> None:
    optimizer = o.apply_if_finite(o.sgd(1.0), 1)
    state = optimizer.init(np.float32(0))
    for expected in (0.0, -np.inf):
        updates, state = optimizer.update(np.float32(np.inf), state)
        assert float(updates) == expected
    assert int(state.total_notfinite) == 2


@pytest.mark.parametrize(
    ("module", "name", "fields", "expected"),
    [
        ("parts", "AdamState", (1, 2, 3), o.ScaleByAdamState(1, 2, 3)),
        ("gradient_transformations", "RmsState", (1, None), o.ScaleByRmsState(1)),
        ("gradient_transformations", "RmsState", (1, 2), o.ScaleByRStdDevState(2, 1)),
        ("gradient_transformations", "MultiStepsState", (1, 2, 3), o.MultiStepsState(1, 0, 3, 2)),
        ("partial_optimizers", "EmaState", (1, 2), o.EmaState(1, 2)),
        ("adaptive_moments", "AmsgradState", (1, 2, 3, 4), o.ScaleByAmsgradState(1, 2, 3, 4)),
    ],
)
def test_states_in_earlier_pickles(module: str, name: str, fields: Any, expected: Any) -> None:
    arguments = pickle.dumps(fields, 2)[2:-1]  # without protocol and end
    stored = f"cbindax_optimizers.{module}\n{name}\n".encode()
    assert pickle.loads(b"\x80\x02" + stored + arguments + b"\x81.") == expected
