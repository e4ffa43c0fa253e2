"""Layers around other layers, whose kernels they normalize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
import bindax_random as random
from bindax_nnx.filters import Filter, PathContains, to_predicate
from bindax_nnx.graph import iter_variables
from bindax_nnx.layers._common import Initializer, ones, parameter, params_key, positive
from bindax_nnx.module import Module, copy_around
from bindax_nnx.object import Dict
from bindax_nnx.rngs import Rngs
from bindax_nnx.variables import BatchStat, Variable


def with_values(node: Any, values: dict[int, Any]) -> Any:
    """A copy of the objects around the variables of a graph, with values for some by identity."""
    return copy_around(node, lambda x: x.replace(values[id(x)]) if id(x) in values else x)


def _name(path: Sequence[Any]) -> str:
    return "_".join(map(str, path))


def _unit(x: Any, axes: tuple[int, ...] | None, epsilon: float) -> Any:
    """An array divided by its Euclidean norm along axes."""
    return x * lax.rsqrt(jnp.sum(x * x, axis=axes, keepdims=True) + epsilon)


class WeightNorm(Module):
    """Divides the kernels of a layer by their norms (Salimans and Kingma, 2016).

    The variables of the layer stay as they are.

    Args:
        layer_instance: the layer.
        feature_axes: the axes along which each position has its own norm; None for none.
        use_scale: whether to multiply by learned scales.
        scale_init: their initial values.
        epsilon: added to squared norms.
        variable_filter: which variables to normalize.
        rngs: random streams.

    >>> import numpy as np
    >>> from bindax_nnx.layers.linear import Linear
    >>> layer = WeightNorm(Linear(3, 4, rngs=Rngs(0)), rngs=Rngs(0))
    >>> layer(np.ones((1, 3), np.float32)).shape
    (1, 4)
    """

    def __init__(
        self,
        layer_instance: Module,
        *,
        feature_axes: int | Sequence[int] | None = -1,
        use_scale: bool = True,
        scale_init: Initializer = ones,
        epsilon: float = 1e-12,
        param_dtype: Any = np.float32,
        variable_filter: Filter = PathContains("kernel"),  # noqa: B008 -- immutable
        rngs: Rngs,
    ) -> None:
        self.layer_instance = layer_instance
        self.feature_axes = () if feature_axes is None else feature_axes
        self.epsilon, self.use_scale = epsilon, use_scale
        self.variable_filter = variable_filter
        self.scales = Dict()
        if use_scale:
            for path, variable in self._chosen():
                axes = positive(self.feature_axes, variable.ndim)
                shape = tuple(variable.shape[a] for a in axes)
                name = _name(path)
                self.scales[name] = parameter(self, name, scale_init, rngs, shape, param_dtype)

    def _chosen(self) -> list[tuple[Any, Variable[Any]]]:
        takes = to_predicate(self.variable_filter)
        return [(p, x) for p, x in iter_variables(self.layer_instance) if takes(p, x)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the layer with normalized kernels."""
        values = {}
        for path, variable in self._chosen():
            value = variable.value
            features = positive(self.feature_axes, value.ndim)
            reduced = tuple(i for i in range(value.ndim) if i not in features)
            unit = _unit(value, reduced, self.epsilon)
            if self.use_scale:
                wide = [n if i in features else 1 for i, n in enumerate(value.shape)]
                unit = unit * jnp.reshape(self.scales[_name(path)].value, wide)
            values[id(variable)] = unit.astype(value.dtype)
        return with_values(self.layer_instance, values)(*args, **kwargs)


class SpectralNorm(Module):
    """Divides the kernels of a layer by their largest singular values (Miyato et al., 2018).

    These are estimated by power iteration, whose vectors are kept in ``BatchStat`` variables. The
    variables of the layer stay as they are.

    Args:
        layer_instance: the layer.
        n_steps: how many steps of the iteration a call makes.
        epsilon: added to squared norms.
        update_stats: whether calls keep the vectors; can be given in a call.
        variable_filter: which variables to normalize.
        rngs: random streams.
    """

    def __init__(
        self,
        layer_instance: Module,
        *,
        n_steps: int = 1,
        epsilon: float = 1e-12,
        update_stats: bool = True,
        variable_filter: Filter = PathContains("kernel"),  # noqa: B008 -- immutable
        rngs: Rngs,
    ) -> None:
        if n_steps < 1:
            raise ValueError(f"SpectralNorm needs at least one step, but n_steps={n_steps}.")
        self.layer_instance = layer_instance
        self.n_steps, self.epsilon, self.update_stats = n_steps, epsilon, update_stats
        self.variable_filter = variable_filter
        self.vectors, self.sigmas = Dict(), Dict()
        for path, variable in self._chosen():
            key = params_key(rngs, self, _name(path))
            u = random.normal(key, (1, variable.shape[-1]), variable.dtype)
            self.vectors[_name(path)] = BatchStat(u)
            self.sigmas[_name(path)] = BatchStat(jnp.ones((), variable.dtype))

    def _chosen(self) -> list[tuple[Any, Variable[Any]]]:
        takes = to_predicate(self.variable_filter)
        found = [(p, x) for p, x in iter_variables(self.layer_instance) if takes(p, x)]
        return [(path, x) for path, x in found if x.ndim > 1]

    def __call__(self, *args: Any, update_stats: bool | None = None, **kwargs: Any) -> Any:
        """Call the layer with normalized kernels."""
        keeps = self.update_stats if update_stats is None else update_stats
        values = {}
        for path, variable in self._chosen():
            value = variable.value
            matrix = jnp.reshape(value, (-1, value.shape[-1]))
            u = self.vectors[_name(path)].value
            v = u
            for _ in range(self.n_steps):
                v = _unit(u @ matrix.T, None, self.epsilon)
                u = _unit(v @ matrix, None, self.epsilon)
            u, v = lax.stop_gradient(u), lax.stop_gradient(v)
            sigma = (v @ matrix @ u.T)[0, 0]
            if keeps:
                self.vectors[_name(path)].value = u
                self.sigmas[_name(path)].value = sigma
            safe = jnp.where(sigma != 0, sigma, jnp.ones_like(sigma))
            values[id(variable)] = value / safe
        return with_values(self.layer_instance, values)(*args, **kwargs)
