"""The pages of docs/lax are those that the definitions of the primitives give."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def lax_pages() -> ModuleType:
    path = Path(__file__).resolve().parent.parent / "scripts/lax_pages.py"
    specification = importlib.util.spec_from_file_location("lax_pages", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["lax_pages"] = module
    specification.loader.exec_module(module)
    return module


def test_pages_are_up_to_date(lax_pages: ModuleType) -> None:
    assert not lax_pages.outdated(), "run: uv run python scripts/lax_pages.py"


def test_record_covers_every_primitive_and_nothing_failed(lax_pages: ModuleType) -> None:
    record = json.loads(lax_pages.RECORD.read_text(encoding="utf-8"))["primitives"]
    assert set(record) == set(lax_pages.declared())
    for name, checks in record.items():
        failed = [
            check
            for check, result in checks.items()
            if str(result).startswith(("failed", "not run"))
        ]
        assert not failed, (name, failed)
        assert lax_pages.passed(checks), name
