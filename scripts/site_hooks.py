"""MkDocs hooks: pages that are written when the site is built, links, lists of names.

- The pages and pictures of `site_pages.py` are added to those that are stored.
- Links of pages to files that are not pages lead to the repository, where `repo_url` in mkdocs.yml
  says where that is; without it their text stays. A link to a file that is not there is a warning,
  which a strict build refuses.
- The line `<!-- names: package.module -->` becomes the reference of all public names of a module,
  grouped by the files that define them.
"""

from __future__ import annotations

import inspect
import logging
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?!\w+:)[^)#\s]+)(#[^)\s]*)?\)")
NAMES = re.compile(r"^<!-- names: ([\w.]+) -->$", re.MULTILINE)
ONE = """::: {place}
    options:
      heading: {name}
      heading_level: 3
      show_root_heading: true
"""

log = logging.getLogger("mkdocs.hooks.bindax")


# ------------------------------------------------------------------------------------- pages


def on_files(files: Any, config: Any) -> Any:
    """Add the pages and pictures that follow from the code."""
    sys.path.append(str(Path(__file__).parent))
    import site_pages

    File = import_module("mkdocs.structure.files").File  # not installed where types are checked
    for name, content in {**site_pages.pages(), **site_pages.pictures()}.items():
        files.append(File.generated(config, name, content=content))
    return files


# ------------------------------------------------------------------------------------- links


def outside(target: str, page: Path, docs: Path) -> Path | None:
    """Return the file that a link leads to, relative to the repository; None for pages."""
    path = (page.parent / target).resolve()
    return None if path.is_relative_to(docs) else path.relative_to(ROOT)


def rewrite(markdown: str, page: Path, docs: Path, repository: str | None) -> str:
    """Return the text of a page whose links out of the documentation lead to the repository."""

    def replace(match: re.Match[str]) -> str:
        text, target, anchor = match.groups()
        path = outside(target, page, docs)
        if path is None:
            return match[0]
        if not (ROOT / path).exists():
            log.warning("%s links to %s, which does not exist", page.relative_to(ROOT), path)
        if repository is None:
            return str(text)
        return f"[{text}]({repository.rstrip('/')}/blob/main/{path.as_posix()}{anchor or ''})"

    # A link whose text is code is one link: code waits behind a number while links are found.
    kept: list[str] = []

    def hide(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\0{len(kept) - 1}\0"

    linked = LINK.sub(replace, CODE.sub(hide, markdown))
    return re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], linked)


# ------------------------------------------------------------------------------------- names


def public_names(module: ModuleType) -> list[str]:
    """Return the documented public names of a module, in alphabetical order."""
    listed = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    values = {name: getattr(module, name) for name in listed}
    return sorted(
        name
        for name, value in values.items()
        if (inspect.isclass(value) or inspect.isroutine(value))
        and value.__module__.partition(".")[0].startswith("bindax")
        and has_source(value)
    )


def has_source(value: Any) -> bool:
    """Tell whether a class or function is written down somewhere, not made while it is imported."""
    try:
        inspect.findsource(inspect.unwrap(value))
    except (OSError, TypeError):
        return False
    return True


def reference(path: str) -> str:
    """Return the directives for all public names of a module, grouped by where they come from."""
    module = import_module(path)
    groups: dict[str, list[str]] = {}
    for name in public_names(module):
        home = inspect.unwrap(getattr(module, name)).__module__
        groups.setdefault(home, []).append(name)
    return "\n".join(line for home in sorted(groups) for line in group(module, home, groups[home]))


def group(module: ModuleType, home: str, names: list[str]) -> Iterator[str]:
    """Yield the heading and the directives of names that one file defines."""
    purpose = inspect.getdoc(sys.modules[home]) or ""
    title = " ".join(purpose.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
    yield f"## {title or home}\n"
    for name in names:
        yield ONE.format(place=f"{home}.{getattr(module, name).__qualname__}", name=name)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Rewrite the links of a page, and list the names that it asks for."""
    docs = Path(config["docs_dir"]).resolve()
    linked = rewrite(markdown, docs / page.file.src_uri, docs, config["repo_url"] or None)
    return NAMES.sub(lambda match: reference(match[1]), linked)
