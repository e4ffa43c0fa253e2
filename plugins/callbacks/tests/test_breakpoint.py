"""The prompt of ``debug.breakpoint``, with commands and answers in strings."""

from __future__ import annotations

import builtins
import io
import re
from typing import Any

import numpy as np
import pytest

import bindax_lax_basic as lax
from bindax_callbacks import debug
from bindax_transforms import grad, jit, vmap

SHIFT = 10.0
X = np.float32(3.0)


def session(commands: str, transform: Any = lambda f: f, arg: Any = None, **how: Any) -> str:
    answers = io.StringIO()

    def inner(x: Any) -> Any:
        doubled = {"y": lax.mul(x, np.float32(2))}
        debug.breakpoint(stdin=io.StringIO(commands), stdout=answers, **how)
        return doubled["y"]

    def outer(value: Any) -> Any:
        note = "called inner"
        return inner(value) if note else None

    transform(outer)(X if arg is None else arg)
    return answers.getvalue()


@pytest.mark.parametrize("transform", [lambda f: f, jit, lambda f: jit(grad(f))])
def test_values_of_the_run(transform: Any) -> None:
    text = session("x + SHIFT\np doubled['y']\na\nc\nx", transform)
    assert "test_breakpoint.py" in text
    assert "13." in text
    assert "Array(6., dtype=float32)" in text
    assert re.search(r"x = (Array\(3\., dtype=float32\)|np\.float32\(3\.0\))", text)
    assert text.count("(bindax)") == 4  # nothing is read after c


def test_moving_in_the_stack() -> None:
    text = session("d\nu\nnote\nbt\nl\nd\nnote\nup\n\nnote\n", jit, num_frames=2)
    assert "this is the innermost function" in text
    assert text.count("'called inner'") == 2
    assert "NameError: name 'note' is not defined" in text
    assert "-> " in text
    assert "in inner" in text
    assert "this is the outermost" in session("u\nu\n", num_frames=2)


def test_expressions_that_fail_and_help() -> None:
    text = session("1 / 0\np ??\npp [x] * 2\nhelp u\n", jit)
    assert "ZeroDivisionError: division by zero" in text
    assert "SyntaxError" in text
    assert text.count("Array(3., dtype=float32)") == 2
    assert "go to the function that called this one" in text


def test_each_element_of_a_batch() -> None:
    text = session("x\nx\n", vmap, np.array([1.0, 2.0], np.float32))
    assert text.count("stopped at") == 2


def test_the_end_of_the_program() -> None:
    with pytest.raises(SystemExit):
        session("q\n")
    with pytest.raises(SystemExit):
        session("quit\n", jit)


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="has the backend 'cli', but got 'web'"):
        debug.breakpoint(backend="web")
    with pytest.raises(ValueError, match="takes no token"):
        debug.breakpoint(token=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ordered"):
        session("", vmap, np.ones(2, np.float32), ordered=True)


def test_variables_that_contain_themselves_are_kept_whole() -> None:
    answers = io.StringIO()
    cyclic: dict[str, Any] = dict(vars(builtins))
    cyclic["__builtins__"] = cyclic
    names = {"__builtins__": cyclic, "debug": debug, "stdin": io.StringIO("y"), "stdout": answers}
    exec("y = 41 + 1\ndebug.breakpoint(stdin=stdin, stdout=stdout)", names)
    assert "42" in answers.getvalue()
