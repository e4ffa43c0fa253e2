"""Steps and schedules beside stored answers of optax."""

from pathlib import Path

import numpy as np
import pytest

import bindax
import bindax_optimizers as optimizers

REFERENCES = np.load(Path(__file__).with_name("references.npz"))
OPTIMIZERS = {
    "sgd": lambda o: o.sgd(0.1),
    "momentum": lambda o: o.sgd(0.1, 0.9),
    "nesterov": lambda o: o.sgd(0.1, 0.9, True),
    "adam": lambda o: o.adam(0.1),
    "adamw": lambda o: o.adamw(0.1, weight_decay=0.01),
    "lion": lambda o: o.lion(0.1),
    "rmsprop": lambda o: o.rmsprop(0.1),
    "centered": lambda o: o.rmsprop(0.1, centered=True, momentum=0.9),
    "adagrad": lambda o: o.adagrad(0.1),
    "clipped": lambda o: o.chain(o.clip_by_global_norm(0.5), o.sgd(0.1)),
    "scheduled": lambda o: o.sgd(o.linear_schedule(0.1, 0.01, 3)),
}
SCHEDULES = {
    "linear": lambda o: o.linear_schedule(1.0, 0.1, 10, 2),
    "polynomial": lambda o: o.polynomial_schedule(1.0, 0.1, 2, 10),
    "exponential": lambda o: o.exponential_decay(1.0, 5, 0.5, 2, end_value=0.2),
    "staircase": lambda o: o.exponential_decay(1.0, 5, 0.5, staircase=True),
    "cosine": lambda o: o.cosine_decay_schedule(1.0, 10, 0.1),
    "warmup": lambda o: o.warmup_cosine_decay_schedule(0.0, 1.0, 4, 12, 0.1),
    "piecewise": lambda o: o.piecewise_constant_schedule(1.0, {3: 0.5, 7: 0.1}),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_those_of_optax(name):
    optimizer = OPTIMIZERS[name](optimizers)
    params = REFERENCES["start"]
    state = optimizer.init(params)
    for gradient, expected in zip(REFERENCES["gradients"], REFERENCES[name], strict=True):
        updates, state = optimizer.update(gradient, state, params)
        params = optimizers.apply_updates(params, updates)
        np.testing.assert_allclose(params, expected, rtol=2e-5, atol=1e-6)
        assert params.dtype == np.float32


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_those_of_optax(name):
    schedule = SCHEDULES[name](optimizers)
    found = [float(schedule(i)) for i in range(15)]
    np.testing.assert_allclose(found, REFERENCES[name], rtol=1e-5, atol=1e-7)


def test_adam_after_the_formula_of_the_paper():
    rate, b1, b2, eps = 0.1, 0.9, 0.999, 1e-8
    optimizer = optimizers.adam(rate)
    params = theta = REFERENCES["start"].astype("f8")
    state = optimizer.init(params)
    m = v = np.zeros(3)
    for t, g in enumerate(REFERENCES["gradients"].astype("f8"), 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        theta = theta - rate * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps)
        updates, state = optimizer.update(g, state, params)
        params = optimizers.apply_updates(params, updates)
    np.testing.assert_allclose(params, theta, rtol=1e-4)


def test_accumulated_gradients_make_the_step_of_their_mean():
    params, gradients = REFERENCES["start"], REFERENCES["gradients"]
    plain, gathered = optimizers.adam(0.1), optimizers.multi_steps(optimizers.adam(0.1), 2)
    state, other = plain.init(params), gathered.init(params)
    for first, second in ((0, 1), (2, 3)):
        mean = (gradients[first] + gradients[second]) / 2
        expected, state = plain.update(mean, state, params)
        nothing, other = gathered.update(gradients[first], other, params)
        np.testing.assert_array_equal(nothing, 0)
        found, other = gathered.update(gradients[second], other, params)
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_step_compiles_and_is_that_without_compiling():
    optimizer = optimizers.adamw(optimizers.cosine_decay_schedule(0.1, 10))
    params = {"w": REFERENCES["start"]}
    state = optimizer.init(params)
    gradients = {"w": REFERENCES["gradients"][0]}
    expected, _ = optimizer.update(gradients, state, params)
    found, _ = bindax.jit(optimizer.update)(gradients, state, params)
    np.testing.assert_allclose(found["w"], expected["w"], rtol=1e-6)


def test_masked_weight_decay():
    decay = optimizers.add_decayed_weights(0.5, {"w": True, "b": False})
    ones = {"w": np.ones(1, "f4"), "b": np.ones(1, "f4")}
    updates, _ = decay.update(ones, decay.init(ones), ones)
    np.testing.assert_array_equal(updates["w"], 1.5)
    np.testing.assert_array_equal(updates["b"], 1.0)


def test_errors_say_what_to_do():
    decay = optimizers.add_decayed_weights(0.5)
    with pytest.raises(ValueError, match=r"call update\(updates, state, params\)"):
        decay.update(np.ones(1), decay.init(np.ones(1)))
    with pytest.raises(ValueError, match="a state of 0 parts"):
        optimizers.adam(0.1).update(np.ones(1), ())
    with pytest.raises(ValueError, match="at least one gradient"):
        optimizers.multi_steps(optimizers.adam(0.1), 0)
    with pytest.raises(ValueError, match="needs a boundary between"):
        optimizers.join_schedules([abs, abs], [])
    with pytest.raises(ValueError, match="transition_steps must be positive"):
        optimizers.linear_schedule(1, 0, 0)
