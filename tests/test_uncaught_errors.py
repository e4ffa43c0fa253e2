"""Errors that nobody catches are shown with the user's frames alone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = """
import sys, threading
{before}
import bindax, bindax.numpy as jnp

def work():
    {statement}

{run}
"""
RUNS = {
    "main": "work()",
    "thread": "thread = threading.Thread(target=work)\nthread.start()\nthread.join()",
}
STATEMENTS = {
    "numpy": ("jnp.add(jnp.ones(2), jnp.ones(3))", "ShapeError: Incompatible shapes"),
    "nn": ("bindax.nn.softmax(jnp.ones(2), axis=4)", "out of bounds"),
    "jit": ("bindax.jit(lambda x: jnp.dot(x, jnp.ones(3)))(jnp.ones(2))", "TypeError: dot"),
}


def errors_of(code: str, **environment: str) -> str:
    command = [sys.executable, "-c", code]
    env = os.environ | environment
    return subprocess.run(command, env=env, capture_output=True, text=True).stderr


@pytest.mark.every(5)
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", STATEMENTS)
def test_frames_of_the_library_are_left_out(name: str, run: str) -> None:
    statement, text = STATEMENTS[name]
    shown = errors_of(CODE.format(before="", statement=statement, run=RUNS[run]))
    assert text in shown
    assert "in work" in shown
    assert f"{os.sep}bindax_" not in shown


def test_all_frames_are_shown_on_demand() -> None:
    code = CODE.format(before="", statement=STATEMENTS["numpy"][0], run=RUNS["thread"])
    shown = errors_of(code, BINDAX_TRACEBACK="full")
    assert f"{os.sep}bindax_numpy{os.sep}" in shown


def test_hooks_of_the_program_are_called() -> None:
    before = "sys.excepthook = lambda *error: print('mine', error[0].__name__, file=sys.stderr)"
    code = CODE.format(before=before, statement="raise KeyError(1)", run=RUNS["main"])
    assert errors_of(code) == "mine KeyError\n"
