"""Optimizers of the package optax beside modules: as those of ``bindax.optimizers``."""

import importlib.util
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

from bindax import nnx

PROGRAM = """
import os
import sys
import numpy as np
import bindax
import bindax.numpy as jnp
from bindax import nnx, optimizers

if sys.argv[1:]:
    from bindax.jax_names import import_package
    optax = import_package("optax")
else:
    import optax

class Network(nnx.Module):
    def __init__(self, rngs):
        self.layers = [nnx.Linear(2, 4, rngs=rngs), nnx.Linear(4, 1, rngs=rngs)]
        self.norm = nnx.BatchNorm(4, rngs=rngs)
    def __call__(self, x):
        return self.layers[1](nnx.relu(self.norm(self.layers[0](x))))

x = jnp.linspace(-1.0, 1.0, 16).reshape(8, 2)

def loss(model):
    return ((model(x)[:, 0] - x.sum(1)) ** 2).mean()

def step(model, optimizer):
    value, slopes = nnx.value_and_grad(loss)(model)
    optimizer.update(model, slopes)
    return value

def search(model, optimizer):
    value, slopes = nnx.value_and_grad(loss)(model)
    graph, _, rest = nnx.split(model, nnx.Param, ...)
    def of(params):
        return loss(nnx.merge(graph, params, rest, copy=True))
    optimizer.update(model, slopes, value=value, grad=slopes, value_fn=of)
    return value

def trained(tx, step, mode, compiled):
    with nnx.set_graph_mode(mode), nnx.set_graph_updates(mode):
        model = Network(nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)
        step = nnx.jit(step) if compiled else step
        losses = [float(step(model, optimizer)) for _ in range(4)]
    assert int(optimizer.step) == 4
    kernel = model.layers[0].kernel
    return [*losses, *np.ravel(kernel[...])]

def is_matrix(params):
    return bindax.tree.map(lambda x: x.ndim > 1, params)

MAKERS = {
    "adam": lambda o: o.adam(0.05),
    "chain": lambda o: o.chain(
        o.clip_by_global_norm(0.5),
        o.adamw(o.cosine_decay_schedule(0.1, 5), weight_decay=0.1, mask=is_matrix),
    ),
    "hyperparameters": lambda o: o.inject_hyperparams(o.adam)(learning_rate=0.05),
    "labels": lambda o: o.multi_transform(
        {True: o.adafactor(0.05), False: o.set_to_zero()}, is_matrix
    ),
    "search": lambda o: o.chain(o.sgd(1.0), o.scale_by_backtracking_linesearch(4)),
}
night = bool(os.environ.get("BINDAX_NIGHTLY"))
if night:
    MAKERS["search of lbfgs"] = lambda o: o.lbfgs()
for name, make in MAKERS.items():
    for mode in (True, False) if name == "adam" else (True,):
        how = search if "search" in name else step
        compiled = night or name in ("adam", "chain", "search")
        found, expected = (trained(make(o), how, mode, compiled) for o in (optax, optimizers))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=name)
"""


@pytest.mark.every(2)
@pytest.mark.timeout(200)
@pytest.mark.skipif(importlib.util.find_spec("optax") is None, reason="optax is not installed")
@pytest.mark.parametrize("beside", [False, True])
def test_models_are_trained_by_optax(beside):
    command = ["-c", PROGRAM, "beside"] if beside else ["-m", "bindax.jax", "-c", PROGRAM]
    command = [sys.executable, "-W", "ignore", *command]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert ran.returncode == 0, ran.stderr[-3000:]


def test_optax_on_jax_itself_is_refused(monkeypatch):
    """Its functions take bindax's states for leaves that are no arrays."""

    def init(params):
        return ()

    init.__module__ = "optax.transforms._combining"
    tx = SimpleNamespace(init=init, update=init)
    model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    monkeypatch.setitem(sys.modules, "jax", ModuleType("jax"))
    with pytest.raises(TypeError, match=r"optax.*on JAX.*import_package\(\"optax\"\)"):
        nnx.Optimizer(model, tx, wrt=nnx.Param)
    monkeypatch.delitem(sys.modules, "jax")
    assert nnx.Optimizer(model, tx, wrt=nnx.Param).opt_state == ()
