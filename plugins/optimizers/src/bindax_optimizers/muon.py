"""Muon: steps along the orthogonal factor of the momentum of matrices (Jordan et al., 2024)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_core.extend import flatten_prefix, tree_flatten, tree_map, tree_unflatten
from bindax_optimizers.adam_optimizers import adamw
from bindax_optimizers.adaptive_moments import unbiased_first
from bindax_optimizers.gradient_transformations import (
    add_decayed_weights,
    scale_by_learning_rate,
)
from bindax_optimizers.numerics import safe_increment, zero_count
from bindax_optimizers.partial_optimizers import partition
from bindax_optimizers.transformation import (
    GradientTransformation,
    GradientTransformationExtraArgs,
    ScalarOrSchedule,
    chain,
    stateless,
)
from bindax_optimizers.tree_utils import tree_cast, tree_update_moment, tree_zeros_like

__all__ = [
    "MuonDimensionNumbers",
    "MuonState",
    "muon",
    "orthogonalize_via_newton_schulz",
    "scale_by_muon",
    "scale_by_shape",
]

COEFFICIENTS = {
    "standard": (3.4445, -4.775, 2.0315),
    "dion": (
        (4.0848, -6.8946, 2.927),
        (3.9505, -6.3029, 2.6377),
        (3.7418, -5.5913, 2.3037),
        (2.8769, -3.1427, 1.2046),
        (2.8366, -3.0525, 1.2012),
    ),
}
"""The coefficients of the polynomial of each iteration: of Muon (Jordan), and of Dion (Ahn)."""
PRECONDITIONINGS = ("frobenius", "spectral", "aol", "schatten")


class MuonDimensionNumbers(NamedTuple):
    """The axes of an array that are the rows and the columns of a matrix; others are batches.

    >>> MuonDimensionNumbers(reduction_axis=(0, 1), output_axis=2)
    MuonDimensionNumbers(reduction_axis=(0, 1), output_axis=2)
    """

    reduction_axis: Sequence[int] | int = 0
    output_axis: Sequence[int] | int = 1


class MuonState(NamedTuple):
    """The number of steps, the momentum, and the coefficients of the iterations.

    >>> MuonState._fields
    ('count', 'mu', 'ns_coeffs')
    """

    count: Any
    mu: Any
    ns_coeffs: Any


def _is_numbers(x: Any) -> bool:
    return x is None or isinstance(x, MuonDimensionNumbers)


def _axes(x: Any, numbers: MuonDimensionNumbers) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of rows and of columns.

    Raises:
        ValueError: the array is no matrix, or an axis is one of both.
    """
    if x.ndim < 2:
        raise ValueError(
            f"Muon is for arrays of two or more axes, but one has the shape {x.shape}; give it the "
            f"dimension number None, so that it is trained by Adam."
        )
    given = [(axis,) if isinstance(axis, int) else axis for axis in numbers]
    rows, columns = (tuple(axis % x.ndim for axis in axes) for axes in given)
    if {*rows} & {*columns}:
        raise ValueError(
            f"Muon: the axes of rows and columns must differ, but are {rows} and {columns} of an "
            f"array of shape {x.shape}."
        )
    return rows, columns


def _polynomial(x: Any, gram: Any, coefficients: Any) -> Any:
    a, b, c = coefficients
    return a * x + (b * gram + c * gram @ gram) @ x


def _gram(x: Any) -> Any:
    return x @ jnp.conj(jnp.swapaxes(x, -1, -2))


def _first(x: Any, coefficients: Any, preconditioning: str, eps: Any) -> Any:
    """The first iteration, which scales by what its Gram matrix says."""
    gram = _gram(x)
    if preconditioning == "aol":
        scale = 1 / jnp.sqrt(jnp.maximum(jnp.sum(jnp.abs(gram), axis=-1), eps))[..., None]
        return _polynomial(x * scale, gram * scale * jnp.swapaxes(scale, -1, -2), coefficients)
    norm = jnp.sqrt(jnp.sum(jnp.square(jnp.abs(gram)), axis=(-2, -1)))[..., None, None]
    scale = 1 / jnp.sqrt(jnp.maximum(norm, eps))
    return _polynomial(x * scale, gram * scale**2, coefficients)


def _orthogonal(x: Any, coefficients: Any, steps: int, preconditioning: str, eps: Any) -> Any:
    """The orthogonal factor of each of a batch of matrices, by Newton-Schulz iterations."""
    if x.shape[-2] > x.shape[-1]:
        turned = _orthogonal(jnp.swapaxes(x, -1, -2), coefficients, steps, preconditioning, eps)
        return jnp.swapaxes(turned, -1, -2)
    if preconditioning == "frobenius":
        x = x / (jnp.sqrt(jnp.sum(jnp.square(jnp.abs(x)), axis=(-2, -1), keepdims=True)) + eps)
    elif preconditioning == "spectral":
        x = x / (jnp.linalg.norm(x, ord=2, axis=(-2, -1), keepdims=True) + eps)
    scales_first = preconditioning in ("aol", "schatten")
    coefficients = coefficients.astype(x.dtype)
    for i in range(steps if coefficients.ndim == 1 else len(coefficients)):
        row = coefficients if coefficients.ndim == 1 else coefficients[i]
        if i == 0 and scales_first:
            x = _first(x, row, preconditioning, 1e-8)
        else:
            x = _polynomial(x, _gram(x), row)
    return x


def orthogonalize_via_newton_schulz(
    x: Any,
    ns_coeffs: Any,
    ns_steps: int = 5,
    preconditioning: str = "frobenius",
    eps: Any = 1e-8,
    dimension_numbers: MuonDimensionNumbers | None = None,
) -> Any:
    """The orthogonal factor of the polar decomposition of a matrix, approximately.

    Args:
        x: a matrix; or an array, of which ``dimension_numbers`` says which axes make one.
        ns_coeffs: three coefficients of the polynomial, or a row of three for each iteration.
        ns_steps: the number of iterations, where there is one row.
        preconditioning: how the matrix is scaled at first: by its ``"frobenius"`` or its
            ``"spectral"`` norm, by ``"aol"`` (almost orthogonal layers) or ``"schatten"``.
        eps: added to the norm.
        dimension_numbers: the axes of rows and columns.

    Raises:
        ValueError: the coefficients have another shape, the preconditioning is another one, or
            the array is no matrix.

    >>> import numpy as np
    >>> x = orthogonalize_via_newton_schulz(np.diag([1.0, 2.0]), np.array([1.5, -0.5, 0.0]), 10)
    >>> np.asarray(x).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    x, coefficients = jnp.asarray(x), jnp.asarray(ns_coeffs)
    _check_coefficients(coefficients)
    if preconditioning not in PRECONDITIONINGS:
        raise ValueError(
            f"Muon: preconditioning must be one of {[*PRECONDITIONINGS]}, but is "
            f"{preconditioning!r}."
        )
    numbers = dimension_numbers or MuonDimensionNumbers()
    if x.ndim != 2 and dimension_numbers is None:
        raise ValueError(
            f"Muon: an array of shape {x.shape} needs dimension_numbers, which say which axes are "
            f"the rows and columns of a matrix."
        )
    rows, columns = _axes(x, MuonDimensionNumbers() if x.ndim == 2 else numbers)
    batches = tuple(axis for axis in range(x.ndim) if axis not in rows + columns)
    order = batches + rows + columns
    moved = jnp.transpose(x, order)
    sizes = [math.prod(x.shape[axis] for axis in axes) for axes in (batches, rows, columns)]
    found = _orthogonal(moved.reshape(sizes), coefficients, ns_steps, preconditioning, eps).reshape(
        moved.shape
    )
    return jnp.transpose(found, sorted(range(x.ndim), key=order.__getitem__))


def _check_coefficients(coefficients: Any) -> None:
    if coefficients.ndim not in (1, 2) or coefficients.shape[-1] != 3:
        raise ValueError(
            f"Muon: ns_coeffs must have the shape (3,) or (n, 3), but have {coefficients.shape}."
        )


def _map_numbers(function: Any, updates: Any, numbers: Any) -> Any:
    """Map over arrays with their dimension numbers, which may be those of a prefix of the tree."""
    given = numbers(updates) if callable(numbers) else numbers
    # Dimension numbers are tuples; as results of functions they are leaves.
    hidden = tree_map(lambda n: lambda: n, given, is_leaf=_is_numbers)
    what = "weight_dimension_numbers"
    each = [f() for f in flatten_prefix(hidden, updates, what, full_name="the parameters")]
    leaves, structure = tree_flatten(updates)
    return tree_unflatten(structure, [function(x, n) for x, n in zip(leaves, each, strict=True)])


def scale_by_shape(
    weight_dimension_numbers: Any = None, consistent_rms: Any = None
) -> GradientTransformation:
    """Scales the step of a matrix by its shape, so that one rate is right for all widths.

    Args:
        weight_dimension_numbers: ``MuonDimensionNumbers`` of the arrays, as a tree or a prefix of
            one; or a function from updates to it.
        consistent_rms: the root mean square of the steps; by default they are scaled by the root
            of the ratio of columns to rows, where that is above 1.

    >>> import numpy as np
    >>> transformation = scale_by_shape(MuonDimensionNumbers())
    >>> transformation.update(np.ones((1, 4)), transformation.init(None))[0].tolist()
    [[2.0, 2.0, 2.0, 2.0]]
    """

    def one(x: Any, numbers: Any) -> Any:
        axes = _axes(x, numbers or MuonDimensionNumbers())
        rows, columns = (math.prod(x.shape[axis] for axis in part) for part in axes)
        if consistent_rms is not None:
            return math.sqrt(max(rows, columns)) * consistent_rms * x
        return math.sqrt(max(1, columns / rows)) * x

    return stateless(lambda updates, _: _map_numbers(one, updates, weight_dimension_numbers))


def _rows_of(coefficients: Any, steps: int) -> Any:
    rows = jnp.asarray(coefficients, "float32")
    _check_coefficients(rows)
    if rows.ndim == 2 and len(rows) > steps:
        raise ValueError(
            f"Muon: {len(rows)} rows of coefficients are more than {steps} iterations."
        )
    return rows


def scale_by_muon(
    ns_coeffs: Any = COEFFICIENTS["standard"],
    ns_steps: int = 5,
    beta: Any = 0.95,
    eps: Any = 1e-8,
    mu_dtype: Any = None,
    *,
    nesterov: bool = True,
    adaptive: bool = False,
    preconditioning: str = "frobenius",
    weight_dimension_numbers: Any = None,
) -> GradientTransformation:
    """The orthogonal factor of the momentum.

    Args:
        ns_coeffs: as for ``orthogonalize_via_newton_schulz``.
        ns_steps: as there.
        beta: how much of the momentum is kept at each step.
        eps: as there.
        mu_dtype: the dtype of the momentum; by default that of the parameters.
        nesterov: whether the step looks ahead.
        adaptive: whether the step is scaled by its inner product with the momentum.
        preconditioning: as there.
        weight_dimension_numbers: as for ``scale_by_shape``.

    Raises:
        ValueError: as ``orthogonalize_via_newton_schulz``; or fewer rows than iterations.

    >>> import numpy as np
    >>> transformation = scale_by_muon()
    >>> state = transformation.init(np.zeros((2, 2)))
    >>> updates, state = transformation.update(np.eye(2), state)
    >>> bool(np.abs(updates - np.eye(2)).max() < 0.4)
    True
    """

    def init(params: Any) -> MuonState:
        rows = _rows_of(ns_coeffs, ns_steps)
        return MuonState(zero_count(), tree_zeros_like(params, mu_dtype), rows)

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        mu = tree_update_moment(updates, state.mu, beta, 1)
        count = safe_increment(state.count)
        ahead = unbiased_first(updates, mu, beta, count, nesterov)
        out = _map_numbers(
            lambda x, numbers: orthogonalize_via_newton_schulz(
                x, state.ns_coeffs, ns_steps, preconditioning, eps, numbers
            ),
            ahead,
            weight_dimension_numbers,
        )
        if adaptive:
            out = tree_map(lambda m, o: jnp.sum(jnp.conj(m) * o) * o, ahead, out)
        return out, MuonState(count, tree_cast(mu, mu_dtype), state.ns_coeffs)

    return GradientTransformation(init, update)


def _named_coefficients(given: Any) -> Any:
    if isinstance(given, str) and given not in COEFFICIENTS:
        raise ValueError(
            f"muon: ns_coeffs must be numbers or one of {[*COEFFICIENTS]}, but is {given!r}."
        )
    return COEFFICIENTS[given] if isinstance(given, str) else given


def _numbers_of(given: Any, params: Any) -> Any:
    """For each parameter its dimension numbers, or None for AdamW."""
    if given is None:
        return tree_map(lambda p: MuonDimensionNumbers() if p.ndim == 2 else None, params)
    return _map_numbers(lambda x, numbers: numbers, params, given)


def _labels(given: Any, params: Any) -> Any:
    numbers = _numbers_of(given, params)
    return tree_map(lambda n: "adam" if n is None else "muon", numbers, is_leaf=_is_numbers)


def _steps_of_matrices(
    numbers: Any, consistent_rms: Any, moments: Any, how: tuple[bool, bool, str]
) -> tuple[GradientTransformation, GradientTransformation]:
    numbers_of = functools.partial(_numbers_of, numbers)
    nesterov, adaptive, preconditioning = how
    factor = scale_by_muon(
        *moments,
        nesterov=nesterov,
        adaptive=adaptive,
        preconditioning=preconditioning,
        weight_dimension_numbers=numbers_of,
    )
    return factor, scale_by_shape(numbers_of, consistent_rms)


def muon(
    learning_rate: ScalarOrSchedule,
    ns_coeffs: Any = COEFFICIENTS["standard"],
    ns_steps: int = 5,
    beta: Any = 0.95,
    eps: Any = 1e-8,
    weight_decay: Any = 0.0,
    weight_decay_mask: Any = None,
    mu_dtype: Any = None,
    *,
    nesterov: bool = True,
    adaptive: bool = False,
    preconditioning: str = "frobenius",
    adam_b1: Any = 0.9,
    adam_b2: Any = 0.999,
    adam_eps_root: Any = 0.0,
    adam_weight_decay: Any = 0.0,
    adam_learning_rate: ScalarOrSchedule | None = None,
    muon_weight_dimension_numbers: Any = None,
    consistent_rms: Any = None,
) -> GradientTransformationExtraArgs:
    """Muon for matrices, AdamW for other parameters.

    Args:
        learning_rate: the rate, or a schedule of it.
        ns_coeffs: as for ``scale_by_muon``; or ``"standard"`` or ``"dion"``.
        ns_steps: as for ``scale_by_muon``.
        beta: as for ``scale_by_muon``.
        eps: as for ``scale_by_muon``; for AdamW, too.
        weight_decay: the multiple of matrices that is added.
        weight_decay_mask: as for ``add_decayed_weights``.
        mu_dtype: the dtype of first moments.
        nesterov: whether steps look ahead.
        adaptive: as for ``scale_by_muon``.
        preconditioning: as for ``scale_by_muon``.
        adam_b1: as for ``adamw``.
        adam_b2: as for ``adamw``.
        adam_eps_root: as for ``adamw``.
        adam_weight_decay: as for ``adamw``.
        adam_learning_rate: the rate of AdamW; by default that of Muon.
        muon_weight_dimension_numbers: as for ``scale_by_shape``, None for AdamW.
        consistent_rms: as for ``scale_by_shape``.

    >>> import numpy as np
    >>> optimizer, params = muon(0.1), {"w": np.eye(2, dtype="f4"), "b": np.ones(2, "f4")}
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((np.diag(updates["w"]) < 0).all() and (updates["b"] < 0).all())
    True
    """
    numbers, how = muon_weight_dimension_numbers, (nesterov, adaptive, preconditioning)
    moments = (_named_coefficients(ns_coeffs), ns_steps, beta, eps, mu_dtype)
    decay = add_decayed_weights(weight_decay, weight_decay_mask)
    steps = _steps_of_matrices(numbers, consistent_rms, moments, how)
    rate = learning_rate if adam_learning_rate is None else adam_learning_rate
    options = (adam_b1, adam_b2, eps, adam_eps_root, mu_dtype, adam_weight_decay)
    matrices = chain(*steps, decay, scale_by_learning_rate(learning_rate))
    parts = {"muon": matrices, "adam": adamw(rate, *options, nesterov=nesterov)}
    return partition(parts, functools.partial(_labels, numbers))
