"""The pages that compare optimizers with optax and layers with Flax."""

from __future__ import annotations

import re

import comparison_pages
import pytest


def test_differences_are_shown_as_bounds() -> None:
    assert [comparison_pages.bound(x) for x in (0.0, 3e-7, 2e-5, 1.0)] == [
        *("0", "< 1e-6", "< 1e-4"),
        "≥ 1e-3",
    ]
    assert comparison_pages.difference([[3.0], []], [[2.0], []]) == 0.5


def test_parameters_that_classes_hand_on_count() -> None:
    from bindax import nnx

    found = comparison_pages._of_method(nnx.BatchNorm, "__init__")
    assert {"num_features", "use_bias", "momentum"} <= found
    assert "self" not in found
    assert comparison_pages.parameters({"a"}, {"a", "b"}) == "1; without `b`"


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("file", comparison_pages.PAGES)
def test_differences_are_small(file: str) -> None:
    pytest.importorskip("flax")
    pytest.importorskip("optax")
    text = comparison_pages.PAGES[file]()
    rows = [line for line in text.splitlines() if line.startswith("| [`")]
    assert len(rows) > 20
    large = {re.findall(r"`(\w+)`", row)[0] for row in rows if re.search("1e-4|1e-3", row)}
    assert large <= {"radam", "rmsprop"}  # which take the difference of nearly equal numbers
    assert "without" not in text.partition("| --- |")[2]
