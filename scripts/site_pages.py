"""Pages and pictures that follow from the code, and are written when the site is built.

They are the reference of names, the pages of operations and of JAX's names, the notebooks, the
sources that the reference links to, and the pictures of the guide of rules.
"""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path

import lax_pages
import name_tables
import reference_pages
import site_links
import site_notebooks
import source_pages

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures/draw.py"


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file in the documentation."""
    operations = {f"lax/{name}": text for name, text in lax_pages.pages().items()}
    tables = {page.file: name_tables.text(page) for page in name_tables.PAGES}
    return operations | tables | reference_pages.large_pages() | site_links.pages()


def notebooks() -> dict[str, str | bytes]:
    """Run the notebooks; return their pages and pictures by the name of the file."""
    return site_notebooks.pages()


def sources() -> dict[str, str]:
    """Return the pages of source code, by the name of the file."""
    return source_pages.pages(source_pages.linked_entries() | site_links.linked_files())


def pictures() -> dict[str, bytes]:
    """Draw the pictures; return each by the name of its file in the documentation."""
    draw = runpy.run_path(str(PICTURES))["draw"]
    with tempfile.TemporaryDirectory() as folder:
        return {f"pictures/{file.name}": file.read_bytes() for file in draw(Path(folder))}


def names() -> set[str]:
    """Return the names of all these files but the sources."""
    operations = {f"lax/{name}.md" for name in lax_pages.groups()}
    drawn = {f"pictures/{one.__name__}.svg" for one in runpy.run_path(str(PICTURES))["PICTURES"]}
    tables = {page.file for page in name_tables.PAGES}
    copies = site_links.copied().values()
    written = {
        *site_notebooks.names(),
        *operations,
        *drawn,
        *tables,
        *reference_pages.large_files(),
        *copies,
    }
    return {"lax/README.md", site_links.INDEX, *written} - {"README.md"}
