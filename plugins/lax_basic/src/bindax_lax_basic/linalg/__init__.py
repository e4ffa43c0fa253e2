"""Linear algebra: decompositions of matrices and linear systems, for any leading axes.

Matrices are the last two axes of arrays of dtype float32, float64, complex64 or complex128.
"""

from bindax_lax_basic.linalg.condensed_forms import hessenberg as hessenberg
from bindax_lax_basic.linalg.condensed_forms import hessenberg_p as hessenberg_p
from bindax_lax_basic.linalg.condensed_forms import tridiagonal as tridiagonal
from bindax_lax_basic.linalg.condensed_forms import tridiagonal_p as tridiagonal_p
from bindax_lax_basic.linalg.general_eigenvalues import eig as eig
from bindax_lax_basic.linalg.general_eigenvalues import eig_p as eig_p
from bindax_lax_basic.linalg.hermitian import eigh as eigh
from bindax_lax_basic.linalg.hermitian import eigh_p as eigh_p
from bindax_lax_basic.linalg.lower_upper import lu as lu
from bindax_lax_basic.linalg.lower_upper import lu_p as lu_p
from bindax_lax_basic.linalg.lower_upper import lu_pivots_to_permutation as lu_pivots_to_permutation
from bindax_lax_basic.linalg.lower_upper import (
    lu_pivots_to_permutation_p as lu_pivots_to_permutation_p,
)
from bindax_lax_basic.linalg.orthogonal import householder_product as householder_product
from bindax_lax_basic.linalg.orthogonal import householder_product_p as householder_product_p
from bindax_lax_basic.linalg.orthogonal import qr as qr
from bindax_lax_basic.linalg.orthogonal import qr_p as qr_p
from bindax_lax_basic.linalg.polar_decomposition import qdwh as qdwh
from bindax_lax_basic.linalg.positive_definite import cholesky as cholesky
from bindax_lax_basic.linalg.positive_definite import cholesky_p as cholesky_p
from bindax_lax_basic.linalg.products import cholesky_update as cholesky_update
from bindax_lax_basic.linalg.products import ormqr as ormqr
from bindax_lax_basic.linalg.products import symmetric_product as symmetric_product
from bindax_lax_basic.linalg.schur_form import schur as schur
from bindax_lax_basic.linalg.schur_form import schur_p as schur_p
from bindax_lax_basic.linalg.singular_values import svd as svd
from bindax_lax_basic.linalg.singular_values import svd_p as svd_p
from bindax_lax_basic.linalg.triangular import triangular_solve as triangular_solve
from bindax_lax_basic.linalg.triangular import triangular_solve_p as triangular_solve_p
from bindax_lax_basic.linalg.tridiagonal_systems import tridiagonal_solve as tridiagonal_solve
from bindax_lax_basic.linalg.tridiagonal_systems import tridiagonal_solve_p as tridiagonal_solve_p
