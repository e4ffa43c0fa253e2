"""Arrays of which only some elements are stored, and what is computed with them.

>>> import bindax_numpy as jnp
>>> m = BCOO.fromdense(jnp.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]]))
>>> m, m.T @ jnp.array([1.0, 10.0])
(BCOO(float32[2, 3], nse=2), Array([10.,  2.,  0.], dtype=float32))
"""

from bindax_experimental.sparse.arithmetic import (
    bcoo_dot_general,
    bcoo_dot_general_sampled,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
)
from bindax_experimental.sparse.bcoo import BCOO
from bindax_experimental.sparse.conversion import (
    bcoo_extract,
    bcoo_fromdense,
    bcoo_todense,
    todense,
)
from bindax_experimental.sparse.creation import empty, eye, random_bcoo
from bindax_experimental.sparse.gradients import grad, jacfwd, jacobian, jacrev, value_and_grad
from bindax_experimental.sparse.layout import (
    SparseEfficiencyError,
    bcoo_eliminate_zeros,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_update_layout,
)
from bindax_experimental.sparse.sparsify import SparseTracer, sparse, sparsify
from bindax_experimental.sparse.structure import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_dynamic_slice,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_rev,
    bcoo_slice,
    bcoo_squeeze,
    bcoo_transpose,
)

__all__ = [
    "BCOO",
    "SparseEfficiencyError",
    "SparseTracer",
    "bcoo_broadcast_in_dim",
    "bcoo_concatenate",
    "bcoo_dot_general",
    "bcoo_dot_general_sampled",
    "bcoo_dynamic_slice",
    "bcoo_eliminate_zeros",
    "bcoo_extract",
    "bcoo_fromdense",
    "bcoo_multiply_dense",
    "bcoo_multiply_sparse",
    "bcoo_reduce_sum",
    "bcoo_reshape",
    "bcoo_rev",
    "bcoo_slice",
    "bcoo_sort_indices",
    "bcoo_squeeze",
    "bcoo_sum_duplicates",
    "bcoo_todense",
    "bcoo_transpose",
    "bcoo_update_layout",
    "empty",
    "eye",
    "grad",
    "jacfwd",
    "jacobian",
    "jacrev",
    "random_bcoo",
    "sparse",
    "sparsify",
    "todense",
    "value_and_grad",
]
