"""Examples in docstrings call the functions of this package as its users do, by these names."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import bindax_numpy as jnp

_MODULES = (
    "cluster.vq",
    "fft",
    "image",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "spatial.transform",
    "special",
    "stats",
)


@pytest.fixture(autouse=True)
def names_in_examples(doctest_namespace: dict[str, Any]) -> None:
    """Make the names known to every example."""
    doctest_namespace.update(jnp=jnp, np=np)
    for name in _MODULES:
        doctest_namespace[name.rpartition(".")[2]] = import_module(f"bindax_scipy.{name}")
    doctest_namespace["sparse_linalg"] = import_module("bindax_scipy.sparse.linalg")
