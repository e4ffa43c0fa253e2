"""Every public name of JAX's modules is there, by every import that works in JAX."""

import importlib
import types
import warnings

import name_tables
import pytest

jax = pytest.importorskip("jax")

MODULES = [
    "nn",
    "nn.initializers",
    "scipy",
    "scipy.cluster",
    "scipy.cluster.vq",
    "scipy.fft",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.sparse",
    "scipy.sparse.linalg",
    "scipy.spatial",
    "scipy.spatial.transform",
    "scipy.special",
    "scipy.stats",
    "image",
    "ops",
    "flatten_util",
    "dlpack",
]


def public(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name for name in dir(module) if not name.startswith("_") and name != "annotations"}


@pytest.mark.parametrize("name", MODULES)
def test_names(name):
    theirs = importlib.import_module(f"jax.{name}")
    ours = importlib.import_module(f"bindax.{name}")
    missing = {n for n in public(theirs) if not hasattr(ours, n)}
    assert missing <= name_tables.absent(name)
    for n in public(theirs):
        inner = getattr(theirs, n)
        if isinstance(inner, types.ModuleType) and name != "scipy":
            mine = importlib.import_module(f"bindax.{name}.{n}")
            assert public(inner) <= set(dir(mine))
