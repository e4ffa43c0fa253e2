"""Fixtures: the packages of IREE, for the tests that compile, and environments without the rest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest


@pytest.fixture
def iree() -> None:
    """Skip a test where IREE, which is large, is not installed; a step of the night brings it."""
    for part in ("compiler", "runtime"):
        pytest.importorskip(f"iree.{part}", reason=f"iree-base-{part} is not installed")


@pytest.fixture
def run_alone(tmp_path: Path) -> Callable[[str], str]:
    """Run a program where NumPy and the runtime of IREE are installed, and nothing else."""
    site = tmp_path / "site"
    (site / "iree").mkdir(parents=True)
    for name in ("numpy", "iree-base-runtime", "ml-dtypes"):
        for file in metadata.files(name) or ():
            there = Path(str(file.locate())).parents[len(file.parts) - 1]
            parts = file.parts[: 2 if file.parts[0] == "iree" else 1]
            if ".." not in parts and not site.joinpath(*parts).exists():
                site.joinpath(*parts).symlink_to(there.joinpath(*parts))

    def run(program: str) -> str:
        head = f"import sys; sys.path.insert(0, {str(site)!r})\n"
        command = [sys.executable, "-I", "-S", "-c", head + program]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run
