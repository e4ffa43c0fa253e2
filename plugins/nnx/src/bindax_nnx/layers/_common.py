"""The common parts of layers: dtypes, parameters and checks of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import is_differentiable, typeof
from bindax_nn import initializers
from bindax_nnx._paths import layer_name
from bindax_nnx.module import Module
from bindax_nnx.rngs import Rngs, stream_for
from bindax_nnx.variables import Param, Variable, VariableMetadata

Initializer = Callable[..., Any]
Metadata = Mapping[str, Any] | None

PromoteDtype = Callable[..., Any] | None
"""Converts a tuple of arrays to one dtype; None for ``promoted``."""

default_kernel_init: Initializer = initializers.lecun_normal()
zeros: Initializer = initializers.zeros
ones: Initializer = initializers.ones


class Layer(Module):
    """Base of layers, with defaults of the parameters that files of earlier versions lack."""

    promote_dtype: PromoteDtype = None
    preferred_element_type: Any = None
    dot_general: Callable[..., Any] | None = None
    dot_general_cls: Callable[[], Callable[..., Any]] | None = None
    broadcast_rngs: Any = None
    conv_general_dilated: Callable[..., Any] = staticmethod(lax.conv_general_dilated)
    einsum_op: Callable[..., Any] = staticmethod(jnp.einsum)


def array_of(x: Any) -> Any:
    """The value of a variable; anything else as it is."""
    return x.value if isinstance(x, Variable) else x


def promoted(*arrays: Any, dtype: Any = None, by: PromoteDtype = None) -> tuple[Any, ...]:
    """Arrays and variables in a floating dtype, or that which they promote to; None stays.

    A function that users give decides in place of this, from the tuple of arrays.
    """
    values = [array_of(x) for x in arrays]
    if by is not None:
        return tuple(by(tuple(values), dtype=dtype))
    common = dtype if dtype is not None else common_dtype(*values)
    return tuple([None if x is None else _converted(x, common) for x in values])


def promoted_by(layer: Any, *arrays: Any) -> tuple[Any, ...]:
    """Arrays and variables in the dtype of a layer, or as its ``promote_dtype`` has them."""
    return promoted(*arrays, dtype=layer.dtype, by=layer.promote_dtype)


def _converted(x: Any, dtype: Any) -> Any:
    aval = getattr(x, "aval", None)
    if aval is not None and aval.dtype == dtype and not aval.weak_type:
        return x  # the usual case, for the speed of tracing
    return jnp.asarray(x, dtype=dtype)


def common_dtype(*arrays: Any) -> Any:
    """The floating dtype that arrays promote to."""
    given = [x for x in arrays if x is not None]
    avals = [typeof(x) for x in given]
    dtype = avals[0].dtype
    if any(aval.dtype != dtype or aval.weak_type for aval in avals):
        dtype = jnp.result_type(*given)
    return dtype if is_differentiable(dtype) else jnp.promote_types(dtype, np.float32)


def parameter(
    layer: Any,
    name: str,
    init: Initializer,
    rngs: Any,
    shape: Sequence[int],
    dtype: Any,
    metadata: Metadata = None,
    *,
    flat: Sequence[int] | None = None,
) -> Param[Any]:
    """A parameter with initial values of a new key of the stream ``params``.

    The initializer makes the shape ``flat``, if that is given, with as many elements.
    """
    value = init(params_key(rngs, layer, name), tuple(shape if flat is None else flat), dtype)
    given = {**(metadata or {})}
    if isinstance(value, VariableMetadata):
        given, value = {**value.metadata, **given}, value.raw_value
    return Param(value if flat is None else jnp.reshape(value, tuple(shape)), **given)


def params_key(rngs: Any, layer: Any, name: str) -> Any:
    """The next key of the stream ``params``, for an attribute of a layer."""
    if not (isinstance(rngs, Rngs) or hasattr(rngs, "params")):
        raise TypeError(f"rngs must be an nnx.Rngs, such as nnx.Rngs(0), but it is {rngs!r:.60}.")
    return stream_for(rngs, "params", f"{layer_name(layer)}.{name}")()


def check_features(layer: Any, x: Any, expected: int, axis: int = -1) -> None:
    """Raise unless an input has the features that a layer was made for."""
    shape = typeof(array_of(x)).shape
    if not shape or shape[axis] != expected:
        raise ValueError(
            f"{layer_name(layer)} was made for inputs with {expected} features along axis "
            f"{axis}, but got the shape {shape}."
        )


def check_boolean(layer: str, name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{layer}: {name} must be True or False, but it is {value!r:.60}.")


def check_attention(query: Any, key: Any, value: Any) -> None:
    """Raise unless queries, keys and values fit."""
    if not len(query) == len(key) == len(value):
        wrong = "query, key and value must have the same rank"
    elif not query[:-3] == key[:-3] == value[:-3]:
        wrong = "batch dims of query, key and value must be the same"
    elif key[-3] != value[-3]:
        wrong = "the lengths must match of key and value"
    elif query[-1] != key[-1]:
        wrong = "the depths must match of query and key"
    elif key[-2] != value[-2]:
        wrong = "key and value must have as many heads"
    elif query[-2] % key[-2]:
        wrong = "the number of heads of query must be a multiple of that of key"
    else:
        return
    raise ValueError(
        f"dot_product_attention: {wrong}, but the shapes [..., length, heads, depth] are {query}, "
        f"{key} and {value}."
    )


def check_dropout(rate: float, key: Any, deterministic: bool) -> None:
    """Raise where weights cannot be dropped as it is asked for."""
    if not 0 <= rate < 1:
        raise ValueError(
            f"dot_product_attention: dropout_rate is the probability with which a weight is "
            f"dropped; it must be at least 0 and below 1, but it is {rate!r}."
        )
    if rate > 0 and not deterministic and key is None:
        raise ValueError(
            f"dot_product_attention drops weights with the probability {rate}, so it needs a "
            f"random key: pass dropout_rng, or deterministic=True."
        )


def positive(axes: int | Sequence[int], ndim: int) -> tuple[int, ...]:
    """Axes counted from the front, sorted."""
    given = (axes,) if isinstance(axes, int) else tuple(axes)
    return tuple(sorted({axis % ndim for axis in given}))


def of_products(dtype: Any, out_sharding: Any = None) -> dict[str, Any]:
    """The options of products for the dtype of their results, or how they lie, if it is given.

    Functions that a user gives for products need not know of either.
    """
    given = {"preferred_element_type": dtype, "out_sharding": out_sharding}
    return {name: value for name, value in given.items() if value is not None}


def first_given(name: str, layer: Any, *values: Any) -> Any:
    """The first value that is not None, or an error when all are."""
    for value in values:
        if value is not None:
            return value
    raise ValueError(
        f"{layer_name(layer)} needs {name}: pass it when the layer is made or called, or use "
        f"train() or eval() of the model."
    )
