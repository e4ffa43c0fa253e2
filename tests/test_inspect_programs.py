"""Reports of whole programs: the time of each is attributed to lines, and large ones stay small."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax_core import config
from bindax_inspect.page import data

SIZE = 2_000_000  # bytes


def programs() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    from benchmarks.compiled import LAYERS, WIDTH, matmul_chain
    from benchmarks.control_flow import convolution_net, recurrent_network, small_steps

    matrix = np.full((WIDTH, WIDTH), 1 / 256, np.float32)
    found = {
        "matmul chain": (matmul_chain(bindax), ([matrix] * LAYERS, matrix)),
        "recurrent network": recurrent_network(bindax),
        "small steps": small_steps(bindax),
        "convolutions": convolution_net(bindax),
    }
    gradients = {f"{name}, gradient": (bindax.grad(f), args) for name, (f, args) in found.items()}
    return {**found, **gradients}


NAMES = ("matmul chain", "recurrent network", "small steps", "convolutions")


@pytest.mark.nightly
@pytest.mark.parametrize("name", [*NAMES, *(f"{name}, gradient" for name in NAMES)])
def test_time_of_the_benchmark_s_programs_is_attributed(name: str) -> None:
    if bindax.default_backend() == "numpy":
        pytest.skip("programs are profiled by the compiler")
    f, args = programs()[name]
    report = bindax.inspect(f)(*args)
    assert report.time is not None
    assert report.time.attributed >= 0.95
    assert report.cost.guessed == 0
    if "scan" not in {one.eqn.primitive.name for one in report.program.equations}:
        # The compiler counts the body of a loop once.
        assert report.cost.operations == pytest.approx(report.cost.compiler_operations, rel=0.05)


def layers(x: Any, w: Any, number: int) -> Any:
    for i in range(number):
        with bindax.named_scope(f"layer{i}"):
            x = jnp.tanh(x @ w) * 2.0 + x
    return x.sum()


def test_a_large_program_is_folded_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MOST_EQUATIONS", 100)
    monkeypatch.setattr(data, "MOST_LINES", 120)
    x = np.ones((2, 2), np.float32)
    with config.override(backend="numpy"):
        found = data.page_data(bindax.inspect(lambda x, w: layers(x, w, 30))(x, x))
    assert found["folded"]
    assert found["notes"][-1] == (
        "Inner parts are folded: the program has 121 equations; 3 lines of the jaxpr program are "
        "left out."
    )


@pytest.mark.nightly
def test_the_page_of_5_000_equations_is_small(tmp_path: Path) -> None:
    x = np.ones((8, 8), np.float32)
    report = bindax.inspect(bindax.grad(lambda x, w: layers(x, w, 500)), runs=1)(x, x)
    assert 4500 < len(report.program.equations) < 6000
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < SIZE
