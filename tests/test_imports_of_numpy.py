"""Modules of ``bindax.numpy`` are imported by their dotted names."""

import importlib
import sys

import pytest


@pytest.mark.parametrize("name", ["fft", "linalg"])
def test_dotted_imports(name):
    module = importlib.import_module(f"bindax.numpy.{name}")
    package = sys.modules["bindax.numpy"]
    assert getattr(package, name) is module
    own = importlib.import_module(f"bindax_numpy.{name}")
    assert module.__all__ == own.__all__
    assert all(getattr(module, key) is getattr(own, key) for key in own.__all__)
