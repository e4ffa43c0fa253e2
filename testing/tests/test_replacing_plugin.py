"""A plugin that puts its own functions in place of NumPy's or of bindax's does not conform."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PLUGIN = """
import numpy
import bindax_core
from bindax_core.extend import abstract_eval, hookimpl, impl, jvp, lowering, primitive
from bindax_core.extend import transpose, vmap

def quick(x):
    return x

numpy.block = quick
bindax_core.Array.block = quick
absent = [kind.absent("a test") for kind in (jvp, vmap, transpose, lowering["stablehlo"])]
same_p = primitive("replacing.same", impl(lambda x: x), abstract_eval(lambda x: x), *absent)

@hookimpl
def bindax_primitives():
    return [same_p]

@hookimpl
def bindax_samples():
    from bindax_testing import array, sample
    return [sample(same_p, array((2,)))]
"""
CHECK = """
import bindax_core
from bindax_testing import check_plugin
report = check_plugin("replacing", budget=5.0)
assert not report.ok
for failure in report.failures:
    print(failure.check, failure.reason)
print(*(one["text"] for one in bindax_core.diagnose_plugins(load=False)), sep="\\n")
"""


def test_plugin_that_replaces_functions_of_others(tmp_path: Path) -> None:
    metadata = tmp_path / "replacing_dist-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: replacing-dist\nVersion: 1.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(
        "[bindax.v1]\nreplacing = replacing\n"
        "[bindax.v1.primitives]\nreplacing.same = replacing:same_p\n",
        encoding="utf-8",
    )
    (tmp_path / "replacing.py").write_text(PLUGIN, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", CHECK],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    place = f"by a function of its own ({tmp_path}/replacing.py:7)"
    assert f"samples replacing-dist 1.0 replaces numpy.block {place}" in done.stdout
    assert f"replaces bindax_core.arrays._array.Array.block {place}" in done.stdout
    assert f"\nreplaces numpy.block {place}" in done.stdout
