"""``BCSR`` and what follows from the base of sparse arrays, beside SciPy."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import bindax
import bindax.numpy as jnp
from bindax.experimental.sparse import BCOO, BCSR, JAXSparse, bcsr_fromdense, bcsr_todense
from bindax_experimental.sparse.linalg import spsolve

RNG = np.random.default_rng(7)
DENSE = np.where(RNG.random((4, 5)) < 0.4, RNG.normal(size=(4, 5)), 0.0)
DENSE[2] = 0.0


def test_rows_are_those_of_scipy() -> None:
    wanted = scipy.sparse.csr_array(DENSE)
    for found in (BCSR.fromdense(DENSE), BCSR.from_scipy_sparse(wanted), bcsr_fromdense(DENSE)):
        np.testing.assert_array_equal(found.data, wanted.data)
        np.testing.assert_array_equal(found.indices, wanted.indices)
        np.testing.assert_array_equal(found.indptr, wanted.indptr)
        np.testing.assert_array_equal(found.todense(), DENSE)
        np.testing.assert_array_equal(bcsr_todense(found.T), DENSE.T)
        assert (found.shape, found.ndim, found.size, len(found)) == ((4, 5), 2, 20, 4)


def test_products_and_sums() -> None:
    m, v = BCSR.fromdense(DENSE), RNG.normal(size=5)
    np.testing.assert_allclose(m @ v, DENSE @ v)
    np.testing.assert_allclose(bindax.jit(lambda m, v: m @ v)(m, v), DENSE @ v)
    np.testing.assert_allclose(np.ones(4) @ m, np.ones(4) @ DENSE)
    np.testing.assert_allclose((m @ m.T).todense(), DENSE @ DENSE.T)
    np.testing.assert_allclose((-m).sum(), -DENSE.sum())
    np.testing.assert_allclose(m.sum(0).todense(), DENSE.sum(0))
    gradient = bindax.grad(lambda m: (m @ v).sum(), allow_int=True)(m)
    assert isinstance(gradient, BCSR)
    np.testing.assert_allclose(gradient.data, v[np.asarray(m.indices)])
    assert m.block_until_ready() is m


def test_entries_beyond_the_last_row_are_padding() -> None:
    m = BCSR.fromdense(DENSE, nse=15)
    assert m.nse == 15
    np.testing.assert_array_equal(m.todense(), DENSE)
    np.testing.assert_array_equal(
        bindax.jit(lambda x: BCSR.fromdense(x, nse=15).todense())(DENSE), DENSE
    )
    np.testing.assert_array_equal(m.sum_duplicates().todense(), DENSE)
    empty = BCSR.fromdense(np.zeros((0, 3)))
    assert empty.todense().shape == (0, 3)


def test_sparse_systems() -> None:
    matrix = np.diag([1.0, 2.0, 3.0]) + np.eye(3, k=1)
    rows, b = scipy.sparse.csr_array(matrix), np.array([1.0, 0.0, 2.0])
    found = spsolve(rows.data, rows.indices, rows.indptr, b)
    np.testing.assert_allclose(found, scipy.sparse.linalg.spsolve(rows.tocsc(), b))
    slope = bindax.grad(lambda d: spsolve(d, rows.indices, rows.indptr, b).sum())(rows.data)
    inverse = np.linalg.inv(matrix)
    full = -np.outer(inverse.sum(0), inverse @ b)
    np.testing.assert_allclose(slope, full[np.nonzero(matrix)])


def test_the_base_of_sparse_arrays() -> None:
    assert all(isinstance(c.fromdense(DENSE), JAXSparse) for c in (BCOO, BCSR))
    assert not isinstance(jnp.ones(2), JAXSparse)
    with pytest.raises(TypeError, match="Own must define todense"):
        type("Own", (JAXSparse,), {})().todense()
    assert repr(BCSR.fromdense(np.eye(2))) == "BCSR(float64[2, 2], nse=2)"
    assert repr(bindax.tree.map(lambda x: "x", BCSR.fromdense(np.eye(2)))) == "BCSR('x', 'x', 'x')"


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(
        ValueError, match=re.escape("BCSR of the shape (2, 2) takes vectors of nse")
    ):
        BCSR((np.ones(2), np.zeros(2, int), np.zeros(2, int)), shape=(2, 2))
    with pytest.raises(ValueError, match="from_bcoo takes a matrix with two sparse axes"):
        BCSR.from_bcoo(BCOO.fromdense(np.eye(2), n_dense=1))
