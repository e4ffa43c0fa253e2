"""The pages of the names of JAX's modules are those that their script writes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


def test_pages_are_up_to_date() -> None:
    jax = pytest.importorskip("jax")
    root = Path(__file__).resolve().parent.parent
    path = root / "scripts/name_tables.py"
    specification = importlib.util.spec_from_file_location("name_tables", path)
    assert specification is not None
    assert specification.loader is not None
    script = importlib.util.module_from_spec(specification)
    sys.modules["name_tables"] = script
    specification.loader.exec_module(script)
    for page in script.pages():
        written = (root / "docs" / page.file).read_text(encoding="utf-8")
        if f"`jax` {jax.__version__}." not in written:
            pytest.skip("the pages are written from another version of JAX")
        assert written == script.text(page), "run: uv run python scripts/name_tables.py"
