"""The example models that `bindax demo NAME` runs: programs of a page, shipped as they are."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import bindax


def directory() -> Path:
    """The directory of the programs: in the package, or in the repository it is developed in."""
    installed = Path(__file__).with_name("examples")
    return installed if installed.is_dir() else Path(__file__).parents[3] / "examples" / "models"


def available() -> dict[str, str]:
    """The names of the programs, with a line on each."""
    found = {}
    for path in sorted(directory().glob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        found[path.stem] = text.partition("\n")[0]
    return found


def run(name: str, backend: str | None = None) -> None:
    """Run a program, which prints what it does.

    Args:
        name: one of ``available()``.
        backend: what `jit` compiles with; None for the best that is installed.
    """
    with bindax.config.override(backend=backend):
        runpy.run_path(str(directory() / f"{name}.py"), run_name="__main__")
