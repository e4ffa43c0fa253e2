"""The functions whose errors are measured, with where they are measured and their exact values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import accuracy_references as exact
from accuracy_inputs import Axis

INF = math.inf
REAL = Axis()
POSITIVE = Axis(0.0, points=(1.0, 0.0))
TURNS = Axis(points=tuple(k * math.pi / 4 for k in range(-8, 9)) + (1e5, 1e10), span=100.0)


class Measured(NamedTuple):
    """A function of bindax: its name, its operands, its exact value, and its names elsewhere.

    An empty name says that a library has no such function, or none that ends.
    """

    name: str
    axes: tuple[Axis, ...]
    exact: Callable[..., Any]
    jax: str = ""
    scipy: str = ""
    part: int | None = None
    keywords: tuple[tuple[str, Any], ...] = ()


def growing(limit: float) -> Axis:
    """The axis of a function that overflows there."""
    return Axis(points=(0.0, limit, -limit, 1.0, -1.0, 88.0, -88.0, -103.0), span=limit * 1.1)


def elementary() -> list[Measured]:
    """Functions of ``lax`` with one operand that have a name in NumPy."""
    unit = Axis(-1.0, 1.0, points=(1.0, -1.0, 0.0, 0.5, -0.5), span=1.0)
    rows = [
        ("acos", unit, lambda x: x.acos(), "arccos"),
        ("acosh", Axis(1.0, points=(1.0, 2.0)), lambda x: x.acosh(), "arccosh"),
        ("asin", unit, lambda x: x.asin(), "arcsin"),
        ("asinh", REAL, lambda x: x.asinh(), "arcsinh"),
        ("atan", REAL, lambda x: x.atan(), "arctan"),
        ("atanh", unit, lambda x: x.atanh() if abs(x) < 1 else math.nan, "arctanh"),
        ("cbrt", REAL, lambda x: x.root(3) if x >= 0 else -(-x).root(3), "cbrt"),
        ("cos", TURNS, lambda x: x.cos(), "cos"),
        ("cosh", growing(710.0), lambda x: x.cosh(), "cosh"),
        ("exp", growing(709.78), lambda x: x.exp(), "exp"),
        ("exp2", growing(1024.0), lambda x: ball_power(2, x), "exp2"),
        ("expm1", growing(709.78), lambda x: x.expm1(), "expm1"),
        ("log", POSITIVE, lambda x: x.log() if x > 0 else -INF, "log"),
        ("log1p", Axis(-1.0, points=(0.0, -1.0)), lambda x: x.log1p() if x > -1 else -INF, "log1p"),
        ("log2", POSITIVE, lambda x: x.log() / exact.ball(2).log() if x > 0 else -INF, "log2"),
        ("sin", TURNS, lambda x: x.sin(), "sin"),
        ("sinh", growing(710.0), lambda x: x.sinh(), "sinh"),
        ("sqrt", POSITIVE, lambda x: x.sqrt(), "sqrt"),
        ("tan", TURNS, lambda x: x.tan(), "tan"),
        ("tanh", Axis(points=(0.0, 20.0, 9.0)), lambda x: x.tanh(), "tanh"),
    ]
    return [
        Measured(f"lax.{name}", (axis,), value, f"lax.{name}", f"numpy.{other}")
        for name, axis, value, other in rows
    ]


def ball_power(base: Any, x: Any) -> Any:
    """A power, with the bits that large exponents take."""
    return exact.ball(base) ** x if abs(x) < 1e5 else (INF if x > 0 else 0.0)


def power(x: Any, y: Any) -> Any:
    """The power of a positive number."""
    product = y * x.log()
    return product.exp() if abs(product) < 1e5 else (INF if product > 0 else 0.0)


NEGATIVES = tuple(-k / 2 for k in range(1, 12))
GAMMA = Axis(-1e6, 1e306, points=(1.0, 2.0, 0.0, 0.5, 1.5, 8.0, *NEGATIVES), span=20.0)
LGAMMA = GAMMA._replace(points=(*GAMMA.points, -2.4570247382208006, -2.747682646727413))
DIGAMMA = GAMMA._replace(points=(*GAMMA.points, 1.4616321449683622, -0.5040830082644554))
ENDLESS_IN_JAX = ("exp1", "expi", "expn")
"""Functions of JAX 0.10.2 whose loops do not end for some of the inputs."""
ORDERS = Axis(0.0, 30.0, whole=True)
SHAPE = Axis(1e-30, 1e3, points=(200.0, 199.0, 7.9, 8.0, 500.0))


def special() -> list[Measured]:
    """Special functions of ``lax``."""
    finite = Axis(points=(0.0, 10.0, -10.0, 22.0, 7.75, 8.0))
    tails = Axis(points=(0.0, 0.46875, 1.0, -1.0, 4.0, 6.0, -6.0, 26.5, 10.0, 0.5, 2.0), span=28.0)
    inside = Axis(-1.0, 1.0, points=(1.0, -1.0, 0.0, 0.5), span=1.0)
    zeta_axes = (Axis(1.000001, 200.0, points=(1.0001,)), Axis(1e-30, 1e30))
    shape = (SHAPE, Axis(1e-30, 2e3))
    return [
        Measured("lax.bessel_i0e", (finite,), exact.scaled_bessel(0), "lax.bessel_i0e", "i0e"),
        Measured("lax.bessel_i1e", (finite,), exact.scaled_bessel(1), "lax.bessel_i1e", "i1e"),
        Measured("lax.digamma", (DIGAMMA,), exact.digamma, "lax.digamma", "digamma"),
        Measured("lax.erf", (tails,), lambda x: x.erf(), "lax.erf", "erf"),
        Measured("lax.erf_inv", (inside,), lambda x: x.erfinv(), "lax.erf_inv", "erfinv"),
        Measured("lax.erfc", (tails,), exact.erfc, "lax.erfc", "erfc"),
        Measured("lax.lgamma", (LGAMMA,), exact.log_gamma, "lax.lgamma", "gammaln"),
        Measured("lax.logistic", (growing(745.0),), exact.logistic, "lax.logistic", "expit"),
        Measured("lax.rsqrt", (POSITIVE,), lambda x: 1 / x.sqrt(), "lax.rsqrt"),
        Measured("lax.atan2", (REAL, REAL), exact.arc_tangent, "lax.atan2", "numpy.arctan2"),
        Measured("lax.pow", (Axis(1e-320), REAL), power, "lax.pow", "numpy.power"),
        Measured("lax.zeta", zeta_axes, exact.hurwitz, "lax.zeta", "zeta"),
        Measured(
            "lax.polygamma",
            (ORDERS, Axis(-30.0, 1e20)),
            exact.polygamma,
            "lax.polygamma",
            "polygamma",
        ),
        Measured("lax.igamma", shape, exact.lower_gamma, "lax.igamma", "gammainc"),
        Measured("lax.igammac", shape, exact.upper_gamma, "lax.igammac", "gammaincc"),
        Measured(
            "lax.igamma_grad_a",
            (SHAPE._replace(high=1e3), Axis(1e-30, 1e3)),
            exact.lower_gamma_slope,
            "lax.igamma_grad_a",
        ),
        Measured(
            "lax.random_gamma_grad",
            (SHAPE._replace(high=1e3), Axis(1e-30, 1e3)),
            exact.sample_slope,
            "lax.random_gamma_grad",
        ),
        Measured(
            "lax.betainc",
            (Axis(1e-8, 1e3), Axis(1e-8, 1e3), Axis(1e-30, 1.0, span=1.0)),
            exact.incomplete_beta,
            "lax.betainc",
            "betainc",
        ),
    ]


def of_numpy() -> list[Measured]:
    """Functions of ``numpy`` that no operation of ``lax`` is."""
    return [
        Measured(
            "numpy.log10",
            (POSITIVE,),
            lambda x: x.log() / exact.ball(10).log() if x > 0 else -INF,
            "numpy.log10",
            "numpy.log10",
        ),
        Measured(
            "numpy.hypot",
            (REAL, REAL),
            lambda x, y: (x * x + y * y).sqrt(),
            "numpy.hypot",
            "numpy.hypot",
        ),
        Measured(
            "numpy.logaddexp", (REAL, REAL), exact.log_sum, "numpy.logaddexp", "numpy.logaddexp"
        ),
        Measured(
            "numpy.logaddexp2",
            (REAL, REAL),
            exact.log_sum_of_two,
            "numpy.logaddexp2",
            "numpy.logaddexp2",
        ),
        Measured(
            "numpy.sinc",
            (Axis(points=(0.0, 1.0, -1.0, 2.0, 10.0), span=50.0),),
            exact.sinc,
            "numpy.sinc",
            "numpy.sinc",
        ),
        Measured(
            "numpy.i0",
            (growing(713.0),),
            lambda x: x.bessel_i(0) if abs(x) < 1e4 else INF,
            "numpy.i0",
            "i0",
        ),
    ]


def of_scipy() -> list[Measured]:
    """Functions of ``scipy.special`` that no operation of ``lax`` is."""
    tails = Axis(points=(0.0, 0.5, -0.5, 1.0, -1.0, 4.0, 6.0, -6.0, -38.0), span=40.0)
    unit = Axis(0.0, 1.0, points=(0.0, 1.0, 0.5, 0.1, 0.9), span=1.0)
    two = Axis(0.0, 2.0, points=(0.0, 1.0, 2.0, 0.5, 1.5), span=2.0)
    growth = growing(713.0)
    positive = Axis(1e-300, 1e300, points=(1.0,))
    beta_axes = (Axis(1e-10, 1e5, points=(8.0,)), Axis(1e-10, 1e5, points=(8.0,)))
    a, b = Axis(-20.0, 20.0, span=10.0), Axis(0.1, 20.0, span=10.0)
    rows: list[tuple[str, tuple[Axis, ...], Any]] = [
        ("beta", beta_axes, exact.beta),
        ("betaln", beta_axes, exact.log_beta),
        (
            "boxcox",
            (positive, Axis(-100.0, 100.0)),
            lambda x, y: exact.power_difference(y, x.log()),
        ),
        (
            "boxcox1p",
            (Axis(-1 + 1e-7, 1e300, points=(0.0,)), Axis(-100.0, 100.0)),
            lambda x, y: exact.power_difference(y, x.log1p()),
        ),
        ("comb", (Axis(0.0, 60.0, whole=True), Axis(0.0, 60.0, whole=True)), exact.choices),
        ("dawsn", (REAL,), exact.dawson),
        ("entr", (Axis(0.0, points=(1.0, 0.0)),), lambda x: -x * x.log() if x > 0 else 0.0),
        ("erfcinv", (two,), exact.inverse_erfc),
        ("erfcx", (Axis(-27.0, points=(0.0, 1.0, 25.0, 50.0), span=30.0),), exact.scaled_erfc),
        (
            "exp1",
            (Axis(0.0, 1e4, points=(1.0, 0.0), span=700.0),),
            lambda x: exact.exponential_integral(1, x),
        ),
        (
            "expi",
            (Axis(-745.0, 1e4, points=(0.37250741078136663, 0.0, 40.0, -1.0), span=716.0),),
            lambda x: x.ei(),
        ),
        ("expn", (Axis(0.0, 60.0, whole=True), Axis(1e-30, 1e3)), exact.exponential_integral),
        (
            "factorial",
            (Axis(0.0, 180.0, span=180.0, points=(0.0, 1.0, 2.0, 20.0, 34.0, 100.0, 170.0)),),
            lambda x: exact.gamma(x + 1),
        ),
        ("gamma", (Axis(-180.0, 200.0, points=GAMMA.points, span=180.0),), exact.gamma),
        ("hyp1f1", (a, b, Axis(-50.0, 50.0, span=50.0)), exact.kummer),
        ("hyp2f1", (a, a, b, Axis(-50.0, 1.0, points=(0.9, 0.99, -0.5), span=1.0)), exact.gauss),
        ("i0", (growth,), lambda x: x.bessel_i(0) if abs(x) < 1e4 else INF),
        ("i1", (growth,), lambda x: x.bessel_i(1) if abs(x) < 1e4 else (INF if x > 0 else -INF)),
        ("kl_div", (positive, positive), lambda p, q: exact.entropy(p, q) - p + q),
        ("log_ndtr", (tails,), lambda x: exact.normal(x).log() if abs(x) < 1e6 else math.nan),
        ("logit", (unit,), lambda x: (x / (1 - x)).log()),
        ("multigammaln", (Axis(1.01, 1e30, points=(1.5, 2.0)),), exact.gamma_of_three),
        ("ndtr", (tails,), exact.normal),
        ("ndtri", (unit,), exact.normal_quantile),
        ("owens_t", (Axis(-40.0, 40.0), Axis(-1e6, 1e6)), exact.owens_t),
        ("poch", (Axis(0.01, 60.0), Axis(0.01, 60.0)), exact.rising),
        ("rel_entr", (positive, positive), exact.entropy),
        ("spence", (Axis(0.0, points=(0.0, 1.0, 2.0, 0.5)),), exact.dilogarithm),
        ("xlog1py", (REAL, Axis(-1 + 1e-7, points=(0.0,))), lambda x, y: x * y.log1p()),
        ("xlogy", (REAL, positive), lambda x, y: x * y.log()),
    ]
    found = [
        Measured(
            f"scipy.special.{name}",
            axes,
            value,
            "" if name in ENDLESS_IN_JAX else f"scipy.special.{name}",
            name,
        )
        for name, axes, value in rows
    ]
    return [
        one._replace(keywords=(("d", 3),)) if one.name.endswith("multigammaln") else one
        for one in [*found, *_of_two_results()]
    ]


def _of_two_results() -> list[Measured]:
    """Functions that return a pair, each part as one."""
    waves = Axis(points=(0.0, 1.5, -1.5, 1.0), span=50.0)
    angles = Axis(points=(0.0, 4.0, -4.0, 0.6165054856207162, 3.384180422), span=100.0)
    positive = angles._replace(low=1e-300)
    parts: list[tuple[str, int, Axis, Any]] = [
        ("fresnel", 0, waves, exact.fresnel_s),
        ("sici", 0, angles, exact.sine_integral),
        ("fresnel", 1, waves, exact.fresnel_c),
        ("sici", 1, positive, exact.cosine_integral),
    ]
    return [
        Measured(f"scipy.special.{name}[{i}]", (axis,), value, f"scipy.special.{name}", name, i)
        for name, i, axis, value in parts
    ]


def measured() -> dict[str, Measured]:
    """Every function by its name."""
    rows = [*elementary(), *special(), *of_numpy(), *of_scipy()]
    return {row.name: row for row in rows}
