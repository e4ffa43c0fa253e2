"""Covariances and correlations of variables."""

from __future__ import annotations

import math
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import canonical_dtype
from bindax_lax_basic.extend import convert, promote_dtypes
from bindax_numpy._operands import array_operand, strong_operand
from bindax_numpy.arithmetic import clip
from bindax_numpy.contraction import dot
from bindax_numpy.indexing import diagonal
from bindax_numpy.joining import concatenate
from bindax_numpy.reductions import sum
from bindax_numpy.reshaping import atleast_2d, expand_dims, squeeze
from bindax_numpy.rounding import conj


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Array:
    """The covariances of variables.

    Args:
        m: the observations: a vector, or a matrix.
        y: further variables, in the same form.
        rowvar: whether each row is a variable, rather than each column.
        bias: whether sums are divided by the number of observations, rather than by one less.
        ddof: what is subtracted from the number of observations instead.
        fweights: integers: how often each observation counts.
        aweights: weights of the observations.
        dtype: the dtype of the result.

    Raises:
        ValueError: when there are more than two axes, or weights do not fit.

    >>> jnp.cov(jnp.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    x = _variables("cov", m, rowvar)
    if y is not None:
        x = concatenate(promote_dtypes(x, _variables("cov", y, rowvar)))
    wanted = dtypes.inexact_dtype(typeof(x).dtype) if dtype is None else canonical_dtype(dtype)
    if not dtypes.is_inexact(wanted):
        raise ValueError(f"dtype of covariances must be float or complex, but is {wanted.name}.")
    x = convert(x, wanted, False)
    n = typeof(x).shape[1]
    less = (0 if bias else 1) if ddof is None else ddof
    weights = _weights(fweights, n, wanted, "fweights")
    importance = _weights(aweights, n, wanted, "aweights")
    if importance is not None:
        weights = importance if weights is None else weights * importance
    if weights is None:
        center = sum(x, 1, keepdims=True) / n
        freedom: Any = n - less if n else math.nan
    else:
        total = sum(weights)
        center = sum(x * weights, 1, keepdims=True) / total
        # Weights that are no counts make up fewer observations than their sum says.
        effective = 1 if aweights is None else sum(weights * importance) / total
        freedom = total - less * effective
    distance = x - center
    weighted = distance if weights is None else distance * weights
    found = dot(weighted, conj(distance).T, precision="highest")
    return squeeze(found / convert(array_operand("cov", freedom), wanted, False))


def _variables(name: str, m: Any, rowvar: bool) -> Any:
    x = strong_operand(name, m)
    aval = typeof(x)
    if aval.ndim > 2:
        raise ValueError(f"{name} takes vectors and matrices, but got {aval.str_short()}.")
    x = atleast_2d(x)
    return x.T if not rowvar and aval.ndim == 2 else x


def _weights(given: Any, n: int, dtype: Any, argument: str) -> Any:
    if given is None:
        return None
    weights = strong_operand("cov", given)
    if typeof(weights).shape != (n,):
        raise ValueError(
            f"cov: {argument} must be a vector of {n} weights, but they are "
            f"{typeof(weights).str_short()}."
        )
    if argument == "fweights" and not dtypes.is_integer(typeof(weights).dtype):
        raise TypeError(
            f"cov: fweights must be integers, but they are {typeof(weights).str_short()}."
        )
    return convert(weights, dtype, False)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Array:
    """The correlations of variables, from -1 to 1; arguments as for ``cov``.

    >>> jnp.corrcoef(jnp.array([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]))[0, 1] < -0.999
    Array(True, dtype=bool)
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not typeof(c).shape:
        return c / c
    spread = lax.sqrt(lax.real(diagonal(c)) if dtypes.is_complex(typeof(c).dtype) else diagonal(c))
    spread = convert(spread, typeof(c).dtype, False)
    r = c / expand_dims(spread, 1) / expand_dims(spread, 0)
    if dtypes.is_complex(typeof(r).dtype):
        return lax.complex(clip(lax.real(r), -1, 1), clip(lax.imag(r), -1, 1))
    return clip(r, -1, 1)
