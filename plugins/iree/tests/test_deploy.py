"""Deployed files run beside NumPy and IREE's runtime alone, with the numbers of this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import bindax
from bindax import export, nnx
from bindax._cli import main
from bindax.demo import classifier, digits
from bindax_iree import TARGETS, deploy, example_program

pytestmark = pytest.mark.usefixtures("iree")
(BATCH, TIME) = export.symbolic_shape("batch, time")

COMPARE = """
import importlib.util
import numpy as np
from iree import runtime
assert not any(map(importlib.util.find_spec, ("bindax", "bindax_core", "jax", "jaxlib")))
config = runtime.Config("local-task")
module = runtime.VmModule.mmap(config.vm_instance, {path!r})
main = runtime.load_vm_module(module, config).main
for i in range({count}):
    x, y = np.load({stem!r} + f"x{{i}}.npy"), np.load({stem!r} + f"y{{i}}.npy")
    np.testing.assert_allclose(main(x).to_host(), y, rtol=1e-5, atol=1e-5)
    print(x.shape)
"""


class Block(nnx.Module):
    """A transformer block."""

    def __init__(self, width: int, heads: int, rngs: nnx.Rngs) -> None:
        self.norms = nnx.List([nnx.LayerNorm(width, rngs=rngs) for _ in range(2)])
        self.attention = nnx.MultiHeadAttention(
            num_heads=heads, in_features=width, decode=False, rngs=rngs
        )
        self.up = nnx.Linear(width, 4 * width, rngs=rngs)
        self.down = nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        x = x + self.attention(self.norms[0](x))
        return x + self.down(nnx.gelu(self.up(self.norms[1](x))))


def run_deployed(
    function: Any,
    shape: tuple[Any, ...],
    inputs: list[np.ndarray[Any, Any]],
    tmp_path: Path,
    run_alone: Callable[[str], str],
) -> None:
    program, path = tmp_path / "program.export", tmp_path / "program.vmfb"
    made = export.export(function)(bindax.ShapeDtypeStruct(shape, np.float32))
    program.write_bytes(made.serialize())
    arguments = ["deploy", str(program), "--target", "x86-64", "--output", str(path)]
    ran = CliRunner().invoke(main, arguments)
    assert ran.exit_code == 0, ran.output
    assert f"{path}: {path.stat().st_size:,} bytes for x86-64" in ran.output
    for i, x in enumerate(inputs):
        np.save(f"{path}.x{i}.npy", x)
        np.save(f"{path}.y{i}.npy", np.asarray(function(x)))
    text = COMPARE.format(path=str(path), stem=f"{path}.", count=len(inputs))
    assert run_alone(text).splitlines() == [str(x.shape) for x in inputs]


def trained() -> Any:
    """The classifier of the demo after some steps."""
    training, _ = digits.load()
    state, step = classifier.initial_state(0), bindax.jit(classifier.train_step)
    for _ in range(20):
        state, _ = step(state, training.images, training.targets)
    return bindax.tree.map(np.asarray, state.parameters)


def test_the_classifier_of_digits(tmp_path: Path, run_alone: Callable[[str], str]) -> None:
    parameters = trained()
    predict = bindax.jit(
        lambda images: bindax.vmap(classifier.predict, in_axes=(None, 0))(parameters, images)
    )
    images = digits.load()[1].images
    inputs = [images, images[:1], images[:7]]
    run_deployed(predict, (BATCH, 64), inputs, tmp_path, run_alone)


def test_a_transformer_block(tmp_path: Path, run_alone: Callable[[str], str]) -> None:
    block, rng = Block(32, 4, nnx.Rngs(0)), np.random.default_rng(0)
    inputs = [rng.standard_normal((*n, 32)).astype(np.float32) for n in ((2, 5), (1, 1), (3, 16))]
    run_deployed(bindax.jit(lambda x: block(x)), (BATCH, TIME, 32), inputs, tmp_path, run_alone)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target(target: str) -> None:
    predict = bindax.jit(lambda x: bindax.nn.softmax(x @ np.eye(4, 3, dtype=np.float32)))
    made = export.export(predict)(bindax.ShapeDtypeStruct((BATCH, 4), np.float32))
    assert len(deploy(made, target)) > 1000


def test_the_example_runs(tmp_path: Path, run_alone: Callable[[str], str]) -> None:
    made = export.export(bindax.jit(lambda x: (x + 1, x.sum())))(np.zeros((2, 3), np.float32))
    path = tmp_path / "f.vmfb"
    path.write_bytes(deploy(made, "vmvx"))
    assert "[1. 1. 1.]" in run_alone(example_program(made, "vmvx", path))


FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x: x[1:] - x[:-1], (2 * BATCH, 3)),
    (lambda x: x.reshape(-1), (BATCH, 3)),
    (lambda x: bindax.numpy.concatenate([x, x[:2]]), (BATCH + 1, 3)),
    (lambda x: bindax.numpy.arange(x.shape[0]) + x[:, 0], (BATCH, 3)),
    (lambda x: bindax.numpy.einsum("bti,bsi->bts", x, x), (BATCH, TIME, 3)),
    (lambda x: (x - x.mean(0)) / x.std(0), (BATCH, 3)),
    (lambda x: bindax.numpy.pad(x, ((1, 2), (0, 0))), (BATCH, 3)),
    (lambda x: x[::-1], (BATCH, 3)),
    (lambda x: bindax.numpy.where(x > 0, x, 0) + (x > 1), (BATCH, 3)),
    (lambda x: x.at[:, np.array([1, 7, -9])].add(2, mode="drop"), (BATCH, 3)),
    (lambda x: _histogram(bindax.numpy.round(9 * x[:, 0]), x[:, 1]), (BATCH, 3)),
]


def _histogram(places: Any, weights: Any) -> Any:
    """Sums of weights by place, of which most are out of bounds."""
    return bindax.numpy.zeros(4).at[places.astype("int32")].add(weights, mode="drop")


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_operations_on_symbolic_sizes(number: int) -> None:
    from iree import runtime

    function, shape = FUNCTIONS[number]
    jitted = bindax.jit(function)
    made = export.export(jitted)(bindax.ShapeDtypeStruct(shape, np.float32))
    config = runtime.Config("local-task")
    module = runtime.VmModule.copy_buffer(config.vm_instance, deploy(made, "vmvx"))
    run = runtime.load_vm_module(module, config).main
    for b in (2, 5):
        sizes = [n if isinstance(n, int) else n.evaluate({"batch": b, "time": 3}) for n in shape]
        x = np.random.default_rng(b).standard_normal(sizes).astype(np.float32)
        np.testing.assert_allclose(run(x).to_host(), jitted(x), rtol=1e-5, atol=1e-5)
