"""The page of the names of `jax.numpy` is the one that its script writes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


def test_page_is_up_to_date() -> None:
    jax = pytest.importorskip("jax")
    path = Path(__file__).resolve().parent.parent / "scripts/numpy_names.py"
    specification = importlib.util.spec_from_file_location("numpy_names", path)
    assert specification is not None
    assert specification.loader is not None
    script = importlib.util.module_from_spec(specification)
    sys.modules["numpy_names"] = script
    specification.loader.exec_module(script)
    written = script.PAGE.read_text(encoding="utf-8")
    if f"`jax` {jax.__version__}." not in written:
        pytest.skip("the page is written from another version of JAX")
    assert written == script.page(), "run: uv run python scripts/numpy_names.py"
