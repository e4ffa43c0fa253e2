"""The summary for language models: its links lead to pages, its code runs, its names exist."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from pathlib import Path

import click

from bindax._cli import main

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs/llms.txt").read_text(encoding="utf-8")


def test_it_has_the_form_that_readers_expect() -> None:
    lines = TEXT.splitlines()
    assert lines[0] == "# bindax"
    assert lines[2].startswith("> ")
    assert len(lines) < 100


def test_links_lead_to_pages() -> None:
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / "docs" / f"{link[:-1]}.md").is_file()] == []


def test_modules_and_commands_are_there() -> None:
    for name in set(re.findall(r"`(bindax\.[a-z]+)`", TEXT)) - {"bindax.config"}:
        importlib.import_module(name)
    commands = {*re.findall(r"`bindax ([a-z-]+)", TEXT)}
    assert commands <= {*main.list_commands(click.Context(main))}


def test_the_program_runs() -> None:
    program = TEXT.partition("```python\n")[2].partition("```")[0]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program, {})
    assert out.getvalue() == "[0. 0. 0.]\n"
