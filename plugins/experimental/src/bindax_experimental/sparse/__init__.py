"""Arrays of which only some elements are stored, and what is computed with them.

>>> import bindax_numpy as jnp
>>> m = BCOO.fromdense(jnp.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]]))
>>> m, m.T @ jnp.array([1.0, 10.0])
(BCOO(float32[2, 3], nse=2), Array([10.,  2.,  0.], dtype=float32))
"""

from bindax_core.extend import public_names as _public_names
from bindax_experimental.sparse.arithmetic import bcoo_dot_general as bcoo_dot_general
from bindax_experimental.sparse.arithmetic import (
    bcoo_dot_general_sampled as bcoo_dot_general_sampled,
)
from bindax_experimental.sparse.arithmetic import bcoo_multiply_dense as bcoo_multiply_dense
from bindax_experimental.sparse.arithmetic import bcoo_multiply_sparse as bcoo_multiply_sparse
from bindax_experimental.sparse.base import JAXSparse as JAXSparse
from bindax_experimental.sparse.bcoo import BCOO as BCOO
from bindax_experimental.sparse.bcsr import BCSR as BCSR
from bindax_experimental.sparse.bcsr import bcsr_fromdense as bcsr_fromdense
from bindax_experimental.sparse.bcsr import bcsr_todense as bcsr_todense
from bindax_experimental.sparse.conversion import bcoo_extract as bcoo_extract
from bindax_experimental.sparse.conversion import bcoo_fromdense as bcoo_fromdense
from bindax_experimental.sparse.conversion import bcoo_todense as bcoo_todense
from bindax_experimental.sparse.conversion import todense as todense
from bindax_experimental.sparse.creation import empty as empty
from bindax_experimental.sparse.creation import eye as eye
from bindax_experimental.sparse.creation import random_bcoo as random_bcoo
from bindax_experimental.sparse.gradients import grad as grad
from bindax_experimental.sparse.gradients import jacfwd as jacfwd
from bindax_experimental.sparse.gradients import jacobian as jacobian
from bindax_experimental.sparse.gradients import jacrev as jacrev
from bindax_experimental.sparse.gradients import value_and_grad as value_and_grad
from bindax_experimental.sparse.layout import SparseEfficiencyError as SparseEfficiencyError
from bindax_experimental.sparse.layout import bcoo_eliminate_zeros as bcoo_eliminate_zeros
from bindax_experimental.sparse.layout import bcoo_sort_indices as bcoo_sort_indices
from bindax_experimental.sparse.layout import bcoo_sum_duplicates as bcoo_sum_duplicates
from bindax_experimental.sparse.layout import bcoo_update_layout as bcoo_update_layout
from bindax_experimental.sparse.sparsify import SparseTracer as SparseTracer
from bindax_experimental.sparse.sparsify import sparse as sparse
from bindax_experimental.sparse.sparsify import sparsify as sparsify
from bindax_experimental.sparse.structure import bcoo_broadcast_in_dim as bcoo_broadcast_in_dim
from bindax_experimental.sparse.structure import bcoo_concatenate as bcoo_concatenate
from bindax_experimental.sparse.structure import bcoo_dynamic_slice as bcoo_dynamic_slice
from bindax_experimental.sparse.structure import bcoo_reduce_sum as bcoo_reduce_sum
from bindax_experimental.sparse.structure import bcoo_reshape as bcoo_reshape
from bindax_experimental.sparse.structure import bcoo_rev as bcoo_rev
from bindax_experimental.sparse.structure import bcoo_slice as bcoo_slice
from bindax_experimental.sparse.structure import bcoo_squeeze as bcoo_squeeze
from bindax_experimental.sparse.structure import bcoo_transpose as bcoo_transpose

vars()["__all__"] = _public_names(vars())
