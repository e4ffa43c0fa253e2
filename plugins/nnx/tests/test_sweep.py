"""Layers with each of their options, beside stored answers of Flax."""

from pathlib import Path

import numpy as np
import pytest
from _sweep_cases import cases, read, run

import bindax_numpy as jnp
from bindax import nnx

ANSWERS = read(Path(__file__).with_name("sweep.npz"))
CASES = dict(cases())
TOLERANCES = {"float16": 2e-2, "bfloat16": 8e-2}


@pytest.mark.every(25)
@pytest.mark.parametrize("name", ANSWERS)
def test_layers_with_options_are_those_of_flax(name):
    expected = ANSWERS[name]
    found = {key: np.asarray(x) for key, x in run(nnx, jnp, CASES[name]).items()}
    assert found.keys() == expected.keys()
    half = any(word in name for word in ("bf16", "bfloat16", "f2", "float16"))
    for key, (dtype, shape, values) in expected.items():
        assert found[key].shape == shape, key
        if key.startswith("layer_instance"):
            continue  # Flax replaces the kernels of the inner layer; here they stay as they are
        assert found[key].dtype.name == dtype, key
        if values is not None:
            tolerance = TOLERANCES.get(dtype, 3e-2 if half else 2e-4)
            np.testing.assert_allclose(
                found[key].astype("f4"), values, rtol=tolerance, atol=tolerance, err_msg=key
            )


def test_each_case_has_an_answer_or_is_refused_by_flax():
    assert set(ANSWERS) <= set(CASES)
    assert len(ANSWERS) > 0.75 * len(CASES)
