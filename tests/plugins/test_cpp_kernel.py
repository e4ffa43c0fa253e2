"""The wheel of the example with a kernel in C++ is built, and passes its tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugins" / "cpp_kernel"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the built package."""
    pytest.importorskip("jaxlib", reason="the headers for kernels come with jaxlib")
    if not (os.environ.get("CXX") or shutil.which("c++") or shutil.which("clang++")):
        pytest.skip("there is no C++ compiler")
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("building a wheel needs uv; see the README")
    base = tmp_path_factory.mktemp("cpp_kernel")
    command = [uv, "build", "-q", "--wheel", "--out-dir", str(base), str(EXAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = base.glob("*.whl")
    assert "-any" not in wheel.name
    zipfile.ZipFile(wheel).extractall(base / "site")
    return base / "site"


@pytest.mark.parametrize(
    "denied",
    [
        pytest.param("", id="compiled"),
        pytest.param("xla_backend", id="with NumPy alone", marks=pytest.mark.nightly),
    ],
)
def test_the_example_passes_its_tests(installed: Path, tmp_path: Path, denied: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed), "BINDAX_PLUGINS_DENY": denied}
    options = ["-q", "-n0", "-p", "no:cacheprovider", "--rootdir", str(EXAMPLE)]
    command = [sys.executable, "-m", "pytest", *options, str(EXAMPLE / "tests")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("skipped" in done.stdout) == bool(denied), done.stdout
