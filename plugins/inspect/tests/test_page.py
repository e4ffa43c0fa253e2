"""The page of a report: one file, whose parts highlight each other, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax_lax_basic as lax
from bindax_inspect import Report, inspect
from bindax_inspect.page.html import page_of
from bindax_transforms import grad, jit, named_scope, vmap

X = np.ones((4, 8), np.float32)
W = np.ones((8, 8), np.float32)
SECRET = np.float32(0.123456)
Browse = Callable[[str, str], Any]


def layer(x: Any, w: Any) -> Any:
    with named_scope("layer"):
        return lax.tanh(lax.dot(x, w))  # the product


def loss(w: Any, x: Any) -> Any:
    return lax.reduce_sum(jit(layer)(x, w) * SECRET, axes=(0, 1))


@pytest.fixture(scope="module")
def report() -> Report:
    return inspect(grad(loss))(W, X)


@pytest.fixture(scope="module")
def page(report: Report, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("page") / "report.html"
    report.save(file)
    return file.read_text(encoding="utf-8")


SMOKE = """
const product = state.equations.find((one) => one.primitive === "dot_general" && one.backward);
const rows = (name) => [...document.querySelectorAll(`[data-pane=${name}] .row.on`)];
select([product.number], null);
await pause();
const source = [...document.querySelectorAll("#source tr.on .code")].map((one) => one.textContent);
const clicked = rows("jaxpr")[0];
clicked.dispatchEvent(new MouseEvent("click", { bubbles: true }));
await pause();
const found = { source, names: product.names, jaxpr: rows("jaxpr").map((row) => row.textContent),
  details: document.getElementById("details").textContent,
  panes: panes.map((pane) => pane.name) };
for (const name of ["StableHLO", "optimized"]) found[name] = rows(name).length;
const input = document.getElementById("search");
input.value = "dot_general";
input.dispatchEvent(new Event("input"));
found.search = document.getElementById("found").textContent;
const before = panes[0].shown.length;
document.dispatchEvent(new KeyboardEvent("keydown", { key: "f" }));
found.folded = panes[0].shown.length < before;
const theme = document.documentElement.dataset.theme;
document.dispatchEvent(new KeyboardEvent("keydown", { key: "t" }));
found.themes = [theme, document.documentElement.dataset.theme].sort();
showView("flame");
await pause();
found.boxes = document.querySelectorAll("#flame rect").length;
showView("memory");
await pause();
found.bars = document.querySelectorAll("#memory rect").length;
return found;
"""


def test_the_backward_product_highlights_the_forward_line(page: str, browse: Browse) -> None:
    pytest.importorskip("jaxlib")
    found = browse(page, SMOKE)
    assert any("# the product" in line for line in found["source"]), found["source"]
    assert found["names"].startswith("transpose(jvp(")
    assert "dot_general" in found["jaxpr"][0]
    assert "backward" in found["details"]
    assert "bindax_lax_basic/contract/dot_general.py:" in found["details"]
    assert found["panes"] == ["jaxpr", "StableHLO", "optimized"]
    assert found["StableHLO"] >= 1
    assert found["optimized"] >= 1
    assert re.fullmatch(r"[1-9]\d* found", found["search"])
    assert found["folded"]
    assert found["themes"] == ["dark", "light"]
    assert found["boxes"] > 5
    assert found["bars"] >= len(inspect(grad(loss))(W, X).jaxpr.eqns)


EVERY_EQUATION = """
const lost = [];
for (const equation of state.equations) {
  if (!equation.runs) continue;
  select([equation.number], null);
  const marked = panes.map((pane) => pane.equations.some(touches));
  if (!marked.every(Boolean)) lost.push([equation.primitive, marked]);
  if (equation.line && !document.querySelector("#source tr.on")) lost.push([equation.line]);
}
for (const pane of panes) {
  pane.foldAll(true);
  const last = pane.text.length - 1;
  pane.show(last - 1);
  if (!pane.shown.includes(last - 1)) lost.push([pane.name, "stays folded"]);
}
return lost;
"""


@pytest.mark.nightly
def test_every_equation_is_found_in_every_text(browse: Browse) -> None:
    pytest.importorskip("jaxlib")

    def deep(w: Any, x: Any) -> Any:
        for _ in range(6):
            x = lax.add(jit(layer)(x, w), x)
        return lax.reduce_sum(vmap(lax.sin)(x), axes=(0, 1))

    page = page_of(inspect(grad(deep), runs=1)(W, X))
    lost = browse(page, EVERY_EQUATION)
    assert [one for one in lost if one[0] != "jit"] == []  # calls are inlined


def test_the_page_needs_nothing_from_elsewhere(page: str) -> None:
    assert not re.search(r"(?:src|href)\s*=|@import|url\(|fetch\(|XMLHttpRequest", page)
    assert len(page) < 100_000


def test_a_report_holds_no_values_unless_asked(report: Report) -> None:
    from bindax_inspect.page.data import page_data

    shown = str(page_data(report)["panes"])
    assert "0.123456" not in shown
    assert "1.234560" not in shown
    asked = inspect(grad(loss), values=True, runs=0)(W, X)
    assert "0.123456" in str(page_data(asked)["panes"])


def test_a_notebook_shows_the_page_in_a_frame(report: Report) -> None:
    html = report._repr_html_()
    assert html.startswith('<iframe srcdoc="&lt;!doctype html&gt;')


def test_saving_where_no_directory_is(report: Report, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        report.save(tmp_path / "none" / "report.html")
