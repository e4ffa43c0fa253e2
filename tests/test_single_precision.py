"""First and second derivatives of public functions in single precision beside double precision."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import bindax.nn as nn
import bindax.numpy as jnp
from bindax.scipy import special, stats

sys.path.insert(0, str(Path(__file__).parent))

from _special_points.cases import CASES, LEFT_OUT
from _special_points.discovery import one_number, subjects
from _special_points.single_precision import unlike_double

_LEFT_OUT = {
    "scipy.stats.gennorm.pdf": "the logarithm of a density of 0 is infinite, as in JAX",
    "scipy.stats.chi2.logsf(2.0,)": "squares of the probability are below the least number",
    "scipy.stats.gamma.logsf(1.0,)": "the probability is below the least normal number",
    "scipy.stats.gamma.logsf(2.0,)": "squares of the probability are below the least number",
}
_SWEPT_HERE = {"scipy.special.hyp1f1"}  # at special points it has poles
CHUNKS = 6


def _found(name: str, call: Any, arity: int) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        texts = unlike_double(call, arity, distribution=name.startswith("scipy.stats."))
    return [f"{name}, {text}" for text in texts]


MENDED = {
    "nn.log1mexp": (nn.log1mexp, 1),
    "scipy.special.zeta": (special.zeta, 1),
    "scipy.stats.expon.cdf": (stats.expon.cdf, 1),
    "scipy.stats.gumbel_l.logcdf": (stats.gumbel_l.logcdf, 1),
}


@pytest.mark.parametrize("name", MENDED)
def test_some_functions(name: str) -> None:
    assert _found(name, *MENDED[name]) == []


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_public_functions(chunk: int) -> None:
    swept = {one.name: (one.call, one.arity) for one in subjects()}
    for name, (call, arity) in CASES.items():
        swept[name] = (lambda *xs, call=call: one_number(call(*xs)), arity)
    left_out = (LEFT_OUT.keys() | _LEFT_OUT.keys()) - _SWEPT_HERE
    chosen = [(name, *one) for name, one in swept.items() if name not in left_out][chunk::CHUNKS]
    assert [text for one in chosen for text in _found(*one)] == []


@pytest.mark.parametrize(
    ("formula", "order"),
    [
        (lambda x: jnp.where(x < 0, 0.0, -jnp.expm1(-x)), 1),
        (lambda x: jnp.where(x < 80, x, 0.0) * jnp.where(x > 200, jnp.exp(x + 80), 1.0), 1),
        (lambda x: 1 / jnp.expm1(x), 2),
    ],
)
def test_sweep_finds_what_overflows_unused(formula: Any, order: int) -> None:
    assert any(f"derivative {order} " in text for text in _found("formula", formula, 1))
