"""The rules agree with each other and with the definition."""

import numpy as np
import pytest
from bindax_example_softsign import Bounds, softsign

from bindax_core import tree
from bindax_transforms import grad, jvp, make_jaxpr, vmap

XS = np.linspace(-3.0, 3.0, 7)


def test_value() -> None:
    np.testing.assert_allclose(np.asarray(softsign(XS)), XS / (1 + np.abs(XS)))


def test_derivative() -> None:
    for x in XS:
        expected = 1 / (1 + abs(x)) ** 2
        assert float(grad(softsign)(float(x))) == pytest.approx(expected)
        assert float(jvp(softsign, (float(x),), (2.0,))[1]) == pytest.approx(2 * expected)


def test_second_derivative() -> None:
    assert float(grad(grad(softsign))(1.0)) == pytest.approx(-2 / 2**3)


def test_batching() -> None:
    batched = vmap(vmap(softsign), in_axes=1, out_axes=1)(XS.reshape(1, 7))
    np.testing.assert_allclose(np.asarray(batched), (XS / (1 + np.abs(XS))).reshape(1, 7))


def test_staging() -> None:
    assert "example.softsign" in str(make_jaxpr(softsign)(1.0))


def test_integers_are_an_error_that_says_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"real floating dtype, but got int32\[2\]. Convert it"):
        softsign(np.ones(2, np.int32))


def test_container() -> None:
    bounds = Bounds(1.0, (2.0, 3.0), name="b")

    assert tree.leaves(bounds) == [1.0, 2.0, 3.0]
    doubled = tree.map(lambda x: 2 * x, bounds)
    assert repr(doubled) == "Bounds(2.0, (4.0, 6.0), name='b')"
