from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindax_callbacks import debug
from bindax_transforms import eval_shape, grad, jit, make_jaxpr, vmap

pytestmark = pytest.mark.smoke


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


@pytest.mark.parametrize("stage", [lambda f: f, jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    ("fmt", "args", "kwargs", "text"),
    [
        ("x = {}", (1.5,), {}, "x = 1.5"),
        ("{1} {0:+d} {y:.3f}", (np.int32(2), True), {"y": np.float32(0.5)}, "True +2 0.500"),
        ("{x}", (), {"x": np.arange(3)}, "[0 1 2]"),
        ("{x.shape} {0[1]}", ([1, 2],), {"x": np.ones((2, 3))}, "(2, 3) 2"),
        ("{{}} {!r}", (np.float32(1.0),), {}, "{} Array(1., dtype=float32)"),
        ("none", (), {}, "none"),
        ("{:>{width}}|", (7,), {"width": 4}, "   7|"),
    ],
)
def test_formats(
    capsys: pytest.CaptureFixture[str], stage: Any, fmt: str, args: Any, kwargs: Any, text: str
) -> None:
    stage(lambda args, kwargs: debug.print(fmt, *args, **kwargs))(args, kwargs)
    assert printed(capsys) == text + "\n"


@pytest.mark.parametrize(
    ("fmt", "args", "kwargs", "message"),
    [
        ("{} {}", (1,), {}, "has the field 1, for which no value was given"),
        ("{y}", (), {"x": 1}, "has the field 'y', for which"),
        ("x", (1, 2), {"z": 3}, "has no field for the values 0, 1, z; an f-string"),
        ("{!x}", (1,), {}, "has the conversion !x; there are"),
    ],
)
def test_wrong_formats_are_found_while_tracing(
    fmt: str, args: Any, kwargs: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_jaxpr(lambda *a: debug.print(fmt, *a, **kwargs))(*args)


def test_what_is_no_format_and_no_function() -> None:
    with pytest.raises(TypeError, match=r"format string first, but got 1\.0; write debug\.print"):
        debug.print(1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"debug\.callback takes a function, but got 3"):
        debug.callback(3)  # type: ignore[arg-type]


def test_arguments_that_are_no_arrays_stay_as_they_are() -> None:
    seen: list[Any] = []

    def f(x: Any) -> None:
        debug.callback(lambda *args, **kwargs: seen.append((args, kwargs)), "a", {"x": x}, tag=None)

    jit(f)(2.0)
    ((args, kwargs),) = seen
    assert args[0] == "a"
    assert float(args[1]["x"]) == 2.0
    assert kwargs == {"tag": None}


def test_types_of_programs_with_prints() -> None:
    def f(x: Any) -> Any:
        debug.print("{}", x)
        return x

    assert eval_shape(f, 1.0).str_short() == "float64[]"
    assert "debug_callback" in str(make_jaxpr(f)(1.0))


def test_prints_in_order_of_elements(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any, y: Any) -> Any:
        debug.print("{} {}", x, y)
        return x * y

    vmap(f, in_axes=(1, None))(np.arange(6.0).reshape(2, 3), 7.0)
    assert printed(capsys) == "[0. 3.] 7.0\n[1. 4.] 7.0\n[2. 5.] 7.0\n"
    vmap(f)(np.ones((0, 2)), np.ones((0, 2)))
    assert printed(capsys) == ""


def test_gradient_prints_values(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        y = x * x
        debug.print("y = {}", y, ordered=True)
        return y * x

    assert float(grad(f)(2.0)) == 12.0
    assert printed(capsys) == "y = 4.0\n"
    vmap(grad(lambda x: (debug.print("{}", x), x * x)[1]))(np.arange(2.0))
    assert printed(capsys) == "0.0\n1.0\n"
