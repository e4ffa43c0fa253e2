"""Sparse Jacobians and Hessians: patterns, colourings, and compressed evaluation."""

from bindax_example_sparsity.coloring import color_columns as color_columns
from bindax_example_sparsity.derivatives import sparse_hessian as sparse_hessian
from bindax_example_sparsity.derivatives import sparse_jacobian as sparse_jacobian
from bindax_example_sparsity.pattern import Context as Context
from bindax_example_sparsity.pattern import Dependence as Dependence
from bindax_example_sparsity.pattern import Pattern as Pattern
from bindax_example_sparsity.pattern import sparsity as sparsity
from bindax_example_sparsity.pattern import sparsity_pattern as sparsity_pattern
