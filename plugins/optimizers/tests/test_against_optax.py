"""Steps, schedules and losses beside stored answers of optax."""

from pathlib import Path

import numpy as np
import pytest
from _optimizer_cases import LOSSES, OPTIMIZERS, SCHEDULES

import bindax
import bindax_optimizers as optimizers

REFERENCES = np.load(Path(__file__).with_name("references.npz"))


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


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_those_of_optax(name):
    found = LOSSES[name](optimizers)
    expected = REFERENCES[name]
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)
    assert found.dtype == expected.dtype


def test_losses_have_derivatives_where_logits_are_far_apart():
    logits = np.float32([[1e4, 0.0], [0.0, 1e4]])

    def loss(logits):
        return optimizers.softmax_cross_entropy_with_integer_labels(logits, np.array([0, 0])).sum()

    np.testing.assert_allclose(bindax.grad(loss)(logits), [[0, 0], [-1, 1]])
    far = bindax.grad(lambda x: optimizers.sigmoid_binary_cross_entropy(x, 0.0).sum())
    np.testing.assert_allclose(far(np.float32([-1e4, 1e4])), [0, 1])


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
    with pytest.raises(TypeError, match="the labels are float32, and should be integers"):
        optimizers.softmax_cross_entropy_with_integer_labels(np.ones((2, 3)), np.ones(2, "f4"))
    with pytest.raises(ValueError, match=r"labels should have the shape \(2,\), but have \(3,\)"):
        optimizers.softmax_cross_entropy_with_integer_labels(np.ones((2, 3)), np.ones(3, "i4"))
