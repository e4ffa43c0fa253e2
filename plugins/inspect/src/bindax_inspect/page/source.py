"""The user's functions that equations come from, as highlighted lines."""

from __future__ import annotations

import linecache
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

from bindax_inspect.program.equations import Program

_AROUND = 2  # lines shown around one of a module, which is no function


def source_blocks(program: Program) -> list[dict[str, Any]]:
    """Return the parts of files that equations come from, in the order of their first use.

    Each has the ``file``, the number of the first line as ``start``, and ``html``, a list of
    highlighted lines. Of a file only the functions with equations are there.
    """
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    seen: set[tuple[int, int]] = set()
    for equation in program.equations:
        code, number = equation.origin.code, equation.origin.line.number
        if code is None or (id(code), number) in seen:
            continue
        seen.add((id(code), number))
        spans[code.co_filename].append(_span(code, number))
    return [
        {"file": file, "name": Path(file).name, "start": start, "html": html}
        for file, found in spans.items()
        for start, end in _merged(found)
        if (html := _highlighted(file, start, end))
    ]


def _span(code: CodeType, number: int) -> tuple[int, int]:
    if code.co_name == "<module>":
        return max(number - _AROUND, 1), number + _AROUND
    return code.co_firstlineno, max(_lines(code), default=code.co_firstlineno)


def _lines(code: CodeType) -> Iterator[int]:
    yield from (line for _, _, line in code.co_lines() if line is not None)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines(constant)


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1] + 2:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _highlighted(file: str, start: int, end: int) -> list[str]:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    lines = [linecache.getline(file, number) for number in range(start, end + 1)]
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        return []
    text = "".join(line if line.endswith("\n") else line + "\n" for line in lines)
    lexer = PythonLexer(stripnl=False)
    html: str = highlight(text, lexer, HtmlFormatter(nowrap=True))
    return html.rstrip("\n").split("\n")
