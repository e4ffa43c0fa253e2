"""List the docstrings that open with a question word, and fail where there are any.

A docstring starts with a verb in the imperative or a plain noun: "Return the axes", "The axes that
are reduced". One that starts with What, How or Whether says what a reader would ask, not what the
thing does or is.

    uv run python scripts/prose.py [DIRECTORY ...]
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    *("src", "core/src", "testing/src", "mutation/src"),
    *("plugins/*/src", "examples/plugins/*/src", "scripts"),
)
OPENING = re.compile(r"\s*(What|How|Whether|Which|That|Says|So)\b")
IN_QUOTES = re.compile(rf"[\"'](\\\n)?{OPENING.pattern}")
"""Text without which a file has no such docstring, so that few files are parsed."""


class Opening(NamedTuple):
    """A docstring with an opening that is not wanted."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and text of each string that stands as a statement of its own.

    Those are the docstrings of modules, classes and functions, and of constants above them.
    """
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.lineno, node.value.value


def openings(files: Iterable[Path]) -> Iterator[Opening]:
    """Yield the docstrings of files whose first word is a question word."""
    for path in files:
        source = path.read_text(encoding="utf-8")
        if not IN_QUOTES.search(source):
            continue
        for line, text in docstrings(ast.parse(source, filename=str(path))):
            if OPENING.match(text):
                yield Opening(path, line, text.strip().partition("\n")[0])


def sources() -> list[Path]:
    """Return the files that are looked at."""
    return sorted(path for place in SOURCES for path in ROOT.glob(f"{place}/**/*.py"))


def main(arguments: list[str]) -> int:
    """Print what is found in some directories, or in all sources."""
    files = [path for name in arguments for path in sorted(Path(name).rglob("*.py"))] or sources()
    found = list(openings(files))
    for opening in found:
        print(opening)
    print(f"{len(found)} docstrings open with a question word")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
