"""``platform_dependent``: which function is taken, and that the others are not compiled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_control_flow import cond, platform_dependent
from bindax_control_flow.cond.primitive import branch_for
from bindax_core.extend import primitive, rules
from bindax_lax_basic import sin


@pytest.fixture(autouse=True, params=["numpy", None])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    with bx.config.override(backend=request.param, check_jaxprs=True):
        yield


def square_on_cpu(x: Any) -> Any:
    return platform_dependent(x, cpu=lambda x: x * x, tpu=lambda x: -x, default=sin)


def test_transformations() -> None:
    xs = np.arange(3.0)
    for f in (square_on_cpu, bt.jit(square_on_cpu)):
        assert float(f(3.0)) == 9.0
        assert float(bt.grad(f)(3.0)) == 6.0
        assert float(bt.jit(bt.grad(f))(3.0)) == 6.0
        assert float(bt.jvp(f, (3.0,), (1.0,))[1]) == 6.0
        assert float(bt.jacfwd(bt.grad(f))(3.0)) == 2.0
        np.testing.assert_array_equal(bt.vmap(f)(xs), xs * xs)
        np.testing.assert_array_equal(bt.vmap(bt.grad(f))(xs), 2.0 * xs)
    nested = lambda x: cond(x > 0.0, square_on_cpu, lambda x: x, x)  # noqa: E731
    np.testing.assert_array_equal(bt.vmap(bt.grad(nested))(xs - 1.0), [1.0, 1.0, 2.0])


def test_default() -> None:
    assert float(platform_dependent(3.0, tpu=lambda x: x, default=lambda x: x + 1.0)) == 4.0
    assert float(platform_dependent(default=lambda: 2.0)) == 2.0
    assert branch_for(("tpu", "gpu", "default"), "cuda") == 1
    assert branch_for(("tpu", "cuda", "default"), "rocm") == 2
    assert branch_for(("default", "cpu"), "host") == 1


def _refuse(*args: Any, **params: Any) -> Any:
    raise RuntimeError("this exists on another platform")


elsewhere_p = primitive(
    "test_platform.elsewhere",
    rules.impl(_refuse),
    rules.abstract_eval(lambda x: x),
    rules.jvp.absent("a test"),
    rules.vmap.absent("a test"),
    rules.transpose.absent("a test"),
    rules.lowering["stablehlo"](_refuse),
)


def test_other_platforms_are_not_compiled() -> None:
    f = lambda x: platform_dependent(x, tpu=elsewhere_p.bind, default=lambda x: x)  # noqa: E731
    assert float(f(1.0)) == float(bt.jit(f)(1.0)) == 1.0


def test_messages() -> None:
    missing = (
        r"no function for the platform (cpu|host), only for tpu; add (cpu|host)=\.\.\., or def"
    )
    for wrap in (lambda f: f, bt.jit):
        with pytest.raises(ValueError, match=missing):
            wrap(lambda x: platform_dependent(x, tpu=lambda x: x))(1.0)
    with pytest.raises(TypeError, match=r"platform_dependent needs a function: name a platform"):
        platform_dependent(1.0)
    with pytest.raises(TypeError, match=r"tpu of platform_dependent must be a function, but got 3"):
        platform_dependent(1.0, tpu=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"branches of platform_dependent must return the same typ"):
        platform_dependent(np.ones(2), cpu=lambda x: x, default=lambda x: x.sum())
