"""Print the size of each part, and fail where a file, a function or the kernel's core is too long.

Small files and functions are what lets a reader hold one of them in mind. The limits are in lines,
as an editor counts them: comments, docstrings and blank lines included, so that nobody saves lines
by explaining less than the code needs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MAX_FILE = 450
MAX_FUNCTION = 60
MAX_READING_PATH = 1200
MAX_KERNEL = 2000

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "core/src/bindax_core"
READING_PATH = (*("primitive", "stack", "trace", "aval", "jaxpr", "eval_jaxpr", "rules"),)
"""The files of the kernel that a newcomer reads, in this order."""
PACKAGES = {
    "bindax": ROOT / "src/bindax",
    **{f"core/{path.parent.name}": path.parent for path in sorted(CORE.glob("*/__init__.py"))},
    "testing": ROOT / "testing/src/bindax_testing",
    "mutation": ROOT / "mutation/src/bindax_mutation",
    **{path.name: path for path in sorted(ROOT.glob("plugins/*/src/bindax_*"))},
}


class Function(NamedTuple):
    """A function, where it is and how long it is."""

    name: str
    path: Path
    line: int
    lines: int


def line_count(path: Path) -> int:
    """Return the number of lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def functions(path: Path) -> Iterator[Function]:
    """Yield every function of a file, the nested ones too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            end = node.end_lineno or node.lineno
            yield Function(node.name, path, node.lineno, end - node.lineno + 1)


def sources(name: str) -> list[Path]:
    """Return the files of a part."""
    return sorted(PACKAGES[name].rglob("*.py"))


def report(name: str) -> list[str]:
    """Print the row of one part; return what is too long in it."""
    package = PACKAGES[name]
    files = {path: line_count(path) for path in sources(name)}
    if not files:
        return [f"{name}: no Python file under {package.relative_to(ROOT)}"]
    longest_file = max(files, key=lambda path: files[path])
    all_functions = [function for path in files for function in functions(path)]
    longest = max(all_functions, key=lambda f: f.lines, default=Function("-", longest_file, 0, 0))
    print(
        f"{name:<20} {len(files):>5} {sum(files.values()):>7} "
        f"{files[longest_file]:>5} {longest_file.relative_to(package)!s:<32} "
        f"{longest.lines:>3} {longest.name}"
    )
    problems = [
        f"{path.relative_to(ROOT)}: {lines} lines, at most {MAX_FILE}"
        for path, lines in files.items()
        if lines > MAX_FILE
    ]
    problems += [
        f"{f.path.relative_to(ROOT)}:{f.line}: {f.name} has {f.lines} lines, at most {MAX_FUNCTION}"
        for f in all_functions
        if f.lines > MAX_FUNCTION
    ]
    return problems


def main() -> int:
    """Print the table and the problems; return the exit status."""
    print(f"{'part':<20} {'files':>5} {'lines':>7} {'longest file':<38} longest function")
    problems = [problem for name in PACKAGES for problem in report(name)]
    reading = sum(line_count(CORE / f"kernel/_{name}.py") for name in READING_PATH)
    kernel = sum(map(line_count, sources("core/kernel")))
    if kernel > MAX_KERNEL:
        problems.append(f"the kernel has {kernel} lines, at most {MAX_KERNEL}")
    if reading > MAX_READING_PATH:
        problems.append(f"the kernel takes {reading} lines to read, at most {MAX_READING_PATH}")
    for problem in problems:
        print(f"too long: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
