"""Sampling methods for Rngs: the distributions of ``bindax.random``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import bindax_random as random
from bindax_nn import initializers

P = ParamSpec("P")
R = TypeVar("R")


def _drawing(function: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    @wraps(function)
    def draw(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return function(self(), *args, **kwargs)

    return draw


def _initializing(
    make: Callable[P, Callable[..., R]],
) -> Callable[Concatenate[Any, P], Callable[..., R]]:
    """A method that makes an initializer, which takes the next key where it is called."""

    @wraps(make)
    def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> Callable[..., R]:
        init = make(*args, **kwargs)
        return lambda *shape, **options: init(self(), *shape, **options)

    return method


class Draws:
    """Base of streams: each method draws with the next key, and takes what comes after the key.

    Those with the names of initializers make one, without the key.

    >>> from bindax_nnx import Rngs
    >>> rngs = Rngs(0)
    >>> rngs.normal((2,)).shape, int(rngs.default.count)
    ((2,), 1)
    >>> rngs.lecun_normal()((3, 2)).shape, int(rngs.default.count)
    ((3, 2), 2)
    """

    __slots__ = ()

    ball: Final = _drawing(random.ball)
    bernoulli: Final = _drawing(random.bernoulli)
    beta: Final = _drawing(random.beta)
    binomial: Final = _drawing(random.binomial)
    bits: Final = _drawing(random.bits)
    categorical: Final = _drawing(random.categorical)
    cauchy: Final = _drawing(random.cauchy)
    chisquare: Final = _drawing(random.chisquare)
    choice: Final = _drawing(random.choice)
    dirichlet: Final = _drawing(random.dirichlet)
    double_sided_maxwell: Final = _drawing(random.double_sided_maxwell)
    exponential: Final = _drawing(random.exponential)
    f: Final = _drawing(random.f)
    gamma: Final = _drawing(random.gamma)
    generalized_normal: Final = _drawing(random.generalized_normal)
    geometric: Final = _drawing(random.geometric)
    gumbel: Final = _drawing(random.gumbel)
    laplace: Final = _drawing(random.laplace)
    loggamma: Final = _drawing(random.loggamma)
    logistic: Final = _drawing(random.logistic)
    lognormal: Final = _drawing(random.lognormal)
    maxwell: Final = _drawing(random.maxwell)
    multinomial: Final = _drawing(random.multinomial)
    multivariate_normal: Final = _drawing(random.multivariate_normal)
    normal: Final = _drawing(random.normal)
    orthogonal: Final = _drawing(random.orthogonal)
    pareto: Final = _drawing(random.pareto)
    permutation: Final = _drawing(random.permutation)
    poisson: Final = _drawing(random.poisson)
    rademacher: Final = _drawing(random.rademacher)
    randint: Final = _drawing(random.randint)
    rayleigh: Final = _drawing(random.rayleigh)
    t: Final = _drawing(random.t)
    triangular: Final = _drawing(random.triangular)
    truncated_normal: Final = _drawing(random.truncated_normal)
    uniform: Final = _drawing(random.uniform)
    wald: Final = _drawing(random.wald)
    weibull_min: Final = _drawing(random.weibull_min)

    delta_orthogonal: Final = _initializing(initializers.delta_orthogonal)
    glorot_normal: Final = _initializing(initializers.glorot_normal)
    glorot_uniform: Final = _initializing(initializers.glorot_uniform)
    he_normal: Final = _initializing(initializers.he_normal)
    he_uniform: Final = _initializing(initializers.he_uniform)
    kaiming_normal: Final = _initializing(initializers.kaiming_normal)
    kaiming_uniform: Final = _initializing(initializers.kaiming_uniform)
    lecun_normal: Final = _initializing(initializers.lecun_normal)
    lecun_uniform: Final = _initializing(initializers.lecun_uniform)
    variance_scaling: Final = _initializing(initializers.variance_scaling)
    xavier_normal: Final = _initializing(initializers.xavier_normal)
    xavier_uniform: Final = _initializing(initializers.xavier_uniform)
