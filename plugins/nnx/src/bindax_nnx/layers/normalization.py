"""Layers that normalize by statistics of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array, typeof
from bindax_nnx._paths import layer_name
from bindax_nnx.layers._common import (
    Initializer,
    Layer,
    PromoteDtype,
    array_of,
    check_features,
    common_dtype,
    first_given,
    ones,
    parameter,
    positive,
    promoted_by,
    zeros,
)
from bindax_nnx.rngs import Rngs
from bindax_nnx.variables import BatchStat, Param, Variable

Axes = int | Sequence[int]


def moments(
    x: Any,
    axes: tuple[int, ...],
    *,
    fast: bool = True,
    centered: bool = True,
    mask: Any = None,
    combine: Callable[[Any], Any] = lambda x: x,
) -> tuple[Any, Any]:
    """The mean and variance along axes of what a mask leaves, computed in 32 bits at least.

    A fast variance is the difference of two means, in one pass. ``combine`` makes means those over
    all of several devices or elements.
    """
    x = jnp.asarray(x, dtype=jnp.promote_types(x.dtype, np.float32))

    def mean(values: Any) -> Any:
        return combine(jnp.mean(values, axis=axes, where=mask))

    squares = jnp.square(jnp.abs(x))
    if not centered:
        variance = mean(squares)
        return jnp.zeros_like(variance), variance
    center = mean(x)
    if fast:
        variance = mean(squares) - jnp.square(jnp.abs(center))
        # Rounding can make it negative, which its derivatives must not notice.
        return center, variance - lax.stop_gradient(jnp.minimum(variance, 0.0))
    return center, mean(jnp.square(jnp.abs(x - jnp.expand_dims(center, axes))))


def normalized(
    x: Any,
    mean: Any,
    variance: Any,
    scale: Any,
    bias: Any,
    reduced: tuple[int, ...],
    features: tuple[int, ...],
    epsilon: float,
    dtype: Any,
) -> Any:
    """An array with a mean subtracted, divided by a deviation, scaled and shifted."""
    shape = [1 if i in reduced else n for i, n in enumerate(x.shape)]
    wide = [n if i in features else 1 for i, n in enumerate(x.shape)]
    factor = lax.rsqrt(jnp.reshape(variance, shape) + epsilon)
    if scale is not None:
        factor = factor * jnp.reshape(scale, wide)
    y = (x - jnp.reshape(mean, shape)) * factor
    if bias is not None:
        y = y + jnp.reshape(bias, wide)
    wanted = dtype if dtype is not None else common_dtype(x, scale, bias)
    return y.astype(wanted)


class _Affine(Layer):
    """The parameters and settings that the layers of this file have in common."""

    _centered = True
    use_fast_variance: bool

    def _make_parameters(self, rngs: Rngs, shape: Sequence[int], options: dict[str, Any]) -> None:
        self.axis_name: Any = options.pop("axis_name", None)
        groups = options.pop("axis_index_groups", None)
        self.axis_index_groups: tuple[tuple[Any, ...], ...] | None = (
            groups if groups is None else tuple(map(tuple, groups))
        )
        self.param_dtype: Any = options.pop("param_dtype", np.float32)
        self.dtype: Any = options.pop("dtype", None)
        self.promote_dtype: PromoteDtype = options.pop("promote_dtype", None)
        use_scale, use_bias = options.pop("use_scale", True), options.pop("use_bias", True)
        scale_init: Initializer = options.pop("scale_init", ones)
        bias_init: Initializer = options.pop("bias_init", zeros)
        of_scale, of_bias = options.pop("scale_metadata", None), options.pop("bias_metadata", None)
        if options:
            raise TypeError(
                f"{type(self).__name__} takes no {sorted(options)}, but use_scale, use_bias, "
                f"scale_init, bias_init, scale_metadata, bias_metadata, dtype, param_dtype, "
                f"promote_dtype, axis_name and axis_index_groups."
            )
        dtype = self.param_dtype
        self.scale: Param[Any] | None = None
        self.bias: Param[Any] | None = None
        if use_scale:
            self.scale = parameter(self, "scale", scale_init, rngs, shape, dtype, of_scale)
        if use_bias:
            self.bias = parameter(self, "bias", bias_init, rngs, shape, dtype, of_bias)

    def _moments(self, x: Any, axes: tuple[int, ...], mask: Any) -> tuple[Any, Any]:
        return moments(
            x,
            axes,
            fast=self.use_fast_variance,
            centered=self._centered,
            mask=mask,
            combine=self._combined,
        )

    def _combined(self, mean: Any) -> Any:
        if self.axis_name is None:
            return mean
        try:
            collectives = import_module("bindax_parallel")
        except ImportError:
            raise ImportError(
                f"{type(self).__name__} with axis_name={self.axis_name!r} takes means along a "
                f"named axis, which needs the collectives of bindax-parallel; install it, or leave "
                f"out axis_name."
            ) from None
        return collectives.pmean(mean, self.axis_name, axis_index_groups=self.axis_index_groups)


def _gather(variable: Variable[Any], new: Any, kept: Any) -> None:
    """Move an average towards a new statistic; a mutable array holds no value with a derivative."""
    average = kept * variable.value + (1 - kept) * new
    variable.value = lax.stop_gradient(average) if variable.token.holds_reference else average


class BatchNorm(_Affine):
    """Normalizes each feature over the batch (Ioffe and Szegedy, 2015).

    Statistics of batches are gathered in the variables ``mean`` and ``var``.

    Args:
        num_features: the number of features.
        use_running_average: whether to normalize by the gathered statistics.
        axis: the axis of the features.
        momentum: how much of the gathered statistics is kept at each call.
        epsilon: added to the variance.
        axis_name: the name of an axis of ``vmap`` over which statistics are taken, too.
        use_fast_variance: whether to take the variance in one pass.
        rngs: random streams.
        options: ``use_scale``, ``use_bias``, ``scale_init``, ``bias_init``, ``scale_metadata``,
            ``bias_metadata``, ``dtype``, ``param_dtype``, ``promote_dtype``, and
            ``axis_index_groups``, the groups of positions on the named axis that have statistics of
            their own.

    >>> import numpy as np
    >>> layer = BatchNorm(2, momentum=0.5, rngs=Rngs(0))
    >>> layer(np.array([[0.0, 1.0], [2.0, 1.0]], np.float32)).shape
    (2, 2)
    >>> layer.mean.value
    Array([0.5, 0.5], dtype=float32)
    """

    num_features: int
    use_running_average: bool | None
    axis: int
    momentum: float
    epsilon: float

    def __init__(
        self,
        num_features: int,
        *,
        use_running_average: bool | None = False,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-5,
        axis_name: str | None = None,
        use_fast_variance: bool = True,
        rngs: Rngs,
        **options: Any,
    ) -> None:
        self.mean: BatchStat[Any] = BatchStat(jnp.zeros((num_features,), np.float32))
        self.var: BatchStat[Any] = BatchStat(jnp.ones((num_features,), np.float32))
        self._make_parameters(rngs, (num_features,), {**options, "axis_name": axis_name})
        self.num_features, self.use_running_average = num_features, use_running_average
        self.axis, self.momentum, self.epsilon = axis, momentum, epsilon
        self.use_fast_variance = use_fast_variance

    def __call__(
        self, x: Any, use_running_average: bool | None = None, *, mask: Any = None
    ) -> Array:
        """Normalize an array, and gather its statistics unless those gathered are used."""
        check_features(self, x, self.num_features, self.axis)
        gathered = first_given(
            "use_running_average", self, use_running_average, self.use_running_average
        )
        x = array_of(x)
        features = positive(self.axis, len(typeof(x).shape))
        reduced = tuple(i for i in range(len(typeof(x).shape)) if i not in features)
        x, mean, var, scale, bias = promoted_by(self, x, self.mean, self.var, self.scale, self.bias)
        if not gathered:
            mean, var = self._moments(x, reduced, mask)
            _gather(self.mean, mean, self.momentum)
            _gather(self.var, var, self.momentum)
        return normalized(x, mean, var, scale, bias, reduced, features, self.epsilon, self.dtype)

    def set_view(self, use_running_average: bool | None = None) -> None:
        """Set what ``nnx.view`` was given.

        Args:
            use_running_average: whether to normalize by the gathered statistics.
        """
        if use_running_average is not None:
            self.use_running_average = use_running_average


class LayerNorm(_Affine):
    """Normalizes over the features of each element (Ba et al., 2016).

    Args:
        num_features: the number of features, or the sizes of several axes.
        epsilon: added to the variance.
        reduction_axes: the axes over which statistics are taken.
        feature_axes: the axes along which each position has its own scale and bias.
        use_fast_variance: whether to take the variance in one pass.
        rngs: random streams.
        options: as for ``BatchNorm``, and ``axis_name``.

    >>> import numpy as np
    >>> layer = LayerNorm(2, rngs=Rngs(0))
    >>> layer(np.array([[0.0, 2.0]], np.float32)).round(3)
    Array([[-1.,  1.]], dtype=float32)
    """

    epsilon: float
    use_fast_variance: bool
    reduction_axes: Axes
    feature_axes: Axes

    def __init__(
        self,
        num_features: Axes,
        *,
        epsilon: float = 1e-6,
        reduction_axes: Axes = -1,
        feature_axes: Axes = -1,
        use_fast_variance: bool = True,
        rngs: Rngs,
        **options: Any,
    ) -> None:
        sizes = (num_features,) if isinstance(num_features, int) else tuple(num_features)
        self._make_parameters(rngs, sizes, options)
        self.num_features = sizes
        self.epsilon, self.use_fast_variance = epsilon, use_fast_variance
        self.reduction_axes, self.feature_axes = reduction_axes, feature_axes

    def __call__(self, x: Any, *, mask: Any = None) -> Array:
        """Normalize an array."""
        x, scale, bias = promoted_by(self, x, self.scale, self.bias)
        reduced, features = positive(self.reduction_axes, x.ndim), self._features(x)
        if tuple(x.shape[a] for a in features) != self.num_features:
            raise ValueError(
                f"{layer_name(self)} was made for the sizes {self.num_features} along the axes "
                f"{self.feature_axes}, but got the shape {x.shape}."
            )
        mean, var = self._moments(x, reduced, mask)
        return normalized(x, mean, var, scale, bias, reduced, features, self.epsilon, self.dtype)

    def _features(self, x: Any) -> tuple[int, ...]:
        return positive(self.feature_axes, x.ndim)


class RMSNorm(LayerNorm):
    """Divides by the root mean square of the features (Zhang and Sennrich, 2019).

    The arguments are those of ``LayerNorm``; there is no bias.

    >>> import numpy as np
    >>> layer = RMSNorm(2, rngs=Rngs(0))
    >>> layer(np.array([[3.0, 3.0]], np.float32)).round(3)
    Array([[1., 1.]], dtype=float32)
    """

    _centered = False

    def __init__(self, num_features: Axes, *, rngs: Rngs, **options: Any) -> None:
        super().__init__(num_features, rngs=rngs, use_bias=False, **options)

    def __call__(self, x: Any, mask: Any = None) -> Array:
        """Normalize an array."""
        return super().__call__(x, mask=mask)


class InstanceNorm(_Affine):
    """Normalizes each feature of each element (Ulyanov et al., 2016).

    Args:
        num_features: the number of features.
        epsilon: added to the variance.
        feature_axes: the axis of the features; the first one is that of the batch.
        use_fast_variance: whether to take the variance in one pass.
        rngs: random streams.
        options: as for ``LayerNorm``.

    >>> import numpy as np
    >>> from bindax_nnx.rngs import Rngs
    >>> layer = InstanceNorm(4, rngs=Rngs(0))
    >>> layer(np.ones((2, 3, 4), np.float32)).shape
    (2, 3, 4)
    """

    num_features: int
    epsilon: float
    feature_axes: Axes
    use_fast_variance: bool

    def __init__(
        self,
        num_features: int,
        *,
        epsilon: float = 1e-6,
        feature_axes: Axes = -1,
        use_fast_variance: bool = True,
        rngs: Rngs,
        **options: Any,
    ) -> None:
        self._make_parameters(rngs, (num_features,), options)
        self.num_features, self.epsilon = num_features, epsilon
        self.feature_axes, self.use_fast_variance = feature_axes, use_fast_variance

    def __call__(self, x: Any, *, mask: Any = None) -> Array:
        """Normalize an array."""
        x, scale, bias = promoted_by(self, x, self.scale, self.bias)
        features = positive(self.feature_axes, x.ndim)
        if 0 in features:
            raise ValueError(
                f"{layer_name(self)}: axis 0 is that of the batch, not of the features."
            )
        check_features(self, x, self.num_features, features[-1])
        reduced = tuple(i for i in range(1, x.ndim) if i not in features)
        mean, var = self._moments(x, reduced, mask)
        return normalized(x, mean, var, scale, bias, reduced, features, self.epsilon, self.dtype)


class GroupNorm(_Affine):
    """Normalizes groups of features of each element (Wu and He, 2018).

    Args:
        num_features: the number of features, which are the last axis.
        num_groups: how many groups they are divided in.
        group_size: how many features a group has, instead.
        reduction_axes: the axes over which statistics are taken, that of the features the last of
            them; by default all but the first one.
        epsilon: added to the variance.
        use_fast_variance: whether to take the variance in one pass.
        rngs: random streams.
        options: as for ``LayerNorm``.

    Raises:
        ValueError: the features cannot be divided so.

    >>> import numpy as np
    >>> from bindax_nnx.rngs import Rngs
    >>> layer = GroupNorm(4, num_groups=2, rngs=Rngs(0))
    >>> layer(np.ones((2, 3, 4), np.float32)).shape
    (2, 3, 4)
    """

    num_features: int
    num_groups: int
    epsilon: float
    reduction_axes: Axes | None
    use_fast_variance: bool

    def __init__(
        self,
        num_features: int,
        num_groups: int | None = 32,
        group_size: int | None = None,
        *,
        epsilon: float = 1e-6,
        reduction_axes: Axes | None = None,
        use_fast_variance: bool = True,
        rngs: Rngs,
        **options: Any,
    ) -> None:
        if (num_groups is None) == (group_size is None):
            raise ValueError(
                "GroupNorm needs one of num_groups and group_size; pass None for the other."
            )
        groups = num_groups if group_size is None else num_features // group_size
        if not groups or num_features % groups or (group_size and num_features % group_size):
            raise ValueError(
                f"GroupNorm cannot divide {num_features} features in groups with num_groups="
                f"{num_groups}, group_size={group_size}."
            )
        self._make_parameters(rngs, (num_features,), options)
        self.num_features, self.num_groups, self.epsilon = num_features, groups, epsilon
        self.reduction_axes, self.use_fast_variance = reduction_axes, use_fast_variance

    def __call__(self, x: Any, *, mask: Any = None) -> Array:
        """Normalize an array of batch, other axes and features."""
        check_features(self, x, self.num_features)
        x, scale, bias = promoted_by(self, x, self.scale, self.bias)
        shape = (*x.shape[:-1], self.num_groups, self.num_features // self.num_groups)
        grouped = jnp.reshape(x, shape)
        given = range(1, x.ndim) if self.reduction_axes is None else self.reduction_axes
        axes = positive(given, x.ndim)
        if axes[-1:] != (x.ndim - 1,):
            raise ValueError(
                f"{layer_name(self)} takes statistics of groups of features, so its reduction_axes "
                f"must have the last axis, but they are {self.reduction_axes!r}."
            )
        reduced = (*axes[:-1], len(shape) - 1)
        if mask is not None:
            mask = jnp.reshape(jnp.broadcast_to(mask, x.shape), shape)
        mean, var = self._moments(grouped, reduced, mask)
        size = shape[-1]
        mean, var = jnp.repeat(mean, size, axis=-1), jnp.repeat(var, size, axis=-1)
        return normalized(
            x, mean, var, scale, bias, axes[:-1], (x.ndim - 1,), self.epsilon, self.dtype
        )
