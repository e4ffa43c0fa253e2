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
from bindax_lax_basic.barrier import optimization_barrier_p
from bindax_lax_basic.bessel_functions import bessel_i0e_p, bessel_i1e_p
from bindax_lax_basic.bit_patterns import bitcast_convert_type_p, reduce_precision_p
from bindax_lax_basic.bits import (
    clz_p,
    mulhi_p,
    population_count_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
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
from bindax_lax_basic.convolution import conv_general_dilated_p
from bindax_lax_basic.creation import filled, iota_p
from bindax_lax_basic.cumulative import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p
from bindax_lax_basic.division import atan2_p, div_p, nextafter_p, rem_p
from bindax_lax_basic.dtypes import bool_
from bindax_lax_basic.dynamic_slicing import dynamic_slice_p, dynamic_update_slice_p
from bindax_lax_basic.error_functions import erf_inv_p, erf_p, erfc_p
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
from bindax_lax_basic.fourier import fft_p
from bindax_lax_basic.gamma_functions import digamma_p, lgamma_p, polygamma_p, zeta_p
from bindax_lax_basic.gathering import gather_p, scatter_add_p
from bindax_lax_basic.general_reduction import reduce_p
from bindax_lax_basic.incomplete_functions import (
    igamma_grad_a_p,
    igamma_p,
    igammac_p,
    random_gamma_grad_p,
    regularized_incomplete_beta_p,
)
from bindax_lax_basic.linalg import (
    cholesky_p,
    eig_p,
    eigh_p,
    hessenberg_p,
    householder_product_p,
    lu_p,
    lu_pivots_to_permutation_p,
    qr_p,
    schur_p,
    svd_p,
    triangular_solve_p,
    tridiagonal_p,
    tridiagonal_solve_p,
)
from bindax_lax_basic.methods import ATTRIBUTES
from bindax_lax_basic.operators import OPERATORS
from bindax_lax_basic.pooling import reduce_window_max_p, reduce_window_min_p, reduce_window_sum_p
from bindax_lax_basic.powers import integer_pow_p, pow_p
from bindax_lax_basic.random_bits import rng_bit_generator_p
from bindax_lax_basic.random_numbers import rng_uniform_p
from bindax_lax_basic.reductions import (
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
    reduce_xor_p,
)
from bindax_lax_basic.rounding import abs_p, ceil_p, floor_p, round_p, sign_p
from bindax_lax_basic.scattering import scatter_max_p, scatter_min_p, scatter_mul_p, scatter_p
from bindax_lax_basic.selection import clamp_p, max_p, min_p, select_n_p
from bindax_lax_basic.shape import expand_dims, reshape_p, rev_p, squeeze_p
from bindax_lax_basic.slicing import index_in_dim, pad_p, slice_p
from bindax_lax_basic.sorting import sort_p, top_k_p
from bindax_lax_basic.splitting import split_p, tile_p
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
from bindax_lax_basic.window_scattering import select_and_scatter_p
from bindax_lax_basic.window_selection import select_and_gather_add_p, select_and_scatter_add_p
from bindax_lax_basic.windowed_reductions import reduce_window_p

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
    bessel_i0e_p,
    bessel_i1e_p,
    bitcast_convert_type_p,
    broadcast_in_dim_p,
    cbrt_p,
    ceil_p,
    cholesky_p,
    clamp_p,
    clz_p,
    complex_p,
    concatenate_p,
    conj_p,
    conv_general_dilated_p,
    convert_element_type_p,
    copy_p,
    cos_p,
    cosh_p,
    cumlogsumexp_p,
    cummax_p,
    cummin_p,
    cumprod_p,
    cumsum_p,
    digamma_p,
    div_p,
    dot_general_p,
    dynamic_slice_p,
    dynamic_update_slice_p,
    eig_p,
    eigh_p,
    eq_p,
    erf_p,
    erf_inv_p,
    erfc_p,
    exp_p,
    exp2_p,
    expm1_p,
    fft_p,
    floor_p,
    gather_p,
    ge_p,
    gt_p,
    hessenberg_p,
    householder_product_p,
    igamma_p,
    igamma_grad_a_p,
    igammac_p,
    imag_p,
    integer_pow_p,
    iota_p,
    is_finite_p,
    le_p,
    lgamma_p,
    log_p,
    log1p_p,
    logistic_p,
    lt_p,
    lu_p,
    lu_pivots_to_permutation_p,
    max_p,
    min_p,
    mul_p,
    mulhi_p,
    ne_p,
    neg_p,
    nextafter_p,
    not_p,
    optimization_barrier_p,
    or_p,
    pad_p,
    polygamma_p,
    population_count_p,
    pow_p,
    qr_p,
    random_gamma_grad_p,
    real_p,
    reduce_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_precision_p,
    reduce_prod_p,
    reduce_sum_p,
    reduce_window_p,
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_sum_p,
    reduce_xor_p,
    regularized_incomplete_beta_p,
    rem_p,
    reshape_p,
    rev_p,
    rng_bit_generator_p,
    rng_uniform_p,
    round_p,
    rsqrt_p,
    scatter_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    schur_p,
    select_and_gather_add_p,
    select_and_scatter_p,
    select_and_scatter_add_p,
    select_n_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
    sign_p,
    sin_p,
    sinh_p,
    slice_p,
    sort_p,
    split_p,
    sqrt_p,
    square_p,
    squeeze_p,
    stop_gradient_p,
    sub_p,
    svd_p,
    tan_p,
    tanh_p,
    tile_p,
    top_k_p,
    transpose_p,
    triangular_solve_p,
    tridiagonal_p,
    tridiagonal_solve_p,
    xor_p,
    zeta_p,
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
