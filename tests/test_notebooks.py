"""Notebooks are stored without results, are pages of the site, and run from top to bottom."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
import site_notebooks

FILES = site_notebooks.files()


def test_there_are_three() -> None:
    assert [file.stem for file in FILES] == ["classifier", "primitive", "simulator"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_notebook_has_code_and_no_results(file: Path) -> None:
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    assert cells[0]["cell_type"] == "markdown"
    assert cells[0]["source"][0].startswith("# ")
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    for cell in code:
        ast.parse(site_notebooks.joined(cell["source"]))
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


def test_page_of_a_notebook_has_what_its_cells_print_and_draw() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n"]},
        {
            "cell_type": "code",
            "source": "# a line\nplot()",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "AAAA"}},
            ],
        },
    ]
    lines, pictures = site_notebooks.page("one", {"cells": cells})
    assert lines == [
        *("# Title\n", "[Open as a notebook](one.ipynb)", "```python\n# a line\nplot()\n```"),
        *("```text\n1\n```", "![a line](one-0.png)"),
    ]
    assert pictures == {"one-0.png": b"\0\0\0"}


@pytest.mark.nightly
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_notebook_runs_from_top_to_bottom(file: Path) -> None:
    pytest.importorskip("nbclient", reason="the group docs is not installed")
    pytest.importorskip("jaxlib", reason="programs are compiled")
    cells = site_notebooks.executed(file)["cells"]
    assert all(
        cell["outputs"] or "=" in "".join(cell["source"]) for cell in cells if "outputs" in cell
    )
