"""Docstrings as Markdown: lists of arguments, results and errors, and blocks of code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import NamedTuple

from bindax._aliases import ALIASES

SECTIONS = {
    "Args": "Arguments",
    "Attributes": "Attributes",
    "Raises": "Raises",
    "Returns": "Returns",
    "Yields": "Yields",
}
HEADING = re.compile(rf"^({'|'.join(SECTIONS)}|Examples?):$")
ITEM = re.compile(r"^(\*{0,2}[\w.]+(?:, \*{0,2}[\w.]+)*)(?: \([^)]*\))?: (.*)$")
CODE = re.compile(r"(``?[^`]+``?)")
PACKAGES = {
    source: path for path, source in sorted(ALIASES.items(), key=lambda pair: -len(pair[1]))
} | {"bindax_core": "bindax", "bindax_parallel": "bindax.lax"}


class Part(NamedTuple):
    """A piece of a docstring: running text, a titled section, or a literal block."""

    title: str
    lines: tuple[str, ...]


def parts(text: str) -> Iterator[Part]:
    """Yield the parts of a docstring without its examples."""
    title = ""
    lines: list[str] = []
    in_session = False
    for line in inspect.cleandoc(text).splitlines():
        in_session = line.lstrip().startswith(">>>") or (in_session and bool(line.strip()))
        if in_session:
            continue
        heading = HEADING.match(line)
        if heading or (title and line and not line.startswith(" ")):
            yield Part(title, tuple(lines))
            title, lines = (heading[1] if heading else ""), []
        if not heading:
            lines.append(line)
    yield Part(title, tuple(lines))


def markdown(text: str) -> str:
    """Return a docstring as Markdown, without its examples."""
    found = []
    for part in parts(text):
        shown = items(part) if part.title in SECTIONS else prose(part.lines)
        if shown.strip():
            found.append(shown)
    return "\n\n".join(found)


def items(part: Part) -> str:
    """Return a section as a list: of names where each line begins with one."""
    lines = inspect.cleandoc("\n" + "\n".join(part.lines)).splitlines()
    entries: list[str] = []
    for line in lines:
        match = ITEM.match(line)
        if match and part.title not in ("Returns", "Yields"):
            entries.append(f"- `{match[1]}`: {plain(match[2])}")
        elif entries:
            entries[-1] += f" {plain(line.strip())}"
        elif line.strip():
            entries.append(f"{plain(line.strip())}")
    return f"**{SECTIONS[part.title]}**\n\n" + "\n".join(entries)


def prose(lines: tuple[str, ...]) -> str:
    """Return running text; what is indented after a line that ends with two colons is code."""
    found: list[str] = []
    literal = False
    for line in lines:
        if literal and line.strip() and not line.startswith("    "):
            literal = False
        if literal:
            found.append(line)
            continue
        literal = line.rstrip().endswith("::")
        found.append(plain(line[:-1] if literal else line))
        if literal:
            found.append("")
    return "\n".join(found).strip()


def plain(text: str) -> str:
    r"""Return text whose code is between single marks, and whose other signs mean themselves.

    >>> plain("``x * y`` of a * b, from ``bindax_numpy``")
    '`x * y` of a \\* b, from `bindax.numpy`'
    """
    pieces = CODE.split(text)
    for number, piece in enumerate(pieces):
        if number % 2:
            pieces[number] = "`" + piece.strip("`") + "`"
        else:
            pieces[number] = re.sub(r"([*<\[\]])", r"\\\1", piece)
    return public("".join(pieces))


def public(text: str) -> str:
    """Return text with the names of modules that users import."""
    for source, path in PACKAGES.items():
        text = re.sub(rf"\b{re.escape(source)}\b(?!\.\w*extend)", path, text)
    return text


def first_sentence(text: str) -> str:
    r"""Return the first sentence of a docstring in one line.

    >>> first_sentence("Add one.\n\nIt is slow.")
    'Add one.'
    """
    paragraph = " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())
    paragraph = paragraph.partition(" >>> ")[0]
    sentence = re.match(r"(.*?[.!:])(?=\s+[A-Z`]|$)", paragraph)
    return plain(sentence[1] if sentence else paragraph).replace("|", "\\|")
