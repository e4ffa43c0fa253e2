"""Test what is installed, instead of the workspace, in environments with only what is declared.

A workspace hides missing dependencies: every package can import what any other one installed. So
the wheels are built, and each one is installed into a fresh environment with its declared
dependencies and the test runner alone. There all that is installed is imported, and those of its
own tests run that are marked `smoke`. The facade is installed without its `xla` extra and with it,
both times without JAX, and on each supported Python that is there. At night all tests run in some.

    uv run python scripts/isolated.py             # everything
    uv run python scripts/isolated.py --full      # with all tests
    uv run python scripts/isolated.py --part=2/7  # the second of seven parts of the runs
    uv run python scripts/isolated.py bindax-core # runs whose name contains a word
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
NO_TESTS = 5  # what pytest exits with
OTHER_PYTHONS = ("3.12", "3.13", "3.14")
# What is installed loads with what is declared.
LOAD = """
import importlib, sys
import bindax_core
from bindax_core.plugins import QUARANTINED, installed

importlib.import_module(sys.argv[1])
bindax_core.load_plugins()
plugins = installed.resolver.loader.plugins()
problems = [plugin.failure() for plugin in plugins if plugin.status == QUARANTINED]
assert not problems, problems
"""
SMOKE = """
import sys
import numpy as np
import bindax
from bindax import lax

f = lambda x: lax.sin(x) * x
x = np.float32(2.0)
assert np.allclose(bindax.grad(f)(x), np.cos(x) * x + np.sin(x))
assert np.allclose(bindax.vmap(bindax.grad(f))(np.full(3, x)), bindax.jit(bindax.grad(f))(x))
assert "jax" not in sys.modules
print("smoke:", sys.version.split()[0], bindax.default_backend())
"""


class Run(NamedTuple):
    """One fresh environment and what happens in it.

    Attributes:
        name: what the output calls it.
        requirement: the distribution that is installed, with its extras.
        absent: modules that must not be importable there.
        tests: directories whose tests run, relative to the repository.
        module: what is imported.
        smoke: whether a few lines use the facade.
        demo: whether `bindax demo` runs.
        python: the version, or None for the one that runs this script.
    """

    name: str
    requirement: str
    absent: tuple[str, ...]
    tests: tuple[str, ...] = ()
    module: str = "bindax"
    smoke: bool = False
    demo: bool = False
    python: str | None = None


NEEDED_BY_ALL_TESTS = (
    *("bindax", "bindax-containers", "bindax-jax-names", "bindax-mutation", "bindax-testing"),
    *("matplotlib", "scipy"),
)


def read_project(directory: Path) -> dict[str, Any]:
    """Return the metadata of a package's pyproject.toml."""
    project: dict[str, Any] = _read_toml(directory)["project"]
    return project


def _read_toml(directory: Path) -> dict[str, Any]:
    return tomllib.loads((directory / "pyproject.toml").read_text(encoding="utf-8"))


def workspace() -> dict[str, Path]:
    """Return the directory of each package of the workspace, by distribution name."""
    excluded = _read_toml(ROOT)["tool"]["uv"]["workspace"]["exclude"]
    found = {path.parent for path in ROOT.glob("plugins/*/pyproject.toml")}
    plugins = sorted(found - {ROOT / one for one in excluded})
    return {
        read_project(path)["name"]: path
        for path in (ROOT, ROOT / "core", ROOT / "testing", ROOT / "mutation", *plugins)
    }


def needed(name: str, packages: dict[str, Path]) -> set[str]:
    """Return the names of what a package of the workspace depends on, down to the kernel."""
    found: set[str] = set()
    for requirement in read_project(packages[name])["dependencies"]:
        dependency = re.split(r"[^\w-]", requirement, maxsplit=1)[0]
        found.add(dependency)
        if dependency in packages:
            found |= needed(dependency, packages)
    return found


def runs(packages: dict[str, Path]) -> list[Run]:
    """Return all runs: each package alone, then the facade in its variants."""
    planned = []
    for name, directory in packages.items():
        if directory == ROOT:
            continue
        absent = {"jax", "jaxlib"} - needed(name, packages)
        own_tests = (str(directory.relative_to(ROOT) / "tests"),)
        module = name.replace("-", "_")
        planned.append(Run(f"{name} alone", name, tuple(sorted(absent)), own_tests, module))
    facade = needed("bindax", packages)
    tests = tuple(str(path / "tests") for name, path in packages.items() if name in facade)
    everything = (str(ROOT / "tests"), *tests)
    no_compiler = ("jax", "jaxlib")
    planned += [
        Run("bindax without jaxlib", "bindax", no_compiler, everything, smoke=True, demo=True),
        Run(
            "bindax[xla] without JAX",
            "bindax[demo,xla]",
            ("jax",),
            everything,
            smoke=True,
            demo=True,
        ),
    ]
    planned += [
        Run(f"bindax on {version}", "bindax[xla]", ("jax",), smoke=True, python=version)
        for version in OTHER_PYTHONS
    ]
    return planned


def call(*command: str | Path, cwd: Path, check: bool = True) -> int:
    """Run a command; its output is printed."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "VIRTUAL_ENV": ""}
    return subprocess.run([*map(str, command)], cwd=cwd, env=environment, check=check).returncode


def build_wheels(directory: Path) -> None:
    """Build the wheel of every package."""
    call("uv", "build", "--quiet", "--wheel", "--all-packages", "--out-dir", directory, cwd=ROOT)


def interpreter(version: str | None) -> str | None:
    """Return the path of an installed Python of a version, or None when there is none."""
    if version is None:
        return sys.executable
    command = ["uv", "python", "find", "--no-python-downloads", "--system", version]
    elsewhere = tempfile.gettempdir()  # or a project's own choice of Python would count
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=elsewhere)
    if found.returncode == 0:
        return found.stdout.strip()
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return next((str(p) for p in sorted(pyenv.glob(f"versions/{version}.*/bin/python"))), None)


def create(run: Run, python: str, directory: Path, wheels: Path) -> Path:
    """Make the environment of a run; return its Python."""
    call("uv", "venv", "--quiet", "--python", python, directory, cwd=directory.parent)
    created = directory / "bin" / "python"
    groups = [f"--group={ROOT / 'pyproject.toml'}:test"] if run.tests else []
    install = ("uv", "pip", "install", "--quiet", "--no-sources", "--find-links", wheels)
    call(*install, "--python", created, run.requirement, *groups, cwd=directory.parent)
    for module in run.absent:
        probe = f"from importlib.util import find_spec; assert find_spec({module!r}) is None"
        if call(created, "-c", probe, cwd=directory.parent, check=False):
            raise SystemExit(f"{run.name}: {module} must not be installed, and is")
    return created


def marked(directory: Path) -> list[Path]:
    """Return the files of tests of which some are marked `smoke`."""
    return [
        path
        for path in directory.rglob("test_*.py")
        if "mark.smoke" in path.read_text(encoding="utf-8")
    ]


def perform(run: Run, python: Path, directory: Path, wheels: Path, full: bool) -> None:
    """Do what a run is for, with all tests or with those that are marked."""
    call(python, "-W", "error", "-c", LOAD, run.module, cwd=directory)
    # What is marked in the packages that the facade needs runs in theirs.
    paths = [ROOT / tests for tests in (run.tests if full else run.tests[:1])]
    paths = [path for tests in paths for path in ([tests] if full else marked(tests))]
    if paths:
        # What loads by itself is tested with the suite, and at night through the facade.
        install = ("uv", "pip", "install", "--quiet", "--no-sources", "--find-links", wheels)
        needed_by_tests = NEEDED_BY_ALL_TESTS if full else ("bindax-testing",)
        call(*install, "--python", python, *needed_by_tests, cwd=directory)
        # The sources are under `src` directories, which nothing here puts on the path.
        chosen = () if full else ("-n0", "-m", "smoke")
        command = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen)
        status = call(*command, *paths, cwd=ROOT, check=False)
        # A package may mark none of its tests.
        if status and (full or status != NO_TESTS):
            raise SystemExit(f"{run.name}: the tests failed")
    if run.smoke:
        call(python, "-c", SMOKE, cwd=directory)
    if run.demo:
        call(python.parent / "bindax", "demo", "--epochs", "3", cwd=directory)


def main(words: list[str]) -> None:
    """Perform the runs whose names contain one of the words; all without words."""
    full = "--full" in words
    parts = next((w.removeprefix("--part=") for w in words if w.startswith("--part=")), "1/1")
    part, of = map(int, parts.split("/"))
    words = [word for word in words if not word.startswith("-")]
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        wheels = temporary / "wheels"
        packages = workspace()
        build_wheels(wheels)
        for number, run in enumerate(runs(packages)):
            if (words and not any(word in run.name for word in words)) or number % of != part - 1:
                continue
            started = time.monotonic()
            print(f"\n--- {run.name}", flush=True)
            python = interpreter(run.python)
            if python is None:
                print(f"--- {run.name}: not run, there is no Python {run.python} here", flush=True)
                continue
            directory = temporary / str(number)
            directory.mkdir()
            created = create(run, python, directory / "venv", wheels)
            perform(run, created, directory, wheels, full)
            print(f"--- {run.name}: passed in {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed with status {error.returncode}: {' '.join(error.cmd)}")
