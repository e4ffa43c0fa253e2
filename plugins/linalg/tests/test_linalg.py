"""Linear algebra beside JAX and NumPy: evaluated, compiled, batched, differentiated."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import bindax_core as bx
import bindax_linalg as linalg
import bindax_transforms as bt
from bindax import lax
from bindax_core.extend import MissingRuleError
from bindax_linalg.lu import solve

RNG = np.random.default_rng(0)
SEED = RNG.bit_generator.state
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


@pytest.fixture(autouse=True)
def same_numbers_in_any_order():
    RNG.bit_generator.state = SEED


def matrix(dtype, *shape):
    values = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)
    return (values if np.dtype(dtype).kind == "c" else values.real).astype(dtype)


def hermitian(dtype, *shape):
    x = matrix(dtype, *shape)
    return x + x.conj().swapaxes(-1, -2)


def definite(dtype, *shape):
    x = matrix(dtype, *shape)
    return x @ x.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype)


def listed(out):
    return list(out) if isinstance(out, (list, tuple)) else [out]


def assert_close(got, wanted):
    for a, b in zip(listed(got), listed(wanted), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind in "fc":
            tolerance = (2e-4 if a.dtype.name in ("float32", "complex64") else 1e-9) * (
                1 + np.nanmax(np.abs(b), initial=0)
            )
            np.testing.assert_allclose(a, b, tolerance, tolerance)
        elif a.dtype.kind in "iu":
            np.testing.assert_array_equal(a, b)


EIGENVALUES = {"compute_left_eigenvectors": False, "compute_right_eigenvectors": False}
RIGHT = {"compute_left_eigenvectors": False, "enable_eigvec_derivs": True}
REDUCED = {"full_matrices": False}
CASES = {
    "cholesky": (definite, (2, 3, 3), {}),
    "eigh": (hermitian, (2, 3, 3), {}),
    "eigh upper": (hermitian, (3, 3), {"lower": False, "symmetrize_input": False}),
    "eig": (matrix, (2, 3, 3), RIGHT),
    "eig values": (matrix, (3, 3), EIGENVALUES),
    "lu": (matrix, (2, 3, 3), {}),
    "lu wide": (matrix, (2, 4), {}),
    "lu tall": (matrix, (4, 2), {}),
    "qr": (matrix, (2, 3, 3), {}),
    "qr wide": (matrix, (2, 4), {}),
    "qr tall": (matrix, (4, 2), REDUCED),
    "qr pivoting": (matrix, (3, 3), {"pivoting": True}),
    "svd": (matrix, (2, 3, 3), {}),
    "svd wide": (matrix, (2, 4), REDUCED),
    "svd tall": (matrix, (4, 2), REDUCED),
    "svd values": (matrix, (4, 2), {"compute_uv": False}),
}


SINGLE = ["cholesky", "eigh", "eig values", "lu", "qr wide", "svd tall"]


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("case", "dtype"),
    [*[(case, np.complex128) for case in CASES], *[(case, np.float32) for case in SINGLE]],
)
def test_values_and_tangents_are_jaxs(jax_answers, case, dtype):
    make, shape, arguments = CASES[case]
    name = case.split()[0]
    x, t = make(dtype, *shape), make(dtype, *shape)

    def ours(x):
        return getattr(linalg, name)(x, **arguments)

    def theirs(jax):
        function = getattr(jax.lax.linalg, name)
        return jax.jit(lambda x, t: jax.jvp(lambda x: function(x, **arguments), (x,), (t,)))(x, t)

    wanted, tangent = jax_answers("jvp", theirs)
    got, ours_tangent = bt.jvp(ours, (x,), (t,))
    assert_close(got, wanted)
    assert_close(ours_tangent, tangent)
    assert_close(bt.jit(ours)(x), wanted)


@pytest.mark.parametrize("name", ["hessenberg", "tridiagonal"])
def test_condensed_forms_are_jaxs(jax_answers, name):
    for dtype in (np.float64, np.complex64):
        x = hermitian(dtype, 2, 4, 4)
        wanted = jax_answers(dtype.__name__, lambda jax, x=x: getattr(jax.lax.linalg, name)(x))
        assert_close(getattr(linalg, name)(x), wanted)
        assert_close(bt.jit(getattr(linalg, name))(x), wanted)
    if name == "tridiagonal":
        got = bt.jit(lambda x: linalg.tridiagonal(x, lower=False))(x)
        assert_close(linalg.tridiagonal(x, lower=False), got)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_triangular_solve(dtype):
    a, b = matrix(dtype, 3, 3) + 3 * np.eye(3, dtype=dtype), matrix(dtype, 3, 2)
    for number in range(32):
        left, lower, transposed, conjugated, unit = (bool(number >> i & 1) for i in range(5))
        flags = {
            "left_side": left,
            "lower": lower,
            "transpose_a": transposed,
            "conjugate_a": conjugated,
            "unit_diagonal": unit,
        }
        right = b if left else b.T
        x = np.asarray(linalg.triangular_solve(a, right, **flags))
        op = np.tril(a) if lower else np.triu(a)
        op = op - np.diag(np.diag(op)) + np.eye(3, dtype=dtype) if unit else op
        op = op.T if transposed else op
        op = op.conj() if conjugated else op
        assert_close(op @ x if left else x @ op, right)
        if number % 5 == 0:
            got = bt.jit(lambda a, b, f=flags: linalg.triangular_solve(a, b, **f))(a, right)
            assert_close(got, x)


def test_triangular_solve_in_blocks_and_for_vectors():
    a, b = np.tril(matrix(np.float64, 70, 70)) / 9 + 3 * np.eye(70), matrix(np.float64, 70)
    x = linalg.triangular_solve(a, b, left_side=True, lower=True)
    assert_close(a @ np.asarray(x), b)
    x = linalg.triangular_solve(a, b, lower=True)
    assert_close(np.asarray(x) @ a, b)


def test_lu_in_blocks():
    a = matrix(np.float64, 75, 70)
    packed, pivots, rows = map(np.asarray, linalg.lu(a))
    lower = np.tril(packed, -1) + np.eye(75, 70)
    assert_close(a[rows], lower @ np.triu(packed[:70]))
    got = bt.jit(lambda p: linalg.lu_pivots_to_permutation(p, 75))(pivots)
    assert_close(got, rows)


@pytest.mark.parametrize(
    ("pivots", "wanted"),
    [
        ([9, 1, 2], [2, 1, 2]),
        ([-1, 1, 2], [2, 1, 0]),
        ([2, 5, -7], [2, 0, 2]),
        ([[2, 1, 2], [0, 3, -4]], [[2, 1, 0], [0, 2, 0]]),
    ],
)
def test_exchanges_with_rows_out_of_bounds_are_the_same_compiled(pivots, wanted):
    # A negative row counts from the end; one beyond is read at the nearest row, and not written.
    function, pivots = (
        partial(linalg.lu_pivots_to_permutation, permutation_size=3),
        np.int32(pivots),
    )
    assert np.asarray(function(pivots)).tolist() == wanted
    assert np.asarray(bt.jit(function)(pivots)).tolist() == wanted


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_left_eigenvectors(dtype):
    x = matrix(dtype, 3, 4, 4)
    for function in (linalg.eig, bt.jit(linalg.eig)):
        w, left, right = map(np.asarray, function(x))
        assert_close(x @ right, right * w[:, None])
        adjoint = left.conj().swapaxes(-1, -2)
        assert_close(adjoint @ x, w[..., None] * adjoint)
        assert_close(np.linalg.norm(left, axis=1), np.ones((3, 4)))


def schur_by_numpy(x):
    with bx.config.override(backend="numpy"):
        return linalg.schur(x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_schur_form(dtype):
    cyclic = np.eye(6, k=1) + np.eye(6, k=-5)
    for x in (matrix(dtype, 2, 3, 3), matrix(dtype, 20, 20), cyclic.astype(dtype)):
        for function in (schur_by_numpy, linalg.schur, bt.jit(linalg.schur)):
            t, q = map(np.asarray, function(x))
            adjoint = q.conj().swapaxes(-1, -2)
            assert_close(q @ t @ adjoint, x)
            assert_close(q @ adjoint, np.broadcast_to(np.eye(x.shape[-1], dtype=dtype), x.shape))
            assert not np.tril(t, -1 if np.dtype(dtype).kind == "c" else -2).any()
            below = np.diagonal(t, -1, -2, -1) != 0
            assert not (below[..., 1:] & below[..., :-1]).any()


def test_tridiagonal_solve_exchanges_rows(jax_answers):
    diagonals = [matrix(np.complex128, 2, 5) for _ in range(3)]
    b, tangents = matrix(np.complex128, 2, 5, 2), [matrix(np.complex128, 2, 5) for _ in range(3)]
    for group in (diagonals, tangents):
        group[0][:, 0] = group[2][:, -1] = 0
    args = [*diagonals, b], [*tangents, 2 * b]
    wanted = jax_answers("jvp", lambda jax: jax.jvp(jax.lax.linalg.tridiagonal_solve, *args))
    got = bt.jvp(linalg.tridiagonal_solve, *args)
    assert_close(got, wanted)
    assert_close(bt.jit(linalg.tridiagonal_solve)(*args[0]), wanted[0])


def test_tridiagonal_solve_perturbs_singular_matrices():
    def solve(*args):
        return linalg.tridiagonal_solve(*args, perturb_singular=True)

    zero, ones = np.zeros((2, 3), np.float32), np.ones((2, 3), np.float32)
    dl, d, du = [np.array(x, np.float32) for x in ([9, 1, 0], [1, 1, 2], [1, 0, 9])]
    b = np.array([[1.0], [2.0], [6.0]], np.float32)
    for transform in (lambda f: f, bt.jit):
        assert (np.abs(transform(solve)(zero, zero, zero, ones[..., None])) > 1e6).all()
        x = np.asarray(transform(solve)(dl, d, du, b))
        assert np.isfinite(x).all()
        assert abs(x[1, 0]) > 1e6
        regular = [zero[0], ones[0], zero[0], b]
        assert_close(transform(solve)(*regular), np.asarray(linalg.tridiagonal_solve(*regular)))
        assert_close(bt.jvp(transform(solve), regular, [*[zero[0]] * 3, b])[1], b)


def test_householder_product_is_jaxs(jax_answers):
    a, taus = matrix(np.complex64, 2, 5, 3), matrix(np.complex64, 2, 2)
    wanted = jax_answers("all", lambda jax: jax.lax.linalg.householder_product(a, taus))
    assert_close(linalg.householder_product(a, taus), wanted)
    assert_close(bt.jit(linalg.householder_product)(a, taus), wanted)


def test_subsets():
    x = hermitian(np.float64, 4, 4)
    v, w = linalg.eigh(x)
    part = linalg.eigh(x, subset_by_index=(1, 3))
    assert_close(part, [v[:, 1:3], w[1:3]])
    u, s, vh = linalg.svd(x, subset_by_index=(0, 2))
    assert (u.shape, s.shape, vh.shape) == ((4, 2), (2,), (2, 4))


SQUARE = "cholesky eig eigh hessenberg lu qr schur svd tridiagonal"


@pytest.mark.parametrize("name", SQUARE.split())
def test_empty_arrays(name):
    function = getattr(linalg, name)
    for shape in ((0, 2, 2), (2, 0, 0)):
        x = np.zeros(shape, np.float32)
        assert_close(bt.jit(function)(x), function(x))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 2, 2)])
def test_empty_systems(shape):
    a, b = np.zeros(shape), np.ones((*shape[:-1], 3))
    out = solve(a, b)
    assert out.shape == b.shape
    _, tangent = bt.jvp(solve, (a, b), (a, b))
    assert tangent.shape == b.shape
    _, tangents = bt.jvp(linalg.lu, (a,), (a,))
    assert tangents[0].shape == a.shape


def test_empty_columns():
    for x in (np.zeros((3, 0)), np.zeros((0, 3))):
        for function in (linalg.qr, linalg.svd, linalg.lu):
            assert_close(bt.jit(function)(x), function(x))
    assert_close(linalg.qr(np.zeros((3, 0)))[0], np.eye(3))


@pytest.mark.parametrize("name", ["cholesky", "eig", "eigh", "schur", "svd", "qr"])
def test_what_fails_is_nan_and_nothing_else(name):
    x = np.stack([np.full((2, 2), np.nan), np.eye(2)])
    for function in (getattr(linalg, name), bt.jit(getattr(linalg, name))):
        for out in map(np.asarray, listed(function(x))):
            assert np.isnan(out[0]).any()
            assert np.isfinite(out[1]).all()


def test_singular_matrices():
    singular = np.zeros((2, 2))
    for transform in (lambda f: f, bt.jit):
        root = np.asarray(transform(linalg.cholesky)(-np.eye(2)))
        assert np.isnan(np.diag(root)).all()
        assert root[0, 1] == 0
        assert np.isinf(transform(linalg.triangular_solve)(singular, np.ones((1, 2)))).any()
        # OpenBLAS keeps the infinity in a buffer, from which its kernels for processors before
        # Nehalem go on to compute, in SciPy as here. A regular system replaces it.
        assert_close(
            transform(linalg.triangular_solve)(np.eye(2), np.ones((1, 2))), np.ones((1, 2))
        )
        assert np.array_equal(transform(linalg.lu)(singular)[0], singular)
        solve = transform(linalg.tridiagonal_solve)
        assert np.isnan(solve(*singular, singular[0], np.ones((2, 1)))).all()


def test_columns_that_full_matrices_adds_turn_with_the_others():
    for name, x in (("qr", matrix(np.float64, 4, 2)), ("svd", matrix(np.float64, 4, 2))):
        t = matrix(np.float64, 4, 2)

        def projector(x, name=name):
            added = getattr(linalg, name)(x)[0][:, 2:]
            return added @ added.T

        step = 1e-6
        both = [np.asarray(projector(x + sign * step * t)) for sign in (1, -1)]
        got = bt.jvp(projector, (x,), (t,))[1]
        np.testing.assert_allclose(got, (both[0] - both[1]) / (2 * step), 1e-5, 1e-6)


JACOBI = linalg.EighImplementation.JACOBI
X = np.ones((2, 2), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        *[
            (
                lambda n=n: getattr(linalg, n)(X[:1]),
                ValueError,
                rf"{n} takes square.*float32\[1,2\]",
            )
            for n in ("cholesky", "eig", "eigh", "hessenberg", "schur", "tridiagonal")
        ],
        *[
            (lambda n=n: getattr(linalg, n)(X[0]), ValueError, f"{n} takes matrices, arrays of")
            for n in ("lu", "qr", "svd")
        ],
        *[
            (
                lambda n=n: getattr(linalg, n)(X.astype(np.float16)),
                TypeError,
                f"{n} takes arrays of one",
            )
            for n in SQUARE.split()
            if n not in ("cholesky", "eigh")
        ],
        *[
            (
                lambda n=n: getattr(linalg, n)(X.astype(int), symmetrize_input=False),
                TypeError,
                f"{n} takes arrays of one",
            )
            for n in ("cholesky", "eigh")
        ],
        (lambda: linalg.cholesky(X.astype(np.float16)), TypeError, "float16.*astype"),
        (lambda: linalg.triangular_solve(X, X[:1], left_side=True), ValueError, "has 1 rows"),
        (lambda: linalg.triangular_solve(X, X[None]), ValueError, "equal leading axes"),
        (lambda: linalg.triangular_solve(X, X.astype(np.float64)), TypeError, "equal dtypes"),
        (lambda: linalg.householder_product(X[:1], X[0]), ValueError, "m >= n"),
        (
            lambda: linalg.eig(X, implementation=linalg.EigImplementation.MAGMA),
            ValueError,
            "LAPACK",
        ),
        (lambda: linalg.eigh(X, implementation=JACOBI), NotImplementedError, r"\.QR, but"),
        (lambda: linalg.eigh(X, implementation="jacobi"), ValueError, r"\.QR, but it is 'jac"),
        (lambda: linalg.svd(X, algorithm=linalg.SvdAlgorithm.POLAR), NotImplementedError, "QR"),
        (lambda: linalg.tridiagonal_solve(X[0], X[0], X[0], X[0]), ValueError, "three diagonals"),
        (lambda: linalg.eigh(X, subset_by_index=(1, 3)), ValueError, "0 <= first <= end <= 2"),
        (lambda: linalg.svd(X[:1], subset_by_index=(0, 1)), ValueError, "full_matrices=False"),
        (lambda: linalg.lu_pivots_to_permutation(X, 2), TypeError, "vectors of int32"),
        (
            lambda: linalg.lu_pivots_to_permutation(np.zeros(3, np.int32), 2),
            ValueError,
            "more exchanges than",
        ),
        (lambda: bt.jvp(linalg.eig, (X,), (X,)), ValueError, "pass enable_eigvec_derivs=True"),
        (lambda: bt.jvp(linalg.schur, (X,), (X,)), MissingRuleError, "not unique"),
        (lambda: bt.jvp(linalg.hessenberg, (X,), (X,)), MissingRuleError, "computed from the"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


PROGRAM = """
import sys
import numpy as np
import bindax_transforms as bt
import bindax_linalg as linalg
print(bt.jit(lambda x: linalg.svd(x, compute_uv=False))(2 * np.eye(2)))
assert "jax" not in sys.modules
"""


def test_programs_from_a_disk_cache_find_lapack(tmp_path):
    pytest.importorskip("bindax_xla_backend")
    environment = {**os.environ, "BINDAX_COMPILATION_CACHE_DIR": str(tmp_path)}
    for _ in range(2):
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == "[2. 2.]\n"
    assert len(list(tmp_path.rglob("*"))) >= 1


@pytest.mark.parametrize(
    ("dtype", "result"),
    [("int8", "float32"), ("int32", "float32"), ("uint8", "float32"), ("int64", "float64")],
)
def test_hermitian_parts_of_integers_are_floats(dtype, result):
    x = np.array([[4, 2], [2, 5]], dtype)
    lower, (_, values) = linalg.cholesky(x), linalg.eigh(x)
    assert (lower.dtype, values.dtype) == (result, result)
    np.testing.assert_allclose(lower, [[2, 0], [1, 2]], rtol=1e-6)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(x), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_computed_in_float32(dtype):
    x = np.array([[4, 1], [0, 5]], lax.dtype(dtype))
    wide = x.astype(np.float32)
    for function in (
        lambda x: linalg.triangular_solve(x, x.T, left_side=True),
        lambda x: linalg.triangular_solve(x, x[0], lower=True),
        lambda x: linalg.symmetric_product(x, x, beta=0.5, symmetrize_output=True),
        lambda x: linalg.cholesky_update(x, x[1]),
    ):
        out = function(x)
        assert out.dtype == x.dtype
        np.testing.assert_array_equal(out, np.asarray(function(wide)).astype(x.dtype))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: linalg.svd(x, compute_uv=False),
        lambda x: linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False),
        lambda x: linalg.schur(x, compute_schur_vectors=False),
    ],
    ids=["svd", "eig", "schur"],
)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3)])
def test_values_alone_of_empty_matrices_compile(function, shape):
    x = np.zeros(shape)
    for found, expected in zip(bt.jit(function)(x), function(x), strict=True):
        assert found.aval == expected.aval


def test_derivatives_of_solutions_use_the_factors_that_there_are() -> None:
    a, b = matrix("float64", 4, 4), matrix("float64", 4, 2)
    x = np.linalg.solve(a, b)
    da, db = a**2, np.cos(b)
    tangents = {
        "both": (da, db, db - da @ x),
        "the matrix": (da, np.zeros_like(b), -da @ x),
    }
    for name, (one, two, right) in tangents.items():
        _, tangent = bt.jvp(solve, (a, b), (one, two))
        np.testing.assert_allclose(tangent, np.linalg.solve(a, right), err_msg=name)
    pulled = bt.make_jaxpr(lambda a, ct: bt.vjp(lambda a: solve(a, b), a)[1](ct))(a, b)
    names = [eqn.primitive.name for eqn in pulled.jaxpr.eqns]
    assert (names.count("lu"), names.count("dot_general"), names.count("linear_call")) == (1, 1, 1)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_second_derivatives_of_solutions_agree_in_all_modes(dtype):
    a, b, u, v = (matrix(dtype, 3, 3) for _ in range(4))

    def first(a):
        return bt.jvp(lambda a: solve(a, b @ a), (a,), (u,))[1]

    def loss(a):
        return solve(a, solve(a, b)).real.sum()

    def along(a):
        return bt.jvp(loss, (a,), (u,))[1]

    # a^-1 b a, differentiated along u and v.
    inverse = np.linalg.inv(a)
    du, dv = -inverse @ u @ inverse, -inverse @ v @ inverse
    mixed = -(dv @ u @ inverse + inverse @ u @ dv)
    wanted = mixed @ b @ a + du @ b @ v + dv @ b @ u
    assert_close(bt.jvp(first, (a,), (v,))[1], wanted)
    reverse_last = bt.grad(along)(a)
    assert_close(bt.jvp(bt.grad(loss), (a,), (u,))[1], reverse_last)
    assert_close(bt.jit(bt.vmap(bt.grad(along)))(np.stack([a, a]))[1], reverse_last)
