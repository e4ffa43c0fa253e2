"""Linear algebra: decompositions of matrices and linear systems, for any leading axes.

Matrices are the last two axes of arrays of dtype float32, float64, complex64 or complex128.
"""

from bindax_core.extend import bound_functions as _bound_functions
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_linalg.cholesky import *
from bindax_linalg.condensed_forms import *
from bindax_linalg.eig import *
from bindax_linalg.eigh import *
from bindax_linalg.implementations import *
from bindax_linalg.lu import *
from bindax_linalg.products import *
from bindax_linalg.qdwh import *
from bindax_linalg.qr import *
from bindax_linalg.schur import *
from bindax_linalg.svd import *
from bindax_linalg.triangular_solve import *
from bindax_linalg.tridiagonal_solve import *

vars()["__all__"] = _public_names(vars())

_bound_functions(vars())

_register_internal(__file__)
