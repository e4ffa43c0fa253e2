"""A fresh environment with wheels of the workspace and of the example plugins."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
from isolated import workspace

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "plugins"
# What the examples' own tests need.
TEST_PACKAGES = ("hypothesis", "onnxruntime", "pytest")
# One process builds all wheels: an environment for each of them takes ten times as long.
BUILD = """
import os, sys
from hatchling.build import build_wheel
for project in sys.argv[2:]:
    os.chdir(project)
    build_wheel(sys.argv[1])
"""
# Several commands of one process, which starts once.
COMMANDS = """
import contextlib, io, json, sys
from bindax._cli import main
printed, codes = [], []
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            main(arguments)
        except SystemExit as end:
            codes.append(end.code)
    printed.append(output.getvalue())
print(json.dumps(printed))
sys.exit(max(codes))
"""
HAS_JAXLIB = importlib.util.find_spec("jaxlib") is not None


def _uv(*arguments: str) -> None:
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("building wheels into a fresh environment needs uv; see the README")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("UV_PROJ")}
    done = subprocess.run(
        [uv, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=environment,
    )
    if done.returncode:
        pytest.fail(f"uv {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")


@attrs.frozen
class Environment:
    """An environment with the workspace and good examples; bad ones are added by directory."""

    python: Path
    extra: Path
    work: Path

    def run(
        self,
        *command: str,
        plugins: Sequence[str] = (),
        settings: dict[str, str] | None = None,
        expect: int = 0,
    ) -> str:
        """Run a command of the environment's Python, and return what it printed."""
        environment = {
            key: value
            for key, value in os.environ.items()
            # The NumPy of the environment may give the features of processors other names, and
            # its jaxlib may have other flags.
            if not key.startswith(("BINDAX_", "PYTHON", "COVERAGE", "NPY_DISABLE", "XLA_FLAGS"))
        }
        environment["PYTHONPATH"] = os.pathsep.join(str(self.extra / name) for name in plugins)
        environment.update(settings or {})
        done = subprocess.run(
            [str(self.python), *command],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            cwd=self.work,
            env=environment,
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout

    def script(self, text: str, **options: Any) -> str:
        """Run a script."""
        return self.run("-W", "error", "-c", text, **options)

    def bindax(self, *arguments: str, **options: Any) -> Any:
        """Run the command ``bindax`` with ``--json``, and return what it printed as data."""
        text = self.run("-m", "bindax", *arguments, "--json", **options)
        return json.loads(text)

    def bindax_each(self, *commands: str, **options: Any) -> list[Any]:
        """Run commands in one process, and return what each printed, as data or as text."""
        arguments = json.dumps([command.split() for command in commands])
        printed = json.loads(self.run("-c", COMMANDS, arguments, **options))
        pairs = zip(commands, printed, strict=True)
        return [json.loads(text) if "--json" in command else text for command, text in pairs]


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Build wheels of everything, and install them as a user would."""
    base = tmp_path_factory.mktemp("environment")
    wheels = base / "wheels"
    wheels.mkdir()
    names = ("softsign", "intervals", "onnx_target", "sparsity", "broken", "clashing")
    projects = [*workspace().values(), *(EXAMPLES / x for x in names)]
    python = ("run", "--no-project", "--with", "hatchling>=1.25,<2", "--python", sys.executable)
    _uv(*python, "python", "-c", BUILD, str(wheels), *map(str, projects))
    python = base / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    _uv("venv", "--quiet", "--python", sys.executable, str(base / "venv"))
    extra = {
        name: next(wheels.glob(f"bindax_example_{name}-*.whl")) for name in ("broken", "clashing")
    }
    absent = ["containers"] if HAS_JAXLIB else ["containers", "xla_backend", "iree"]
    apart = {next(wheels.glob(f"bindax_{name}-*.whl")) for name in absent}.union(extra.values())
    chosen = [str(wheel) for wheel in sorted(wheels.glob("*.whl")) if wheel not in apart]
    _uv("pip", "install", "--python", str(python), *chosen, *TEST_PACKAGES)
    for name, wheel in extra.items():
        target = str(base / "extra" / name)
        _uv("pip", "install", "--no-deps", "--target", target, str(wheel))
    work = base / "work"
    work.mkdir()
    return Environment(python, base / "extra", work)


@pytest.fixture(scope="session")
def dummies(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int, int], Path]:
    """Make a directory with metadata of many plugins whose import would fail."""

    def make(count: int, primitives: int) -> Path:
        directory = tmp_path_factory.mktemp("dummies")
        for number in range(count):
            name = f"dummy_{number:03}"
            metadata = directory / f"{name}-1.0.dist-info"
            metadata.mkdir()
            (metadata / "METADATA").write_text(
                f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8"
            )
            lines = [f"[bindax.v1]\n{name} = {name}\n\n[bindax.v1.primitives]"]
            lines += [f"{name}.p{index} = {name}:p{index}" for index in range(primitives)]
            lines += [f"\n[bindax.v1.pytrees]\nbox = {name}:Box\n"]
            (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
            (directory / f"{name}.py").write_text("raise SystemExit('imported')", encoding="utf-8")
        return directory

    return make
