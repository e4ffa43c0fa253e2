"""Attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_nn as nn
import bindax_numpy as jnp
import bindax_random as random
from bindax_nnx._paths import layer_name
from bindax_nnx.layers._common import (
    Initializer,
    Metadata,
    PromoteDtype,
    check_attention,
    check_dropout,
    check_features,
    default_kernel_init,
    first_given,
    promoted,
    zeros,
)
from bindax_nnx.layers.linear import LinearGeneral
from bindax_nnx.layers.masks import combine_masks
from bindax_nnx.layers.normalization import LayerNorm
from bindax_nnx.module import Module
from bindax_nnx.rngs import Rngs, RngStream, own_stream, stream_for
from bindax_nnx.variables import Cache, Intermediate


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    broadcast_dropout: bool = True,
    dropout_rng: Any = None,
    dropout_rate: float = 0.0,
    deterministic: bool = False,
    dtype: Any = None,
    precision: Any = None,
    module: Module | None = None,
    is_causal: bool = False,
    promote_dtype: PromoteDtype = None,
) -> Any:
    """Mix values with weights from inner products of queries and keys (Vaswani et al., 2017).

    Args:
        query: of the shape ``(..., queries, heads, features)``.
        key: of the shape ``(..., keys, heads, features)``; a head may serve several of the query.
        value: of the shape ``(..., keys, heads, features)``.
        bias: added to the inner products, ``(..., heads, queries, keys)``.
        mask: where attention is possible, of the same shape.
        broadcast_dropout: whether weights are dropped for all of a batch together.
        dropout_rng: a random key.
        dropout_rate: the probability with which a weight is dropped.
        deterministic: whether no weight is dropped.
        dtype: the dtype of the computation.
        precision: of the multiplications.
        module: where to record the weights, as ``attention_weights``.
        is_causal: whether each query attends only to its own position and those before it.
        promote_dtype: converts a tuple of arrays to one dtype, ``(arrays, dtype=dtype)``.

    Raises:
        ValueError: the shapes do not fit, ``dropout_rate`` is not at least 0 and below 1, or
            weights are to be dropped without ``dropout_rng``.

    >>> x = np.ones((1, 3, 2, 4), np.float32)
    >>> dot_product_attention(x, x, x).shape
    (1, 3, 2, 4)
    """
    if query is None or key is None or value is None:
        raise TypeError("dot_product_attention: query, key and value must be arrays, not None.")
    check_dropout(dropout_rate, dropout_rng, deterministic)
    query, key, value = promoted(query, key, value, dtype=dtype, by=promote_dtype)
    check_attention(query.shape, key.shape, value.shape)
    heads = query.shape[-2], key.shape[-2]
    if heads[0] != heads[1]:
        key, value = (jnp.repeat(x, heads[0] // heads[1], axis=-2) for x in (key, value))
    if is_causal:
        causal = jnp.tri(query.shape[-3], key.shape[-3], dtype=np.bool_)
        mask = causal if mask is None else jnp.logical_and(mask, causal)
    weights = _attention_weights(query, key, bias, mask, precision)
    if module is not None:
        module.sow(Intermediate, "attention_weights", weights)
    if not deterministic and dropout_rate > 0:
        weights = _with_dropout(weights, dropout_rng, dropout_rate, broadcast_dropout)
    return jnp.einsum("...hqk,...khd->...qhd", weights, value, precision=precision)


def _attention_weights(query: Any, key: Any, bias: Any, mask: Any, precision: Any) -> Any:
    """The weights ``(..., heads, queries, keys)``, in the dtype of the queries.

    Unlike ``bindax_nn.dot_product_attention``, which hides its weights and has one axis of
    batches, this has any number of them, and leaves the weights to be recorded and dropped.
    """
    root = jnp.sqrt(query.shape[-1]).astype(query.dtype)
    scores = jnp.einsum("...qhd,...khd->...hqk", query / root, key, precision=precision)
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        least = jnp.asarray(jnp.finfo(scores.dtype).min, scores.dtype)
        scores = jnp.where(mask, scores, least)
    return nn.softmax(scores).astype(query.dtype)


def _with_dropout(weights: Any, key: Any, rate: float, same_for_batch: bool) -> Any:
    """Drop weights at random, and scale the rest up to keep the mean."""
    shape = weights.shape
    if same_for_batch:
        shape = (*(1,) * (weights.ndim - 2), *shape[-2:])
    keep = 1 - rate
    kept = random.bernoulli(key, keep, shape)
    return weights * (kept.astype(weights.dtype) / keep)


def _of_parameters(
    inits: tuple[Initializer, Initializer], metadata: tuple[Metadata, Metadata]
) -> dict[str, Any]:
    """The options of a linear layer for its kernel and bias."""
    return {
        "kernel_init": inits[0],
        "bias_init": inits[1],
        "kernel_metadata": metadata[0],
        "bias_metadata": metadata[1],
    }


def _of_products(promote_dtype: PromoteDtype, dot_general: Any, made_by: Any) -> dict[str, Any]:
    """The options of a linear layer for its multiplication."""
    return {
        "promote_dtype": promote_dtype,
        "dot_general": dot_general,
        "dot_general_cls": made_by,
    }


class MultiHeadAttention(Module):
    """Attention of several heads, between linear layers.

    Args:
        num_heads: how many heads there are.
        in_features: the number of features of queries.
        qkv_features: the number of features of all heads together; by default as many.
        out_features: the number of features of results; by default as many.
        num_kv_heads: how many heads keys and values have, each for as many heads of the queries;
            by default as many as these.
        in_kv_features: the number of features of keys and values; by default as many.
        dtype: the dtype of the computation.
        param_dtype: the dtype of the parameters.
        broadcast_dropout: whether weights are dropped for all of a batch together.
        dropout_rate: the probability with which a weight is dropped.
        deterministic: whether no weight is dropped; can be given in a call.
        precision: of the multiplications.
        kernel_init: initial values of the kernels.
        bias_init: initial values of the biases.
        use_bias: whether the linear layers add biases.
        attention_fn: computes the attention.
        decode: whether keys and values come one at a time and are kept; can be given in a call.
        normalize_qk: whether queries and keys are normalized.
        out_kernel_init: initial values of the kernel of the last layer; as the others by default.
        out_bias_init: initial values of its bias, likewise.
        kernel_metadata: metadata of the kernels.
        out_kernel_metadata: metadata of the kernel of the last layer.
        bias_metadata: metadata of the biases.
        out_bias_metadata: metadata of the bias of the last layer.
        query_ln_scale_metadata: metadata of the scale that normalizes queries.
        key_ln_scale_metadata: metadata of the scale that normalizes keys.
        qkv_promote_dtype: converts a tuple of arrays of the first layers to one dtype.
        out_promote_dtype: likewise, of the last layer.
        ln_promote_dtype: likewise, of the layers that normalize.
        qkv_dot_general: multiplies in the first layers, in place of ``bindax.lax.dot_general``.
        out_dot_general: likewise, in the last layer.
        qkv_dot_general_cls: makes such a function for the first layers, where none is given.
        out_dot_general_cls: likewise, for the last layer.
        keep_rngs: whether the layer keeps a random stream of its own.
        rngs: random streams, of which the layer makes one of its own if weights are dropped.

    Raises:
        ValueError: the features cannot be divided by the heads.

    >>> import numpy as np
    >>> layer = MultiHeadAttention(2, 4, rngs=Rngs(0))
    >>> layer(np.ones((1, 3, 4), np.float32), decode=False).shape
    (1, 3, 4)
    """

    num_heads: int
    num_kv_heads: int
    head_dim: int
    dtype: Any
    param_dtype: Any
    precision: Any
    broadcast_dropout: bool
    dropout_rate: float
    attention_fn: Callable[..., Any]
    query_ln: LayerNorm | None
    key_ln: LayerNorm | None
    out: LinearGeneral
    rngs: RngStream | None

    def __init__(
        self,
        num_heads: int,
        in_features: int,
        qkv_features: int | None = None,
        out_features: int | None = None,
        num_kv_heads: int | None = None,
        in_kv_features: int | None = None,
        *,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        broadcast_dropout: bool = True,
        dropout_rate: float = 0.0,
        deterministic: bool | None = None,
        precision: Any = None,
        kernel_init: Initializer = default_kernel_init,
        bias_init: Initializer = zeros,
        use_bias: bool = True,
        attention_fn: Callable[..., Any] = dot_product_attention,
        decode: bool | None = None,
        normalize_qk: bool = False,
        out_kernel_init: Initializer | None = None,
        out_bias_init: Initializer | None = None,
        kernel_metadata: Metadata = None,
        out_kernel_metadata: Metadata = None,
        bias_metadata: Metadata = None,
        out_bias_metadata: Metadata = None,
        query_ln_scale_metadata: Metadata = None,
        key_ln_scale_metadata: Metadata = None,
        qkv_promote_dtype: PromoteDtype = None,
        out_promote_dtype: PromoteDtype = None,
        ln_promote_dtype: PromoteDtype = None,
        qkv_dot_general: Callable[..., Any] | None = None,
        out_dot_general: Callable[..., Any] | None = None,
        qkv_dot_general_cls: Callable[[], Callable[..., Any]] | None = None,
        out_dot_general_cls: Callable[[], Callable[..., Any]] | None = None,
        keep_rngs: bool = True,
        rngs: Rngs,
    ) -> None:
        self.num_heads = num_heads
        self.num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        self.in_features = in_features
        self.in_kv_features: int = in_features if in_kv_features is None else in_kv_features
        self.out_features: int = in_features if out_features is None else out_features
        self.head_dim = self._size_of_heads(in_features if qkv_features is None else qkv_features)
        self.dtype, self.param_dtype, self.precision = dtype, param_dtype, precision
        self.broadcast_dropout, self.dropout_rate = broadcast_dropout, dropout_rate
        self.deterministic, self.decode, self.attention_fn = deterministic, decode, attention_fn
        linear = self._linear(use_bias, rngs)
        inits, metadata = (kernel_init, bias_init), (kernel_metadata, bias_metadata)
        first = _of_products(qkv_promote_dtype, qkv_dot_general, qkv_dot_general_cls)
        self._make_inner_layers(partial(linear, **_of_parameters(inits, metadata), **first))
        scales = (query_ln_scale_metadata, key_ln_scale_metadata) if normalize_qk else None
        self.query_ln, self.key_ln = self._norms(scales, ln_promote_dtype, rngs)
        inits = (out_kernel_init or kernel_init, out_bias_init or bias_init)
        last = _of_parameters(inits, (out_kernel_metadata, out_bias_metadata))
        last |= _of_products(out_promote_dtype, out_dot_general, out_dot_general_cls)
        self.out = linear((num_heads, self.head_dim), self.out_features, axis=(-2, -1), **last)
        keeps = keep_rngs and dropout_rate > 0
        self.rngs = own_stream(self, rngs, "dropout") if keeps else None

    def _size_of_heads(self, features: int) -> int:
        if features % self.num_heads or self.num_heads % self.num_kv_heads:
            raise ValueError(
                f"MultiHeadAttention cannot divide {features} features among {self.num_heads} "
                f"heads, or these among {self.num_kv_heads} heads of keys and values."
            )
        return features // self.num_heads

    def _linear(self, use_bias: bool, rngs: Rngs) -> Callable[..., LinearGeneral]:
        return partial(
            LinearGeneral,
            dtype=self.dtype,
            param_dtype=self.param_dtype,
            use_bias=use_bias,
            precision=self.precision,
            rngs=rngs,
        )

    def _norms(
        self, metadata: tuple[Metadata, Metadata] | None, promote_dtype: Any, rngs: Rngs
    ) -> tuple[LayerNorm | None, LayerNorm | None]:
        """The layers that normalize queries and keys, if there are any."""
        if metadata is None:
            return None, None
        norm = partial(LayerNorm, self.head_dim, use_bias=False, dtype=self.dtype, rngs=rngs)
        norm = partial(norm, promote_dtype=promote_dtype)
        return norm(scale_metadata=metadata[0]), norm(scale_metadata=metadata[1])

    def _make_inner_layers(self, linear: Callable[..., LinearGeneral]) -> None:
        shared = (self.num_kv_heads, self.head_dim)
        self.query: LinearGeneral = linear(self.in_features, (self.num_heads, self.head_dim))
        self.key: LinearGeneral = linear(self.in_kv_features, shared)
        self.value: LinearGeneral = linear(self.in_kv_features, shared)

    def init_cache(self, input_shape: Sequence[int], dtype: Any = np.float32) -> None:
        """Make the variables for keys and values that come one at a time.

        Args:
            input_shape: the shape of all queries together, ``(..., length, features)``.
            dtype: the dtype of the variables.
        """
        shape = (*input_shape[:-1], self.num_kv_heads, self.head_dim)
        self.cached_key: Cache[Any] = Cache(jnp.zeros(shape, dtype))
        self.cached_value: Cache[Any] = Cache(jnp.zeros(shape, dtype))
        self.cache_index: Cache[Any] = Cache(jnp.zeros((), np.int32))

    def set_view(
        self,
        deterministic: bool | None = None,
        decode: bool | None = None,
        batch_size: int | Sequence[int] | None = None,
        max_length: int | None = None,
    ) -> None:
        """Set what ``nnx.view`` was given; with a cache of its own where decoding needs one.

        Args:
            deterministic: whether no weight is dropped.
            decode: whether keys and values come one at a time and are kept.
            batch_size: the sizes of the batches of a new cache.
            max_length: how many keys and values it holds.
        """
        if deterministic is not None:
            self.deterministic = deterministic
        if decode is not None:
            self.decode = decode
        if decode and not hasattr(self, "cached_key"):
            if batch_size is None or max_length is None:
                raise TypeError(
                    f"{layer_name(self)} has no cache to decode with: give nnx.view the sizes of "
                    f"one, batch_size and max_length, or call init_cache first."
                )
            batch = (batch_size,) if isinstance(batch_size, int) else tuple(batch_size)
            self.init_cache((*batch, max_length, self.in_features), self.dtype or np.float32)

    def __call__(
        self,
        inputs_q: Any,
        inputs_k: Any = None,
        inputs_v: Any = None,
        *,
        mask: Any = None,
        deterministic: bool | None = None,
        rngs: Any = None,
        sow_weights: bool = False,
        decode: bool | None = None,
        is_causal: bool = False,
        input_positions: Any = None,
        out_sharding: Any = None,
        qkv_sharding: Any = None,
    ) -> Any:
        """Apply the layer; keys are queries, and values keys, where they are not given.

        With ``is_causal`` each query attends to its own position and those before it. The results
        of the last layer and of the first ones are laid out as ``out_sharding`` and
        ``qkv_sharding`` say. ``input_positions``, ``(..., length)``, are passed on to
        ``attention_fn``, such as ``dot_product_attention_with_rope``, if they are given.
        """
        if inputs_k is None and inputs_v is not None:
            raise ValueError(f"{layer_name(self)}: inputs_v needs inputs_k; pass them as inputs_k.")
        inputs_k = inputs_q if inputs_k is None else inputs_k
        inputs_v = inputs_k if inputs_v is None else inputs_v
        check_features(self, inputs_q, self.in_features)
        query = self.query(inputs_q, out_sharding=qkv_sharding)
        key = self.key(inputs_k, out_sharding=qkv_sharding)
        value = self.value(inputs_v, out_sharding=qkv_sharding)
        if self.query_ln is not None and self.key_ln is not None:
            query, key = self.query_ln(query), self.key_ln(key)
        if first_given("decode", self, decode, self.decode, False):
            key, value, mask = self._remember(key, value, mask)
            is_causal = False  # the query is the last one; the mask hides what comes after it
        dropout = None
        still = True
        if self.dropout_rate > 0:
            still = first_given("deterministic", self, deterministic, self.deterministic)
            dropout = None if still else self._dropout_key(rngs)
        x = self.attention_fn(
            query,
            key,
            value,
            mask=mask,
            dropout_rng=dropout,
            dropout_rate=self.dropout_rate,
            broadcast_dropout=self.broadcast_dropout,
            deterministic=still,
            dtype=self.dtype,
            precision=self.precision,
            module=self if sow_weights else None,
            **({"is_causal": True} if is_causal else {}),
            **({} if input_positions is None else {"input_positions": input_positions}),
        )
        return self.out(x, out_sharding=out_sharding)

    def _dropout_key(self, rngs: Any) -> Any:
        streams = self.rngs if rngs is None else rngs
        if streams is None:
            raise ValueError(
                f"{layer_name(self)} drops weights, so it needs random numbers of the stream "
                f"'dropout': pass rngs when it is made or called, or use eval() of the model."
            )
        stream = streams
        if isinstance(streams, Rngs):
            stream = stream_for(streams, "dropout", layer_name(self))
        return stream() if isinstance(stream, RngStream) else stream

    def _remember(self, key: Any, value: Any, mask: Any) -> tuple[Any, Any, Any]:
        """Keep a key and a value, and give all that were kept with the mask for them."""
        if not hasattr(self, "cached_key"):
            raise ValueError(
                f"{layer_name(self)} has no cache to decode with; call init_cache first."
            )
        *batch, length, heads, depth = self.cached_key.shape
        if key.shape != (*batch, 1, heads, depth):
            raise ValueError(
                f"{layer_name(self)} decodes one query at a time, with keys of the shape "
                f"{(*batch, 1, heads, depth)}, but got {key.shape}."
            )
        index = self.cache_index.value
        zero = jnp.zeros((), index.dtype)
        where = (*[zero] * len(batch), index, zero, zero)
        self.cached_key.value = lax.dynamic_update_slice(
            self.cached_key.value, key.astype(self.cached_key.dtype), where
        )
        self.cached_value.value = lax.dynamic_update_slice(
            self.cached_value.value, value.astype(self.cached_value.dtype), where
        )
        self.cache_index.value = index + jnp.ones((), index.dtype)
        past = jnp.broadcast_to(jnp.arange(length) <= index, (*batch, 1, 1, length))
        return (
            self.cached_key.value,
            self.cached_value.value,
            past if mask is None else combine_masks(mask, past, dtype=np.bool_),
        )
