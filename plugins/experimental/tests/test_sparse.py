"""Sparse arrays beside the dense ones that they stand for."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax_numpy as jnp
from bindax_core.errors import ConcretizationTypeError, MissingRuleError
from bindax_core.tree_util import tree_flatten, tree_unflatten
from bindax_experimental import sparse
from bindax_experimental.sparse import BCOO
from bindax_random import key
from bindax_transforms import grad, jit, jvp, vmap

LAYOUTS = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (0, 3)]


def dense(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < 0.4, rng.normal(size=shape), 0.0)


def stored(x: Any, n_batch: int = 0, n_dense: int = 0, padding: int = 0) -> BCOO:
    """A sparse array with room to spare."""
    tight = BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense)
    return BCOO.fromdense(x, nse=tight.nse + padding, n_batch=n_batch, n_dense=n_dense)


def assert_stands_for(found: Any, expected: Any) -> None:
    assert isinstance(found, BCOO)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found.todense(), expected, atol=1e-12)


@pytest.mark.parametrize(("n_batch", "n_dense"), LAYOUTS)
def test_layouts(n_batch: int, n_dense: int) -> None:
    x = dense(2, 3, 4)
    m = stored(x, n_batch, n_dense, padding=2)
    assert (m.n_batch, m.n_dense, m.n_sparse) == (n_batch, n_dense, 3 - n_batch - n_dense)
    assert (m.ndim, m.size, m.dtype, len(m)) == (3, 24, x.dtype, 2)
    assert_stands_for(m, x)
    assert_stands_for(jit(lambda m: m)(m), x)
    for batch, last in LAYOUTS:
        other = m.update_layout(n_batch=batch, n_dense=last, on_inefficient=None)
        assert (other.n_batch, other.n_dense) == (batch, last)
        assert_stands_for(other, x)


COLUMN = np.arange(1.0, 4)[:, None]

STRUCTURE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "transpose": (lambda m: m.transpose((2, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    "transpose within": (lambda m: m.transpose((0, 2, 1)), lambda x: x.transpose(0, 2, 1)),
    "T": (lambda m: m.T, lambda x: x.T),
    "reshape": (lambda m: m.reshape(4, 6), lambda x: x.reshape(4, 6)),
    "reshape within": (lambda m: m.reshape((2, -1, 4)), lambda x: x.reshape(2, -1, 4)),
    "sum 0": (lambda m: m.sum(0), lambda x: x.sum(0)),
    "sum 1": (lambda m: m.sum((1, -1)), lambda x: x.sum((1, 2))),
    "slice": (lambda m: m[:, 1:, ::2], lambda x: x[:, 1:, ::2]),
    "index": (lambda m: m[1, ..., -1], lambda x: x[1, ..., -1]),
    "reversed": (lambda m: m[::-1, :, 3:0:-2], lambda x: x[::-1, :, 3:0:-2]),
    "new axis": (lambda m: m[None, :, 1, None], lambda x: x[None, :, 1, None]),
    "nothing": (lambda m: m[:, 2:1], lambda x: x[:, 2:1]),
    "dynamic_slice": (
        lambda m: sparse.bcoo_dynamic_slice(m, (0, np.int32(1), -9), (2, 2, 2)),
        lambda x: x[:, 1:, :2],
    ),
    "rev": (lambda m: sparse.bcoo_rev(m, (0, 2)), lambda x: x[::-1, :, ::-1]),
    "concatenate": (
        lambda m: sparse.bcoo_concatenate([m, m * 2], dimension=1),
        lambda x: np.concatenate([x, x * 2], 1),
    ),
    "broadcast": (
        lambda m: sparse.bcoo_broadcast_in_dim(
            m, shape=(2, 5, 3, 4), broadcast_dimensions=(0, 2, 3)
        ),
        lambda x: np.broadcast_to(x[:, None], (2, 5, 3, 4)),
    ),
    "sort_indices": (lambda m: m.sort_indices(), lambda x: x),
    "sum_duplicates": (lambda m: (m + m).sum_duplicates(), lambda x: 2 * x),
    "negative": (lambda m: -m, lambda x: -x),
    "abs": (lambda m: abs(m + m), lambda x: abs(2 * x)),
    "sum": (lambda m: m + 3 * m, lambda x: 4 * x),
    "difference": (lambda m: m - m.T.T / 2, lambda x: x / 2),
    "product": (lambda m: m * m.transpose(), lambda x: x * x.T),
    "power": (lambda m: (m + m) ** 2, lambda x: 4 * x**2),
    "stretched": (lambda m: m * COLUMN, lambda x: x * COLUMN),
    "astype": (lambda m: m.astype("float32"), lambda x: x.astype("float32")),
}


@pytest.mark.parametrize("name", STRUCTURE)
@pytest.mark.parametrize(("n_batch", "n_dense"), LAYOUTS[:4])
def test_operations(name: str, n_batch: int, n_dense: int) -> None:
    of_sparse, of_dense = STRUCTURE[name]
    x = dense(3, 3, 3) if name == "product" else dense(2, 3, 4)
    assert_stands_for(of_sparse(stored(x, n_batch, n_dense, padding=1)), of_dense(x))


@pytest.mark.parametrize("name", ["transpose", "reshape", "slice", "sum_duplicates", "abs", "sum"])
def test_operations_compiled(name: str) -> None:
    of_sparse, of_dense = STRUCTURE[name]
    x = dense(2, 3, 4)
    assert_stands_for(jit(of_sparse)(stored(x, 1)), of_dense(x))


NUMBERS = [
    (((2,), (0,)), ((), ())),
    (((0,), (1,)), ((), ())),
    (((1, 2), (2, 1)), ((0,), (0,))),
    (((2,), (1,)), ((0,), (0,))),
    (((), ()), ((1,), (2,))),
    (((0, 1, 2), (0, 1, 2)), ((), ())),
    (((1,), (0,)), ((2, 0), (1, 2))),
]


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize(("n_batch", "n_dense"), LAYOUTS[:4])
def test_dot_general(numbers: Any, n_batch: int, n_dense: int) -> None:
    from bindax_lax_basic import dot_general

    (lc, rc), (lb, rb) = numbers
    x = dense(2, 3, 4)
    sizes = [5, 6, 7]
    for a, b in [*zip(lc, rc, strict=True), *zip(lb, rb, strict=True)]:
        sizes[b] = x.shape[a]
    y = dense(*sizes, seed=1)
    expected = dot_general(x, y, numbers)
    m = stored(x, n_batch, n_dense, padding=1)
    found = sparse.bcoo_dot_general(m, y, dimension_numbers=numbers)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    both = sparse.bcoo_dot_general(m, stored(y), dimension_numbers=numbers)
    assert_stands_for(both, expected)
    swapped = sparse.bcoo_dot_general(y, m, dimension_numbers=((rc, lc), (rb, lb)))
    np.testing.assert_allclose(swapped, dot_general(y, x, ((rc, lc), (rb, lb))), atol=1e-12)


@pytest.mark.parametrize(
    ("left", "right"),
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4))],
)
def test_matmul(left: Any, right: Any) -> None:
    x, y = dense(*left), dense(*right, seed=1)
    np.testing.assert_allclose(stored(x) @ y, x @ y, atol=1e-12)
    np.testing.assert_allclose(x @ stored(y), x @ y, atol=1e-12)
    assert_stands_for(stored(x) @ stored(y), x @ y)
    np.testing.assert_allclose(jit(lambda m, y: m @ y)(stored(x), y), x @ y, atol=1e-12)


def test_products_at_given_positions() -> None:
    a, b = dense(4, 3), dense(3, 5, seed=1)
    places = np.array([[0, 0], [3, 4], [2, 1]])
    numbers = (((1,), (0,)), ((), ()))
    found = sparse.bcoo_dot_general_sampled(a, b, places, dimension_numbers=numbers)
    np.testing.assert_allclose(found, (a @ b)[tuple(places.T)])


def test_extract() -> None:
    x = np.arange(6.0).reshape(2, 3)
    twice = BCOO(([1.0, 1.0, 1.0], [[0, 1], [1, 2], [0, 1]]), shape=(2, 3))
    assert_stands_for(sparse.bcoo_extract(twice, x), [[0, 1, 0], [0, 0, 5]])
    assert sparse.bcoo_extract(twice, x, assume_unique=True).data.tolist() == [1, 5, 1]


def test_sum_duplicates() -> None:
    m = BCOO(([1.0, 2.0, 4.0, -4.0], [[1], [0], [2], [2]]), shape=(3,))
    assert m.sum_duplicates().nse == 2
    assert m.sum_duplicates(remove_zeros=False).nse == 3
    assert m.sum_duplicates(nse=5).nse == 5
    traced = jit(lambda m: m.sum_duplicates())(m)
    assert traced.nse == 4
    for found in (m.sum_duplicates(), m.sum_duplicates(nse=5), traced):
        assert_stands_for(found, [2, 1, 0])
        assert found.unique_indices
        assert found.indices_sorted


def test_transformations() -> None:
    x, v = dense(3, 4), np.arange(4.0)
    m = stored(x)

    def loss(data: Any, v: Any) -> Any:
        return jnp.sum((m.replaced(data) @ v) ** 2)

    by_data, by_v = grad(loss, argnums=(0, 1))(m.data, v)
    expected = grad(lambda x, v: jnp.sum((x @ v) ** 2), argnums=(0, 1))(x, v)
    np.testing.assert_allclose(by_data, sparse.bcoo_extract(m, expected[0]).data)
    np.testing.assert_allclose(by_v, expected[1])
    _, tangent = jvp(lambda d: m.replaced(d) @ v, (m.data,), (m.data,))
    np.testing.assert_allclose(tangent, x @ v)
    batched = stored(dense(5, 3, 4), n_batch=1)
    np.testing.assert_allclose(vmap(lambda m: m @ v)(batched), dense(5, 3, 4) @ v)
    assert vmap(lambda m: 2 * m)(batched).shape == (5, 3, 4)


def test_gradients_by_sparse_arguments() -> None:
    x = dense(3, 4)
    m = stored(x)
    value, found = sparse.value_and_grad(lambda m, y: jnp.sum(m.todense() ** 2) * y)(m, 3.0)
    np.testing.assert_allclose(value, 3 * np.sum(x**2))
    assert_stands_for(found, 6 * x)
    both = sparse.grad(lambda m, y: jnp.sum(m.todense() ** 2) * y, argnums=(0, 1))(m, 3.0)
    assert_stands_for(both[0], 6 * x)
    np.testing.assert_allclose(both[1], np.sum(x**2))
    rows = sparse.jacrev(lambda m: m @ np.ones(4))(m)
    np.testing.assert_allclose(rows, sparse.jacfwd(lambda m: m @ np.ones(4))(m), atol=1e-12)
    assert rows.shape == (3, m.nse)


def test_arguments_that_derivatives_do_not_take() -> None:
    m = stored(dense(3, 4))
    with pytest.raises(TypeError, match="fun of jacfwd must be a function, but got 3"):
        sparse.jacfwd(3)
    with pytest.raises(ValueError, match="argnums=2 of jacrev must name at least one of the 1 pos"):
        sparse.jacrev(jnp.sum, argnums=2)(m)
    with pytest.raises(TypeError, match="jacrev takes an integer for argnums, but got 'a'"):
        sparse.jacobian(jnp.sum, argnums="a")(m)
    with pytest.raises(TypeError, match="random_bcoo takes a number for nse, but got 'a'"):
        sparse.random_bcoo(key(0), (2, 3), nse="a")
    with pytest.raises(TypeError, match=r"eye takes an integer for k, but got 0\.5"):
        sparse.eye(3, k=0.5)


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "jacfwd", "jacrev"])
def test_an_error_of_the_function_names_the_derivative(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name}: Only scalar arrays"):
        getattr(sparse, name)(int)(jnp.ones(3))


Y = dense(4, 3, seed=1)


@pytest.mark.parametrize(
    ("fun", "is_sparse"),
    [
        (lambda x: jnp.sin(x) * 2, True),
        (lambda x: jnp.sum(x, axis=0), True),
        (lambda x: x @ Y, False),
        (lambda x: Y @ x, False),
        (lambda x: x @ x.T, True),
        (lambda x: jnp.concatenate([x, x], axis=1)[1:, ::2], True),
        (lambda x: jit(lambda x: x.reshape(6, 2) - x.reshape(6, 2) / 2)(x), True),
        (lambda x: x + Y.T, False),
        (lambda x: Y.T - x, False),
        (lambda x: x**2, True),
        (lambda x: jnp.squeeze(x[None][:, ::-1], 0), True),
    ],
)
def test_sparsify(fun: Any, is_sparse: bool) -> None:
    x = dense(3, 4)
    found = sparse.sparsify(fun)(stored(x, padding=1))
    assert isinstance(found, BCOO) == is_sparse
    np.testing.assert_allclose(sparse.todense(found), fun(jnp.asarray(x)), atol=1e-12)


def test_operations_without_zeros_are_refused() -> None:
    with pytest.raises(MissingRuleError, match="exp has no sparse rule"):
        sparse.sparsify(jnp.exp)(stored(dense(3, 4)))


def test_creation() -> None:
    assert_stands_for(sparse.empty((2, 3), nse=2, n_batch=1), np.zeros((2, 3)))
    for n, m, k in itertools.product((0, 3), (2, 4), (-1, 0, 2)):
        assert_stands_for(sparse.eye(n, m, k), np.eye(n, m, k))
    how = {"n_batch": 1, "n_dense": 1, "sorted_indices": True}
    drawn = sparse.random_bcoo(key(0), (3, 4, 5), nse=0.5, **how)
    assert (drawn.shape, drawn.nse, drawn.n_batch, drawn.n_dense) == ((3, 4, 5), 2, 1, 1)
    assert len({*map(tuple, np.asarray(drawn.indices[0]))}) == 2
    scipy_sparse = pytest.importorskip("scipy.sparse")
    x = dense(3, 4)
    for made in (scipy_sparse.csr_matrix, scipy_sparse.coo_array):
        assert_stands_for(BCOO.from_scipy_sparse(made(x)), x)


def test_trees_and_printing() -> None:
    m = stored(dense(3, 4))
    leaves, tree = tree_flatten(m)
    assert len(leaves) == 2
    assert_stands_for(tree_unflatten(tree, leaves), dense(3, 4))
    assert repr(tree_unflatten(tree, ["a", "b"])) == "BCOO('a', 'b')"
    assert repr(stored(dense(2, 3, 4), 1, 1)).endswith("n_batch=1, n_dense=1)")
    assert [row.shape for row in m] == [(4,)] * 3
    assert m.block_until_ready() is m
    with pytest.raises(TypeError, match="unhashable"):
        hash(m)


X = BCOO(([1.0], [[0, 1]]), shape=(2, 3))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: BCOO(([1.0], [[0]]), shape=(2, 3)), ValueError, r"got \(1,\) and \(1, 1\)"),
        (lambda: jit(BCOO.fromdense)(np.ones(3)), ConcretizationTypeError, "give nse"),
        (lambda: BCOO.fromdense(np.ones(3), n_batch=2), ValueError, "cannot have 2 batch axes"),
        (lambda: X.update_layout(n_batch=1), sparse.SparseEfficiencyError, "stores zeros"),
        (lambda: X.update_layout(n_batch=3), ValueError, "cannot have 3 batch axes"),
        (lambda: X.transpose((0, 0)), ValueError, "no permutation"),
        (lambda: X.reshape(4, 2), ValueError, r"cannot have the shape \(4, 2\)"),
        (lambda: X.sum(2), ValueError, "axis 2 is out of bounds"),
        (lambda: X[2], IndexError, "index 2 is out of bounds for axis 0 with size 2"),
        (lambda: X[0, 0, 0], IndexError, "too many indices"),
        (lambda: X[np.array([0, 1])], TypeError, "made of integers, slices"),
        (lambda: X + X.T, ValueError, r"\(2, 3\) and \(3, 2\) are not added"),
        (lambda: X + 1, ValueError, "no zeros to leave out"),
        (lambda: X * np.ones(4), ValueError, "does not stretch"),
        (lambda: X / X, TypeError, "unsupported operand"),
        (lambda: X @ np.ones(2), ValueError, r"@ of arrays of the shapes \(2, 3\) and \(2,\)"),
        (lambda: X @ 2.0, ValueError, "multiply by a number with"),
        (lambda: X**-1, ValueError, "positive exponents"),
        (lambda: sparse.bcoo_todense(np.ones(3)), TypeError, "takes a BCOO array, but got ndarray"),
        (lambda: sparse.bcsr_todense(np.ones(3)), TypeError, "takes a BCSR array, but got ndarray"),
        (lambda: sparse.bcoo_concatenate([], dimension=0), ValueError, "at least one array"),
        (lambda: sparse.eye(3, sparse_format="csr"), ValueError, "must be 'bcoo'"),
        (lambda: sparse.bcoo_squeeze(X, dimensions=(0,)), ValueError, "have not size 1"),
    ],
)
def test_mistakes(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
