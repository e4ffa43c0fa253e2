"""Plugin API version 1 is kept: what its page lists is there, and a wheel built for it works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from bindax_core.registry import _hooks, _manifest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/plugins.md"
WHEEL = ROOT / "tests/data/bindax_example_softsign-0.1.0-py3-none-any.whl"


def test_the_page_lists_every_hook() -> None:
    listed = re.findall(r"^\| `(bindax_\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [name for name in vars(_hooks) if name.startswith("bindax_")]


def test_the_page_lists_every_group_of_entry_points() -> None:
    listed = re.findall(r"^\| `(bindax\.v1\S*)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    first, *others = _manifest.KINDS
    assert first == _manifest.PLUGINS
    assert listed == ["bindax.v1", *(f"bindax.v1.{kind}" for kind in others)]


def test_names_of_before_are_those_of_now() -> None:
    from bindax_core import extend

    for before, now in extend._RENAMED.items():
        assert getattr(extend, before) is getattr(extend, now)
        assert before in extend.__all__


PROGRAM = """
import sys
import numpy as np
import bindax_core
from bindax import grad, jit, tree, vmap

(record,) = [r for r in bindax_core.installed_plugins() if r["plugin"] == "softsign"]
assert record["distribution"] == "bindax-example-softsign", record
assert record["file"].startswith(sys.argv[1]), record
assert "bindax_example_softsign" not in sys.modules
primitive = bindax_core.find_primitive("example.softsign")
assert primitive.name == "example.softsign"

from bindax_example_softsign import Bounds, softsign

xs = np.linspace(-2.0, 2.0, 5, dtype=np.float32)
values, slopes = xs / (1 + abs(xs)), 1 / (1 + abs(xs)) ** 2
close = lambda x, y: np.testing.assert_allclose(np.asarray(x), y, rtol=1e-6)
close(softsign(xs), values)
close(jit(softsign)(xs), values)
close(vmap(softsign)(xs), values)
close(vmap(grad(softsign))(xs), slopes)
close(jit(vmap(grad(softsign)))(xs), slopes)
assert float(grad(grad(softsign))(1.0)) == -0.25

bounds = Bounds(2.0, (3.0, 4.0), name="b")
assert tree.leaves(bounds) == [2.0, 3.0, 4.0]
gradient = jit(grad(lambda b: b.lower * b.upper[0]))(bounds)
assert (float(gradient.lower), float(gradient.upper[0]), gradient.name) == (3.0, 2.0, "b")
"""


def test_a_wheel_that_was_built_for_version_1_works(tmp_path: Path) -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        wheel.extractall(tmp_path)
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("BINDAX_", "COVERAGE"))
    }
    present = [environment["PYTHONPATH"]] if environment.get("PYTHONPATH") else []
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *present])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
