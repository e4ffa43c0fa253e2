"""The plugin: what this package offers to the registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any

from bindax_core.extend import ArrayOperations, Primitive, api_boundary, hookimpl, typeof
from bindax_lax_basic.arg_reductions import argmax_p, argmin_p
from bindax_lax_basic.arithmetic import add_p, mul_p, neg_p, sub_p
from bindax_lax_basic.axes import (
    broadcast_axis,
    broadcast_in_dim_p,
    moveaxis,
    reduce_sum_p,
    transpose_p,
)
from bindax_lax_basic.comparison import (
    and_p,
    eq_p,
    ge_p,
    gt_p,
    is_finite_p,
    le_p,
    lt_p,
    ne_p,
    not_p,
    or_p,
    xor_p,
)
from bindax_lax_basic.complex_numbers import complex_p, conj_p, imag_p, real_p
from bindax_lax_basic.concatenation import concatenate_p
from bindax_lax_basic.contraction import dot_general_p
from bindax_lax_basic.conversion import convert, convert_element_type_p, copy_p, stop_gradient_p
from bindax_lax_basic.creation import filled, iota_p
from bindax_lax_basic.cumulative import cumsum_p
from bindax_lax_basic.division import atan2_p, div_p, nextafter_p, rem_p
from bindax_lax_basic.dtypes import bool_
from bindax_lax_basic.dynamic_slicing import dynamic_slice_p, dynamic_update_slice_p
from bindax_lax_basic.exponential import (
    cbrt_p,
    exp2_p,
    exp_p,
    expm1_p,
    log1p_p,
    log_p,
    logistic_p,
    rsqrt_p,
    sqrt_p,
    square_p,
)
from bindax_lax_basic.gathering import gather_p, scatter_add_p
from bindax_lax_basic.methods import ATTRIBUTES
from bindax_lax_basic.operators import OPERATORS
from bindax_lax_basic.powers import integer_pow_p, pow_p
from bindax_lax_basic.reductions import (
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
)
from bindax_lax_basic.rounding import abs_p, ceil_p, floor_p, round_p, sign_p
from bindax_lax_basic.scattering import scatter_max_p, scatter_min_p, scatter_mul_p, scatter_p
from bindax_lax_basic.selection import clamp_p, max_p, min_p, select_n_p
from bindax_lax_basic.shape import expand_dims, reshape_p, rev_p, squeeze_p
from bindax_lax_basic.slicing import index_in_dim, pad_p, slice_p
from bindax_lax_basic.trigonometry import (
    acos_p,
    acosh_p,
    asin_p,
    asinh_p,
    atan_p,
    atanh_p,
    cos_p,
    cosh_p,
    sin_p,
    sinh_p,
    tan_p,
    tanh_p,
)

PRIMITIVES = (
    abs_p,
    acos_p,
    acosh_p,
    add_p,
    and_p,
    argmax_p,
    argmin_p,
    asin_p,
    asinh_p,
    atan_p,
    atan2_p,
    atanh_p,
    broadcast_in_dim_p,
    cbrt_p,
    ceil_p,
    clamp_p,
    complex_p,
    concatenate_p,
    conj_p,
    convert_element_type_p,
    copy_p,
    cos_p,
    cosh_p,
    cumsum_p,
    div_p,
    dot_general_p,
    dynamic_slice_p,
    dynamic_update_slice_p,
    eq_p,
    exp_p,
    exp2_p,
    expm1_p,
    floor_p,
    gather_p,
    ge_p,
    gt_p,
    imag_p,
    integer_pow_p,
    iota_p,
    is_finite_p,
    le_p,
    log_p,
    log1p_p,
    logistic_p,
    lt_p,
    max_p,
    min_p,
    mul_p,
    ne_p,
    neg_p,
    nextafter_p,
    not_p,
    or_p,
    pad_p,
    pow_p,
    real_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
    reduce_sum_p,
    rem_p,
    reshape_p,
    rev_p,
    round_p,
    rsqrt_p,
    scatter_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    select_n_p,
    sign_p,
    sin_p,
    sinh_p,
    slice_p,
    sqrt_p,
    square_p,
    squeeze_p,
    stop_gradient_p,
    sub_p,
    tan_p,
    tanh_p,
    transpose_p,
    xor_p,
)
"""Every primitive of the package, in alphabetical order."""


def _add(x: Any, y: Any) -> Any:
    return (or_p if typeof(x).dtype == bool_ else add_p).bind(x, y)


def _stack(xs: Sequence[Any], axis: int) -> Any:
    return concatenate_p.bind(*[expand_dims(x, (axis,)) for x in xs], dimension=axis)


def _index_axis(x: Any, i: int, axis: int) -> Any:
    return index_in_dim(x, i, axis, keepdims=False)


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """The primitives."""
    return PRIMITIVES


@hookimpl
def bindax_array_operations() -> ArrayOperations:
    """What interpreters do with arrays, in terms of the primitives."""
    return ArrayOperations(
        zeros=lambda aval: filled(aval, 0),
        ones=lambda aval: filled(aval, 1),
        add=_add,
        broadcast_axis=broadcast_axis,
        move_axis=moveaxis,
        index_axis=_index_axis,
        stack=_stack,
        convert=convert,
    )


@hookimpl
def bindax_array_attributes() -> Mapping[str, Any]:
    """The operators, methods and properties of arrays and tracers."""
    # Operators hide the frames below them themselves, at no cost; methods are called less often.
    return {
        name: api_boundary(value)
        if isinstance(value, FunctionType) and name not in OPERATORS
        else value
        for name, value in ATTRIBUTES.items()
    }


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """What the conformance kit checks the primitives on."""
    from bindax_lax_basic._conformance import conformance_samples

    return conformance_samples()
