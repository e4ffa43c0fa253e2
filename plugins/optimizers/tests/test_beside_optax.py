"""Thirty steps beside optax, and optimizers for parts of the parameters."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import bindax_optimizers as optimizers

optax = pytest.importorskip("optax")

GRADIENTS = np.random.default_rng(0).normal(size=(30, 2, 3)).astype("f4")
START = {"w": np.linspace(-1, 1, 6, dtype="f4").reshape(2, 3), "b": np.ones(3, "f4")}
MASK = {"w": True, "b": False}
LABELS = {"w": "fast", "b": "still"}

OPTIMIZERS = {
    "adam, nesterov": lambda o: o.adam(0.1, nesterov=True),
    "nadam": lambda o: o.nadam(0.1),
    "nadamw": lambda o: o.nadamw(0.1, weight_decay=0.01),
    "amsgrad": lambda o: o.amsgrad(0.1),
    "adamax": lambda o: o.adamax(0.1),
    "adamaxw": lambda o: o.adamaxw(0.1, weight_decay=0.01),
    "adabelief": lambda o: o.adabelief(0.1),
    "adabelief, nesterov": lambda o: o.adabelief(0.1, nesterov=True),
    "radam": lambda o: o.radam(0.1),
    "radam, nesterov": lambda o: o.radam(0.1, nesterov=True),
    "radam, threshold": lambda o: o.radam(0.1, b2=0.9, threshold=4.5),
    "lamb": lambda o: o.lamb(0.1, weight_decay=0.01),
    "lars": lambda o: o.lars(0.1, weight_decay=0.01, trust_coefficient=0.1),
    "lars, masks": lambda o: o.lars(0.1, 0.01, MASK, 0.1, trust_ratio_mask=MASK),
    "masked": lambda o: o.masked(o.adam(0.1), MASK),
    "partition": lambda o: o.partition({"fast": o.adam(0.1), "still": o.set_to_zero()}, LABELS),
    "scaled": lambda o: o.chain(o.scale_by_schedule(lambda i: 1.0 / (i + 1)), o.sgd(0.1)),
    "ema": lambda o: o.chain(o.ema(0.9), o.sgd(0.1)),
    "ema, biased": lambda o: o.chain(o.ema(0.9, debias=False), o.sgd(0.1)),
    "trust ratio": lambda o: o.chain(o.scale_by_trust_ratio(0.5, 0.1, 1e-3), o.sgd(0.1)),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_thirty_steps_are_those_of_optax(name):
    ours, theirs = OPTIMIZERS[name](optimizers), OPTIMIZERS[name](optax)
    params = expected = START
    state, other = ours.init(params), theirs.init(params)
    for g in GRADIENTS:
        gradients = {"w": g, "b": g[0]}
        updates, state = ours.update(gradients, state, params)
        params = optimizers.apply_updates(params, updates)
        updates, other = theirs.update(gradients, other, expected)
        expected = optax.apply_updates(expected, updates)
    # The rectified variance is a small difference of large numbers of 32 bits.
    tolerance = 1e-4 if name.startswith("radam") else 1e-5
    for key in params:
        np.testing.assert_allclose(params[key], expected[key], rtol=tolerance, atol=1e-5)


NAMES = ["adabelief", "adamax", "adamaxw", "lamb", "lars", "radam", "masked", "ema"]


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_those_of_optax(name):
    ours, theirs = (inspect.signature(getattr(o, name)).parameters for o in (optimizers, optax))
    differences = {"accumulator_dtype", "mask_compatible_extra_args"}
    assert list(ours) == [n for n in theirs if n not in differences]
    for n, parameter in ours.items():
        assert parameter.default == theirs[n].default


def test_average_of_parameters():
    new, old = {"w": np.ones(2, "f4")}, {"w": np.zeros(2, "f4")}
    found = optimizers.incremental_update(new, old, 0.25)
    np.testing.assert_array_equal(found["w"], optax.incremental_update(new, old, 0.25)["w"])


def test_mistakes_in_parts():
    parts = optimizers.partition({"fast": optimizers.sgd(0.1)}, {"w": "fast", "b": "slow"})
    with pytest.raises(ValueError, match=r"the labels \['slow'\] have no optimizer; .*\['fast'\]"):
        parts.init(START)
    with pytest.raises(ValueError, match="mask"):
        optimizers.masked(optimizers.sgd(0.1), {"w": True}).init(START)
