"""Pages and pictures that follow from the code, and are written when the site is built.

They are the pages of operations and of names, and the pictures of the guide of rules.
"""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path

import lax_pages
import name_tables

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures/draw.py"


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file in the documentation."""
    operations = {f"lax/{name}": text for name, text in lax_pages.pages().items()}
    return operations | {page.file: name_tables.text(page) for page in name_tables.PAGES}


def pictures() -> dict[str, bytes]:
    """Draw the pictures; return each by the name of its file in the documentation."""
    draw = runpy.run_path(str(PICTURES))["draw"]
    with tempfile.TemporaryDirectory() as folder:
        return {f"pictures/{file.name}": file.read_bytes() for file in draw(Path(folder))}


def names() -> set[str]:
    """Return the names of all these files."""
    operations = {f"lax/{name}.md" for name in lax_pages.families()}
    drawn = {f"pictures/{one.__name__}.svg" for one in runpy.run_path(str(PICTURES))["PICTURES"]}
    return {"lax/README.md", *operations, *drawn, *(page.file for page in name_tables.PAGES)}
