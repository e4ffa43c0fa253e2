"""A few primitives of the tests' own, so that the package is tested with nothing but the kernel."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bindax_core import config
from bindax_core.extend import (
    Primitive,
    Region,
    abstract_eval,
    find_backend,
    impl,
    jvp,
    lowering,
    primitive,
    transpose,
    vmap,
)
from bindax_xla_backend.extend import XlaBackend

ABSENT = "the tests of the backend do not transform"


def declare(
    name: str, function: Callable[..., Any], lower: Callable[..., Any] | None, **options: Any
) -> Primitive:
    """A primitive whose results have the type of its first operand, unless told otherwise."""
    types = options.pop("types", lambda aval, *others, **params: aval)
    kind = lowering["stablehlo"]
    return primitive(
        f"xla_test.{name}",
        impl(function),
        abstract_eval(types),
        jvp.absent(ABSENT),
        vmap.absent(ABSENT),
        transpose.absent(ABSENT),
        kind.absent(ABSENT) if lower is None else kind(lower),
        **options,
    )


def op(name: str) -> Callable[..., Any]:
    """The lowering to one operation."""
    return lambda ctx, *values, **params: ctx.op(name, values)[0]


def sum_lowering(ctx: Any, x: Any) -> Any:
    """A reduction over all axes, which has a region."""
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    zero = ctx.constant(np.zeros((), aval.dtype))
    body = Region([out, out], lambda inner, a, b: inner.op("stablehlo.add", [a, b], [out]))
    axes = ", ".join(map(str, range(aval.ndim)))
    attributes = {"dimensions": f"array<i64: {axes}>"}
    return ctx.op("stablehlo.reduce", [x, zero], attributes=attributes, regions=[body])[0]


@pytest.fixture(scope="session")
def ops() -> SimpleNamespace:
    """Functions that bind the primitives."""
    made = {
        "sin": declare("sin", np.sin, op("stablehlo.sine")),
        "add": declare("add", np.add, op("stablehlo.add")),
        "mul": declare("mul", np.multiply, op("stablehlo.multiply")),
        "total": declare("total", np.sum, sum_lowering, types=lambda aval: aval.update(shape=())),
        "host_cos": declare("host_cos", lambda x: np.cos(x).astype(x.dtype), None),
        "sin_and_host_cos": declare(
            "sin_and_host_cos",
            lambda x: [np.sin(x), np.cos(x)],
            None,
            types=lambda aval: [aval, aval],
            multiple_results=True,
        ),
    }
    return SimpleNamespace(**{name: p.bind for name, p in made.items()}, declare=declare, op=op)


@pytest.fixture
def backend() -> XlaBackend:
    """The backend that discovery finds."""
    found = find_backend("xla")
    assert isinstance(found, XlaBackend)
    return found


@pytest.fixture
def no_notices() -> Iterator[None]:
    """Derived rules without a word."""
    with config.override(derived_rules="silent"):
        yield


@pytest.fixture
def run_python() -> Callable[..., str]:
    """Run a program in a fresh interpreter; give what it printed."""

    def run(program: str, **environment: str) -> str:
        import os

        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, **environment},
            check=False,
        )
        assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run
