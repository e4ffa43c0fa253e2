"""A working directory that is deleted does not matter to operations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DELETE = "import os, sys; os.rmdir(os.getcwd()); sys.path.insert(0, '')\n"
IMPORT = "import bindax, bindax.numpy as jnp, bindax.random, numpy as np\n"
USE = """
assert jnp.sum(jnp.ones(2) + 1) == 4
assert bindax.grad(jnp.sin)(0.0) == 1
assert bindax.jit(lambda x: jnp.cos(x))(0.0) == 1
assert bindax.random.normal(bindax.random.key(0)).shape == ()
assert jnp.linalg.svd(np.eye(2))[1].shape == (2,)
try:
    bindax.jit(lambda x: x if x > 0 else -x)(1.0)
except bindax.errors.TracerBoolConversionError as error:
    assert "in jit of <lambda>" in str(error)
bindax.config.compilation_cache_dir = "relative"
assert bindax.jit(lambda x: jnp.cos(x) * 3)(0.0) == 3
"""


@pytest.mark.skipif(
    sys.version_info[:3] == (3, 13, 0),
    reason="Python 3.13.0 ends there with each look-up of an attribute that a module does not have",
)
@pytest.mark.parametrize("code", [DELETE + IMPORT + USE, IMPORT + DELETE + USE])
def test_operations_without_a_working_directory(code: str, tmp_path: Path) -> None:
    pytest.importorskip("bindax_xla_backend", reason="its cache of programs is looked for, too")
    directory = tmp_path / "gone"
    directory.mkdir()
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
