"""A package that nobody here knows says how results lie, of its primitives and of another's."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "plugins"
WITHOUT = """
import bindax
import numpy as np
from bindax import P
from bindax.sharding import AxisType
from bindax_example_softsign import softsign

mesh = bindax.make_mesh((8,), ("x",), AxisType.Explicit)
with bindax.set_mesh(mesh):
    x = bindax.reshard(np.ones((8, 4), np.float32), P("x"))
    try:
        print(softsign(x).aval.str_short())
    except bindax.errors.ShardingTypeError as error:
        print(error)
"""


def place(folder: Path, name: str) -> str:
    """The metadata of an example, as if it were installed; gives where its package is."""
    text = (EXAMPLES / name / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    metadata = folder / f"bindax_example_{name}-{project['version']}.dist-info"
    metadata.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (metadata / "METADATA").write_text(head, encoding="utf-8")
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return str(EXAMPLES / name / "src")


def run(folder: Path, names: tuple[str, ...], *command: str) -> str:
    """The output of Python with eight devices and some examples."""
    pytest.importorskip("jaxlib")
    paths = [str(folder), *[place(folder, name) for name in names]]
    settings = {"BINDAX_NUM_CPU_DEVICES": "8", "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_without_a_rule_the_package_and_the_mend_are_named(tmp_path: Path) -> None:
    printed = run(tmp_path, ("softsign",), "-c", WITHOUT)
    assert printed.startswith("example.softsign of bindax-example-softsign 0.1.0 (")
    assert "has no sharding rule, so nothing says how its results lie for float32[8@x,4]" in printed
    assert "by auto_axes(f, out_sharding=...)" in printed


def test_another_package_brings_the_rule(tmp_path: Path) -> None:
    tests = EXAMPLES / "divided"
    options = ("-q", "-p", "no:cacheprovider", "-c", str(tests / "pyproject.toml"))
    printed = run(tmp_path, ("softsign", "divided"), "-m", "pytest", *options, str(tests / "tests"))
    assert "8 passed" in printed
