"""Functions at stored inputs, with the errors that are recorded for them at most."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accuracy import evaluate, units
from accuracy_functions import measured

ROOT = Path(__file__).resolve().parent.parent
RECORD = json.loads((ROOT / "scripts/accuracy.json").read_text(encoding="utf-8"))
with np.load(ROOT / "tests/accuracy.npz") as stored:
    SAMPLES: dict[str, Any] = dict(stored)


def test_every_recorded_function_is_sampled() -> None:
    assert set(RECORD) <= set(measured())
    assert set(SAMPLES) == {f"{name} {dtype}" for name in RECORD for dtype in RECORD[name]}


@pytest.mark.parametrize("name", RECORD)
def test_errors_are_at_most_the_recorded_ones(name: str) -> None:
    for dtype, found in RECORD[name].items():
        *operands, high, low = SAMPLES[f"{name} {dtype}"]
        got = evaluate(measured()[name], "numpy", [x.astype(dtype) for x in operands])

        # Elementary functions of other machines and releases differ by a few units.
        assert np.max(units(got, high, low)) <= 2 * found["numpy"]["worst"] + 4


@pytest.mark.parametrize(
    "name", ["lax.erfc", "lax.erf_inv", "lax.exp2", "lax.lgamma", "lax.log1p", "lax.sinh"]
)
def test_errors_of_compiled_functions_are_at_most_the_recorded_ones(name: str) -> None:
    for dtype, found in RECORD[name].items():
        *operands, high, low = SAMPLES[f"{name} {dtype}"]
        got = evaluate(measured()[name], "xla", [x.astype(dtype) for x in operands])

        assert np.max(units(got, high, low)) <= 2 * found["xla"]["worst"] + 4


@pytest.mark.parametrize(
    ("got", "exact", "distance"),
    [(1.0, 1.0, 0.0), (1 + 2**-22, 1.0, 2.0), (np.inf, 1e300, 0.0), (np.nan, 1.0, np.inf)],
)
def test_units_in_the_last_place(got: float, exact: float, distance: float) -> None:
    assert units(np.array([got], np.float32), np.array([exact]), np.array([0.0])) == [distance]
