"""First and second derivatives of public functions at special points, under both conventions.

Values at some places to the left and to the right of zeros, ties and joints of pieces tell what
derivatives are there. Where both sides agree, the rules must agree with them; where a function has
a kink, its derivative must be between.
"""

from __future__ import annotations

import functools
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.nn as nn
import bindax.numpy as jnp
from bindax import lax, optimizers
from bindax.experimental.jet import jet
from bindax.scipy import special, stats

sys.path.insert(0, str(Path(__file__).parent))

from _special_points.cases import CASES, LEFT_OUT, NOT_WHERE_ZERO
from _special_points.differences import lines_of, wrong
from _special_points.discovery import PACKAGES, Subject, one_number, subjects


@functools.cache
def _subjects() -> dict[str, Subject]:
    found = {one.name: one for one in subjects()}
    missing = LEFT_OUT.keys() - found.keys()
    assert not missing, f"left out, but not found: {missing}"
    for name, (call, arity) in CASES.items():
        found[name] = Subject(name, lambda *xs, call=call: one_number(call(*xs)), arity)
    return {name: one for name, one in found.items() if name not in LEFT_OUT}


def _found(subject: Subject) -> list[str]:
    """What is wrong with the derivatives of a function."""
    found = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        is_distribution = subject.name.startswith("scipy.stats.")
        at, here, lines = lines_of(subject.call, subject.arity, distribution=is_distribution)
        if subject.name in NOT_WHERE_ZERO:
            here = np.where(here == 0, np.nan, here)
        for conventions in ("bindax", "jax"):
            with bindax.config.override(conventions=conventions):
                wrongs = wrong(subject.call, at, here, lines)
                found += [f"{subject.name}, conventions {conventions}: {one}" for one in wrongs]
    return found


SMOOTH = {
    "nn.softplus": (nn.softplus, 1),
    "nn.log_sigmoid": (nn.log_sigmoid, 1),
    "nn.mish": (nn.mish, 1),
    "numpy.logaddexp": (jnp.logaddexp, 2),
    "numpy.hypot": (jnp.hypot, 2),
    "numpy.i0": (jnp.i0, 1),
    "numpy.linalg.norm": (lambda x: jnp.linalg.norm(jnp.stack([x, x])), 1),
    "numpy.std": (lambda x: jnp.std(jnp.stack([x, jnp.zeros_like(x)])), 1),
    "lax.cumlogsumexp": (lambda x, y: one_number(lax.cumlogsumexp(jnp.stack([x, y]))), 2),
    "optimizers.huber_loss": (optimizers.huber_loss, 1),
    "optimizers.sigmoid_focal_loss": (optimizers.sigmoid_focal_loss, 2),
    "optimizers.unitwise_norm": (lambda x: optimizers.unitwise_norm(jnp.stack([x]))[0], 1),
    "optimizers.sigmoid_binary_cross_entropy": (optimizers.sigmoid_binary_cross_entropy, 2),
    "scipy.special.i1": (special.i1, 1),
    "scipy.special.xlogy": (special.xlogy, 2),
    "scipy.stats.logistic.logpdf": (stats.logistic.logpdf, 1),
    "scipy.stats.gennorm.logpdf": (lambda x: stats.gennorm.logpdf(x, 2.0), 1),
    "scipy.stats.laplace.cdf": (stats.laplace.cdf, 1),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions(name: str) -> None:
    call, arity = SMOOTH[name]
    assert _found(Subject(name, call, arity)) == []


CHUNKS = 24


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_public_functions(chunk: int) -> None:
    chosen = list(_subjects().values())[chunk::CHUNKS]
    assert [text for subject in chosen for text in _found(subject)] == []


def test_distributions_are_swept() -> None:
    assert {"scipy.stats.norm", "scipy.stats.chi2"} <= PACKAGES.keys()


@pytest.mark.nightly
def test_many_functions_are_swept() -> None:
    assert len(_subjects()) > 450


def _through_kinks(x: Any, y: Any) -> Any:
    return jnp.maximum(x, y) + jnp.log1p(jnp.exp(-jnp.abs(x - y)))


@pytest.mark.parametrize(("conventions", "order"), [("bindax", 2), ("jax", 1)])
def test_sweep_finds_formulas_with_kinks(conventions: str, order: int) -> None:
    texts = _found(Subject("logaddexp", _through_kinks, 2))
    assert any(
        text.startswith(f"logaddexp, conventions {conventions}: derivative {order}")
        and "(0.5, 0.5)" in text
        for text in texts
    )


# ---------------------------------------------------------------------------- closed forms

CONVENTIONS = pytest.mark.parametrize("conventions", ["bindax", "jax"])
FEATURES = np.random.default_rng(0).normal(size=(6, 3))
LABELS = np.array([0.0, 1, 1, 0, 1, 0])

LOSSES = {
    "softplus": lambda z: nn.softplus(z) - LABELS * z,
    "logaddexp": lambda z: jnp.logaddexp(0, z) - LABELS * z,
    "log_sigmoid": lambda z: -LABELS * nn.log_sigmoid(z) - (1 - LABELS) * nn.log_sigmoid(-z),
    "cross entropy": lambda z: optimizers.sigmoid_binary_cross_entropy(z, LABELS),
    "cross entropy of two logits": lambda z: optimizers.softmax_cross_entropy(
        jnp.stack([z, jnp.zeros_like(z)], -1), np.stack([LABELS, 1 - LABELS], -1)
    ),
}


@CONVENTIONS
@pytest.mark.parametrize("loss", LOSSES)
def test_hessian_of_logistic_regression_at_zero_weights(loss: str, conventions: str) -> None:
    def mean_loss(w: Any) -> Any:
        return jnp.mean(LOSSES[loss](jnp.matmul(FEATURES, w)))

    zeros = jnp.zeros(3, "float64")
    with bindax.config.override(conventions=conventions):
        gradient, hessian = bindax.grad(mean_loss)(zeros), bindax.hessian(mean_loss)(zeros)
        compiled = bindax.jit(bindax.hessian(mean_loss))(zeros)
    np.testing.assert_allclose(gradient, FEATURES.T @ (0.5 - LABELS) / 6, rtol=1e-12)
    np.testing.assert_allclose(hessian, FEATURES.T @ FEATURES / 24, rtol=1e-12)
    np.testing.assert_allclose(compiled, hessian, rtol=1e-12)


@CONVENTIONS
def test_hessian_of_linear_regression_at_zero_errors(conventions: str) -> None:
    def mean_loss(w: Any, loss: Any) -> Any:
        return jnp.mean(loss(jnp.matmul(FEATURES, w), jnp.zeros(6, "float64")))

    zeros = jnp.zeros(3, "float64")
    with bindax.config.override(conventions=conventions):
        for loss in (optimizers.huber_loss, optimizers.l2_loss):
            hessian = bindax.hessian(mean_loss)(zeros, loss)
            np.testing.assert_allclose(hessian, FEATURES.T @ FEATURES / 6, rtol=1e-12)


def _orders(function: Any, x: float) -> list[float]:
    found = []
    for _ in range(5):
        found.append(float(function(jnp.float64(x))))
        function = bindax.grad(function)
    return found


@CONVENTIONS
@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (nn.softplus, [np.log(2), 1 / 2, 1 / 4, 0, -1 / 8]),
        (lambda x: jnp.logaddexp(x, -x), [np.log(2), 0, 1, 0, -2]),
        (lambda x: jnp.hypot(x, 1), [1, 0, 1, 0, -3]),
        (special.i0, [1, 0, 1 / 2, 0, 3 / 8]),
        (special.i1, [0, 1 / 2, 0, 3 / 8, 0]),
        (lambda x: special.boxcox(np.exp(1.0), x), [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]),
        (lambda x: nn.standardize(jnp.stack([x, -x]), epsilon=1)[0], [0, 1, 0, -3, 0]),
    ],
)
def test_derivatives_of_every_order_at_zero(
    function: Any, wanted: list[float], conventions: str
) -> None:
    with bindax.config.override(conventions=conventions):
        np.testing.assert_allclose(_orders(function, 0.0), wanted, atol=1e-12)


def test_taylor_mode_at_ties() -> None:
    terms = jet(nn.softplus, (jnp.float64(0),), ([1.0, 0.0, 0.0, 0.0],))[1]
    np.testing.assert_allclose(terms, [1 / 2, 1 / 4, 0, -1 / 8], atol=1e-12)


def test_conventions_of_kinks() -> None:
    """Functions that have a kink decide themselves, whatever the derivative of ``abs`` is."""
    for conventions, of_abs in (("bindax", 0.0), ("jax", 1.0)):
        with bindax.config.override(conventions=conventions):
            assert bindax.grad(jnp.abs)(0.0) == of_abs
            assert bindax.grad(jnp.hypot, argnums=(0, 1))(0.0, 0.0) == (0.0, 0.0)
            assert bindax.grad(lambda x: jnp.std(jnp.stack([x, x])))(0.0) == 0
            assert not np.any(bindax.grad(jnp.linalg.norm)(jnp.zeros(3)))
            assert not np.any(bindax.grad(optimizers.global_norm)(jnp.zeros(3)))
            assert bindax.grad(jnp.maximum, argnums=(0, 1))(1.0, 1.0) == (0.5, 0.5)
            assert bindax.grad(nn.relu)(0.0) == 0


def _slopes(function: Any, *points: float) -> list[float]:
    return [float(bindax.grad(function)(x)) for x in points]


@CONVENTIONS
def test_documented_conventions(conventions: str) -> None:
    """What the table of conventions in docs/differences.md says."""
    of_abs = {"bindax": 0, "jax": 1}[conventions]
    with bindax.config.override(conventions=conventions):
        assert _slopes(stats.laplace.logpdf, 0.0) == [-of_abs]
        assert _slopes(lambda x: jnp.copysign(x, 1.0), 0.0) == [of_abs]
        assert _slopes(lambda x: jnp.clip(x, 0, 1), 0.0, 1.0) == [0.5, 0.5]
        for flat in (jnp.sign, jnp.floor, lambda x: lax.clamp(0.0, x, 1.0), special.i0e):
            assert _slopes(flat, 0.0) == [0]
        assert _slopes(nn.relu6, 0.0, 6.0) == _slopes(nn.hard_sigmoid, -3.0, 3.0) == [0, 0]
        assert _slopes(lambda x: nn.elu(x, 2.0), 0.0) == [2]
        assert _slopes(nn.leaky_relu, 0.0) == _slopes(nn.hard_tanh, 1.0) == [1]
        assert _slopes(nn.sparse_sigmoid, -1.0, 1.0) == [0.25, 0.25]
        assert _slopes(lambda x: stats.gennorm.logpdf(x, 1.0), 0.0) == [-1]
        assert _slopes(lambda x: stats.gamma.cdf(x, 1.0), 0.0) == [0]
        assert _slopes(stats.expon.cdf, 0.0) == _slopes(lambda x: stats.pareto.cdf(x, 1.0), 1.0)
        for steep in (jnp.sqrt, jnp.cbrt, special.entr):
            assert _slopes(steep, 0.0) == [np.inf]


def test_values_at_the_edges_are_unchanged() -> None:
    inf, nan = np.inf, np.nan
    for x, y, wanted in [(-inf, -inf, -inf), (inf, inf, inf), (inf, -inf, inf), (nan, 1.0, nan)]:
        for a, b in ((x, y), (y, x)):
            np.testing.assert_equal(float(jnp.logaddexp(a, b)), wanted)
    for x, y, wanted in [(nan, 0.0, nan), (nan, inf, inf), (-inf, 1.0, inf), (-0.0, -0.0, 0.0)]:
        for a, b in ((x, y), (y, x)):
            np.testing.assert_equal(float(jnp.hypot(a, b)), wanted)
    assert bindax.grad(jnp.logaddexp, argnums=(0, 1))(-inf, 2.0) == (0.0, 1.0)
    assert bindax.grad(jnp.logaddexp, argnums=(0, 1))(inf, 2.0) == (1.0, 0.0)
