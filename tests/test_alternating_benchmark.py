"""The alternating benchmark: its programs agree with JAX, its page says what was measured."""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the library to compare with")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.alternating import all_rows, chosen  # noqa: E402
from benchmarks.growth import FAMILIES  # noqa: E402
from benchmarks.page import PAGE, picture, write_page  # noqa: E402
from benchmarks.programs import PROGRAMS, compiled  # noqa: E402
from benchmarks.ratios import Ratios  # noqa: E402
from benchmarks.rows import PEAK, first, peak, warm  # noqa: E402
from benchmarks.stages import ARGUMENTS, STAGES  # noqa: E402

import bindax  # noqa: E402

QUICK = ("per-example gradients",)
MEASURED = [
    Ratios("call, one <array>", 6e-6, 4e-6, [1.4, 1.5, 1.6], 1.2),
    Ratios("HMC, peak memory", 2e6, 8e6, [0.2, 0.25, 0.3], unit="B"),
]
PARTS = "# Speed\n<!-- begin stages -->\nold\n<!-- end stages -->\n<!-- begin ratios -->\n"


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.nightly) for n in PROGRAMS]
)
def test_programs_compute_the_same_as_in_jax(name: str) -> None:
    own, other = (compiled(library, PROGRAMS[name])()[0] for library in (bindax, jax))
    found, expected = bindax.tree.leaves(own), jax.tree.leaves(other)
    assert len(found) == len(expected)
    for one, another in zip(found, expected, strict=True):
        assert one.dtype == another.dtype == np.float32
        np.testing.assert_allclose(np.asarray(one), another, rtol=1e-4, atol=1e-5)


class Library(ModuleType):
    """A library that counts how often its caches are cleared."""

    cleared = 0

    def clear_caches(self) -> None:
        self.cleared += 1


@pytest.mark.every(3)
@pytest.mark.parametrize(("way", "prepared"), [(warm, 1), (first, 3), (peak, 3)])
def test_only_warm_tasks_keep_what_was_prepared(way: Any, prepared: int) -> None:
    if way is peak and not PEAK.exists():
        pytest.skip("the system does not show the peak")
    library, calls = Library("fake"), []

    def prepare(given: ModuleType) -> Any:
        assert given is library
        calls.append(0)
        return lambda: calls.__setitem__(-1, calls[-1] + 1)

    try:
        sample = way(prepare).sampler(library)
        assert all(sample() > 0 for _ in range(3))
    finally:
        gc.unfreeze()
    assert len(calls) == library.cleared == prepared
    assert all(count == 1 for count in calls) == (way is not warm)


def test_the_small_selection_has_each_kind_of_row() -> None:
    small, everything = chosen((), False), chosen((), True)
    assert set(small) < set(everything) == set(all_rows())
    for kind in ("first call", "warm call", "peak memory", "plugins", "alive", "cold cache"):
        assert any(kind in name for name in small)
    for name, _, _, sizes, _ in FAMILIES:
        assert {name.format(size) for size in sizes} <= set(everything)
        assert name.format(sizes[0]) in small
    assert chosen(("HMC",), False) == [name for name in everything if "HMC" in name]


def test_the_picture_has_a_dot_and_quartiles_for_each_row() -> None:
    drawn = ET.fromstring(picture(MEASURED))
    texts = [element.text for element in drawn.iter() if element.tag.endswith("}text")]
    assert {"call, one <array>", "1.50", "HMC, peak memory", "0.25"} <= set(texts)
    dots = [float(e.attrib["cx"]) for e in drawn.iter() if e.tag.endswith("}circle")]
    assert len(dots) == 2
    assert dots[1] < dots[0]


def test_the_page_says_what_was_measured(tmp_path: Path) -> None:
    page, drawn = tmp_path / "performance.md", tmp_path / "performance.svg"
    page.write_text(f"{PARTS}<!-- end ratios -->\nafter\n", encoding="utf-8")
    stages: Any = {"one array": [1e-6, 2e-6, 3e-6, -1e-9, 4e-6]}
    write_page(MEASURED, "jax", stages, page, drawn)
    text = page.read_text(encoding="utf-8")
    assert "| call, one <array> | 6 µs | 4 µs | 1.50 | 1.50 (1.45 to 1.55) |" in text
    assert "| HMC, peak memory | 2 MB | 8 MB | 0.25 | 0.25 (0.23 to 0.28) |" in text
    assert "| all | 10.0 |" in text
    assert "old" not in text
    assert text.endswith("<!-- end ratios -->\nafter\n")
    assert drawn.read_text(encoding="utf-8").startswith("<svg")
    write_page(MEASURED, "jax", stages, page, drawn)
    assert page.read_text(encoding="utf-8") == text

    page.write_text("no parts", encoding="utf-8")
    with pytest.raises(ValueError, match=r"performance\.md needs one part 'ratios': <!-- begin"):
        write_page(MEASURED, "jax", stages, page, drawn)


def test_the_page_has_both_parts() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for part in ("stages", "ratios"):
        found = re.search(f"<!-- begin {part} -->\n(.*?)<!-- end {part} -->", text, re.DOTALL)
        assert found is not None
        assert found[1].startswith("| ")
    assert all(stage in text for stage in STAGES)
    assert all(arguments in text for arguments in ARGUMENTS)
