"""What the guides claim of the same primitive in bindax and in JAX."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bindax

PAGE = Path(__file__).resolve().parent.parent / "docs/guides/primitive.md"
MODULES = {
    "jax.extend.core",
    "jax.extend.mlir.dialects",
    "jax.interpreters.ad",
    "jax.interpreters.batching",
    "jax.interpreters.mlir",
    "jax.interpreters.xla",
}


def program(fence: str) -> str:
    """The first block of the page with a fence."""
    found = re.search(rf"^```{fence}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def ran(text: str) -> Any:
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile(text, str(PAGE), "exec"), names)
    return SimpleNamespace(**names)


def results(library: Any, shift: Any) -> list[Any]:
    x = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
    computed = [
        shift(x, 1),
        library.jit(lambda x: shift(x, -2))(x),
        library.vmap(lambda row: shift(row, 1), in_axes=1, out_axes=1)(x),
        library.grad(lambda x: (shift(x, 1) ** 2 * x).sum())(x),
        library.jvp(lambda x: shift(x, 3), (x,), (2 * x,))[1],
        library.jit(library.vmap(library.grad(lambda row: (shift(row, 1) * row).sum())))(x),
    ]
    return [np.asarray(out) for out in computed]


def test_the_lines_are_counted_right() -> None:
    text = PAGE.read_text()
    own, other = lines(program("python")), lines(program("py"))
    assert own <= 40
    assert f"in {own} lines" in text
    assert f"{other} lines, and six modules" in text
    assert f"| lines | {own} | {other} |" in text


def test_bindax_needs_public_names_alone_and_jax_does_not() -> None:
    imported = re.findall(r"^(?:from|import) (\S+)(?: import (.*))?$", program("py"), re.MULTILINE)
    covered = {"numpy", "jax", "jax.numpy", "functools"}
    found = set()
    for module, names in imported:
        if module == "jax.interpreters":
            found |= {f"{module}.{name}" for name in names.split(", ")}
        elif module not in covered:
            found.add(module)
    assert found == MODULES
    own = re.findall(r"^(?:from|import) (\S+)", program("python"), re.MULTILINE)
    assert set(own) <= {"numpy", "bindax", "bindax.extend", "bindax.numpy"}
    assert not any("_" in part[:1] for name in own for part in name.split("."))


def test_both_compute_the_same() -> None:
    jax = pytest.importorskip("jax", reason="the guide compares with JAX")
    own = results(bindax, ran(program("python")).shift)
    other = results(jax, ran(program("py")).shift)
    for mine, theirs in zip(own, other, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
