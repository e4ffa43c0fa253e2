"""Layers that multiply by matrices, and look-up tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array, typeof
from bindax_nn import initializers
from bindax_nnx._paths import layer_name
from bindax_nnx.layers._common import (
    Initializer,
    Layer,
    Metadata,
    PromoteDtype,
    array_of,
    check_features,
    default_kernel_init,
    first_given,
    of_products,
    parameter,
    positive,
    promoted,
    promoted_by,
    zeros,
)
from bindax_nnx.rngs import Rngs
from bindax_nnx.variables import Param
from bindax_transforms.extend import decided

DotGeneral = Callable[..., Any] | None


class Linear(Layer):
    """``x @ kernel + bias``, over the last axis.

    Args:
        in_features: the size of the last axis of inputs.
        out_features: the size of the last axis of results.
        use_bias: whether to add a bias.
        dtype: the dtype of the computation; by default that of inputs and parameters together.
        param_dtype: the dtype of the parameters.
        precision: of the multiplication.
        kernel_init: initial values of the kernel.
        bias_init: initial values of the bias.
        kernel_metadata: metadata of the variable of the kernel.
        bias_metadata: metadata of the variable of the bias.
        dot_general: multiplies in place of ``bindax.lax.dot_general``.
        promote_dtype: converts a tuple of arrays to one dtype, ``(arrays, dtype=dtype)``.
        preferred_element_type: the dtype of the products.
        rngs: random streams; ``params`` gives a key for each parameter.

    Raises:
        ValueError: inputs have another number of features.

    >>> import numpy as np
    >>> layer = Linear(3, 4, rngs=Rngs(0))
    >>> layer(np.ones((2, 3), np.float32)).shape
    (2, 4)
    """

    in_features: int
    out_features: int
    use_bias: bool
    dtype: Any
    param_dtype: Any
    promote_dtype: PromoteDtype
    dot_general: Callable[..., Any] | None
    precision: Any

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        use_bias: bool = True,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        precision: Any = None,
        kernel_init: Initializer = default_kernel_init,
        bias_init: Initializer = zeros,
        kernel_metadata: Metadata = None,
        bias_metadata: Metadata = None,
        dot_general: DotGeneral = None,
        promote_dtype: PromoteDtype = None,
        preferred_element_type: Any = None,
        rngs: Rngs,
    ) -> None:
        shape = (in_features, out_features)
        self.kernel: Param[Any] = parameter(
            self, "kernel", kernel_init, rngs, shape, param_dtype, kernel_metadata
        )
        self.bias: Param[Any] | None = None
        if use_bias:
            bias = (out_features,)
            self.bias = parameter(self, "bias", bias_init, rngs, bias, param_dtype, bias_metadata)
        self.in_features, self.out_features = in_features, out_features
        self.use_bias, self.dtype, self.param_dtype = use_bias, dtype, param_dtype
        self.precision, self.dot_general, self.promote_dtype = precision, dot_general, promote_dtype
        self.preferred_element_type = preferred_element_type

    def __call__(self, inputs: Any, out_sharding: Any = None) -> Array:
        """Apply the layer to an array whose last axis has the features."""
        x, kernel, bias = promoted(
            inputs, self.kernel, self.bias, dtype=self.dtype, by=self.promote_dtype
        )
        check_features(self, x, kernel.shape[0])  # of which shard_map gives each device a part
        options = of_products(self.preferred_element_type, out_sharding)
        if self.dot_general is None:
            y = jnp.matmul(x, kernel, precision=self.precision, **options)
        else:
            dimensions = ((x.ndim - 1,), (0,)), ((), ())
            y = self.dot_general(x, kernel, dimensions, precision=self.precision, **options)
        return y if bias is None else y + bias


class LinearGeneral(Layer):
    """A linear layer over any axes of its inputs.

    Args:
        in_features: the sizes of the axes that are contracted.
        out_features: the sizes of the axes that come last in results.
        axis: the axes that are contracted.
        batch_axis: sizes of axes that have a kernel for each of their positions, by axis.
        use_bias: whether to add a bias.
        dtype: the dtype of the computation; by default that of inputs and parameters together.
        param_dtype: the dtype of the parameters.
        kernel_init: initial values of the kernel, as one of two axes.
        bias_init: initial values of the bias.
        precision: of the multiplication.
        kernel_metadata: metadata of the variable of the kernel.
        bias_metadata: metadata of the variable of the bias.
        promote_dtype: converts a tuple of arrays to one dtype, ``(arrays, dtype=dtype)``.
        dot_general: multiplies in place of ``bindax.lax.dot_general``.
        dot_general_cls: makes such a function, where none is given.
        preferred_element_type: the dtype of the products.
        rngs: random streams.

    >>> import numpy as np
    >>> layer = LinearGeneral((3, 4), (2, 5), axis=(-2, -1), rngs=Rngs(0))
    >>> layer(np.ones((7, 3, 4), np.float32)).shape
    (7, 2, 5)
    """

    in_features: tuple[int, ...]
    out_features: tuple[int, ...]
    use_bias: bool
    dtype: Any
    param_dtype: Any
    promote_dtype: PromoteDtype
    dot_general: Callable[..., Any] | None
    dot_general_cls: Callable[[], Callable[..., Any]] | None
    precision: Any

    def __init__(
        self,
        in_features: int | Sequence[int],
        out_features: int | Sequence[int],
        *,
        axis: int | Sequence[int] = -1,
        batch_axis: dict[int, int] | None = None,
        use_bias: bool = True,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        kernel_init: Initializer = default_kernel_init,
        bias_init: Initializer = zeros,
        precision: Any = None,
        kernel_metadata: Metadata = None,
        bias_metadata: Metadata = None,
        promote_dtype: PromoteDtype = None,
        dot_general: DotGeneral = None,
        dot_general_cls: Callable[[], Callable[..., Any]] | None = None,
        preferred_element_type: Any = None,
        rngs: Rngs,
    ) -> None:
        self.in_features, self.out_features = _sizes(in_features), _sizes(out_features)
        self.axis: tuple[int, ...] = _sizes(axis)
        if not isinstance(batch_axis or {}, Mapping):
            raise TypeError(
                f"LinearGeneral: batch_axis must map axes to sizes, as {{0: 8}} does, but it is "
                f"{batch_axis!r:.60}."
            )
        self.batch_axis: tuple[int, ...] = tuple((batch_axis or {}).keys())
        batch = tuple((batch_axis or {}).values())
        if len(self.axis) != len(self.in_features):
            raise ValueError(
                f"LinearGeneral needs a size for each contracted axis, but in_features="
                f"{self.in_features!r} and axis={self.axis!r}."
            )
        ins, outs = math.prod(self.in_features), math.prod(self.out_features)
        shape = (*batch, *self.in_features, *self.out_features)
        flat = (math.prod(batch) * ins, outs)
        self.kernel: Param[Any] = parameter(
            self, "kernel", kernel_init, rngs, shape, param_dtype, kernel_metadata, flat=flat
        )
        self.bias: Param[Any] | None = None
        if use_bias:
            shape = (*batch, *self.out_features)
            self.bias = parameter(
                *(self, "bias", bias_init, rngs, shape, param_dtype, bias_metadata),
                flat=(math.prod(batch) * outs,),
            )
        self.use_bias, self.dtype, self.param_dtype = use_bias, dtype, param_dtype
        self.precision, self.promote_dtype = precision, promote_dtype
        self.dot_general, self.dot_general_cls = dot_general, dot_general_cls
        self.preferred_element_type = preferred_element_type

    def __call__(self, inputs: Any, out_sharding: Any = None) -> Array:
        """Apply the layer."""
        shape = typeof(array_of(inputs)).shape
        axes = tuple(a % len(shape) for a in self.axis)
        batch = positive(self.batch_axis, len(shape)) if self.batch_axis else ()
        if tuple(shape[a] for a in axes) != self.in_features:
            raise ValueError(
                f"{layer_name(self)} was made for the sizes {self.in_features} along the axes "
                f"{self.axis}, but got the shape {shape}."
            )
        x, kernel, bias = promoted(
            inputs, self.kernel, self.bias, dtype=self.dtype, by=self.promote_dtype
        )
        count = len(batch)
        contracted = tuple(range(count, count + len(axes)))
        dimensions = ((axes, contracted), (batch, tuple(range(count))))
        made = None if self.dot_general_cls is None else self.dot_general_cls()
        multiply = self.dot_general or made or lax.dot_general
        options = of_products(self.preferred_element_type, out_sharding)
        y = multiply(x, kernel, dimensions, precision=self.precision, **options)
        if bias is None:
            return y
        middle = y.ndim - count - len(self.out_features)
        batch_shape = bias.shape[:count]
        wide = jnp.reshape(bias, (*batch_shape, *(1,) * middle, *self.out_features))
        return y + wide


def _sizes(given: int | Sequence[int]) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)


class Einsum(Layer):
    """An Einstein sum of inputs and a kernel, plus a bias.

    Args:
        einsum_str: the sum, with two operands; the kernel is the second. Ellipses stand for any
            further axes. None where each call gives one.
        kernel_shape: the shape of the kernel.
        bias_shape: the shape of the bias, or its size; None for none.
        dtype: the dtype of the computation; by default that of inputs and parameters together.
        param_dtype: the dtype of the parameters.
        precision: of the multiplication.
        kernel_init: initial values of the kernel.
        bias_init: initial values of the bias.
        kernel_metadata: metadata of the variable of the kernel.
        bias_metadata: metadata of the variable of the bias.
        promote_dtype: converts a tuple of arrays to one dtype, ``(arrays, dtype=dtype)``.
        einsum_op: computes the sum in place of ``bindax.numpy.einsum``.
        preferred_element_type: the dtype of the products.
        rngs: random streams.

    >>> import numpy as np
    >>> layer = Einsum("nta,hab->nthb", (8, 2, 4), (8, 4), rngs=Rngs(0))
    >>> layer(np.ones((16, 11, 2), np.float32)).shape
    (16, 11, 8, 4)
    """

    dtype: Any
    param_dtype: Any
    precision: Any
    promote_dtype: PromoteDtype
    einsum_op: Callable[..., Any]

    def __init__(
        self,
        einsum_str: str | None,
        kernel_shape: Sequence[int],
        bias_shape: int | Sequence[int] | None = None,
        *,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        precision: Any = None,
        kernel_init: Initializer = default_kernel_init,
        bias_init: Initializer = zeros,
        kernel_metadata: Metadata = None,
        bias_metadata: Metadata = None,
        promote_dtype: PromoteDtype = None,
        einsum_op: Callable[..., Any] = jnp.einsum,
        preferred_element_type: Any = None,
        rngs: Rngs,
    ) -> None:
        self.einsum_str: str | None = None if einsum_str is None else _checked_sum(einsum_str)
        self.kernel: Param[Any] = parameter(
            self, "kernel", kernel_init, rngs, kernel_shape, param_dtype, kernel_metadata
        )
        self.bias: Param[Any] | None = None
        bias_shape = None if bias_shape is None else _sizes(bias_shape)
        if bias_shape is not None:
            self.bias = parameter(
                self, "bias", bias_init, rngs, bias_shape, param_dtype, bias_metadata
            )
        self.kernel_shape: tuple[int, ...] = tuple(kernel_shape)
        self.bias_shape: tuple[int, ...] | None = bias_shape
        self.dtype, self.param_dtype, self.precision = dtype, param_dtype, precision
        self.promote_dtype, self.einsum_op = promote_dtype, einsum_op
        self.preferred_element_type = preferred_element_type

    def __call__(
        self, inputs: Any, einsum_str: str | None = None, out_sharding: Any = None
    ) -> Array:
        """Apply the layer, with another sum than its own if one is given."""
        x, kernel, bias = promoted(
            inputs, self.kernel, self.bias, dtype=self.dtype, by=self.promote_dtype
        )
        text = _checked_sum(first_given("einsum_str", self, einsum_str, self.einsum_str))
        options = of_products(self.preferred_element_type, out_sharding)
        try:
            y = self.einsum_op(text, x, kernel, precision=self.precision, **options)
        except ValueError as error:
            raise ValueError(
                f"{layer_name(self)} was made for {text!r} with a kernel of the shape "
                f"{kernel.shape}, but got the shape {x.shape}: {error}"
            ) from None
        if bias is None:
            return y
        wide = jnp.reshape(bias, _sizes_of_bias(text, x.shape, kernel.shape))
        return y + wide


def _checked_sum(text: Any) -> str:
    """An Einstein sum of two operands, without spaces."""
    if not isinstance(text, str):
        raise TypeError(f"Einsum: einsum_str must be a text, but it is {text!r:.60}.")
    found = text.replace(" ", "")
    if found.count(",") != 1 or found.count("->") != 1 or found.index(",") > found.index("->"):
        raise ValueError(
            f"Einsum needs two operands and a result, as in 'ab,bc->ac', but got {text!r}."
        )
    return found


def _sizes_of_bias(
    text: str, of_input: tuple[int, ...], of_kernel: tuple[int, ...]
) -> tuple[int, ...]:
    """For each axis of the result of a sum, the size of the kernel's axis of that name, or 1."""
    left, result = text.split("->")
    operands = left.split(",")
    ranks = [
        len(shape) - len(names.replace("...", ""))
        for names, shape in zip(operands, (of_input, of_kernel), strict=True)
    ]
    # The axes that an ellipsis stands for are counted from the last one.
    marks = [chr(ord("0") + i) for i in reversed(range(max(ranks)))]
    named = operands[1].replace("...", "".join(marks[len(marks) - ranks[1] :]))
    sizes = dict(zip(named, of_kernel, strict=True))
    return tuple([sizes.get(name, 1) for name in result.replace("...", "".join(marks))])


class Embed(Layer):
    """A table of vectors, looked up by integers.

    Args:
        num_embeddings: how many vectors there are.
        features: their size.
        dtype: the dtype of results; by default that of the table.
        param_dtype: the dtype of the table.
        embedding_init: initial values.
        embedding_metadata: metadata of the variable of the table.
        promote_dtype: converts a tuple of arrays to one dtype, ``(arrays, dtype=dtype)``.
        rngs: random streams.

    >>> import numpy as np
    >>> table = Embed(10, 4, rngs=Rngs(0))
    >>> table(np.array([[1, 2]])).shape
    (1, 2, 4)
    """

    num_embeddings: int
    features: int
    dtype: Any
    param_dtype: Any
    promote_dtype: PromoteDtype

    def __init__(
        self,
        num_embeddings: int,
        features: int,
        *,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        embedding_init: Initializer = initializers.variance_scaling(  # noqa: B008 -- immutable
            1.0, "fan_in", "normal", out_axis=0
        ),
        embedding_metadata: Metadata = None,
        promote_dtype: PromoteDtype = None,
        rngs: Rngs,
    ) -> None:
        shape = (num_embeddings, features)
        self.embedding: Param[Any] = parameter(
            self, "embedding", embedding_init, rngs, shape, param_dtype, embedding_metadata
        )
        self.num_embeddings, self.features = num_embeddings, features
        self.dtype, self.param_dtype, self.promote_dtype = dtype, param_dtype, promote_dtype

    def __call__(self, inputs: Any, out_sharding: Any = None) -> Array:
        """The vectors of an array of integers.

        Raises:
            TypeError: the array is not of integers.
        """
        indices = array_of(inputs)
        if np.dtype(typeof(indices).dtype).kind not in "iu":
            raise TypeError(
                f"{layer_name(self)} looks up integers, but got an array of "
                f"{typeof(indices).dtype.name}."
            )
        (table,) = promoted_by(self, self.embedding)
        if out_sharding is None:
            return jnp.take(table, indices, axis=0)
        return decided(jnp.take, out_sharding, (table, indices), {"axis": 0})

    def attend(self, query: Any, out_sharding: Any = None) -> Any:
        """The inner products of vectors with those of the table."""
        query, table = promoted_by(self, query, self.embedding)
        return jnp.matmul(query, table.T, out_sharding=out_sharding)
