"""The code in README.md and docs/ runs, and prints what the page shows."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path

import name_tables
import pytest
import site_links
import site_pages

from bindax_core import config
from bindax_core._config import derived, settings
from bindax_core.kernel._rules import rule_kinds

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
OPTIONAL = {
    "jaxlib": "the page shows what XLA compiles",
    "bindax_containers": "the page shows what this package registers",
    "xarray": "the page shows labelled arrays",
}
NEED_COMPILER = ("TransferError", "memory_analysis", "bindax.compare(", "bindax.inspect_mesh(")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def as_doctest(page: str) -> str:
    """Keep the code blocks of a page, on the lines where they stand there."""
    kept = [""] * (page.count("\n") + 1)
    for block in BLOCK.finditer(page):
        first = page.count("\n", 0, block.start(1))
        lines = block[1].splitlines()
        kept[first : first + len(lines)] = lines if ">>>" in block[1] else as_session(block[1])
    return "\n".join(kept)


def as_session(program: str) -> list[str]:
    """The lines of a program as if they were typed at the prompt."""
    starts: set[int] = set()
    inside: set[int] = set()
    for statement in ast.parse(program).body:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(one.lineno for one in decorators)])
        starts.add(first)
        inside.update(range(first + 1, (statement.end_lineno or first) + 1))
    lines = []
    for number, line in enumerate(program.splitlines(), 1):
        prompt = ">>> " if number in starts else "... " if number in inside else ""
        lines.append(prompt + line if prompt else "")
    return lines


PAGES_WITH_CODE = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: page.stem)
def test_code_on_page_prints_what_the_page_shows(
    page: Path, request: pytest.FixtureRequest
) -> None:
    written = page.read_text(encoding="utf-8")
    text = as_doctest(written)
    for package, reason in OPTIONAL.items():
        if package in written:
            pytest.importorskip(package, reason=reason)
    if any(word in written for word in NEED_COMPILER):
        pytest.importorskip("jaxlib", reason="the page shows what needs a compiler")
    if "$ export BINDAX_NUM_CPU_DEVICES=8" not in written:
        _run(page, text)
        return
    with config.override(backend=request.getfixturevalue("eight_devices").name):
        _run(page, text)


def _run(page: Path, text: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert test.examples, f"{page.name} has no code"
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    kinds, follows = set(rule_kinds), set(derived)
    runner.run(test, out=output.append)
    for name in set(rule_kinds) - kinds:  # or the suite would ask how its rules are checked
        del rule_kinds[name]
    for name in [name for name, one in settings.items() if "bindax" not in one.site.module]:
        del settings[name]
    for name in set(derived) - follows:
        del derived[name]
    assert not runner.failures, "".join(output)


@pytest.fixture(scope="module")
def made() -> set[Path]:
    """The pages that the build of the site writes."""
    return {ROOT / "docs" / name for name in site_pages.names()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_inside_the_repository_lead_somewhere(page: Path, made: set[Path]) -> None:
    prose = CODE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose)
    local = [target for target in targets if "://" not in target]
    paths = {(page.parent / target).resolve() for target in local}
    assert not [path for path in paths - made if not path.exists()]


def test_each_column_of_a_table_has_a_heading() -> None:
    """Readers of screens name the column of a cell."""
    pages = {*PAGES, *(ROOT / file for file in site_links.copied() if file.suffix == ".md")}
    texts = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in pages}
    texts |= {page.file: name_tables.text(page) for page in name_tables.PAGES}
    heads = {
        name: re.findall(r"^\|(.*)\|\n\|[ :|-]+\|$", CODE.sub("code", text), re.MULTILINE)
        for name, text in texts.items()
    }
    assert sum(map(len, heads.values())) > 100
    assert [
        (name, head)
        for name, found in heads.items()
        for head in found
        if not all(cell.strip() for cell in head.split("|"))
    ] == []
