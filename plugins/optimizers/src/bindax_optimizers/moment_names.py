"""Functions of ``tree_utils`` that the package has under shorter names, too."""

from bindax_optimizers.tree_utils import tree_bias_correction as bias_correction
from bindax_optimizers.tree_utils import tree_map_params
from bindax_optimizers.tree_utils import tree_update_infinity_moment as update_infinity_moment
from bindax_optimizers.tree_utils import tree_update_moment as update_moment
from bindax_optimizers.tree_utils import (
    tree_update_moment_per_elem_norm as update_moment_per_elem_norm,
)

__all__ = [
    "bias_correction",
    "tree_map_params",
    "update_infinity_moment",
    "update_moment",
    "update_moment_per_elem_norm",
]
