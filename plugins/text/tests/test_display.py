"""Values on the screen: short whatever their size, and never a reason to fail."""

from __future__ import annotations

import base64
import re
import struct
import sys
import time
import types
import zlib
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

from bindax_core import Array
from bindax_core.tree_util import register_dataclass
from bindax_text import Displayed, Parts, View, display
from bindax_text.display.notebook import html_of
from bindax_text.display.pictures import histogram_svg, image_of, sparkline
from bindax_text.display.summaries import BARS, numbers_of, numbers_text
from bindax_text.display.terminal import rich_of
from bindax_text.display.totals import totals_text


def array(values: Any, dtype: Any = np.float32) -> Array:
    return Array.from_numpy(np.array(values, dtype))


def in_terminal(value: Any) -> str:
    console = pytest.importorskip("rich.console").Console(width=100, color_system=None)
    with console.capture() as captured:
        console.print(value)
    return str(captured.get())


class Shown(Displayed):
    """Something with one part."""

    def __init__(self, part: Any) -> None:
        self.part = part

    def __bindax_parts__(self) -> Parts:
        return Parts("Shown(", [("part=", self.part)], ")")


def test_values_of_large_arrays_are_those_of_the_own_parts() -> None:
    large = Shown(array(range(20)))
    assert "19.], dtype=float32)" in repr(large)
    assert "part=Array(shape=(20,), dtype=float32)" in repr(Shown(large))
    assert "Array([1., 1.], dtype=float32)" in repr(Shown(Shown(array([1, 1]))))


class Opened(HTMLParser):
    """The elements of a page, and the text that is seen; what is not closed is an error."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("img", "rect"):
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "rect":
            assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data if self.stack[-1] != "style" else ""

    def count(self, tag: str) -> int:
        return [name for name, _ in self.tags].count(tag)


VALUES: dict[str, Any] = {
    "empty": array(np.zeros((0, 5))),
    "scalar": array(1.5),
    "matrix": array(np.arange(64.0).reshape(8, 8) - 30),
    "not finite": array([[np.nan, np.inf, -np.inf, 1.0]] * 4),
    "only nan": array([np.nan, np.nan]),
    "all equal": array(np.full((4, 4), 7)),
    "huge numbers": array([-1.7e308, 1.7e308], np.float64),
    "complex": array(np.ones((5, 5)) * (3 + 4j), np.complex64),
    "bool": array(np.eye(6), np.bool_),
    "uint64": array([0, 2**64 - 1], np.uint64),
    "bfloat16": array(np.ones((4, 4)), ml_dtypes.bfloat16),
    "int4": array([-8, 7], ml_dtypes.int4),
    "float0": Array.from_numpy(np.zeros(3, [("float0", "V")])),
    "many axes": array(np.zeros((2,) * 20), np.int8),
    "NumPy": np.arange(12).reshape(3, 4),
    "NumPy bfloat16": np.ones((4, 4), ml_dtypes.bfloat16),
    "records": np.zeros(3, "i4,f8"),
    "masked": np.ma.masked_array(np.arange(16.0).reshape(4, 4), mask=np.eye(4) > 0),
    "view of one": np.broadcast_to(np.float32(1), (10**6, 10**6)),
    "no numbers": np.array(["a", None], object),
    "none": None,
    "text": "<script>alert(1)</script>",
    "nested": {"a": [array([1.0]), (2, {"<b>": None})], 3: {}},
}


@pytest.mark.parametrize("name", VALUES)
def test_each_form_shows_any_value(name: str) -> None:
    value = VALUES[name]
    page = html_of(value)
    Opened(page)
    assert len(page) < 20_000
    assert not re.search(r"<script|https?:|src=\"(?!data:image/png)|@import|url\(|on\w+=", page)
    assert len(repr(View(value))) < 4000
    assert len(in_terminal(View(value))) < 4000


def test_an_array_is_shown_with_its_type_its_size_and_its_distribution() -> None:
    shown = Opened(VALUES["matrix"]._repr_html_())
    assert "float32[8,8] 256 bytes · -30 to 33, mean 1.5" in shown.text
    assert "[-30., -29., -28." in shown.text
    assert shown.count("img") == shown.count("svg") == shown.count("details") == 1
    line = in_terminal(VALUES["matrix"])
    assert line.startswith("float32[8,8]  256 bytes, -30 to 33, mean 1.5  ")
    assert line.strip().endswith(sparkline(tuple([2] * BARS)))


def test_what_is_not_finite_is_counted() -> None:
    found = numbers_of(np.array([np.nan, np.inf, -np.inf, 1.0, 3.0]))
    assert found is not None
    assert numbers_text(found) == "1 to 3, mean 2, 1 NaN, 2 infinite"
    assert "mean" not in str(rich_of(VALUES["only nan"]))


@pytest.mark.parametrize("scale", [1.0, 1e-40, 1e300, -3.0])
def test_a_histogram_is_that_of_numpy(scale: float) -> None:
    values = np.random.default_rng(0).normal(size=1000) * scale
    found = numbers_of(values)
    assert found is not None
    expected, _ = np.histogram(values / scale, BARS)
    off = np.abs(np.subtract(found.counts, expected if scale > 0 else expected[::-1]))
    assert off.sum() <= 2  # an element at the edge of two bars is in either
    assert histogram_svg(found.counts).count("<rect") == np.count_nonzero(found.counts)


def test_an_image_is_a_png_of_the_signs_and_magnitudes() -> None:
    found = image_of(np.array([[1.0, -0.5, 0.0, np.nan]] * 4))
    assert found is not None
    data = base64.b64decode(found[0].removeprefix("data:image/png;base64,"))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (4, 4)
    start = data.index(b"IDAT")
    (length,) = struct.unpack(">I", data[start - 4 : start])
    rows = zlib.decompress(data[start + 4 : start + 4 + length])
    first, second, third, last = np.frombuffer(rows[1:17], np.uint8).reshape(4, 4)
    assert first[3] == 255 == last[3]
    assert second[3] == 128
    assert third[3] == 0
    assert first[0] > first[2]  # orange
    assert second[0] < second[2]  # blue
    large = image_of(np.zeros((3, 640, 128)))
    assert large is not None
    assert large[1] == "[0, :, :], every 10 rows and 2 columns"


def test_an_array_that_was_given_away_is_shown_without_elements() -> None:
    x = array([1.0, 2.0])
    x.delete()
    assert "float32[2] 8 bytes · deleted, or donated" in Opened(x._repr_html_()).text
    assert in_terminal(x).startswith("float32[2]  8 bytes, deleted, or donated")


def test_large_values_are_shown_shortly_at_once() -> None:
    tree = {f"layer{i}": {f"w{j}": array([i, j]) for j in range(100)} for i in range(1000)}
    large = array(np.zeros(10_000_000), np.int8)
    start = time.process_time()
    for value in (tree, large, [0] * 1_000_000):
        assert len(html_of(value)) < 100_000
        assert len(repr(View(value))) < 20_000
        assert len(in_terminal(View(value))) < 30_000
    assert "976 more" in repr(View(tree))
    assert "100,000 arrays, 200,000 elements, 800.0 kB" in html_of(tree)
    assert time.process_time() - start < 5.0


def test_deep_and_endless_values() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    endless: list[Any] = [1]
    endless.append(endless)
    for value in (deep, endless):
        assert "[...]" in repr(View(value))
        Opened(html_of(value))
        assert totals_text(value) == ""


class Pair(NamedTuple):
    """A node of a pytree by its type."""

    left: Any
    right: Any


@register_dataclass
@dataclass
class Dense:
    """A node that is registered."""

    w: Any


def test_nodes_of_pytrees_are_shown_with_their_parts() -> None:
    assert repr(View(Pair(1, [array(2.0)]))) == (
        "Pair(\n  left=1,\n  right=[\n    Array(shape=(), dtype=float32)\n  ]\n)"
    )
    assert repr(View(Dense(1))) == "Dense(\n  w=1\n)"


class Shared(Displayed):
    def __init__(self, **parts: Any) -> None:
        self.parts = parts

    def __bindax_parts__(self) -> Parts:
        return Parts("Shared(", [(f"{k}=", x) for k, x in self.parts.items()], ")")


def test_what_is_shared_is_shown_once() -> None:
    inner = Shared(w=array(np.zeros(4)))
    outer = Shared(a=inner, b=inner)
    assert repr(outer).endswith("  b=Shared(<shared>)\n)")
    assert "b=Shared(shown above)" in Opened(outer._repr_html_()).text
    assert "1 array, 4 elements" in outer._repr_html_()
    assert "b=Shared() <shared>" in in_terminal(outer)


class Broken:
    def __repr__(self) -> str:
        return "x" * 100_000


def test_a_long_text_of_a_part_is_cut() -> None:
    assert len(repr(View([Broken()]))) < 5000
    assert len(html_of([Broken()])) < 6000


def test_display_prints_or_asks_the_notebook(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    display({"w": array([1.0])}, 2)
    printed = capsys.readouterr().out
    assert printed == "{\n  'w': Array(shape=(1,), dtype=float32)\n}\n2\n"
    shown: list[Any] = []
    notebook: Any = types.ModuleType("IPython")
    notebook.get_ipython = object
    notebook.display = types.SimpleNamespace(display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    display([1])
    assert shown[0]._repr_html_() == html_of([1])
