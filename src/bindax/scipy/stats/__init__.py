"""Distributions and summaries of samples."""

from bindax.scipy.stats import bernoulli as bernoulli
from bindax.scipy.stats import beta as beta
from bindax.scipy.stats import betabinom as betabinom
from bindax.scipy.stats import binom as binom
from bindax.scipy.stats import cauchy as cauchy
from bindax.scipy.stats import chi2 as chi2
from bindax.scipy.stats import dirichlet as dirichlet
from bindax.scipy.stats import expon as expon
from bindax.scipy.stats import gamma as gamma
from bindax.scipy.stats import gennorm as gennorm
from bindax.scipy.stats import geom as geom
from bindax.scipy.stats import gumbel_l as gumbel_l
from bindax.scipy.stats import gumbel_r as gumbel_r
from bindax.scipy.stats import laplace as laplace
from bindax.scipy.stats import logistic as logistic
from bindax.scipy.stats import multinomial as multinomial
from bindax.scipy.stats import multivariate_normal as multivariate_normal
from bindax.scipy.stats import nbinom as nbinom
from bindax.scipy.stats import norm as norm
from bindax.scipy.stats import pareto as pareto
from bindax.scipy.stats import poisson as poisson
from bindax.scipy.stats import t as t
from bindax.scipy.stats import truncnorm as truncnorm
from bindax.scipy.stats import uniform as uniform
from bindax.scipy.stats import vonmises as vonmises
from bindax.scipy.stats import wrapcauchy as wrapcauchy
from bindax_scipy.stats import gaussian_kde as gaussian_kde
from bindax_scipy.stats import mode as mode
from bindax_scipy.stats import rankdata as rankdata
from bindax_scipy.stats import sem as sem

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
