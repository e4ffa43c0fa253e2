"""MkDocs hooks: pages that are written when the site is built, links, lists of names.

- The pages, pictures and reports of `site_pages.py` are added to those that are stored.
- Links to files of the repository lead to the pages that show them (`site_links.py`); one that
  leads nowhere stops the build.
- The line `<!-- names: package.module -->` becomes the reference of all public names of a module,
  and the line `<!-- modules -->` the table of all modules.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))  # hooks are loaded from their file alone

import reference_pages
import site_links
import site_pages
import site_ranking


def on_files(files: Any, config: Any) -> Any:
    """Add the pages and pictures that follow from the code."""
    File = import_module("mkdocs.structure.files").File  # not installed where types are checked
    made = {
        **site_pages.pages(),
        **site_pages.sources(),
        **site_pages.notebooks(),
        **site_pages.pictures(),
        **site_pages.reports(),
        **site_pages.comparisons(),
    }
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Rewrite the links of a page, and list the names that it asks for."""
    name = page.file.src_uri
    stored = site_links.DOCS / name
    linked = site_links.rewrite(markdown, stored, name) if stored.exists() else markdown
    return reference_pages.with_names(linked)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Give the dialog of the search a name, which readers of screens say."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    """Do the same for the page that is shown where there is none."""
    return on_post_page(output_content, None, config)


def on_post_build(config: Any) -> None:
    """Weigh the places that the search finds."""
    site_ranking.apply(Path(config["site_dir"]) / "search/search_index.json")
