"""Arrays of float0, which gradients of integers are, beside NumPy's."""

import numpy as np
import pytest

import bindax_numpy as jnp
from bindax_core import float0, tree
from bindax_transforms import grad, jit, vjp

Z = grad(lambda n: n.sum().astype("float32"), allow_int=True)(np.arange(3))
NUMPY = np.zeros(3, float0)


def test_it_is_the_gradient_of_integers():
    assert (Z.dtype, Z.shape, Z.nbytes, len(Z)) == (float0, (3,), 0, 3)
    assert str(Z) == str(NUMPY)
    assert repr(Z) == "Array(shape=(3,), dtype=float0)"


@pytest.mark.parametrize(
    "use",
    [
        lambda z: z[0],
        lambda z: z[1:],
        lambda z: z.reshape(3, 1).T,
        lambda z: z[None].squeeze(),
        lambda z: z.ravel(),
        lambda z: z == z,
        lambda z: z != z,
        lambda z: z == np.zeros((2, 1), float0),
        lambda z: z.copy(),
    ],
)
def test_it_behaves_as_numpys(use):
    got, wanted = np.asarray(use(Z)), np.asarray(use(NUMPY))
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    assert np.array_equal(got, wanted)
    assert np.asarray(jit(use)(Z)).shape == wanted.shape


def test_zeros_like_and_lists():
    assert np.concatenate([Z, Z]).dtype == float0
    assert jnp.zeros_like(Z).dtype == float0
    assert Z.tolist() == NUMPY.tolist()
    assert not bool(Z[0])
    assert tree.map(np.shape, {"z": Z}) == {"z": (3,)}
    assert jnp.stack([Z, Z]).shape == (2, 3)


@pytest.mark.parametrize(
    "use", [lambda z: z + z, lambda z: z + 1, lambda z: z * 2.0, lambda z: -z, jnp.sum, jnp.sin]
)
def test_there_is_no_arithmetic(use):
    with pytest.raises(TypeError, match="float0"):
        use(Z)


def test_integer_cotangents_of_integer_results_are_zero():
    results, pull = vjp(lambda x, n: (jnp.sin(x), n * 2), 0.0, np.arange(2))
    for zero in (np.ones(2, np.int32), np.zeros(2, float0), np.zeros(2, bool), results[1]):
        x_bar, n_bar = pull((1.0, zero))
        assert float(x_bar) == 1.0
        assert (n_bar.dtype, n_bar.shape) == (float0, (2,))
