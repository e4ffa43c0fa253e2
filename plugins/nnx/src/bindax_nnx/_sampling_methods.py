"""Sampling methods for Rngs: the distributions of ``bindax.random``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import bindax_random as random

P = ParamSpec("P")
R = TypeVar("R")


def _drawing(function: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    @wraps(function)
    def draw(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return function(self(), *args, **kwargs)

    return draw


class Draws:
    """Base of streams: each method draws with the next key, and takes what comes after the key.

    >>> from bindax_nnx import Rngs
    >>> rngs = Rngs(0)
    >>> rngs.normal((2,)).shape, int(rngs.default.count)
    ((2,), 1)
    """

    __slots__ = ()

    ball = _drawing(random.ball)
    bernoulli = _drawing(random.bernoulli)
    beta = _drawing(random.beta)
    binomial = _drawing(random.binomial)
    bits = _drawing(random.bits)
    categorical = _drawing(random.categorical)
    cauchy = _drawing(random.cauchy)
    chisquare = _drawing(random.chisquare)
    choice = _drawing(random.choice)
    dirichlet = _drawing(random.dirichlet)
    double_sided_maxwell = _drawing(random.double_sided_maxwell)
    exponential = _drawing(random.exponential)
    f = _drawing(random.f)
    gamma = _drawing(random.gamma)
    generalized_normal = _drawing(random.generalized_normal)
    geometric = _drawing(random.geometric)
    gumbel = _drawing(random.gumbel)
    laplace = _drawing(random.laplace)
    loggamma = _drawing(random.loggamma)
    logistic = _drawing(random.logistic)
    lognormal = _drawing(random.lognormal)
    maxwell = _drawing(random.maxwell)
    multinomial = _drawing(random.multinomial)
    multivariate_normal = _drawing(random.multivariate_normal)
    normal = _drawing(random.normal)
    orthogonal = _drawing(random.orthogonal)
    pareto = _drawing(random.pareto)
    permutation = _drawing(random.permutation)
    poisson = _drawing(random.poisson)
    rademacher = _drawing(random.rademacher)
    randint = _drawing(random.randint)
    rayleigh = _drawing(random.rayleigh)
    t = _drawing(random.t)
    triangular = _drawing(random.triangular)
    truncated_normal = _drawing(random.truncated_normal)
    uniform = _drawing(random.uniform)
    wald = _drawing(random.wald)
    weibull_min = _drawing(random.weibull_min)
