"""Convolutions of infinities and NaN: each batch gives what its elements give alone."""

import numpy as np
import pytest

import bindax_numpy as jnp
from bindax_transforms import jit, vmap

INF, NAN = np.inf, np.nan
X = np.array([[1, INF, 2, -1], [0, 3, -INF, 1], [1, 2, NAN, 4]], np.float32)
K = np.array([[1, 0, 2], [0, 1, 0], [-1, INF, 1]], np.float32)
# What JAX gives; padding is not multiplied by infinities, so that the first element is NaN.
FULL = [
    [1, INF, NAN, INF, 4, -2],
    [0, 0, NAN, -INF, NAN, 0],
    [NAN, INF, NAN, NAN, NAN, NAN],
]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)])
def test_batches_are_loops(axes, compiled):
    batched = vmap(lambda x, k: jnp.convolve(x, k), axes)
    xs, ks = (X if axes[0] == 0 else X[0]), (K if axes[1] == 0 else K[0])
    got = np.asarray((jit(batched) if compiled else batched)(xs, ks))
    rows = [(X[i if axes[0] == 0 else 0], K[i if axes[1] == 0 else 0]) for i in range(3)]
    np.testing.assert_array_equal(got, [np.asarray(jnp.convolve(*row)) for row in rows])
    if axes == (0, 0):
        np.testing.assert_array_equal(got, FULL)
