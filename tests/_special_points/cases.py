"""Functions that the sweep cannot call by itself, and those that it leaves out, with reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bindax
import bindax.numpy as jnp
from bindax import lax, nn, optimizers
from bindax.scipy import linalg, special, stats
from bindax.scipy.spatial.transform import Rotation, Slerp

# Functions that are left out, and why.
LEFT_OUT = {
    "lax.bitcast_convert_type": "bits have no derivative",
    "lax.stop_gradient": "its derivative is zero by definition",
    "lax.igamma_grad_a": "a derivative itself, whose derivative in a is refused",
    "lax.random_gamma_grad": "a derivative itself, whose derivative in a is refused",
    "optimizers.bias_correction": "decay rates are below 1, and counts above 0",
    "optimizers.perceptron_loss": "its kink is where the product of both is zero",
    "optimizers.scale_gradient": "its derivative is another one by definition",
    "numpy.divmod": "the quotient jumps",
    "numpy.place": "needs an array",
    "numpy.geomspace": "no such sequence passes through zero",
    "scipy.special.hyp1f1": "has tests of its own",
    "scipy.special.poch": "has poles at the special points",
}

# Functions without a derivative in their first operands: numbers in their place.
Fixed = tuple[Callable[..., Any], tuple[tuple[float, ...], ...]]
_NO_DERIVATIVE_IN_PARAMETERS: dict[str, Fixed] = {
    "lax.igamma": (lax.igamma, ((0.5,), (1.0,), (2.0,))),
    "lax.igammac": (lax.igammac, ((0.5,), (1.0,), (2.0,))),
    "lax.polygamma": (lax.polygamma, ((0.0,), (1.0,), (2.0,))),
    "lax.zeta": (lax.zeta, ((2.0,), (3.0,))),
    "lax.betainc": (lax.betainc, ((1.0, 1.0), (2.0, 3.0))),
    "scipy.special.betainc": (special.betainc, ((1.0, 1.0), (2.0, 3.0))),
    "scipy.special.gammainc": (special.gammainc, ((1.0,), (2.0,))),
    "scipy.special.gammaincc": (special.gammaincc, ((1.0,), (2.0,))),
    "scipy.special.expn": (special.expn, ((1,), (2,), (3,))),
    **{
        f"scipy.stats.{name}.{kind}": (
            lambda *xs, name=name, kind=kind: getattr(getattr(stats, name), kind)(xs[-1], *xs[:-1]),
            parameters,
        )
        for name, parameters in {
            "beta": ((1.0, 1.0), (2.0, 3.0)),
            "chi2": ((2.0,), (3.0,)),
            "gamma": ((1.0,), (2.0,)),
        }.items()
        for kind in ("cdf", "logcdf", "sf", "logsf")
    },
    "scipy.stats.gennorm.cdf": (lambda beta, x: stats.gennorm.cdf(x, beta), ((1.0,),)),
}
LEFT_OUT |= dict.fromkeys(_NO_DERIVATIVE_IN_PARAMETERS, "its parameters are fixed, see below")

# Exponentials of logarithms: where the probability vanishes, the derivative is nan, as in JAX.
NOT_WHERE_ZERO = {
    f"scipy.stats.{name}"
    for name in (
        "bernoulli.pmf",
        "beta.pdf",
        "binom.pmf",
        "chi2.pdf",
        "gamma.pdf",
        "geom.pmf",
        "nbinom.pmf",
        "poisson.pmf",
    )
}


def _turned(x: Any, y: Any) -> Any:
    return Rotation.from_rotvec(jnp.stack([x, y, 0.5 * x - y]))


def _between(x: Any, y: Any) -> Any:
    ends = Rotation.from_rotvec(jnp.stack([jnp.zeros(3, "float64"), jnp.stack([x, y, x])]))
    return Slerp.init(jnp.array([0.0, 1.0]), ends)(0.25).as_matrix()


def _matrix(x: Any, y: Any) -> Any:
    return jnp.stack([jnp.stack([x, y]), jnp.stack([-y, x * y])])


def _three(x: Any, y: Any) -> Any:
    return jnp.stack([x, y, jnp.ones_like(x)])


# What takes other arguments: name, function and number of operands.
CASES: dict[str, tuple[Callable[..., Any], int]] = {
    **{
        f"{name}{fixed}": (lambda x, f=f, fixed=fixed: f(*fixed, x), 1)
        for name, (f, several) in _NO_DERIVATIVE_IN_PARAMETERS.items()
        for fixed in several
    },
    "scipy.special.polygamma(1, x)": (lambda x: special.polygamma(1, x), 1),
    "scipy.special.multigammaln(x, 2)": (lambda x: special.multigammaln(x, 2), 1),
    "scipy.special.sph_harm_y": (
        lambda x, y: special.sph_harm_y(jnp.array([2]), jnp.array([1]), x, y, n_max=2),
        2,
    ),
    "numpy.i0, squared": (lambda x: jnp.i0(x * x), 1),
    **{f"x ** {p}": (lambda x, p=p: x**p, 1) for p in (0, 1, 2, 3, 2.0, 2.5, -1)},
    **{
        f"numpy.linalg.norm of order {p}": (
            lambda x, y, p=p: jnp.linalg.norm(_three(x, y), ord=p),
            2,
        )
        for p in (1, 2, 3, 4, jnp.inf)
    },
    "numpy.linalg.norm of zeros": (lambda x: jnp.linalg.norm(jnp.stack([x, x, 2 * x])), 1),
    "numpy.std of three": (lambda x, y: jnp.std(_three(x, y)), 2),
    "numpy.abs of complex numbers": (lambda x, y: jnp.abs(lax.complex(x, y)), 2),
    "numpy.angle of complex numbers": (lambda x, y: jnp.angle(lax.complex(x, y)), 2),
    "nn.gelu, exact": (lambda x: nn.gelu(x, approximate=False), 1),
    "nn.celu of 0.5": (lambda x: nn.celu(x, 0.5), 1),
    "nn.standardize": (lambda x, y: nn.standardize(_three(x, y)), 2),
    "nn.standardize, stable": (lambda x, y: nn.standardize(_three(x, y), algorithm="stable"), 2),
    "nn.logsumexp of weights": (lambda x, y: nn.logsumexp(_three(x, y), b=jnp.array([1, 2, 3])), 2),
    "nn.softmax of three": (lambda x, y: nn.softmax(_three(x, y)), 2),
    "nn.glu": (lambda x, y: nn.glu(jnp.stack([x, y])), 2),
    "optimizers.softmax_cross_entropy": (
        lambda x, y: optimizers.softmax_cross_entropy(_three(x, y), jnp.array([0.2, 0.3, 0.5])),
        2,
    ),
    "optimizers.softmax_cross_entropy_with_integer_labels": (
        lambda x, y: optimizers.softmax_cross_entropy_with_integer_labels(
            _three(x, y), jnp.array(1)
        ),
        2,
    ),
    "optimizers.huber_loss of differences": (lambda x, y: optimizers.huber_loss(x, y, 0.5), 2),
    "scipy.linalg.expm": (lambda x, y: linalg.expm(_matrix(x, y)), 2),
    "numpy.linalg.det": (lambda x, y: jnp.linalg.det(_matrix(x, y)), 2),
    "scipy.stats.logistic.logpdf of three": (stats.logistic.logpdf, 3),
    "scipy.stats.norm.logcdf of two": (stats.norm.logcdf, 2),
    "scipy.stats.laplace.cdf of two": (stats.laplace.cdf, 2),
    "Rotation.as_matrix": (lambda x, y: _turned(x, y).as_matrix(), 2),
    "Rotation.as_rotvec": (lambda x, y: _turned(x, y).as_rotvec(), 2),
    "Rotation.as_euler": (lambda x, y: _turned(x, y).as_euler("xyz"), 2),
    "Rotation.as_mrp": (lambda x, y: _turned(x, y).as_mrp(), 2),
    "Rotation.magnitude": (lambda x, y: _turned(x, y).magnitude(), 2),
    "Slerp": (_between, 2),
    "jit of softplus": (bindax.jit(nn.softplus), 1),
}
