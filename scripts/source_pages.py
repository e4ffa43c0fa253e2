"""The files that pages link to, as pages of the site with numbered lines."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

import reference

FOLDER = "source"
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>{title}</title>
<link rel="stylesheet" href="{ups}source/source.css">
</head>
<body>
<main>
<h1>{title}</h1>
<pre tabindex="0">{code}</pre>
</main>
</body>
</html>
"""
STYLE = """:root { color-scheme: light dark; }
body { margin: 1rem auto; max-width: 62rem; padding: 0 1rem; font-family: sans-serif; }
h1 { font-size: 1rem; overflow-wrap: anywhere; }
pre { counter-reset: line; font-size: 0.85rem; line-height: 1.4; overflow-x: auto; }
pre span { display: block; min-height: 1.4em; }
pre span::before {
  content: counter(line);
  counter-increment: line;
  display: inline-block;
  margin-right: 1rem;
  opacity: 0.7;
  text-align: right;
  width: 2.5rem;
}
pre span:target { background: rgb(255 200 0 / 30%); }
"""


def place(file: Path) -> str:
    """Return the page of a file of the repository.

    >>> place(Path("src/bindax/ops.py"))
    'source/src/bindax/ops.py.html'
    """
    return f"{FOLDER}/{file.as_posix()}.html"


def linked_entries() -> set[Path]:
    """Return the files that entries of the reference link to, relative to the repository."""
    found = (reference.source(entry) for entry in reference.entries().values())
    return {one[0] for one in found if one is not None}


def pages(files: Iterable[Path]) -> dict[str, str]:
    """Return the page of each file, and their style sheet, by the name of the file on the site."""
    return {f"{FOLDER}/source.css": STYLE, **{place(file): page(file) for file in sorted(files)}}


def page(file: Path) -> str:
    """Return the page of one file; the line n has the anchor L-n."""
    text = (reference.ROOT / file).read_text(encoding="utf-8")
    lines = enumerate(text.splitlines(), 1)
    code = "".join(f'<span id="L-{number}">{escape(line)}</span>' for number, line in lines)
    return PAGE.format(title=escape(file.as_posix()), ups="../" * len(file.parts), code=code)
