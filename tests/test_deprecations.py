"""The page of what stays lists everything that is deprecated, and nothing outlives its time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import bindax
from bindax_core._deprecation import Deprecation

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/stability.md"
SOURCES = ("src", "core/src", "testing/src", "mutation/src", "plugins/*/src")


def _declared() -> Iterator[Deprecation]:
    """Find the uses of ``deprecated`` in the sources of all packages."""
    files = [file for one in SOURCES for path in ROOT.glob(one) for file in path.rglob("*.py")]
    for file in files:
        text = file.read_text(encoding="utf-8")
        if "deprecated(" in text and file.name != "_deprecation.py":
            yield from map(_read, filter(_is_use, ast.walk(ast.parse(text))))


def _is_use(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "deprecated"


def _read(node: ast.AST) -> Deprecation:
    assert isinstance(node, ast.Call)
    words = {one.arg: ast.literal_eval(one.value) for one in node.keywords}
    return Deprecation(ast.literal_eval(node.args[0]), words["replacement"], words["since"])


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def test_the_page_lists_what_is_deprecated() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = text.partition("<!-- begin deprecations -->\n")[2].partition("<!-- end")[0]
    rows = [
        f"| `{one.name}` | `{one.replacement}` | {one.since} | {one.removal} |"
        for one in sorted(_declared())
    ]
    assert [line for line in shown.splitlines() if line.startswith("| `")] == rows
    assert rows or shown == "Nothing.\n"


def test_nothing_outlives_its_time() -> None:
    now = _version(bindax.__version__)
    assert [one for one in _declared() if _version(one.removal) <= now] == []


def test_uses_are_found() -> None:
    text = '@deprecated("old", replacement="new", since="0.2")\ndef old(): ...'
    (found,) = map(_read, filter(_is_use, ast.walk(ast.parse(text))))
    assert found == ("old", "new", "0.2")
    assert found.removal == "0.4"
