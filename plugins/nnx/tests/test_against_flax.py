"""Initial values, results and random numbers beside stored answers of Flax."""

from pathlib import Path

import numpy as np
import pytest
from _guide import IMPORTS, MODELS, PROGRAMS, run
from _layer_cases import CASES, X, call

import bindax_numpy as jnp
import bindax_random as random
from bindax import nnx, optimizers

REFERENCES = np.load(Path(__file__).with_name("references.npz"))
GUIDE = np.load(Path(__file__).with_name("guide.npz"))
TRAINED = np.load(Path(__file__).with_name("models.npz"))


@pytest.mark.every(4)
@pytest.mark.parametrize("name", CASES)
def test_layers_are_those_of_flax(name):
    inputs, make = CASES[name]
    layer = make(nnx, nnx.Rngs(0))
    out = call(nnx, name, layer, X[inputs])
    expected = REFERENCES[f"{name}/out"]
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=2e-5)
    assert out.dtype == expected.dtype
    if name in ("weight_norm", "spectral_norm"):
        return  # Flax replaces the kernels of the inner layer; here they stay as they are
    prefix = f"{name}/state/"
    stored = {k[len(prefix) :]: REFERENCES[k] for k in REFERENCES.files if k.startswith(prefix)}
    state = nnx.state(layer, (nnx.Param, nnx.BatchStat)).flat_state()
    assert {"/".join(map(str, path)) for path in state} == set(stored)
    for path, variable in state.items():
        value = stored["/".join(map(str, path))]
        np.testing.assert_allclose(variable.value, value, rtol=1e-4, atol=1e-5)


def test_streams_of_keys_are_those_of_flax():
    rngs = nnx.Rngs(1, noise=2)
    drawn = [rngs.params(), rngs.params(), rngs.noise(), rngs()]
    found = np.stack([random.key_data(key) for key in drawn])
    np.testing.assert_array_equal(found, REFERENCES["rngs"])
    backups = nnx.compat.split_rngs(rngs, splits=3, only="noise")
    np.testing.assert_array_equal(random.key_data(rngs.noise.key.value), REFERENCES["split"])
    nnx.restore_rngs(backups)
    np.testing.assert_array_equal(random.key_data(rngs.noise()), REFERENCES["restored"])


def test_scan_over_layers_with_remat():
    @nnx.split_rngs(splits=4)
    @nnx.vmap(in_axes=0, out_axes=0)
    def make(rngs):
        return nnx.Linear(6, 6, rngs=rngs)

    layers = make(nnx.Rngs(0))

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    @nnx.remat
    def apply(x, layer):
        return jnp.tanh(layer(x))

    np.testing.assert_allclose(apply(X["vectors"], layers), REFERENCES["layers"], rtol=1e-5)
    gradient = nnx.grad(lambda layers: apply(X["vectors"], layers).sum())(layers)
    np.testing.assert_allclose(
        gradient.kernel.value, REFERENCES["layers_grad"], rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("compiled", [False, True])
def test_training_takes_the_steps_of_flax(compiled):
    model = nnx.Linear(6, 1, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optimizers.adamw(0.1), wrt=nnx.Param)

    def step(model, optimizer, x):
        value, grads = nnx.value_and_grad(lambda m: (m(x) ** 2).mean())(model)
        optimizer.update(model, grads)
        return value

    step = nnx.jit(step) if compiled else step
    losses = [float(step(model, optimizer, X["vectors"])) for _ in range(5)]
    np.testing.assert_allclose(losses, REFERENCES["training"], rtol=1e-4)
    assert int(optimizer.step) == 5
    if compiled:
        assert step.cache_info() == (1, 1)


def check_program(name, stored, rtol, atol):
    found = run(name, IMPORTS)
    expected = {k.split("/", 1)[1]: stored[k] for k in stored.files if k.startswith(f"{name}/")}
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key].dtype.kind == value.dtype.kind
        np.testing.assert_allclose(found[key], value, rtol=rtol, atol=atol, err_msg=key)


@pytest.mark.graph
@pytest.mark.every(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_written_for_flax_run_with_other_imports(name):
    check_program(name, GUIDE, rtol=2e-3, atol=2e-4)


@pytest.mark.graph
@pytest.mark.every(5)
@pytest.mark.parametrize("name", MODELS)
def test_models_written_for_flax_are_trained_step_for_step(name):
    check_program(name, TRAINED, rtol=1e-4, atol=5e-5)
