"""Docstrings say what a thing does or is; `scripts/prose.py` finds those that open otherwise."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
prose = runpy.run_path(str(ROOT / "scripts/prose.py"))


def test_no_docstring_opens_with_a_question_word() -> None:
    found = [str(opening) for opening in prose["openings"](prose["sources"]())]
    if found:
        pytest.fail("begin with an imperative verb or a noun:\n" + "\n".join(found), pytrace=False)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('"""What it does."""', 1),
        ('def f():\n    """Whether it holds."""', 1),
        ('class C:\n    x: int\n    """How many."""', 1),
        ('def f():\n    """Say what it does."""\n    print("What")', 0),
        ('"""Tell whether it holds: how, which and so on."""', 0),
    ],
)
def test_openings_are_found_in_every_docstring(tmp_path: Path, text: str, count: int) -> None:
    file = tmp_path / "module.py"
    file.write_text(text, encoding="utf-8")
    assert len(list(prose["openings"]([file]))) == count
