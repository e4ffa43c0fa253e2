"""The calls of `bindax.scipy.linalg` that are compared with JAX."""

import numpy as np
from _calls import Table, operand

# Written out: to multiply a matrix with its transpose here, each BLAS rounds in its own way.
POSITIVE = [
    [10.495456, -3.105771, -4.5652547, 2.8333101],
    [-3.105771, 4.5107203, 1.7040832, -0.80554956],
    [-4.5652547, 1.7040832, 6.66214, -3.1420188],
    [2.8333101, -0.80554956, -3.1420188, 4.449234],
]
LINALG = Table(
    "scipy.linalg",
    {
        "A": operand((4, 4), "float32", 1),
        "B": operand((4, 4), "float32", 2),
        "P": np.array(POSITIVE, np.float32),
        "T": operand((5, 3), "float32", 3),
        "W": operand((3, 5), "float32", 4),
        "V": operand((4,), "float32", 5),
        "C": operand((4, 2), "float32", 6),
        "S": operand((2, 4, 4), "float32", 7),
        "Z": operand((3, 3), "complex64", 8),
        "I": np.array([1, 2, 3, 4], np.int32),
        "D": np.array([1.0, 2.0, 3.0], np.float32),
    },
    """
    cholesky(P) cholesky(P, lower=True) cho_factor(P)[0] cho_solve(cho_factor(P), V)
    cho_solve(cho_factor(P, lower=True), C) abs(svd(T)[1]) svd(A, compute_uv=False) det(A) det(S)
    det(I.reshape(2, 2)) eigh(P, eigvals_only=True) abs(eigh(P)[1]) lu(A) lu(T)
    lu(W, permute_l=True)
    lu_factor(A) lu_solve(lu_factor(A), V) lu_solve(lu_factor(A), C, trans=1)
    lu_solve(lu_factor(Z), Z[0], 2) [abs(x) for x in qr(T)] [abs(x) for x in qr(W, mode='economic')]
    abs(qr(T, mode='r')[0]) abs(qr_multiply(T, W)[0]) abs(qr_multiply(T, W, conjugate=True)[0])
    inv(A) inv(S) inv(I.reshape(2, 2)) solve(A, V) solve(A, C) solve(P, C, assume_a='pos')
    solve(P, V, assume_a='pos', lower=True) solve(S, C) solve_triangular(A, V)
    solve_triangular(A, C, lower=True) solve_triangular(A, V, trans=1, unit_diagonal=True)
    solve_triangular(Z, Z, trans='C') expm(A) expm(A * 9) expm(S) expm(Z) expm(A * 0)
    expm(jnp.triu(A), upper_triangular=True) expm(A * 1e6, max_squarings=4) expm_frechet(A, B)
    expm_frechet(A, B, compute_expm=False) block_diag(A, V, 3) block_diag(I, T) block_diag(I)
    sqrtm(P) sqrtm(A) sqrtm(Z) funm(P, jnp.exp) polar(A) polar(T) polar(W, 'left')
    polar(T, method='svd') polar(T, 'left', method='svd') abs(hessenberg(A))
    toeplitz(V) toeplitz(I, D) toeplitz(Z) toeplitz(T, W[:, 0]) hankel(V) hankel(I, D) hankel(C)
    circulant(V) circulant(T) leslie(V, D) leslie(C.T, V[:3]) companion(V) companion(I) companion(T)
    fiedler(V) fiedler(I) fiedler_companion(V) fiedler_companion(W) fiedler_companion(I[:2])
    convolution_matrix(V, 3) convolution_matrix(I, 5, 'same') convolution_matrix(V, 3, 'valid')
    convolution_matrix(T, 2) hilbert(3) invhilbert(3)
    invpascal(4) invpascal(3, 'upper') helmert(3) helmert(4, full=True)
    hadamard(4, 'int8') dft(4) dft(3, 'sqrtn') dft(3, scale='n', dtype='complex64')
    solve_sylvester(A, P, B) solve_sylvester(P, Z.real @ Z.real.T, B[:, :3])
    solve_sylvester(Z, Z, Z)
    solve_sylvester(A, P, B, method='eigen') eigh_tridiagonal(V, D, eigvals_only=True)
    eigh_tridiagonal(V, D, eigvals_only=True, select='i', select_range=(1, 2))
    abs(schur(P)[1]) schur(P)[0] abs(jnp.diagonal(schur(Z)[0]))
    """,
    """
    cholesky(A @ A.T + 3 * np.eye(4)) cho_solve((A, True), V) det(A) inv(A) solve(A, V) solve(P, A)
    solve(A @ A.T + 3 * np.eye(4), V, assume_a='pos') solve_triangular(A, V, trans=1)
    lu_solve(lu_factor(A), V) expm(A) expm_frechet(A, B) toeplitz(A[0], A[1]) hankel(A[0], A[1])
    circulant(A[0]) companion(A[0]) fiedler_companion(A[0]) leslie(A[0], A[1, :3])
    convolution_matrix(A[0], 3) block_diag(A, A) polar(A, method='svd')
    eigh(A + A.T, eigvals_only=True)
    """,
)
