"""Functions of JAX with keyword arguments that say where results lie, which is on one device."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any

from bindax_jax_names.shims._arguments import ignoring

_IGNORED: dict[str, dict[str, str]] = {
    "bindax.lax": {
        "out_sharding": (
            "broadcast broadcast_in_dim broadcasted_iota conv_general_dilated dot dot_general "
            "empty ragged_dot ragged_dot_general reduce reduce_max reduce_min reduce_sum reshape "
            "rng_bit_generator"
        ),
        "sharding": "full full_like",
        "accuracy": (
            "cbrt cos erfc exp exp2 expm1 log log1p log2 logistic rsqrt sin sqrt tan tanh"
        ),
        "_split_transpose": "scan",
        "allow_negative_indices": (
            "dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_update_index_in_dim "
            "dynamic_update_slice dynamic_update_slice_in_dim"
        ),
    },
    "bindax.numpy": {
        "out_sharding": (
            "arange array asarray bincount broadcast_to dot einsum empty full full_like histogram "
            "matmul "
            "ones ones_like percentile ravel repeat reshape tensordot zeros zeros_like"
        ),
        "_dot_general": "einsum",
    },
    "bindax.random": {
        "out_sharding": (
            "ball bernoulli beta bits categorical cauchy chisquare dirichlet exponential f gamma "
            "generalized_normal geometric gumbel laplace loggamma logistic lognormal maxwell "
            "multivariate_normal normal orthogonal pareto permutation poisson rademacher randint "
            "rayleigh t triangular truncated_normal uniform wald"
        ),
    },
    "bindax.nn": {"out_sharding": "one_hot"},
    "bindax.nn.initializers": {"out_sharding": "ones zeros"},
    "bindax.ops": {"out_sharding": "segment_max segment_min segment_prod segment_sum"},
    "bindax.numpy.linalg": {"out_sharding": "tensordot"},
}
"""By module of bindax and argument, the functions that take it in JAX."""


def tolerant(path: str, name: str) -> Callable[..., Any]:
    """The function of bindax, which also takes the arguments of JAX that change nothing here.

    Raises:
        AttributeError: when the function takes no such arguments.
    """
    words = [word for word, names in _IGNORED.get(path, {}).items() if name in names.split()]
    if not words:
        raise AttributeError(name)
    function = getattr(import_module(path), name)
    known = signature(function).parameters
    return ignoring(function, *[word for word in words if word not in known])
