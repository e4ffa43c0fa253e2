"""Distributions and summaries of samples, with JAX's names; public as ``bindax.scipy.stats``."""

from bindax_scipy.stats import bernoulli as bernoulli
from bindax_scipy.stats import beta as beta
from bindax_scipy.stats import betabinom as betabinom
from bindax_scipy.stats import binom as binom
from bindax_scipy.stats import cauchy as cauchy
from bindax_scipy.stats import chi2 as chi2
from bindax_scipy.stats import dirichlet as dirichlet
from bindax_scipy.stats import expon as expon
from bindax_scipy.stats import gamma as gamma
from bindax_scipy.stats import gennorm as gennorm
from bindax_scipy.stats import geom as geom
from bindax_scipy.stats import gumbel_l as gumbel_l
from bindax_scipy.stats import gumbel_r as gumbel_r
from bindax_scipy.stats import laplace as laplace
from bindax_scipy.stats import logistic as logistic
from bindax_scipy.stats import multinomial as multinomial
from bindax_scipy.stats import multivariate_normal as multivariate_normal
from bindax_scipy.stats import nbinom as nbinom
from bindax_scipy.stats import norm as norm
from bindax_scipy.stats import pareto as pareto
from bindax_scipy.stats import poisson as poisson
from bindax_scipy.stats import t as t
from bindax_scipy.stats import truncnorm as truncnorm
from bindax_scipy.stats import uniform as uniform
from bindax_scipy.stats import vonmises as vonmises
from bindax_scipy.stats import wrapcauchy as wrapcauchy
from bindax_scipy.stats.kde import gaussian_kde as gaussian_kde
from bindax_scipy.stats.mode_rankdata import mode as mode
from bindax_scipy.stats.mode_rankdata import rankdata as rankdata
from bindax_scipy.stats.mode_rankdata import sem as sem

__all__ = [
    "bernoulli",
    "beta",
    "betabinom",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "gaussian_kde",
    "gennorm",
    "geom",
    "gumbel_l",
    "gumbel_r",
    "laplace",
    "logistic",
    "mode",
    "multinomial",
    "multivariate_normal",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "rankdata",
    "sem",
    "t",
    "truncnorm",
    "uniform",
    "vonmises",
    "wrapcauchy",
]
