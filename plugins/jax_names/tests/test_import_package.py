"""One package on bindax in the process of the real JAX, and neither disturbs the other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = {
    "__init__.py": (
        "import jax\nimport jax.numpy as jnp\nfrom . import inner\nfrom forjax.inner import f\n"
    ),
    "inner.py": (
        "import importlib\n"
        "import dataclasses\n"
        "from jax import Array, grad\n"
        "@dataclasses.dataclass\n"
        "class Box:\n"
        "    value: 'Array'\n"
        "def f(x):\n"
        "    return grad(lambda y: y * y)(x)\n"
        "def late():\n"
        "    import jax\n"
        "    from jax import lax\n"
        "    import forjax.later\n"
        "    named = importlib.import_module('jax.numpy')\n"
        "    return jax, lax, named, forjax.later\n"
        "def wrong():\n"
        "    from jax import thread_guard\n"
    ),
    "later.py": "import jax\nfrom os import path\nfrom forjax.space import inside\n",
    "space/inside.py": "from jax import lax\n",
}

CHECKS = """
import pickle
import sys
from bindax.jax_names import import_package
import bindax

package = import_package("forjax")
assert package.f(3.0) == 6.0 and type(package.f(3.0)) is type(bindax.numpy.ones(2))
jax, lax, named, later = package.inner.late()
assert jax is package.jax is later.jax and lax.add is bindax.lax.add
assert named.cos is bindax.numpy.cos
assert package.__name__ == "bindax_jax_names.beside.forjax"
assert import_package("forjax.later") is later and "forjax" not in sys.modules
box = pickle.loads(pickle.dumps(package.inner.Box(2)))
assert box == package.inner.Box(2)
try:
    package.inner.wrong()
except ImportError as error:
    assert "bindax does not have" in str(error), error
try:
    import_package("no_such_package_at_all")
except ModuleNotFoundError as error:
    assert str(error) == "No module named 'no_such_package_at_all'", error
"""

REAL = """
assert "jax" in sys.modules
import jax as real
import forjax
assert forjax.jax is real and forjax.jax is not package.jax
assert type(forjax.f(3.0)) is not type(package.f(3.0)) and float(forjax.f(3.0)) == 6.0
assert real.__file__.endswith("jax/__init__.py")
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "forjax"
    folder.mkdir()
    for name, text in PACKAGE.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return tmp_path


def check(path: Path, code: str) -> None:
    text = f"import sys\nsys.path.insert(0, {str(path)!r})\n{code}"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_package_is_imported_without_jax(path: Path):
    check(path, CHECKS + "assert 'jax' not in sys.modules")


def test_the_real_jax_is_imported_first(path: Path):
    pytest.importorskip("jax")
    check(path, "import jax\n" + CHECKS + REAL)


def test_the_real_jax_is_imported_later(path: Path):
    pytest.importorskip("jax")
    check(path, CHECKS + "import jax\n" + REAL)
