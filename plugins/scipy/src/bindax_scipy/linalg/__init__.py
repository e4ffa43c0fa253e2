"""Linear algebra, with JAX's names and semantics; public as ``bindax.scipy.linalg``.

Matrices are the last two axes of arrays.
"""

from bindax_core.extend import public_names as _public_names
from bindax_scipy.linalg.decompositions import cho_factor as cho_factor
from bindax_scipy.linalg.decompositions import cholesky as cholesky
from bindax_scipy.linalg.decompositions import eigh as eigh
from bindax_scipy.linalg.decompositions import eigh_tridiagonal as eigh_tridiagonal
from bindax_scipy.linalg.decompositions import lu as lu
from bindax_scipy.linalg.decompositions import lu_factor as lu_factor
from bindax_scipy.linalg.decompositions import polar as polar
from bindax_scipy.linalg.decompositions import qr as qr
from bindax_scipy.linalg.decompositions import qr_multiply as qr_multiply
from bindax_scipy.linalg.decompositions import svd as svd
from bindax_scipy.linalg.matrix_functions import expm as expm
from bindax_scipy.linalg.matrix_functions import expm_frechet as expm_frechet
from bindax_scipy.linalg.matrix_functions import funm as funm
from bindax_scipy.linalg.matrix_functions import solve_sylvester as solve_sylvester
from bindax_scipy.linalg.matrix_functions import sqrtm as sqrtm
from bindax_scipy.linalg.schur_hessenberg import hessenberg as hessenberg
from bindax_scipy.linalg.schur_hessenberg import rsf2csf as rsf2csf
from bindax_scipy.linalg.schur_hessenberg import schur as schur
from bindax_scipy.linalg.solve_inv_det import cho_solve as cho_solve
from bindax_scipy.linalg.solve_inv_det import det as det
from bindax_scipy.linalg.solve_inv_det import inv as inv
from bindax_scipy.linalg.solve_inv_det import lu_solve as lu_solve
from bindax_scipy.linalg.solve_inv_det import solve as solve
from bindax_scipy.linalg.solve_inv_det import solve_triangular as solve_triangular
from bindax_scipy.linalg.special_matrices import block_diag as block_diag
from bindax_scipy.linalg.special_matrices import circulant as circulant
from bindax_scipy.linalg.special_matrices import companion as companion
from bindax_scipy.linalg.special_matrices import convolution_matrix as convolution_matrix
from bindax_scipy.linalg.special_matrices import dft as dft
from bindax_scipy.linalg.special_matrices import fiedler as fiedler
from bindax_scipy.linalg.special_matrices import fiedler_companion as fiedler_companion
from bindax_scipy.linalg.special_matrices import hadamard as hadamard
from bindax_scipy.linalg.special_matrices import hankel as hankel
from bindax_scipy.linalg.special_matrices import helmert as helmert
from bindax_scipy.linalg.special_matrices import hilbert as hilbert
from bindax_scipy.linalg.special_matrices import invhilbert as invhilbert
from bindax_scipy.linalg.special_matrices import invpascal as invpascal
from bindax_scipy.linalg.special_matrices import leslie as leslie
from bindax_scipy.linalg.special_matrices import pascal as pascal
from bindax_scipy.linalg.special_matrices import toeplitz as toeplitz

vars()["__all__"] = _public_names(vars())
