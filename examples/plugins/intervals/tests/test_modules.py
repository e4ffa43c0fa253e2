"""The transformation, lifted to functions of modules."""

import numpy as np
import pytest
from bindax_example_intervals import Interval, bounds

nnx = pytest.importorskip("bindax_nnx")


def test_bounds_of_a_model_hold_and_those_of_its_state_are_kept():
    class Model(nnx.Module):
        def __init__(self):
            self.linear = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
            self.seen = nnx.Intermediate(np.zeros((1, 2), "f4"))

        def __call__(self, x):
            self.seen.value = self.linear(x)
            return nnx.relu(self.seen.value)

    model = Model()
    lifted = nnx.lift(bounds, is_leaf=lambda x: isinstance(x, Interval))
    x = np.ones((1, 3), "f4")
    low, high = lifted(lambda model, x: model(x))(model, Interval(x - 0.1, x + 0.1))
    assert isinstance(model.seen.value, Interval)  # what is recorded has bounds, too
    for shift in (-0.1, 0.0, 0.05):
        y = np.asarray(model(x + np.float32(shift)))
        assert np.all(low <= y + 1e-6)
        assert np.all(y <= high + 1e-6)
