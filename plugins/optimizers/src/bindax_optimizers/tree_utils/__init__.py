"""Arithmetic on trees of arrays, and values of states by name.

``bindax.optimizers.tree`` has these functions without the prefix ``tree_``.
"""

from bindax_optimizers.tree_utils.dtypes import tree_cast, tree_cast_like, tree_dtype
from bindax_optimizers.tree_utils.elementwise import (
    tree_add,
    tree_add_scale,
    tree_batch_shape,
    tree_clip,
    tree_conj,
    tree_div,
    tree_full_like,
    tree_mul,
    tree_ones_like,
    tree_real,
    tree_scale,
    tree_sub,
    tree_where,
    tree_zeros_like,
)
from bindax_optimizers.tree_utils.moments import (
    tree_bias_correction,
    tree_update_infinity_moment,
    tree_update_moment,
    tree_update_moment_per_elem_norm,
)
from bindax_optimizers.tree_utils.randomness import (
    tree_random_like,
    tree_split_key_like,
    tree_unwrap_random_key_data,
)
from bindax_optimizers.tree_utils.reductions import (
    tree_allclose,
    tree_max,
    tree_min,
    tree_norm,
    tree_size,
    tree_sum,
    tree_vdot,
)
from bindax_optimizers.tree_utils.states import (
    NamedTupleKey,
    tree_get,
    tree_get_all_with_path,
    tree_map_params,
    tree_set,
)

__all__ = [
    "NamedTupleKey",
    "tree_add",
    "tree_add_scale",
    "tree_allclose",
    "tree_batch_shape",
    "tree_bias_correction",
    "tree_cast",
    "tree_cast_like",
    "tree_clip",
    "tree_conj",
    "tree_div",
    "tree_dtype",
    "tree_full_like",
    "tree_get",
    "tree_get_all_with_path",
    "tree_map_params",
    "tree_max",
    "tree_min",
    "tree_mul",
    "tree_norm",
    "tree_ones_like",
    "tree_random_like",
    "tree_real",
    "tree_scale",
    "tree_set",
    "tree_size",
    "tree_split_key_like",
    "tree_sub",
    "tree_sum",
    "tree_unwrap_random_key_data",
    "tree_update_infinity_moment",
    "tree_update_moment",
    "tree_update_moment_per_elem_norm",
    "tree_vdot",
    "tree_where",
    "tree_zeros_like",
]
