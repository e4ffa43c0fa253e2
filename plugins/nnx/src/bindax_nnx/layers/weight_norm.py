"""Layers around other layers, whose kernels they normalize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
import bindax_random as random
from bindax_nn import initializers
from bindax_nnx._paths import layer_name
from bindax_nnx.filters import Filter, Path, PathContains, to_predicate
from bindax_nnx.graph import iter_variables
from bindax_nnx.layers._common import (
    Initializer,
    Layer,
    PromoteDtype,
    common_dtype,
    first_given,
    ones,
    params_key,
    positive,
)
from bindax_nnx.module import Module
from bindax_nnx.rngs import Rngs
from bindax_nnx.split_merge import clone, copy_around
from bindax_nnx.variables import BatchStat, Param, Variable


def with_values(node: Any, values: dict[int, Any]) -> Any:
    """A copy of the objects around the variables of a graph, with values for some by identity."""
    return copy_around(node, lambda x: x.replace(values[id(x)]) if id(x) in values else x)


def _unit(x: Any, axes: tuple[int, ...] | None, epsilon: float) -> Any:
    """An array divided by its Euclidean norm along axes."""
    return x * lax.rsqrt(jnp.sum(x * x, axis=axes, keepdims=True) + epsilon)


class _Wrapped(Layer):
    """A layer that is called with other values of some of its parameters."""

    layer_instance: Module
    variable_filter: Filter

    def _chosen(self) -> list[tuple[Path, Variable[Any]]]:
        """The parameters that the filter takes, with their paths in the layer."""
        takes = to_predicate(self.variable_filter)
        found = iter_variables(self.layer_instance)
        return [(path, x) for path, x in found if isinstance(x, Param) and takes(path, x)]

    def _kept(self, table: dict[Any, Any], path: Path, *name: str) -> Variable[Any]:
        """The variable that this layer keeps for a parameter."""
        if (*path, *name) not in table:
            raise ValueError(
                f"{layer_name(self)} knows no parameter {'/'.join(map(str, path))}; make it anew "
                f"after parameters were added to its layer."
            )
        kept: Variable[Any] = table[(*path, *name)]
        return kept


class WeightNorm(_Wrapped):
    """Divides the kernels of a layer by their norms (Salimans and Kingma, 2016).

    The variables of the layer stay as they are. The scales are ``Param`` variables in ``scales``,
    by the path of the kernel.

    Args:
        layer_instance: the layer.
        feature_axes: the axes along which each position has its own norm; None for none.
        use_scale: whether to multiply by learned scales.
        scale_init: their initial values.
        epsilon: added to squared norms.
        dtype: the dtype of the normalized kernels; by default that of kernels and scales together.
        param_dtype: the dtype of the scales.
        variable_filter: which parameters to normalize.
        promote_dtype: converts a tuple of kernel and scale to one dtype, ``(arrays, dtype=dtype)``.
        rngs: random streams.

    >>> import numpy as np
    >>> from bindax_nnx.layers.linear import Linear
    >>> layer = WeightNorm(Linear(3, 4, rngs=Rngs(0)), rngs=Rngs(0))
    >>> layer(np.ones((1, 3), np.float32)).shape
    (1, 4)
    """

    epsilon: float
    use_scale: bool
    dtype: Any
    variable_filter: Filter
    promote_dtype: PromoteDtype

    def __init__(
        self,
        layer_instance: Module,
        *,
        feature_axes: int | Sequence[int] | None = -1,
        use_scale: bool = True,
        scale_init: Initializer = ones,
        epsilon: float = 1e-12,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        variable_filter: Filter = PathContains("kernel"),  # noqa: B008 -- immutable
        promote_dtype: PromoteDtype = None,
        rngs: Rngs,
    ) -> None:
        self.layer_instance = layer_instance
        self.feature_axes: tuple[()] | int | Sequence[int] = (
            () if feature_axes is None else feature_axes
        )
        self.epsilon, self.use_scale, self.dtype = epsilon, use_scale, dtype
        self.variable_filter, self.promote_dtype = variable_filter, promote_dtype
        self.scales: dict[Path, Param[Any]] = {}
        if not use_scale:
            return
        # Of a copy of the streams: layers made later have the keys that they have in Flax.
        key = params_key(clone(rngs), self, "scales")
        for i, (path, variable) in enumerate(self._chosen()):
            shape = tuple(variable.shape[a] for a in positive(self.feature_axes, variable.ndim))
            self.scales[path] = Param(scale_init(random.fold_in(key, i), shape, param_dtype))

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the layer with normalized kernels."""
        values = {}
        for path, variable in self._chosen():
            value = variable.value
            scale = self._kept(self.scales, path).value if self.use_scale else None
            if self.promote_dtype is not None:
                value, scale = self.promote_dtype((value, scale), dtype=self.dtype)
            features = positive(self.feature_axes, value.ndim)
            reduced = tuple(i for i in range(value.ndim) if i not in features)
            unit, dtype = _unit(value, reduced, self.epsilon), value.dtype
            if scale is not None:
                wide = [n if i in features else 1 for i, n in enumerate(value.shape)]
                unit, dtype = unit * jnp.reshape(scale, wide), common_dtype(value, scale)
            values[id(variable)] = unit.astype(dtype if self.dtype is None else self.dtype)
        return with_values(self.layer_instance, values)(x, *args, **kwargs)


class SpectralNorm(_Wrapped):
    """Divides the matrices of a layer by their largest singular values (Miyato et al., 2018).

    These are estimated by power iteration, whose vectors ``u`` and results ``sigma`` are kept in
    ``BatchStat`` variables in ``batch_stats``. The variables of the layer stay as they are.

    Args:
        layer_instance: the layer.
        n_steps: how many steps of the iteration a call makes.
        epsilon: added to squared norms.
        dtype: the dtype of the normalized matrices; by default that of matrix and vectors together.
        param_dtype: the dtype of what is kept.
        error_on_non_matrix: whether parameters of more than two axes are refused; otherwise they
            are matrices whose columns are along their last axis.
        update_stats: whether calls keep the vectors; can be given in a call. ``train()`` and
            ``eval()`` of the model set it.
        variable_filter: which parameters to normalize, of those with two axes or more.
        rngs: random streams.

    Raises:
        ValueError: a parameter has more than two axes, and this is refused.

    >>> import numpy as np
    >>> from bindax_nnx.rngs import Rngs
    >>> from bindax_nnx.layers.linear import Linear
    >>> layer = SpectralNorm(Linear(4, 3, rngs=Rngs(0)), rngs=Rngs(1))
    >>> layer(np.ones((1, 4), np.float32), update_stats=True).shape
    (1, 3)
    """

    n_steps: int
    epsilon: float
    dtype: Any
    param_dtype: Any

    def __init__(
        self,
        layer_instance: Module,
        *,
        n_steps: int = 1,
        epsilon: float = 1e-12,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        error_on_non_matrix: bool = False,
        update_stats: bool = True,
        variable_filter: Filter = ...,
        rngs: Rngs,
    ) -> None:
        self.layer_instance = layer_instance
        self.n_steps, self.epsilon = n_steps, epsilon
        self.dtype, self.param_dtype = dtype, param_dtype
        self.error_on_non_matrix = error_on_non_matrix
        self.use_running_average: bool = not update_stats
        self.variable_filter = variable_filter
        self.batch_stats: dict[Path, BatchStat[Any]] = {}
        init = initializers.normal()
        for path, variable in self._matrices():
            key = params_key(rngs, self, "batch_stats")
            u = init(key, (1, variable.shape[-1]), param_dtype)
            self.batch_stats[(*path, "u")] = BatchStat(u)
            self.batch_stats[(*path, "sigma")] = BatchStat(jnp.ones((), param_dtype))

    def _matrices(self) -> list[tuple[Path, Variable[Any]]]:
        if self.n_steps < 1:
            return []
        found = [(path, x) for path, x in self._chosen() if x.ndim > 1]
        for path, x in found:
            if x.ndim > 2 and self.error_on_non_matrix:
                raise ValueError(
                    f"SpectralNorm: the parameter {'/'.join(map(str, path))} has the shape "
                    f"{x.shape} and is no matrix; leave out error_on_non_matrix=True to normalize "
                    f"it as a matrix whose columns are along its last axis."
                )
        return found

    def __call__(self, x: Any, update_stats: bool | None = None) -> Any:
        """Call the layer with normalized matrices."""
        keeps = first_given("update_stats", self, update_stats, not self.use_running_average)
        values = {}
        for path, variable in self._matrices():
            value = variable.value
            matrix = jnp.reshape(value, (-1, value.shape[-1]))
            kept = self._kept(self.batch_stats, path, "u")
            v = u = kept.value
            for _ in range(self.n_steps):
                v = _unit(u @ matrix.T, None, self.epsilon)
                u = _unit(v @ matrix, None, self.epsilon)
            u, v = lax.stop_gradient(u), lax.stop_gradient(v)
            sigma = (v @ matrix @ u.T)[0, 0]
            if keeps:
                kept.value = u.astype(kept.dtype)
                former = self._kept(self.batch_stats, path, "sigma")
                former.value = sigma.astype(former.dtype)
            safe = jnp.where(sigma != 0, sigma, jnp.ones_like(sigma))
            dtype = common_dtype(value, u, sigma) if self.dtype is None else self.dtype
            values[id(variable)] = (value / safe).astype(dtype)
        return with_values(self.layer_instance, values)(x)
