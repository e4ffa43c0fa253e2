"""Derivatives of hypergeometric functions beside differences of mpmath's, of 40 digits."""

import numpy as np
import pytest

import bindax
from bindax.experimental.jet import jet
from bindax.scipy import special

FIRST = [
    ("hyp1f1", (1.2, 2.3, 0.7), (0.44208996631895653, -0.23875231720867524, 0.842278781584151)),
    (
        "hyp1f1",
        (0.5, 1.5, -95.0),
        (-0.4660620075886605, 0.055318764481576, 0.00047855244239448073),
    ),
    (
        "hyp1f1",
        (2.0, 3.0, 150.0),
        (8.468755535824018e63, -7.558115461497732e63, 1.833667562071405e63),
    ),
    ("hyp1f1", (-1.0, 2.0, 150.0), (-4.3016066931006365e58, 37.5, -0.5)),
    ("hyp1f1", (0.0, 1.5, -3.0), (-1.249916942555932, 0.0, 0.0)),
    (
        "hyp2f1",
        (1.2, 2.3, 0.7, 0.3),
        (3.1531918973121433, 1.816675795657277, -4.957159330841339, 17.4132356150506),
    ),
    (
        "hyp2f1",
        (1.0, 1.0, 2.0, 0.9999),
        (42.41942682651085, 42.41942682651085, -34.85224272038009, 9991.787917294738),
    ),
    (
        "hyp2f1",
        (0.3, 0.4, 1.9, -3.0),
        (-0.3248193518454879, -0.2370279078554929, 0.04187974275694307, 0.023329506802668546),
    ),
    (
        "hyp2f1",
        (-2.0, 1.0, 2.0, -5.0),
        (-21.023558579106215, 17.5, -9.444444444444445, -4.333333333333333),
    ),
    (
        "hyp2f1",
        (1.0, 2.0, 6.0, 0.95),
        (0.8265202353501035, 0.4643539533944093, -0.18063526833081836, 1.3470466731612256),
    ),
]
SECOND = {
    "hyp1f1": (
        (1.2, 2.3, 0.7),
        [
            [0.09326502230742291, -0.2413702050125773, 0.8753372303847512],
            [-0.2413702050125773, 0.23138113958485199, -0.4841748808678286],
            [0.8753372303847512, -0.4841748808678286, 0.5905864770334428],
        ],
    ),
    "hyp2f1": (
        (1.2, 2.3, 0.7, 0.3),
        [
            [1.9905762296544445, 2.475398145554524, -6.457656395545271, 25.03980743279002],
            [2.475398145554524, 0.789563516227561, -3.7905765894568098, 15.048754954381511],
            [-6.457656395545271, -3.7905765894568098, 15.949114726104028, -37.9063361720451],
            [25.03980743279002, 15.048754954381511, -37.9063361720451, 101.47861611803086],
        ],
    ),
}


def arrays(point):
    return [np.array(x) for x in point]


@pytest.mark.every(4)
@pytest.mark.parametrize(("name", "point", "wanted"), FIRST)
def test_first_derivatives(name, point, wanted):
    function, args = getattr(special, name), arrays(point)
    with np.errstate(all="ignore"):
        found = bindax.grad(function, tuple(range(len(args))))(*args)
        forward = [bindax.jacfwd(function, i)(*args) for i in range(len(args))]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(forward, wanted, rtol=1e-10, atol=1e-14)


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("name", "point", "wanted"), [case for case in FIRST if np.abs(case[1]).max() < 80]
)
def test_first_derivatives_in_single_precision(name, point, wanted):
    """Numbers that double precision holds overflow there, also where they are not used."""
    args = [np.float32(x) for x in point]
    found = bindax.grad(getattr(special, name), tuple(range(len(args))))(*args)
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=1e-4)


@pytest.mark.every(4)
@pytest.mark.parametrize("outer", [bindax.jacfwd, bindax.jacrev])
@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(name, outer):
    point, wanted = SECOND[name]
    inner = bindax.jacrev if outer is bindax.jacfwd else bindax.jacfwd
    found = outer(inner(lambda p: getattr(special, name)(*p)))(np.array(point))
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_mapped_compiled_and_of_high_order():
    point, wanted = SECOND["hyp1f1"]
    a, b, x = arrays(point)

    def in_x(x):
        return special.hyp1f1(a, b, x)

    twice = bindax.grad(bindax.grad(in_x))
    both = bindax.jit(bindax.vmap(twice))(np.array([0.7, 0.2]))
    np.testing.assert_allclose(both, [wanted[2][2], twice(np.array(0.2))], rtol=1e-10)
    # The k-th derivative is that of other parameters, times a quotient of rising factorials.
    one, nothing = np.array(1.0), np.array(0.0)
    _, terms = jet(in_x, (x,), ((one, nothing, nothing),))
    shifted = [
        special.poch(a, k) / special.poch(b, k) * special.hyp1f1(a + k, b + k, x) for k in (1, 2, 3)
    ]
    np.testing.assert_allclose(terms, shifted, rtol=1e-10)


def test_values_near_one():
    x = np.array([0.93, 0.99, 0.9999, 1 - 1e-9])
    found = special.hyp2f1(1.0, 1.0, 2.0, x)
    np.testing.assert_allclose(found, -np.log1p(-x) / x, rtol=1e-12)


VALUES = [
    # Powers of 1 - x, and polynomials of other parameters.
    ((-7.0, 1.0, 1.0, 0.99), 1.0000000000000062e-14),
    ((0.1, -7.0, 0.1, 0.99), 1.0000000000000062e-14),
    ((0.1, 7.0, 0.1, 0.99), 99999999999999.38),
    ((0.1, 7.0, 0.1, -7.0), 4.76837158203125e-07),
    ((-7.0, 2.5, 0.5, 0.99), 5.460850000000024e-09),
    # Sums whose terms cancel.
    ((7.0, 7.0, 0.1, -0.5), -0.5942418368499741),
    ((-8.2025160016067, 1e-104, 3.193564656056337, -8.202429924615116), 1.0),
    ((6.304442881523173, -8.009883265231485, 0.10031000344655956, 0.758526673846107),
     -4.403089128426271),
    # c - a - b is an integer, x is near 1.
    ((-0.5, 7.0, 0.5, 0.99), -84431789951.21106),
    ((0.5, 0.5, 1.0, 0.99), 2.3527158167797424),
]  # fmt: skip


@pytest.mark.parametrize(("point", "wanted"), VALUES)
def test_values_where_terms_cancel(point, wanted):
    """Arb's values, evaluated and compiled, which must not reorder what is exact."""
    for function in (special.hyp2f1, bindax.jit(special.hyp2f1)):
        np.testing.assert_allclose(function(*arrays(point)), wanted, rtol=1e-14)


def test_values_in_single_precision():
    found = special.hyp2f1(-7.0, 1.0, 1.0, np.array([0.99, 0.5], np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, (1 - np.float64(np.float32([0.99, 0.5]))) ** 7, rtol=6e-8)


@pytest.mark.parametrize(
    "point",
    [
        (2.5, 0.7, 0.7, 0.3),
        (-7.0, 1.0, 1.0, 0.99),
        (1.0, -2.0, 2.0, -5.0),
    ],
)
def test_derivatives_where_values_are_polynomials(point):
    found = bindax.grad(special.hyp2f1, (0, 1, 2))(*arrays(point))
    step = np.array([-2, -1, 1, 2]) * 1e-3
    for i, slope in enumerate(found):
        moved = [*point[:i], point[i] + step, *point[i + 1 :]]
        wanted = np.dot(special.hyp2f1(*moved), [1, -8, 8, -1]) / 12e-3
        np.testing.assert_allclose(slope, wanted, rtol=1e-6, atol=1e-9)


def test_values_beyond_the_largest_number_are_infinite():
    assert special.hyp2f1(27.0, 27.7, 8.4, np.array(1 - 1e-13)) == np.inf


def test_a_polynomial_is_none_beside_its_point():
    """Above 1 the function has no real values for other parameters than whole ones."""
    point = arrays((-2.0, 0.3, 1.2, 1.5))
    assert np.isnan(bindax.grad(special.hyp2f1, 0)(*point))
    slope = (special.hyp2f1(-2.0, 0.3 + 1e-6, *point[2:]) - special.hyp2f1(*point)) / 1e-6
    np.testing.assert_allclose(bindax.grad(special.hyp2f1, 1)(*point), slope, rtol=1e-5)
