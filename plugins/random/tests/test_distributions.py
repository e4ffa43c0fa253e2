"""What is drawn has the distribution that it should have, by tests of SciPy."""

import os

import numpy as np
import pytest

import bindax_random as random
from bindax_core import config

stats = pytest.importorskip("scipy.stats")

COUNT = 1_000_000 if os.environ.get("BINDAX_DIFFERENTIAL") == "all" else 2_000
LEAST = 1e-3  # the numbers are always the same, so that a test passes always or never

CONTINUOUS = {
    "uniform": ((), (-2.0, 5.0), stats.uniform(-2, 7)),
    "normal": ((), (), stats.norm),
    "truncated_normal": ((-1.0, 2.0), (), stats.truncnorm(-1, 2)),
    "gumbel": ((), (), stats.gumbel_r),
    "exponential": ((), (), stats.expon),
    "cauchy": ((), (), stats.cauchy),
    "laplace": ((), (), stats.laplace),
    "logistic": ((), (), stats.logistic),
    "pareto": ((2.5,), (), stats.pareto(2.5)),
    "rayleigh": ((1.5,), (), stats.rayleigh(scale=1.5)),
    "triangular": ((0.0, 1.0, 4.0), (), stats.triang(0.25, 0, 4)),
    "weibull_min": ((1.5, 2.5), (), stats.weibull_min(2.5, scale=1.5)),
    "lognormal": ((0.7,), (), stats.lognorm(0.7)),
    "maxwell": ((), (), stats.maxwell),
    "double_sided_maxwell": ((0.5, 2.0), (), stats.dgamma(1.5)),
    "wald": ((1.5,), (), stats.invgauss(1.5)),
    "gamma": ((0.6,), (), stats.gamma(0.6)),
    "loggamma": ((3.0,), (), stats.loggamma(3.0)),
    "beta": ((2.0, 0.7), (), stats.beta(2.0, 0.7)),
    "chisquare": ((3.0,), (), stats.chi2(3)),
    "f": ((3.0, 5.0), (), stats.f(3, 5)),
    "t": ((3.0,), (), stats.t(3)),
    "generalized_normal": ((3.0,), (), stats.gennorm(3.0)),
}
DISCRETE = {
    "poisson": ((4.0,), stats.poisson(4)),
    "binomial": ((20.0, 0.3), stats.binom(20, 0.3)),
    "geometric": ((0.3,), stats.geom(0.3)),
}


@pytest.fixture(autouse=True)
def _without_a_compiler():
    with config.override(backend="numpy"):
        yield


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    parameters, bounds, expected = CONTINUOUS[name]
    options = {"minval": bounds[0], "maxval": bounds[1]} if bounds else {}
    drawn = getattr(random, name)(random.key(11), *parameters, shape=(COUNT,), **options)
    found = np.asarray(drawn, np.float64)
    if name == "double_sided_maxwell":  # the square of the distance has a gamma distribution
        found = np.sign(found - 0.5) * ((found - 0.5) / 2.0) ** 2 / 2
    assert stats.kstest(found, expected.cdf).pvalue > LEAST


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name, large):
    parameters, expected = DISCRETE[name]
    if large and name == "poisson":
        parameters, expected = (40.0,), stats.poisson(40)
    if large and name == "binomial":
        parameters, expected = (200.0, 0.3), stats.binom(200, 0.3)
    drawn = np.asarray(getattr(random, name)(random.key(12), *parameters, shape=(COUNT,)))
    check_frequencies(drawn, expected.pmf)


@pytest.mark.parametrize("count", [2, 10, 100])
def test_integers(count):
    drawn = np.asarray(random.randint(random.key(13), (COUNT,), 0, count))
    check_frequencies(drawn, lambda k: np.full(len(k), 1 / count))


def test_choices():
    p = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
    key = random.key(14)
    for drawn in (
        random.choice(key, 4, (COUNT,), p=p),
        random.categorical(key, np.log(p), shape=(COUNT,)),
        random.bernoulli(key, np.float32(0.4), (COUNT,)) * 3,
    ):
        expected = np.array([0.6, 0, 0, 0.4]) if len(np.unique(drawn)) == 2 else p
        check_frequencies(np.asarray(drawn), lambda k, expected=expected: expected[k])


def check_frequencies(drawn, probability):
    """The chi-square test of whole numbers, the rare ones together."""
    values, counts = np.unique(drawn.astype(np.int64), return_counts=True)
    expected = probability(values) * len(drawn)
    often = expected > 5
    observed = [*counts[often], len(drawn) - counts[often].sum()]
    wanted = [*expected[often], len(drawn) - expected[often].sum()]
    if wanted[-1] < 5:
        observed, wanted = (
            observed[:-1],
            np.array(wanted[:-1]) * sum(observed[:-1]) / sum(wanted[:-1]),
        )
    assert stats.chisquare(observed, wanted, sum_check=False).pvalue > LEAST


def test_shuffles_are_equally_likely():
    keys = random.split(random.key(15), 1200)
    orders = [tuple(np.asarray(random.permutation(key, 4)).tolist()) for key in keys[:600]]
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > LEAST


def test_each_number_lies_between_its_own_bounds():
    lows, highs = np.array([0.0, 10.0, -20.0]), np.array([1.0, 12.0, 30.0])
    drawn = random.uniform(random.key(21), (4, 3), np.float64, lows, highs)
    for i in range(3):
        alone = random.uniform(random.key(21), (4, 3), np.float64, lows[i], highs[i])
        np.testing.assert_array_equal(drawn[:, i], alone[:, i])


def test_vectors():
    cov = np.array([[2.0, 0.3], [0.3, 1.0]], np.float32)
    for method in ("cholesky", "eigh", "svd"):
        drawn = random.multivariate_normal(
            random.key(16), np.zeros(2, np.float32), cov, (COUNT,), method=method
        )
        np.testing.assert_allclose(np.cov(np.asarray(drawn).T), cov, atol=0.2)
    shares = np.asarray(random.dirichlet(random.key(17), np.array([1.0, 2.0, 3.0]), (COUNT,)))
    np.testing.assert_allclose(shares.mean(0), [1 / 6, 2 / 6, 3 / 6], atol=0.02)
    points = np.asarray(random.ball(random.key(18), 2, shape=(COUNT,)))
    assert stats.kstest((points**2).sum(-1), stats.uniform.cdf).pvalue > LEAST
    counts = np.asarray(random.multinomial(random.key(19), np.float32(9), np.float32([0.2, 0.8])))
    assert counts.sum() == 9
    angles = np.asarray(random.orthogonal(random.key(20), 2, (COUNT,)))[:, 0]
    turn = np.arctan2(angles[:, 1], angles[:, 0]) / (2 * np.pi) + 0.5
    assert stats.kstest(turn, stats.uniform.cdf).pvalue > LEAST


@pytest.mark.parametrize("name", ["gamma", "loggamma", "beta", "chisquare", "poisson"])
def test_methods_of_drawing(name: str) -> None:
    draw = getattr(random, name)
    parameters = (2.0, 3.0) if name == "beta" else (2.0,)
    exact = draw(random.key(0), *parameters, (3,))
    permitted = draw(random.key(0), *parameters, (3,), method="approximate")
    np.testing.assert_array_equal(exact, permitted)
    text = f"{name}: method must be 'exact' or 'approximate', but it is 'fast'"
    with pytest.raises(ValueError, match=text):
        draw(random.key(0), *parameters, method="fast")
