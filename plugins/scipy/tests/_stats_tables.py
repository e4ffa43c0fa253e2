"""The calls of `bindax.scipy.stats` that are compared with JAX."""

import numpy as np
from _calls import Table, operand

LOCATED = {
    "norm": "cdf logcdf logpdf logsf pdf sf",
    "cauchy": "cdf logcdf logpdf logsf pdf sf",
    "expon": "cdf logcdf logpdf logsf pdf sf",
    "gumbel_l": "cdf logcdf logpdf logsf pdf sf",
    "gumbel_r": "cdf logcdf logpdf logsf pdf sf",
    "laplace": "cdf logpdf pdf",
    "logistic": "cdf logpdf pdf sf",
    "uniform": "cdf logpdf pdf",
}
SHAPED = {
    "beta": ("cdf logcdf logpdf logsf pdf sf", "2.0, S"),
    "chi2": ("cdf logcdf logpdf logsf pdf sf", "S"),
    "gamma": ("cdf logcdf logpdf logsf pdf sf", "S"),
    "pareto": ("cdf logcdf logpdf logsf pdf sf", "S"),
    "t": ("logpdf pdf", "S"),
    "truncnorm": ("cdf logcdf logpdf logsf pdf sf", "-S, 1.5"),
}
PLAIN = {
    "gennorm": ("cdf logpdf pdf", "S"),
    "vonmises": ("logpdf pdf", "S"),
    "wrapcauchy": ("logpdf pdf", "S / 4"),
}
COUNTS = {
    "bernoulli": "U",
    "betabinom": "4, S, 2.0",
    "binom": "4, U",
    "geom": "U",
    "nbinom": "3.5, U",
    "poisson": "S",
}
calls = []
gradients = []
for name, functions in LOCATED.items():
    for f in functions.split():
        calls += [f"{name}.{f}(A)", f"{name}.{f}(A, L, 1.5)", f"{name}.{f}(I)"]
        gradients += [f"{name}.{f}(A, L, 1.5)"]
    gradients += [f"{name}.logpdf(L, A, 1.5)"]
    # JAX does not differentiate Gumbel's distributions with respect to their scale.
    if not name.startswith("gumbel"):
        gradients += [f"{name}.logpdf(L, 0.3, A * A + 1)"]
for name, (functions, shapes) in SHAPED.items():
    for f in functions.split():
        calls += [f"{name}.{f}(A, {shapes})", f"{name}.{f}(A, {shapes}, L, 2.5)"]
        # JAX does not differentiate incomplete beta functions with respect to their shapes.
        if name != "truncnorm" and (name != "beta" or "pdf" in f):
            gradients += [f"{name}.{f}(U + abs(L), {shapes.replace('S', 'A * A + 0.5')})"]
        gradients += [f"{name}.{f}(A, {shapes}, L, 2.5)"]
for name, (functions, shapes) in PLAIN.items():
    for f in functions.split():
        calls += [f"{name}.{f}(A, {shapes})"]
        gradients += [f"{name}.{f}(A, {shapes})"]
for name, shapes in COUNTS.items():
    for f in ("logpmf", "pmf"):
        calls += [
            f"{name}.{f}(K, {shapes})",
            f"{name}.{f}(K, {shapes}, 1)",
            f"{name}.{f}(2, {shapes})",
        ]
for name in ("norm", "cauchy", "expon", "gumbel_l", "gumbel_r", "uniform", "logistic"):
    calls += [f"{name}.ppf(U)", f"{name}.ppf(U, L, 2.0)"]
for name in ("norm", "cauchy", "logistic"):
    calls += [f"{name}.isf(U)", f"{name}.isf(U, L, 2.0)"]

STATS = Table(
    "scipy.stats",
    {
        "A": np.array([-1.5, -0.2, 0.3, 0.8, 1.1, 3.5], np.float32),
        "L": operand((6,), "float32", 1, -0.5, 0.5),
        "S": operand((6,), "float32", 2, 0.5, 3.0),
        "U": np.array([0.01, 0.2, 0.45, 0.6, 0.9, 0.999], np.float32),
        "K": np.array([-1, 0, 1, 2, 4, 5], np.int32),
        "I": np.array([0, 1, 2, -1, 3, 1], np.int32),
        "M": operand((3, 4), "float32", 3),
        "C": np.array([[2.0, 0.5, 0.1, 0], [0.5, 1, 0, 0.2], [0.1, 0, 3, 0], [0, 0.2, 0, 1]], "f4"),
        "G": operand((2, 7), "float32", 4),
        "D": np.array([[3, 1, 3, 2], [1, 1, 2, 2], [3, 0, 0, 1]], np.int32),
        "N": np.array([[1.0, np.nan, 2.0], [3.0, 1.0, 4.0]], np.float32),
    },
    " ".join(calls)
    + """
    bernoulli.cdf(K, U) bernoulli.ppf(U, 0.3) poisson.cdf(K, S) poisson.cdf(K, S, 1)
    poisson.entropy(S * 20) poisson.entropy(M * M) pareto.ppf(U, S) pareto.ppf(U, S, L, 2.0)
    dirichlet.logpdf(np.float32([0.2, 0.3, 0.5]), S[:3]) dirichlet.pdf(U[1:3] / 2, S[:3])
    multinomial.logpmf(I[:3], 3, S[:3] / 6) multinomial.pmf(D, 9, S[:4] / 8)
    multivariate_normal.logpdf(M, M[0], C) multivariate_normal.pdf(M, M[0], C)
    multivariate_normal.logpdf(A, 0.5, 2.0) multivariate_normal.logpdf(M, M[0], 2.0)
    mode(D) mode(D, 1) mode(D, None) mode(D, 1, keepdims=True) mode(M, axis=None, keepdims=True)
    rankdata(D) rankdata(D, 'min') rankdata(D, 'max') rankdata(D, 'dense') rankdata(D, 'ordinal')
    rankdata(D, axis=1) rankdata(N) rankdata(M) sem(M) sem(M, 1) sem(M, None, ddof=0) sem(D)
    sem(M, 1, keepdims=True) sem(N, 1, nan_policy='omit') gaussian_kde(G).pdf(G[:, :3])
    gaussian_kde(G, 'silverman').logpdf(G[:, :3]) gaussian_kde(G[0])(A) gaussian_kde(A, 0.3)(L)
    gaussian_kde(G[0], weights=abs(G[1])).evaluate(A) gaussian_kde(G[0]).integrate_box_1d(-1.0, 0.5)
    gaussian_kde(G).integrate_gaussian(G[:, 0], C[:2, :2])
    gaussian_kde(G).integrate_kde(gaussian_kde(G[:, :5])) gaussian_kde(G).covariance
    """,
    " ".join(gradients)
    + """
    binom.logpmf(K, 4, abs(A) / 5) poisson.logpmf(K, A * A) bernoulli.logpmf(K, abs(A) / 5)
    poisson.entropy(A * A * 20) norm.ppf(abs(A) / 5) dirichlet.logpdf(U[1:3] / 2, abs(A[:3]))
    multivariate_normal.logpdf(A[:4], M[0], C) sem(A) gaussian_kde(G[0])(A) gaussian_kde(A)(L)
    """,
    # Logarithms of gamma and incomplete functions in 32 bits.
    tolerances={4: 3e-4},
    zeros="""
    pareto.cdf(A, S, L, 2.5) pareto.logcdf(A, S, L, 2.5) gamma.sf(A, S, L, 2.5)
    gamma.logsf(A, S, L, 2.5)
    beta.pdf(U + abs(L), 2.0, A * A + 0.5) beta.logpdf(U + abs(L), 2.0, A * A + 0.5)
    """,
)
