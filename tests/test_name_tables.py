"""The pages of the names of JAX's modules, and the stored tables that they are written from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import name_tables
import pytest

SCRIPT = Path(name_tables.__file__)


@pytest.mark.parametrize("page", name_tables.PAGES, ids=lambda page: page.file)
def test_pages_give_a_reason_for_each_name_that_is_absent(page: name_tables.Page) -> None:
    assert name_tables.text(page).startswith(f"# Names of {page.title}\n")


@pytest.mark.nightly
def test_tables_are_what_the_installed_releases_have() -> None:
    """Compared in a process of its own: to import a submodule adds a name to its package."""
    for package in name_tables.REFERENCES:
        pytest.importorskip(package)
    command = [sys.executable, "-W", "ignore", SCRIPT, "--check"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    if "compared" not in ran.stdout:
        pytest.skip(ran.stdout)


def test_later_releases_are_on_the_pages() -> None:
    page = next(page for page in name_tables.PAGES if page.file == "numpy_names.md")
    assert "| `numpy.histogram` | differs | no `out_sharding`" in name_tables.text(page)
