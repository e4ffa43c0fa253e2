"""Definitions of a program that was run, written down for another process."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bindax_testing._sources import definition_of

PROGRAM = """
scale = 3.0
table = {}
table["power"] = 2
found = {
    "scaled": lambda x: scale * x,
    "power": lambda x: x ** table["power"],
    "one": lambda x: x + 1,
    "two": lambda x: x + 2,
    "default": lambda x, by=scale: x * by,
}
for name, function in found.items():
    last = name

def outer(y):
    return lambda x: x * y

inner = [outer(2.0)]
"""


@pytest.fixture
def main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    module: Any = ModuleType("__main__")
    module.__file__ = str(file)
    exec(compile(PROGRAM, str(file), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "__main__", module)
    return module


@pytest.mark.parametrize(
    ("name", "wanted"), [("scaled", 12.0), ("power", 16.0), ("one", 5.0), ("two", 6.0)]
)
def test_functions_without_a_name_are_written_with_what_they_need(
    main: Any, name: str, wanted: float
) -> None:
    written = definition_of(main.found[name])
    assert written is not None
    text, expression = written
    variables: dict[str, Any] = {}

    exec(text, variables)

    assert variables[expression](4.0) == wanted
    assert "for " not in text


def test_functions_that_the_text_alone_does_not_decide_are_not_written(main: Any) -> None:
    assert definition_of(main.inner[0]) is None
    main.function = None  # the variable of the loop, whose last value it was
    assert definition_of(main.found["default"]) is None
