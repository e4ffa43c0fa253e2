"""Counts of steps at the end of their dtype."""

import numpy as np
import pytest

from bindax import optimizers

LAST = np.iinfo(np.int32).max


@pytest.mark.parametrize(
    "make",
    [
        optimizers.scale_by_adam,
        optimizers.scale_by_lion,
        lambda: optimizers.scale_by_learning_rate(lambda count: 0.5 * (count >= 0)),
    ],
)
def test_last_step_stays(make):
    transformation = make()
    gradients = {"w": np.array([2.0, -1.0], np.float32)}
    state = transformation.init(gradients)._replace(count=np.int32(LAST - 1))
    for _ in range(3):
        updates, state = transformation.update(gradients, state)
        assert np.isfinite(np.asarray(updates["w"])).all()
    assert int(state.count) == LAST
