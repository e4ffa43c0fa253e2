"""Gradients of real losses of complex matrices, beside differences."""

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import lax
from bindax.scipy import linalg, special
from bindax.scipy.sparse import linalg as sparse

RANDOM = np.random.default_rng(0)


def draw(*shape):
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


def hermitian(a):
    return (a + jnp.conj(a).T) / 2


def projector(pair):
    """Eigenvalues, and what does not depend on the phases of the eigenvectors."""
    w, v = pair
    return w, v[:, :1] @ jnp.conj(v[:, :1]).T


def joined(u, s, v):
    return u[:, :1] @ v[:1], s


A, T, W, V, B = draw(3, 3), draw(5, 3), draw(3, 5), draw(3), draw(3, 2)
NAMES = {
    "jnp": jnp,
    "lax": lax,
    "linalg": linalg,
    "special": special,
    "sparse": sparse,
    "hermitian": hermitian,
    "projector": projector,
    "joined": joined,
    "np": np,
    "A": A,
    "T": T,
    "W": W,
    "V": V,
    "B": B,
    "F": T[:, 0],
    "I": np.eye(3),
    "H": A @ A.conj().T + 2 * np.eye(3),
}
# After the point, the call: functions of z.
CALLS = """
H: sparse.cg(hermitian(z), V, tol=1e-13)[0]
V: sparse.cg(H, z, tol=1e-13)[0]
V: sparse.cg(H, z, tol=1e-13, M=np.linalg.inv(H + A @ A.conj().T))[0]
A: sparse.bicgstab(z + 3 * I, V, tol=1e-13)[0]
V: sparse.bicgstab(A + 3 * I, z, tol=1e-13)[0]
A: sparse.gmres(z, V, tol=1e-13)[0]
V: sparse.gmres(A, z, tol=1e-13, M=np.linalg.inv(A + I / 9))[0]
H: linalg.solve(hermitian(z), V, assume_a='pos')
B: linalg.solve(H, z, assume_a='pos')
V: linalg.solve(H, z, lower=True, assume_a='pos')
H: linalg.solve(hermitian(z), V, assume_a='her')
A: linalg.solve(z + z.T, V, assume_a='sym')
A: linalg.solve(z, B)
H: linalg.cholesky(hermitian(z))
H: linalg.cho_solve(linalg.cho_factor(hermitian(z), lower=True), V)
A: linalg.cho_solve((z, False), V)
V: linalg.cho_solve((A, True), z)
A: linalg.solve_triangular(z, V, trans=1)
A: linalg.solve_triangular(z, V, trans='C', lower=True, unit_diagonal=True)
B: linalg.solve_triangular(A, z, trans=2)
A: lax.linalg.triangular_solve(z, B, left_side=True, conjugate_a=True, lower=True)
B: lax.linalg.triangular_solve(A, z.T, transpose_a=True, conjugate_a=True)
A: linalg.lu_solve(linalg.lu_factor(z), V, trans=2)
A: linalg.lu(z)
W: linalg.lu(z, permute_l=True)
H: projector(jnp.linalg.eigh(hermitian(z)))
H: projector(linalg.eigh(hermitian(A), hermitian(z)))
A: jnp.linalg.eigvals(z)
T: joined(*jnp.linalg.svd(z, full_matrices=False))
W: joined(*jnp.linalg.svd(z))
T: abs(jnp.linalg.qr(z)[1])
T: linalg.polar(z)
A: linalg.polar(z, method='svd')
T: jnp.linalg.lstsq(z, F)[0]
W: jnp.linalg.lstsq(z, V)[0]
F: jnp.linalg.lstsq(T, z)[:2]
T: jnp.linalg.pinv(z)
H: jnp.linalg.pinv(hermitian(z), hermitian=True)
A: linalg.inv(z)
A: linalg.det(z)
A: jnp.linalg.slogdet(z)
A: jnp.linalg.matrix_power(z, -3)
A: [jnp.linalg.norm(z, p) for p in (1, 2, 'nuc', 'fro')]
A: jnp.linalg.cond(z)
A: linalg.expm(z)
H: linalg.expm_frechet(z / 9, A)
A: linalg.sqrtm(z)
A: linalg.solve_sylvester(z, H, A)
A: linalg.solve_sylvester(H, z, A, method='eigen')
A: linalg.solve_sylvester(A, H, z)
V: jnp.linalg.solve(linalg.toeplitz(z) + 5 * I, V)
V: jnp.linalg.solve(linalg.circulant(z), V)
V: lax.linalg.tridiagonal_solve(z * V.real, z + 3, z, B)
T: lax.linalg.householder_product(z, V)
W: [jnp.cov(z), jnp.corrcoef(z)]
V: [jnp.vdot(z, V), jnp.vdot(V, z), jnp.vecdot(z, V), jnp.poly(z)]
V: [special.gamma(z), special.loggamma(z), special.wofz(z), special.erfcx(z)]
"""
CASES = [line.split(": ", 1) for line in CALLS.strip().splitlines()]


def loss(outs):
    """A real number in which both parts of each element count differently."""
    outs = outs if isinstance(outs, (tuple, list)) else [outs]
    weights = [np.resize([1 + 2j, -0.7 + 0.4j, 0.3 - 1.1j, 0.9j], np.shape(x)) for x in outs]
    return sum(
        jnp.sum(jnp.real(x * w)) + 0.3 * jnp.sum(jnp.abs(x) ** 2)
        for x, w in zip(outs, weights, strict=True)
    )


@pytest.mark.every(6)
@pytest.mark.parametrize(("point", "call"), CASES, ids=[call for _, call in CASES])
def test_gradient_is_that_of_differences(point, call):
    code, z = compile(call, call, "eval"), NAMES[point]

    def value(z):
        return loss(eval(code, {**NAMES, "z": z}))

    grad = np.asarray(bindax.grad(value)(z))
    direction, step = np.resize([1 + 0.3j, 0.2 - 0.8j, -0.5 + 0.9j, 0.7j], z.shape), 1e-6
    wanted = float(value(z + step * direction) - value(z - step * direction)) / (2 * step)
    # The gradient is the conjugate of the direction of steepest ascent.
    np.testing.assert_allclose((grad * direction).sum().real, wanted, rtol=2e-6, atol=1e-7)


def test_second_derivative_of_complex_conjugate_gradients():
    def total(solver, s):
        return loss(solver(NAMES["H"] * s, V * s * (1 + 2j * s)))

    h = 1e-4
    for solver in (
        lambda a, b: sparse.cg(a, b, tol=1e-14)[0],
        lambda a, b: linalg.solve(a, b, assume_a="pos"),
    ):
        first = bindax.grad(lambda s, f=solver: total(f, s))
        found = bindax.grad(first)(1.3)
        np.testing.assert_allclose(found, (first(1.3 + h) - first(1.3 - h)) / (2 * h), rtol=1e-5)
