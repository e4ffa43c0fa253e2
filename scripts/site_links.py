"""Links of pages to other files of the repository: each leads to a page of the site.

READMEs of packages and the documents beside the README are pages of the site, under `packages` and
`project`; every other file that a page links to has a page that shows its lines.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import source_pages

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?\[[^\]]*\])\(((?!\w+:)[^)#\s]+)(#[^)\s]*)?\)")
PROJECT = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
PACKAGES = ("core", "testing", "mutation", "plugins/*")
INDEX = "packages/README.md"
EXAMPLES = ("examples/models", "examples/distributed", "examples/plugins", "examples/plugins/*")


@functools.cache
def copied() -> dict[Path, str]:
    """Return the page of each document outside of `docs`, both relative to their root."""
    found = {Path("README.md"): "README.md", Path("docs"): "README.md"}
    found |= {Path(name): f"project/{name.lower()}" for name in PROJECT}
    for folder, patterns in (("packages", PACKAGES), ("examples", EXAMPLES)):
        for pattern in patterns:
            for file in sorted(ROOT.glob(f"{pattern}/README.md")):
                name = "README" if pattern == "examples/plugins" else file.parent.name
                found[file.relative_to(ROOT)] = f"{folder}/{name}.md"
    return found


def pages() -> dict[str, str]:
    """Return the text of each of these pages, with its links, by the name of its file."""
    copies = {
        page: rewrite((ROOT / file).read_text(encoding="utf-8"), ROOT / file, page)
        for file, page in copied().items()
        if page != "README.md"
    }
    return {INDEX: index(copies), **copies}


def index(copies: Mapping[str, str]) -> str:
    """Return the page that lists the packages."""
    rows = ["# Packages\n", "What `bindax` is installed from; each can be installed alone.\n"]
    rows += ["| package | purpose |", "|---|---|"]
    for page, text in sorted(copies.items()):
        folder, _, name = page.rpartition("/")
        if folder == "packages":
            title, _, rest = text.removeprefix("# ").partition("\n\n")
            sentence = " ".join(rest.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".:")
            rows.append(f"| [{title}]({name}) | {sentence} |")
    return "\n".join(rows) + "\n"


def targets(markdown: str, origin: Path) -> Iterator[tuple[str, Path]]:
    """Yield the links of a text to files, each with the file it means."""
    for match in LINK.finditer(CODE.sub("", markdown)):
        yield match[2], (origin.parent / match[2]).resolve()


def page_of(file: Path) -> str | None:
    """Return the page of the site that shows a file of the repository, or None."""
    if not file.exists() and not file.is_relative_to(DOCS):
        return None
    if file.is_relative_to(DOCS) and file != DOCS:
        return file.relative_to(DOCS).as_posix()
    path = file.relative_to(ROOT)
    while file.is_dir() and path not in copied() and path / "README.md" not in copied():
        file, path = file.parent, path.parent  # a folder is described by the nearest README
    return copied().get(path) or copied().get(path / "README.md") or source_pages.place(path)


def rewrite(markdown: str, origin: Path, page: str) -> str:
    """Return a text whose links lead to pages of the site.

    Args:
        markdown: the text.
        origin: the file that it is in, which its links are relative to.
        page: the page of the site that shows it.

    Raises:
        FileNotFoundError: a link leads nowhere.
    """

    def replace(match: re.Match[str]) -> str:
        shown, target, anchor = match.groups()
        found = page_of((origin.parent / target).resolve())
        if found is None:
            raise FileNotFoundError(
                f"{origin.relative_to(ROOT)} links to {target}, which is not there"
            )
        return f"{shown}({os.path.relpath(found, Path(page).parent)}{anchor or ''})"

    # A link whose text is code is one link: code waits behind a number while links are found.
    kept: list[str] = []

    def hide(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\0{len(kept) - 1}\0"

    linked = LINK.sub(replace, CODE.sub(hide, markdown))
    return re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], linked)


@functools.cache
def linked_files() -> frozenset[Path]:
    """Return the files, relative to the repository, that pages link to and that are no pages."""
    origins = [*DOCS.rglob("*.md"), *(ROOT / file for file in copied() if file.suffix == ".md")]
    found = set()
    for origin in origins:
        for _, file in targets(origin.read_text(encoding="utf-8"), origin):
            page = page_of(file) or ""
            if page.startswith(f"{source_pages.FOLDER}/"):
                found.add(file.relative_to(ROOT))
    return frozenset(found)
