"""Values and first derivatives at ends, at 0 and 1, of what is infinite, tiny, large and nan.

Values are those of SciPy, derivatives those of differences of them from one side or the other: at
a joint of two pieces either will do, and so will what is between.
"""

import numpy as np
import pytest
import scipy.special
import scipy.stats
from _end_tables import (
    DISTRIBUTIONS,
    ELSEWHERE,
    IN_ARGUMENTS,
    OF_ARRAYS,
    SLOPES_LEFT_OUT,
    SPECIAL,
    UNIT,
    VALUES_LEFT_OUT,
)

import bindax
from bindax.scipy import special, stats

CASES = [
    (stats, scipy.stats, f"{name}.{function}")
    for name in DISTRIBUTIONS
    for function in getattr(stats, name).__all__
    if function != "entropy"
] + [(special, scipy.special, name) for name in SPECIAL]


def arguments(name):
    """All combinations, as vectors."""
    head, _, function = name.partition(".")
    lists = [*DISTRIBUTIONS[head]] if function else SPECIAL[name]
    if function in ("ppf", "isf"):
        lists[0] = UNIT
    return [x.ravel() for x in np.meshgrid(*lists, indexing="ij")]


def named(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def one_sided(f, args, place, sign):
    """Differences to one side, nan where they depend on the step."""
    x, found = args[place], []
    for relative in (1e-4, 1e-5, 3e-6):
        step = sign * relative * np.maximum(np.abs(x), 1e-2)
        three = [f(*args[:place], x + k * step, *args[place + 1 :]) for k in range(3)]
        found.append((-3 * three[0] + 4 * three[1] - three[2]) / (2 * step))
    first, second, third = found
    settled = np.abs(second - third) <= 1e-3 * np.abs(second) + 1e-6
    settled &= np.abs(first - second) <= 0.1 * np.abs(second) + 1e-4
    return np.where(settled & np.isfinite(third), second, np.nan)


def as_rows(x):
    return np.stack([np.asarray(part, float) for part in (x if isinstance(x, tuple) else (x,))])


def check_values(name, found, wanted, args):
    left_out = np.zeros(args[0].shape, bool)
    if name in VALUES_LEFT_OUT:
        left_out = VALUES_LEFT_OUT[name][0](*args)
    right = left_out | np.isclose(found, wanted, rtol=1e-8, atol=1e-12, equal_nan=True)
    wrong = np.flatnonzero(~right.all(axis=0))
    assert not wrong.size, [
        f"{name}({', '.join(str(x[i]) for x in args)}) = {found[:, i]}, not {wanted[:, i]}"
        for i in wrong[:5]
    ]


def check_slopes(name, place, slope, sides, args):
    """Compare them where differences mean something, and return where that is."""
    low, high = np.fmin(*sides), np.fmax(*sides)
    slack = 2e-4 * np.maximum(np.abs(low), np.abs(high)) + 3e-6
    checked = np.isfinite(low)
    for x in args:
        # Differences say nothing of tiny and of large numbers.
        checked &= (x == 0) | (np.abs(x) > 1e-3) & (np.abs(x) < 1e6) | np.isinf(x)
    checked &= np.isfinite(args[0])
    if name in SLOPES_LEFT_OUT:
        checked &= ~SLOPES_LEFT_OUT[name](*args)
    right = ~checked | (slope >= low - slack) & (slope <= high + slack)
    wrong = np.flatnonzero(~right.all(axis=0))
    assert not wrong.size, [
        f"derivative {place} of {name}({', '.join(str(x[i]) for x in args)}) = {slope[:, i]}, not "
        f"between {low[:, i]} and {high[:, i]}"
        for i in wrong[:5]
    ]
    return checked.all(axis=0)


@pytest.mark.every(20)
@pytest.mark.parametrize(("ours", "theirs", "name"), CASES, ids=[name for *_, name in CASES])
def test_values_and_slopes(ours, theirs, name):
    function, reference, args = named(ours, name), named(theirs, name), arguments(name)
    places = IN_ARGUMENTS.get(name, IN_ARGUMENTS.get(name.partition(".")[0], range(len(args))))
    with np.errstate(all="ignore"):
        check_values(name, as_rows(function(*args)), as_rows(reference(*args)), args)
        for place in places:
            sides = [
                one_sided(lambda *xs: as_rows(reference(*xs)), args, place, sign)
                for sign in (-1, 1)
            ]
            x = args[place]

            def partly(x, place=place):
                return function(*args[:place], x, *args[place + 1 :])

            slope = as_rows(bindax.jvp(partly, (x,), (np.ones_like(x),))[1])
            checked = check_slopes(name, place, slope, sides, args)
            total = bindax.grad(lambda x, f=partly: sum(y.sum() for y in as_tuple(f(x))))(x)
            np.testing.assert_allclose(
                np.asarray(total)[checked], slope.sum(axis=0)[checked], 1e-9, 1e-12, err_msg=name
            )


def as_tuple(x):
    return x if isinstance(x, tuple) else (x,)


def test_every_public_function_is_compared():
    names = {n for n in stats.__all__ if hasattr(getattr(stats, n), "__all__")}
    assert names == set(DISTRIBUTIONS) | set(OF_ARRAYS.split())
    assert set(special.__all__) == set(SPECIAL) | set(ELSEWHERE.split())


def test_bessel_functions_at_zero_and_in_32_bits():
    def orders(z):
        return special.bessel_jn(z, v=2)

    zero = np.array(0.0)
    np.testing.assert_array_equal(orders(zero), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(bindax.jacfwd(orders)(zero), [0.0, 0.5, 0.0])
    np.testing.assert_array_equal(bindax.jacrev(bindax.jacfwd(orders))(zero), [-0.5, 0.0, 0.25])
    z = np.array([1e-30, 0.2, 1.0, 9.0], np.float32)
    wanted = [[1.0, 0.99002497], [5e-31, 0.09950083]]
    np.testing.assert_allclose(special.bessel_jn(z, v=1)[:, :2], wanted, rtol=1e-5)
    assert np.isfinite(np.asarray(special.bessel_jn(z, v=5))).all()


def test_stats_of_infinite_bounds_and_joints():
    def slopes(f, *point):
        return [float(g) for g in bindax.grad(f, tuple(range(len(point))))(*map(np.array, point))]

    half = slopes(stats.truncnorm.cdf, 0.3, 0.0, np.inf)
    np.testing.assert_allclose(half, [0.762775631, -0.609725155, 0.0], rtol=1e-8)
    assert slopes(stats.laplace.cdf, 0.0) == [0.5]
    np.testing.assert_allclose(slopes(special.log_ndtr, -1e8), [1e8], rtol=1e-12)
    assert np.isfinite(float(stats.gennorm.logpdf(0.0, 0.7)))
    np.testing.assert_allclose(slopes(stats.gennorm.cdf, 0.0, 2.0), [0.5641895835, 0.0])
