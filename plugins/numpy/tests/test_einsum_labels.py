"""Labels of ``einsum`` beside JAX's: letters, digits and the axes of an ellipsis."""

import numpy as np
import pytest

import bindax_numpy as jnp

theirs = pytest.importorskip("jax.numpy", reason="the library to compare with")

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)
Y = np.arange(12.0, dtype=np.float32).reshape(3, 4)
Z = np.arange(24.0, dtype=np.float32).reshape(4, 2, 3)


@pytest.mark.parametrize("subscripts", ["01,12->02", "01,12", "0a,a1->10", "10,0a", "2a,a1"])
def test_labels_may_be_digits(subscripts):
    ours = jnp.einsum(subscripts, X, Y)
    np.testing.assert_array_equal(ours, theirs.einsum(subscripts, X, Y))


@pytest.mark.parametrize("subscripts", ["...0,0a->...a", "...0,01", "...01->0...1", "0...->...0"])
def test_digits_are_no_axes_of_an_ellipsis(subscripts):
    operands = (Z, Y) if "," in subscripts else (Z,)
    ours = jnp.einsum(subscripts, *operands)
    np.testing.assert_array_equal(ours, theirs.einsum(subscripts, *operands))


def test_what_is_no_label_is_named():
    with pytest.raises(ValueError, match=r"subscripts are letters, digits, .* but got 'i;,jk'"):
        jnp.einsum("i;,jk", X, Y)
