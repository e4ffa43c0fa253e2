"""The extension module, built from its source, and processes that find it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
SOURCES = PACKAGE / "src" / "bindax_accelerator"


def _compiler() -> str:
    """The command of the compiler; skips where there is none that this can use."""
    found = shlex.split(os.environ.get("CC") or "cc")
    headers = Path(sysconfig.get_paths()["include"])
    if sys.platform == "win32" or sys.implementation.name != "cpython":
        pytest.skip("the tests build the accelerator with the compilers of Linux and macOS")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("the accelerator needs the global lock")
    if shutil.which(found[0]) is None:
        pytest.skip("there is no C compiler to build the accelerator with")
    if not (headers / "Python.h").exists():
        pytest.skip("there are no headers of Python to build the accelerator with")
    shared = "-bundle -undefined dynamic_lookup" if sys.platform == "darwin" else "-shared"
    return shlex.join([*found, *shlex.split(shared), f"-I{headers}"])


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the package as it is installed."""
    compiler, made = _compiler(), tmp_path_factory.mktemp("accelerator")
    shutil.copytree(SOURCES, made / SOURCES.name)
    options = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    options += ["-Wno-cast-function-type", "-Wno-missing-field-initializers", "-fPIC"]
    module = made / SOURCES.name / "_native.abi3.so"
    command = [*shlex.split(compiler), *options, str(SOURCES / "_native.c"), "-o", str(module)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    _write_metadata(made)
    return made


def _write_metadata(made: Path) -> None:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    metadata = made / f"bindax_accelerator-{project['version']}.dist-info"
    metadata.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    required = "".join(f"Requires-Dist: {one}\n" for one in project["dependencies"])
    (metadata / "METADATA").write_text(head + required)
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(groups))


@pytest.fixture
def run_python(site: Path) -> Callable[..., str]:
    """A function that runs Python with the accelerator and returns what it printed."""

    def run(*arguments: str, seconds: int = 300, **variables: str) -> str:
        path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": path, "BINDAX_PART": "1/1", **variables},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    return run
