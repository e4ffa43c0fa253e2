"""Attention: weighted means of values, with weights from products of queries and keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_nn.normalization import logsumexp, softmax

# Added to a finite logit it stays finite, and its exponential is 0.
_MASKED = -0.7 * float(np.finfo(np.float32).max)
_IMPLEMENTATIONS = (None, "xla")


@overload
def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: Literal[False] = False,
) -> Array: ...
@overload
def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: Literal[True],
) -> tuple[Array, Array]: ...
@overload
def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any: ...
def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """``softmax(query keyᵀ * scale + bias) value``, for each batch element and head.

    Vaswani et al., "Attention is all you need", 2017; with fewer heads of keys than of queries
    Ainslie et al., "GQA", 2023. Logits and softmax are computed in float32 or wider.

    Args:
        query: shape ``[(B,) T, N, H]``: batch, positions, heads, features.
        key: shape ``[(B,) S, K, H]``; ``N`` is a multiple of ``K``, and each head of keys serves
            ``N / K`` consecutive heads of queries.
        value: as ``key``.
        bias: what is added to the logits; broadcasts to ``[B, N, T, S]``.
        mask: booleans, False for logits that do not count; broadcasts to ``[B, N, T, S]``.
        scale: a factor of the logits; by default ``1 / sqrt(H)``.
        is_causal: position ``t`` attends to positions up to ``t`` alone.
        query_seq_lengths: int32 of shape ``[B]``: results beyond are 0.
        key_value_seq_lengths: int32 of shape ``[B]``: keys and values beyond do not count.
        local_window_size: how many positions before and after its own a position attends to;
            an integer for both.
        implementation: None or ``"xla"``, the one implementation that there is.
        return_residual: return also the logarithm of the sum of the exponentials of the logits,
            shape ``[(B,) T, N]``, which is constant for differentiation.

    Returns:
        An array of the shape of ``query``; a pair with ``return_residual``.

    Raises:
        ValueError: when shapes or dtypes do not fit together.
        RuntimeError: when the implementation is ``"cudnn"``.

    >>> x = jnp.array([[[1.0]], [[3.0]]])
    >>> nn.dot_product_attention(x, x, x, is_causal=True).ravel().round(3)
    Array([1.   , 2.995], dtype=float32)
    """
    _check_implementation(implementation)
    shape = jnp.asarray(query).shape
    q, k, v = _with_batch(query), _with_batch(key), _with_batch(value)
    bias, mask = (None if x is None else _with_batch(x) for x in (bias, mask))
    q_lengths = None if query_seq_lengths is None else jnp.asarray(query_seq_lengths)
    k_lengths = None if key_value_seq_lengths is None else jnp.asarray(key_value_seq_lengths)
    _check(q, k, v, bias, mask, q_lengths, k_lengths)
    logits = _logits(q, k, bias, scale)
    allowed = _allowed(logits.shape, mask, is_causal, q_lengths, k_lengths, local_window_size)
    logits = logits if allowed is None else _masked(logits, allowed)
    out = jnp.reshape(_mean(v, logits, q_lengths), shape)
    return (out, _residual(logits, k.dtype, shape)) if return_residual else out


def _check_implementation(implementation: str | None) -> None:
    if implementation == "cudnn":
        raise RuntimeError(
            "dot_product_attention: implementation='cudnn' asks for kernels of cuDNN, which bindax "
            "does not call; leave implementation out, or pass 'xla'."
        )
    if implementation not in _IMPLEMENTATIONS:
        raise ValueError(
            f"dot_product_attention: implementation must be one of {_IMPLEMENTATIONS}, but it is "
            f"{implementation!r:.60}."
        )


def _with_batch(x: Any) -> Any:
    x = jnp.asarray(x)
    return jnp.expand_dims(x, tuple(range(4 - x.ndim))) if x.ndim < 4 else x


def _check(q: Any, k: Any, v: Any, bias: Any, mask: Any, *lengths: Any) -> None:
    """Raise unless shapes and dtypes fit together."""
    if k.ndim != 4:
        raise ValueError(
            f"dot_product_attention: key must have 3 or 4 axes, but it has shape {k.shape}."
        )
    batch, _, heads, features = k.shape
    expected: list[tuple[str, Any, Sequence[int | None], Any]] = [
        ("value", v, k.shape, k.dtype),
        ("query", q, (batch, None, None, features), k.dtype),
        ("mask", mask, (None,) * 4, np.dtype(bool)),
        ("bias", bias, (None,) * 4, None),
        ("query_seq_lengths", lengths[0], (batch,), np.dtype(np.int32)),
        ("key_value_seq_lengths", lengths[1], (batch,), np.dtype(np.int32)),
    ]
    for name, x, shape, dtype in expected:
        if x is None:
            continue
        if dtype is not None and x.dtype != dtype:
            raise ValueError(
                f"dot_product_attention: {name} must have dtype {dtype}, but it has {x.dtype}."
            )
        if len(shape) != x.ndim or any(
            want not in (None, got) for want, got in zip(shape, x.shape, strict=True)
        ):
            sizes = ", ".join("any" if n is None else str(n) for n in shape)
            raise ValueError(
                f"dot_product_attention: {name} must have shape ({sizes}), as the key has shape "
                f"{k.shape}, but it has shape {x.shape}."
            )
    if q.shape[2] % heads:
        raise ValueError(
            f"dot_product_attention: the number of heads of query, {q.shape[2]}, must be a "
            f"multiple of the number of heads of key and value, {heads}."
        )


def _logits(q: Any, k: Any, bias: Any, scale: float | None) -> Any:
    """Products of queries and keys, shape ``[B, K, N / K, T, S]``, in float32 or wider."""
    heads, groups = k.shape[2], q.shape[2] // k.shape[2]
    # Axes: batch, positions, heads of keys, queries for each of them, features.
    q = jnp.reshape(q, (*q.shape[:2], heads, groups, q.shape[-1]))
    wide = jnp.promote_types(q.dtype, np.float32)
    logits = jnp.einsum("btkgh,bskh->bkgts", q, k, preferred_element_type=wide)
    scale = 1 / math.sqrt(k.shape[-1]) if scale is None else scale
    logits = logits * jnp.asarray(scale, dtype=wide)
    if bias is None:
        return logits
    try:
        return (logits + _grouped(bias, heads)).astype(wide)
    except ValueError as error:
        raise ValueError(f"dot_product_attention: bias cannot be added: {error}") from None


def _masked(logits: Any, allowed: Any) -> Any:
    return jnp.where(allowed, logits, jnp.asarray(_MASKED, dtype=logits.dtype))


def _residual(logits: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Logarithms of the sums of exponentials, for queries of this shape."""
    sums = jnp.moveaxis(logsumexp(logits, axis=-1).astype(dtype), -1, 1)
    return lax.stop_gradient(jnp.reshape(sums, shape[:-1]))


def _mean(v: Any, logits: Any, query_lengths: Any) -> Any:
    """Means of values, shape ``[B, T, K, N / K, H]``, 0 beyond the lengths of the queries."""
    weights = softmax(logits, axis=-1).astype(v.dtype)
    out = jnp.einsum("bkgts,bskh->btkgh", weights, v)
    if query_lengths is None:
        return out
    present = jnp.arange(logits.shape[-2])[None] < query_lengths[:, None]
    return out * present[:, :, None, None, None].astype(out.dtype)


def _grouped(x: Any, heads: int) -> Any:
    """Split the axis of heads into heads of keys and queries for each."""
    batch, count, *rest = x.shape
    return jnp.reshape(x, (batch, 1, 1, *rest) if count == 1 else (batch, heads, -1, *rest))


def _allowed(
    shape: tuple[int, ...],
    mask: Any,
    is_causal: bool,
    query_lengths: Any,
    key_lengths: Any,
    window: int | tuple[int, int] | None,
) -> Any:
    """Booleans that broadcast to the logits, None if all count."""
    conditions = [] if mask is None else [_grouped(mask, shape[1])]
    ones = (1,) * (len(shape) - 2)
    rows = jnp.arange(shape[-2]).reshape((*ones, -1, 1))
    columns = jnp.arange(shape[-1]).reshape((*ones, 1, -1))
    if is_causal:
        conditions.append(rows >= columns)
    if window is not None:
        before, after = (window, window) if isinstance(window, int) else window
        conditions += [rows <= columns + before, rows >= columns - after]
    if query_lengths is not None:
        conditions.append(rows < query_lengths[:, None, None, None, None])
    if key_lengths is not None:
        conditions.append(columns < key_lengths[:, None, None, None, None])
    allowed = None
    for condition in conditions:
        allowed = condition if allowed is None else jnp.logical_and(allowed, condition)
    return allowed
