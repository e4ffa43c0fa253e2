"""Linear algebra: decompositions, systems, norms and products, for any leading axes.

Matrices are the last two axes. Integers are computed with as floats; of floats there must be 32
bits or more.
"""

from bindax_core.extend import public_names as _public_names
from bindax_numpy.kron_convolve import vecdot as vecdot
from bindax_numpy.linalg.decompositions import EighResult as EighResult
from bindax_numpy.linalg.decompositions import EigResult as EigResult
from bindax_numpy.linalg.decompositions import QRResult as QRResult
from bindax_numpy.linalg.decompositions import SVDResult as SVDResult
from bindax_numpy.linalg.decompositions import cholesky as cholesky
from bindax_numpy.linalg.decompositions import eig as eig
from bindax_numpy.linalg.decompositions import eigh as eigh
from bindax_numpy.linalg.decompositions import eigvals as eigvals
from bindax_numpy.linalg.decompositions import eigvalsh as eigvalsh
from bindax_numpy.linalg.decompositions import qr as qr
from bindax_numpy.linalg.decompositions import svd as svd
from bindax_numpy.linalg.decompositions import svdvals as svdvals
from bindax_numpy.linalg.matrix_power import cross as cross
from bindax_numpy.linalg.matrix_power import diagonal as diagonal
from bindax_numpy.linalg.matrix_power import matmul as matmul
from bindax_numpy.linalg.matrix_power import matrix_power as matrix_power
from bindax_numpy.linalg.matrix_power import multi_dot as multi_dot
from bindax_numpy.linalg.matrix_power import outer as outer
from bindax_numpy.linalg.matrix_power import tensordot as tensordot
from bindax_numpy.linalg.matrix_power import trace as trace
from bindax_numpy.linalg.norm_det_rank import SlogdetResult as SlogdetResult
from bindax_numpy.linalg.norm_det_rank import cond as cond
from bindax_numpy.linalg.norm_det_rank import det as det
from bindax_numpy.linalg.norm_det_rank import matrix_norm as matrix_norm
from bindax_numpy.linalg.norm_det_rank import matrix_rank as matrix_rank
from bindax_numpy.linalg.norm_det_rank import norm as norm
from bindax_numpy.linalg.norm_det_rank import slogdet as slogdet
from bindax_numpy.linalg.norm_det_rank import vector_norm as vector_norm
from bindax_numpy.linalg.solve import inv as inv
from bindax_numpy.linalg.solve import lstsq as lstsq
from bindax_numpy.linalg.solve import pinv as pinv
from bindax_numpy.linalg.solve import solve as solve
from bindax_numpy.linalg.solve import tensorinv as tensorinv
from bindax_numpy.linalg.solve import tensorsolve as tensorsolve
from bindax_numpy.reshaping import matrix_transpose as matrix_transpose

vars()["__all__"] = _public_names(vars())
