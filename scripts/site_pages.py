"""Pages and pictures that follow from the code, and are written when the site is built.

They are the reference of names, the pages of operations and of JAX's names, the notebooks, the
sources that the reference links to, the pictures of the guide of rules, and reports of programs.
"""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path

import comparison_pages
import lax_pages
import name_tables
import reference_pages
import site_links
import site_notebooks
import source_pages

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures/draw.py"
REPORTS = ROOT / "docs/pictures/reports.py"


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


def reports() -> dict[str, bytes]:
    """Inspect programs; return the page of each by the name of its file in the documentation."""
    draw = runpy.run_path(str(REPORTS))["draw"]
    with tempfile.TemporaryDirectory() as folder:
        return {f"reports/{file.name}": file.read_bytes() for file in draw(Path(folder))}


def comparisons() -> dict[str, str]:
    """Compute beside optax and Flax; return the pages by the name of the file."""
    return comparison_pages.pages()


def names() -> set[str]:
    """Return the names of all these files but the sources."""
    operations = {f"lax/{name}.md" for name in lax_pages.groups()}
    drawn = {f"pictures/{one.__name__}.svg" for one in runpy.run_path(str(PICTURES))["PICTURES"]}
    tables = {page.file for page in name_tables.PAGES}
    inspected = {f"reports/{name}.html" for name in runpy.run_path(str(REPORTS))["PROGRAMS"]}
    copies = site_links.copied().values()
    written = {
        *site_notebooks.names(),
        *operations,
        *drawn,
        *inspected,
        *tables,
        *comparison_pages.PAGES,
        *reference_pages.large_files(),
        *copies,
    }
    return {"lax/README.md", site_links.INDEX, *written} - {"README.md"}
