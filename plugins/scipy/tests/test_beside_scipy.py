"""Functions beside SciPy's, where that is the better reference or JAX has none."""

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.special

import bindax
import bindax.numpy as jnp
from bindax.experimental.ode import odeint
from bindax.scipy import linalg, optimize, signal, special
from bindax.scipy.sparse import linalg as sparse

RANDOM = np.random.default_rng(0)
X = np.concatenate([RANDOM.uniform(-20, 20, 60), [0.0, 1e-8, 40.0, -40.0, np.inf, np.nan]])
P, Q = RANDOM.uniform(0.05, 20, 60), RANDOM.uniform(0.05, 20, 60)
U = np.concatenate([RANDOM.uniform(size=40), 10.0 ** -np.arange(2, 300, 20)])

ANY = ["dawsn", "erf", "erfc", "erfcx", "expi", "fresnel", "i0e", "i1e", "log_ndtr", "sici"]
TWO = ["beta", "betaln", "gammainc", "gammaincc", "poch", "xlogy", "rel_entr"]


def same(name, *args, tolerance=1e-12):
    with np.errstate(all="ignore"):
        found, wanted = getattr(special, name)(*args), getattr(scipy.special, name)(*args)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=1e-14, err_msg=name)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", ANY)
def test_of_any_numbers(name):
    # SciPy 1.16 has nan for expi(inf).
    same(name, X[X != np.inf] if name == "expi" else X, tolerance=5e-12)


def test_limit_of_the_exponential_integral():
    assert special.expi(np.inf) == np.inf


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["exp1", "gamma", "gammaln", "digamma", "spence", "zeta"])
def test_of_positive_numbers(name):
    same(name, *((P + 1, Q) if name == "zeta" else (P,)), tolerance=2e-12)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", TWO)
def test_of_two_positive_numbers(name):
    same(name, P, Q)


def test_others():
    same("betaln", P * 1e3, Q * 1e5, tolerance=1e-11)
    same("ndtri", U)
    same("erfcinv", np.array([0.0, *U, 1.0, *(2 - U), 2.0, 2.5, -1.0, np.nan]))
    same("owens_t", X[:60] / 4, P / 4)
    same("wofz", X[:60] + 1j * X[:60][::-1], tolerance=1e-11)
    for n in (0, 1, 2, 7, 6000):
        same("expn", np.full(60, n), P, tolerance=1e-11)
    same("hyp1f1", P, Q, X[:60], tolerance=1e-8)
    same("hyp2f1", P / 5, Q / 5, P[::-1] / 3, RANDOM.uniform(-5, 1, 60), tolerance=1e-10)
    np.testing.assert_allclose(special.bernoulli(20), scipy.special.bernoulli(20), rtol=1e-6)
    np.testing.assert_array_equal(linalg.pascal(6), scipy.linalg.pascal(6))
    for name in ["hilbert", "invhilbert", "pascal", "invpascal"]:
        assert getattr(linalg, name)(0).shape == (0, 0)


def test_generalized_eigenvalues():
    a, b = (m @ m.T + np.eye(4) for m in RANDOM.normal(size=(2, 4, 4)))
    for kind in (1, 2, 3):
        w, v = linalg.eigh(a, b, type=kind)
        np.testing.assert_allclose(w, scipy.linalg.eigh(a, b, type=kind)[0], rtol=1e-8)
        v = np.asarray(v)
        left, right = {1: (a @ v, b @ v), 2: (a @ b @ v, v), 3: (b @ a @ v, v)}[kind]
        np.testing.assert_allclose(left, right * np.asarray(w), atol=1e-8)
    np.testing.assert_allclose(
        linalg.eigh(a, eigvals_only=True, eigvals=(1, 2)), np.linalg.eigvalsh(a)[1:3], rtol=1e-8
    )


def test_complex_schur_form_and_square_root():
    a = RANDOM.normal(size=(5, 5))
    assert linalg.rsf2csf(a[:1, :1], a[:1, :1])[0] == a[0, 0]
    t, z = linalg.rsf2csf(*scipy.linalg.schur(a))
    np.testing.assert_allclose(np.asarray(z) @ t @ np.asarray(z).conj().T, a, atol=1e-10)
    assert abs(np.tril(t, -1)).max() < 1e-12
    no_form = RANDOM.normal(size=(5, 5)), np.eye(5)
    for ours, theirs in zip(linalg.rsf2csf(*no_form), scipy.linalg.rsf2csf(*no_form), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)
    assert linalg.rsf2csf(np.stack([a, a]), np.eye(5))[1].shape == (2, 5, 5)
    root = np.asarray(linalg.sqrtm(a))
    np.testing.assert_allclose(root @ root, a, atol=1e-10)


def test_derivative_of_square_root_and_sylvester():
    a = RANDOM.normal(size=(3, 3))
    a = a @ a.T + np.eye(3)
    _, change = bindax.jvp(lambda a: linalg.sqrtm(a).real, (a,), (np.eye(3),))
    step = 1e-6
    wanted = (scipy.linalg.sqrtm(a + step * np.eye(3)) - scipy.linalg.sqrtm(a)) / step
    np.testing.assert_allclose(change, wanted, atol=1e-5)
    grad = bindax.grad(lambda c: linalg.solve_sylvester(a, a, c).sum())(np.ones((3, 3)))
    np.testing.assert_allclose(grad, scipy.linalg.solve_sylvester(a.T, a.T, np.ones((3, 3))))


@pytest.mark.parametrize("boundary", ["wrap", "symm", "fill"])
def test_boundaries(boundary):
    a, b = RANDOM.normal(size=(5, 6)), RANDOM.normal(size=(2, 3))
    for name in ("convolve2d", "correlate2d"):
        for mode in ("full", "same", "valid"):
            found = getattr(signal, name)(a, b, mode, boundary, 2.0)
            wanted = getattr(scipy.signal, name)(a, b, mode, boundary, 2.0)
            np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("window", ["hamming", "blackman", "boxcar", "cosine", ("kaiser", 3.0)])
def test_windows(window):
    x = RANDOM.normal(size=50)
    found = signal.welch(x, window=window, nperseg=16)
    for a, b in zip(found, scipy.signal.welch(x, window=window, nperseg=16), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)


def rosenbrock(x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@pytest.mark.every(2)  # Another test finds a minimum by BFGS.
@pytest.mark.parametrize("method", ["l-bfgs-experimental-do-not-rely-on-this", "BFGS"])
def test_minima(method):
    start = np.array([1.3, 0.7])
    found = optimize.minimize(rosenbrock, start, method=method, options={"maxiter": 500})
    assert bool(found.success)
    assert int(found.status) == 0
    np.testing.assert_allclose(found.x, np.ones(2), atol=1e-3)
    few = optimize.minimize(rosenbrock, start, method=method, options={"maxiter": 3})
    assert (bool(few.success), int(few.status), int(few.nit)) == (False, 1, 3)


def test_minimum_in_a_compiled_and_mapped_program():
    def find(centre):
        return optimize.minimize(
            lambda x, c: jnp.sum((x - c) ** 4 + (x - c) ** 2),
            jnp.zeros(3),
            (centre,),
            method="BFGS",
        ).x

    centres = RANDOM.normal(size=(2, 3)).astype(np.float32)
    np.testing.assert_allclose(bindax.jit(bindax.vmap(find))(centres), centres, atol=1e-3)


@pytest.mark.parametrize("name", ["cg", "bicgstab", "gmres"])
def test_solvers(name):
    m = RANDOM.normal(size=(4, 4))
    a = m @ m.T + 4 * np.eye(4) + (0 if name == "cg" else m)
    b = RANDOM.normal(size=4)
    solver = getattr(sparse, name)

    def total(b):
        out = solver(lambda x: {"x": jnp.matmul(a, x["x"])}, {"x": b}, tol=1e-12)
        return out[0]["x"].sum(), out[0]["x"]

    preconditioned = solver(a, b, tol=1e-12, M=np.linalg.inv(a))[0]
    np.testing.assert_allclose(preconditioned, np.linalg.solve(a, b), rtol=1e-8)
    by_b, solution = bindax.grad(total, has_aux=True)(b)
    np.testing.assert_allclose(solution, np.linalg.solve(a, b), rtol=1e-8)
    np.testing.assert_allclose(by_b, np.linalg.solve(a.T, np.ones(4)), rtol=1e-7)


def test_differential_equation():
    times = np.linspace(0.0, 2.0, 5)

    def swing(y, t, k):
        return {"x": y["v"], "v": -k * y["x"] - 0.1 * y["v"]}

    def final(k):
        return odeint(swing, {"x": np.ones(()), "v": np.zeros(())}, times, k)["x"]

    def exact(k, damped=0.05):
        rate = np.sqrt(k - damped**2)
        turns = np.cos(rate * times) + damped / rate * np.sin(rate * times)
        return np.exp(-damped * times) * turns

    np.testing.assert_allclose(final(np.array(2.0)), exact(2.0), atol=1e-6)
    step = 1e-5
    slope = (exact(2.0 + step)[-1] - exact(2.0 - step)[-1]) / (2 * step)
    np.testing.assert_allclose(bindax.grad(lambda k: final(k)[-1])(np.array(2.0)), slope, atol=1e-4)


def test_compiled():
    x = RANDOM.uniform(0.1, 3.0, (4,)).astype(np.float32)

    def program(x):
        return (
            special.ndtri(x / 4),
            special.erfcx(x),
            special.expn(2, x),
            linalg.expm(jnp.outer(x, x) / 9),
            signal.convolve(x, x),
        )

    for compiled, evaluated in zip(bindax.jit(program)(x), program(x), strict=True):
        np.testing.assert_allclose(compiled, evaluated, rtol=1e-4, atol=1e-5)
