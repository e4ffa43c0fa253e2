"""The arguments at which distributions and special functions are compared with SciPy."""

import math

import numpy as np

INF, NAN = math.inf, math.nan
X = [0.0, -0.0, 1.0, -1.0, 0.3, -0.7, 5.0, 1e-300, 1e-20, 30.0, 800.0, 1e10, -1e10, INF, -INF, NAN]
UNIT = [0.0, 1.0, 0.5, 0.3, 1e-20, 1e-300, 1 - 1e-10, -0.1, 1.1, NAN]
SHAPES, LOC, SCALE = [0.7, 1.0, 2.0, 3.5, 30.0], [0.0, 0.3], [1.0, 2.5]
COUNTS = [0.0, 1.0, 2.0, 4.0, 5.0, -1.0, 1e6, NAN]
ANY = [*X, 2.0, 0.5, -0.5, -1.5, 170.0, 1e-10, 1e5, 1e8, -30.0, -800.0]
POSITIVE = [0.0, 1.0, 2.0, 0.5, 3.7, 30.0, 200.0, 1e-10, 1e5, INF, NAN, -0.5]
FEW = [0.0, 1.0, -1.0, 2.0, 0.5, -0.5, -1.5, 3.7, 30.0, 170.0, 1e-10, 1e5, 1e8, NAN]

LOCATED = "norm cauchy expon gumbel_l gumbel_r laplace logistic uniform"
DISTRIBUTIONS = {
    **{name: [X, LOC, SCALE] for name in LOCATED.split()},
    **{name: [X, SHAPES, LOC, SCALE] for name in ("chi2", "gamma", "pareto", "t")},
    "beta": [[*X, *UNIT], [0.7, 1.0, 3.0], [0.5, 1.0, 2.0], LOC, SCALE],
    "truncnorm": [X, [-1.0, 0.5, -INF, -30.0], [0.5, 1.0, INF, 40.0], LOC, SCALE],
    "gennorm": [X, SHAPES],
    "vonmises": [X, [0.5, 1.0, 30.0, 1e3]],
    "wrapcauchy": [[*X, 2 * math.pi], [0.1, 0.5, 0.9]],
    "bernoulli": [COUNTS, [0.0, 1.0, 0.3]],
    "betabinom": [COUNTS, [0.0, 4.0, 5.0], [0.7, 2.0], [1.0, 3.0]],
    "binom": [COUNTS, [0.0, 4.0, 5.0], [0.0, 0.3, 1.0]],
    "geom": [COUNTS, [0.3, 1.0]],
    "nbinom": [COUNTS, [0.5, 3.0], [0.3, 1.0]],
    "poisson": [COUNTS, [0.0, 0.5, 3.0, 50.0]],
}
OF_ARRAYS = "dirichlet multinomial multivariate_normal"
OF_ANY = """
gammaln gammasgn gamma digamma factorial erf erfc erfcx dawsn ndtr log_ndtr expit entr i0 i0e i1 i1e
expi exp1 fresnel sici spence
"""
OF_UNIT, OF_POSITIVE, OF_FEW = "ndtri logit", "gammainc gammaincc kl_div rel_entr", "beta betaln"
SPECIAL = {
    **{name: [ANY] for name in OF_ANY.split()},
    **{name: [UNIT] for name in OF_UNIT.split()},
    **{name: [POSITIVE, POSITIVE] for name in OF_POSITIVE.split()},
    **{name: [FEW, FEW] for name in OF_FEW.split()},
    "owens_t": [FEW, FEW],
    "erfinv": [[-1.0, 1.0, 0.0, 0.5, -0.9, 1e-300, 1 - 1e-15, 1.1, NAN]],
    "erfcinv": [[0.0, 1.0, 2.0, 0.5, 1e-300, 1.5, 2 - 1e-15, -0.1, 2.1, NAN]],
    "comb": [[0.0, 1.0, 2.0, 5.0, 50.0, 1e8, 2.5], [0.0, 1.0, 2.0, 3.0, 2.5, 25.0]],
    "poch": [FEW, [0.0, 1.0, 2.0, 0.5, 25.0]],
    "zeta": [[1.0, 2.0, 3.5, 30.0, 1.1], [1.0, 0.5, 2.0, 100.0, 1e-3]],
    "xlogy": [[0.0, 1.0, -2.0, INF], POSITIVE],
    "xlog1py": [[0.0, 1.0, -2.0], [-1.0, 0.0, -0.5, 2.0, NAN, 1e-300]],
    "boxcox": [[0.0, 0.5, 1.0, 3.0, 30.0], [0.0, 1.0, -1.0, 0.5, 1e-10]],
    "boxcox1p": [[0.0, -0.5, 1.0, 3.0, -1.0], [0.0, 1.0, -1.0, 0.5, 1e-10]],
    "expn": [[0.0, 1.0, 2.0, 5.0], [x for x in POSITIVE if not x < 0]],
    "betainc": [[0.5, 1.0, 3.0], [0.5, 1.0, 2.0], UNIT],
    "hyp1f1": [[0.0, 1.0, -2.0, 0.5, 3.0], [1.0, 0.5, 3.5], [0.0, 1.0, -1.0, 30.0, -60.0, 1e-10]],
    "hyp2f1": [[0.0, 1.0, -2.0, 0.5], [1.0, 0.5], [1.5, 3.0], [0.0, 0.5, -0.5, 0.95, -3.0]],
}
ELSEWHERE = (
    "bernoulli bessel_jn log_softmax loggamma logsumexp multigammaln polygamma softmax sph_harm_y "
    "wofz"
)

# The arguments in which derivatives are taken, where it is not all of them.
IN_ARGUMENTS = {
    "bernoulli": [1],
    "geom": [1],
    "poisson": [1],
    "nbinom": [1, 2],
    "binom": [2],
    "betabinom": [2, 3],
    **{f"beta.{f}": [0, 3, 4] for f in ("cdf", "logcdf", "sf", "logsf")},
    "betainc": [2],
    "expn": [1],
    "gammainc": [1],
    "gammaincc": [1],
    "gammasgn": [],
}


def _far(limit):
    return lambda x, *rest: np.abs(x) >= limit


# Where SciPy's values are not taken: it rounds more, or JAX is followed.
VALUES_LEFT_OUT = {
    "laplace.logpdf": (_far(700), "SciPy takes the logarithm of a density that is rounded to 0"),
    "pareto.logpdf": (_far(1e9), "as before"),
    "gumbel_l.pdf": (_far(INF), "SciPy has nan"),
    "gumbel_r.pdf": (_far(INF), "SciPy has nan"),
    "gumbel_l.logcdf": (
        _far(700),
        "SciPy takes the logarithm of a probability that is rounded to 0",
    ),
    "gumbel_r.logsf": (
        _far(700),
        "SciPy takes the logarithm of a probability that is rounded to 0",
    ),
    "chi2.logcdf": (
        lambda x, df, loc, scale: (x > loc) & (x < loc + 1e-9),
        "SciPy takes the logarithm of a probability that is rounded to 0",
    ),
    "bernoulli.ppf": (
        lambda q, p: (q == 0) | (p == 0),
        "as in JAX; SciPy has the number before the first",
    ),
    "gammaln": (lambda x: x == -INF, "as in JAX"),
    "digamma": (lambda x: (x == 0) & np.signbit(x), "as in JAX"),
    "spence": (lambda x: x == INF, "SciPy has nan"),
    "kl_div": (lambda p, q: (p == INF) | np.isnan(p + q), "as in JAX"),
    "rel_entr": (lambda p, q: (p == INF) | np.isnan(p + q), "as in JAX"),
    "beta": (lambda a, b: np.fmin(a, b) == np.floor(np.fmin(a, b)), "signs at poles, nan"),
    "betaln": (lambda a, b: np.isnan(a + b), "SciPy is infinite beside poles"),
    "poch": (lambda z, m: (z + m <= 0) & (z + m == np.floor(z + m)), "signs at poles"),
}
# Where derivatives of differences are none, or nan is accepted.
SLOPES_LEFT_OUT = {
    "fresnel": _far(9),
    "sici": _far(1e4),
    "poch": lambda z, m: (z <= 0) & (z == np.floor(z)),
    "pareto.ppf": lambda q, *rest: q > 0.999,
    "beta": lambda a, b: (a + b <= 0) & (a + b == np.floor(a + b)),
    "betainc": lambda a, b, x: (x == 0) | (x == 1),
    "owens_t": lambda h, a: np.abs(h) > 1e3,
    "geom.pmf": lambda k, p: p == 1,
    "binom.pmf": lambda k, n, p: (p == 0) | (p == 1),
    "nbinom.pmf": lambda k, n, p: p == 1,
    "bernoulli.pmf": lambda k, p: (p == 0) | (p == 1),
    "poisson.pmf": lambda k, mu: mu == 0,
}
