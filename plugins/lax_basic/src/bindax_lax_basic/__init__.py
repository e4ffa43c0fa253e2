"""Array primitives with JAX's names and semantics: the functions of ``bindax.lax``.

Functions here never promote: operands of one operation have one dtype, and one shape or none. The
operators and methods of arrays promote and broadcast.

>>> import numpy as np
>>> from bindax_lax_basic import add, sin
>>> add(sin(np.float32(0.0)), 1.0)
Array(1., dtype=float32)
"""

from bindax_core.extend import register_internal
from bindax_lax_basic import linalg as linalg
from bindax_lax_basic._convolution_numbers import ConvDimensionNumbers as ConvDimensionNumbers
from bindax_lax_basic._convolution_numbers import (
    ConvGeneralDilatedDimensionNumbers as ConvGeneralDilatedDimensionNumbers,
)
from bindax_lax_basic._convolution_numbers import conv_dimension_numbers as conv_dimension_numbers
from bindax_lax_basic._convolution_numbers import (
    conv_general_permutations as conv_general_permutations,
)
from bindax_lax_basic._convolution_numbers import padtype_to_pads as padtype_to_pads
from bindax_lax_basic._operands import broadcast_shapes as broadcast_shapes
from bindax_lax_basic._windows import GatherDimensionNumbers as GatherDimensionNumbers
from bindax_lax_basic._windows import GatherScatterMode as GatherScatterMode
from bindax_lax_basic._windows import ScatterDimensionNumbers as ScatterDimensionNumbers
from bindax_lax_basic.approximate_selection import approx_max_k as approx_max_k
from bindax_lax_basic.approximate_selection import approx_min_k as approx_min_k
from bindax_lax_basic.arg_reductions import argmax as argmax
from bindax_lax_basic.arg_reductions import argmax_p as argmax_p
from bindax_lax_basic.arg_reductions import argmin as argmin
from bindax_lax_basic.arg_reductions import argmin_p as argmin_p
from bindax_lax_basic.arithmetic import add as add
from bindax_lax_basic.arithmetic import add_p as add_p
from bindax_lax_basic.arithmetic import mul as mul
from bindax_lax_basic.arithmetic import mul_p as mul_p
from bindax_lax_basic.arithmetic import neg as neg
from bindax_lax_basic.arithmetic import neg_p as neg_p
from bindax_lax_basic.arithmetic import sub as sub
from bindax_lax_basic.arithmetic import sub_p as sub_p
from bindax_lax_basic.axes import broadcast as broadcast
from bindax_lax_basic.axes import broadcast_in_dim as broadcast_in_dim
from bindax_lax_basic.axes import broadcast_in_dim_p as broadcast_in_dim_p
from bindax_lax_basic.axes import broadcast_like as broadcast_like
from bindax_lax_basic.axes import reduce_sum as reduce_sum
from bindax_lax_basic.axes import reduce_sum_p as reduce_sum_p
from bindax_lax_basic.axes import transpose as transpose
from bindax_lax_basic.axes import transpose_p as transpose_p
from bindax_lax_basic.barrier import optimization_barrier as optimization_barrier
from bindax_lax_basic.barrier import optimization_barrier_p as optimization_barrier_p
from bindax_lax_basic.bessel_functions import bessel_i0e as bessel_i0e
from bindax_lax_basic.bessel_functions import bessel_i0e_p as bessel_i0e_p
from bindax_lax_basic.bessel_functions import bessel_i1e as bessel_i1e
from bindax_lax_basic.bessel_functions import bessel_i1e_p as bessel_i1e_p
from bindax_lax_basic.bit_patterns import bitcast_convert_type as bitcast_convert_type
from bindax_lax_basic.bit_patterns import bitcast_convert_type_p as bitcast_convert_type_p
from bindax_lax_basic.bit_patterns import reduce_precision as reduce_precision
from bindax_lax_basic.bit_patterns import reduce_precision_p as reduce_precision_p
from bindax_lax_basic.bits import clz as clz
from bindax_lax_basic.bits import clz_p as clz_p
from bindax_lax_basic.bits import mulhi as mulhi
from bindax_lax_basic.bits import mulhi_p as mulhi_p
from bindax_lax_basic.bits import population_count as population_count
from bindax_lax_basic.bits import population_count_p as population_count_p
from bindax_lax_basic.bits import shift_left as shift_left
from bindax_lax_basic.bits import shift_left_p as shift_left_p
from bindax_lax_basic.bits import shift_right_arithmetic as shift_right_arithmetic
from bindax_lax_basic.bits import shift_right_arithmetic_p as shift_right_arithmetic_p
from bindax_lax_basic.bits import shift_right_logical as shift_right_logical
from bindax_lax_basic.bits import shift_right_logical_p as shift_right_logical_p
from bindax_lax_basic.comparison import and_p as and_p
from bindax_lax_basic.comparison import bitwise_and as bitwise_and
from bindax_lax_basic.comparison import bitwise_not as bitwise_not
from bindax_lax_basic.comparison import bitwise_or as bitwise_or
from bindax_lax_basic.comparison import bitwise_xor as bitwise_xor
from bindax_lax_basic.comparison import eq as eq
from bindax_lax_basic.comparison import eq_p as eq_p
from bindax_lax_basic.comparison import ge as ge
from bindax_lax_basic.comparison import ge_p as ge_p
from bindax_lax_basic.comparison import greater as greater
from bindax_lax_basic.comparison import gt as gt
from bindax_lax_basic.comparison import gt_p as gt_p
from bindax_lax_basic.comparison import is_finite as is_finite
from bindax_lax_basic.comparison import is_finite_p as is_finite_p
from bindax_lax_basic.comparison import le as le
from bindax_lax_basic.comparison import le_p as le_p
from bindax_lax_basic.comparison import less as less
from bindax_lax_basic.comparison import lt as lt
from bindax_lax_basic.comparison import lt_p as lt_p
from bindax_lax_basic.comparison import ne as ne
from bindax_lax_basic.comparison import ne_p as ne_p
from bindax_lax_basic.comparison import not_p as not_p
from bindax_lax_basic.comparison import or_p as or_p
from bindax_lax_basic.comparison import xor_p as xor_p
from bindax_lax_basic.complex_numbers import complex as complex
from bindax_lax_basic.complex_numbers import complex_p as complex_p
from bindax_lax_basic.complex_numbers import conj as conj
from bindax_lax_basic.complex_numbers import conj_p as conj_p
from bindax_lax_basic.complex_numbers import imag as imag
from bindax_lax_basic.complex_numbers import imag_p as imag_p
from bindax_lax_basic.complex_numbers import real as real
from bindax_lax_basic.complex_numbers import real_p as real_p
from bindax_lax_basic.concatenation import concatenate as concatenate
from bindax_lax_basic.concatenation import concatenate_p as concatenate_p
from bindax_lax_basic.contraction import DotDimensionNumbers as DotDimensionNumbers
from bindax_lax_basic.contraction import batch_matmul as batch_matmul
from bindax_lax_basic.contraction import dot as dot
from bindax_lax_basic.contraction import dot_general as dot_general
from bindax_lax_basic.contraction import dot_general_p as dot_general_p
from bindax_lax_basic.conversion import convert_element_type as convert_element_type
from bindax_lax_basic.conversion import convert_element_type_p as convert_element_type_p
from bindax_lax_basic.conversion import copy as copy
from bindax_lax_basic.conversion import copy_p as copy_p
from bindax_lax_basic.conversion import dtype as dtype
from bindax_lax_basic.conversion import stop_gradient as stop_gradient
from bindax_lax_basic.conversion import stop_gradient_p as stop_gradient_p
from bindax_lax_basic.convolution import conv as conv
from bindax_lax_basic.convolution import conv_general_dilated as conv_general_dilated
from bindax_lax_basic.convolution import conv_general_dilated_p as conv_general_dilated_p
from bindax_lax_basic.convolution import conv_transpose as conv_transpose
from bindax_lax_basic.convolution import conv_with_general_padding as conv_with_general_padding
from bindax_lax_basic.convolution_patches import (
    conv_general_dilated_local as conv_general_dilated_local,
)
from bindax_lax_basic.convolution_patches import (
    conv_general_dilated_patches as conv_general_dilated_patches,
)
from bindax_lax_basic.convolution_patches import (
    conv_general_shape_tuple as conv_general_shape_tuple,
)
from bindax_lax_basic.convolution_patches import conv_shape_tuple as conv_shape_tuple
from bindax_lax_basic.convolution_patches import (
    conv_transpose_shape_tuple as conv_transpose_shape_tuple,
)
from bindax_lax_basic.creation import broadcasted_iota as broadcasted_iota
from bindax_lax_basic.creation import empty as empty
from bindax_lax_basic.creation import full as full
from bindax_lax_basic.creation import full_like as full_like
from bindax_lax_basic.creation import iota as iota
from bindax_lax_basic.creation import iota_p as iota_p
from bindax_lax_basic.creation import ones_like as ones_like
from bindax_lax_basic.creation import shape_as_value as shape_as_value
from bindax_lax_basic.creation import zeros_like as zeros_like
from bindax_lax_basic.cumulative import cumlogsumexp as cumlogsumexp
from bindax_lax_basic.cumulative import cumlogsumexp_p as cumlogsumexp_p
from bindax_lax_basic.cumulative import cummax as cummax
from bindax_lax_basic.cumulative import cummax_p as cummax_p
from bindax_lax_basic.cumulative import cummin as cummin
from bindax_lax_basic.cumulative import cummin_p as cummin_p
from bindax_lax_basic.cumulative import cumprod as cumprod
from bindax_lax_basic.cumulative import cumprod_p as cumprod_p
from bindax_lax_basic.cumulative import cumsum as cumsum
from bindax_lax_basic.cumulative import cumsum_p as cumsum_p
from bindax_lax_basic.division import atan2 as atan2
from bindax_lax_basic.division import atan2_p as atan2_p
from bindax_lax_basic.division import div as div
from bindax_lax_basic.division import div_p as div_p
from bindax_lax_basic.division import nextafter as nextafter
from bindax_lax_basic.division import nextafter_p as nextafter_p
from bindax_lax_basic.division import rem as rem
from bindax_lax_basic.division import rem_p as rem_p
from bindax_lax_basic.dtypes import promote_types as promote_types
from bindax_lax_basic.dtypes import result_type as result_type
from bindax_lax_basic.dynamic_slicing import dynamic_index_in_dim as dynamic_index_in_dim
from bindax_lax_basic.dynamic_slicing import dynamic_slice as dynamic_slice
from bindax_lax_basic.dynamic_slicing import dynamic_slice_in_dim as dynamic_slice_in_dim
from bindax_lax_basic.dynamic_slicing import dynamic_slice_p as dynamic_slice_p
from bindax_lax_basic.dynamic_slicing import (
    dynamic_update_index_in_dim as dynamic_update_index_in_dim,
)
from bindax_lax_basic.dynamic_slicing import dynamic_update_slice as dynamic_update_slice
from bindax_lax_basic.dynamic_slicing import (
    dynamic_update_slice_in_dim as dynamic_update_slice_in_dim,
)
from bindax_lax_basic.dynamic_slicing import dynamic_update_slice_p as dynamic_update_slice_p
from bindax_lax_basic.error_functions import erf as erf
from bindax_lax_basic.error_functions import erf_inv as erf_inv
from bindax_lax_basic.error_functions import erf_inv_p as erf_inv_p
from bindax_lax_basic.error_functions import erf_p as erf_p
from bindax_lax_basic.error_functions import erfc as erfc
from bindax_lax_basic.error_functions import erfc_p as erfc_p
from bindax_lax_basic.exponential import cbrt as cbrt
from bindax_lax_basic.exponential import cbrt_p as cbrt_p
from bindax_lax_basic.exponential import exp as exp
from bindax_lax_basic.exponential import exp2 as exp2
from bindax_lax_basic.exponential import exp2_p as exp2_p
from bindax_lax_basic.exponential import exp_p as exp_p
from bindax_lax_basic.exponential import expm1 as expm1
from bindax_lax_basic.exponential import expm1_p as expm1_p
from bindax_lax_basic.exponential import log as log
from bindax_lax_basic.exponential import log1p as log1p
from bindax_lax_basic.exponential import log1p_p as log1p_p
from bindax_lax_basic.exponential import log_p as log_p
from bindax_lax_basic.exponential import logistic as logistic
from bindax_lax_basic.exponential import logistic_p as logistic_p
from bindax_lax_basic.exponential import rsqrt as rsqrt
from bindax_lax_basic.exponential import rsqrt_p as rsqrt_p
from bindax_lax_basic.exponential import sqrt as sqrt
from bindax_lax_basic.exponential import sqrt_p as sqrt_p
from bindax_lax_basic.exponential import square as square
from bindax_lax_basic.exponential import square_p as square_p
from bindax_lax_basic.fourier import FftType as FftType
from bindax_lax_basic.fourier import fft as fft
from bindax_lax_basic.fourier import fft_p as fft_p
from bindax_lax_basic.gamma_functions import digamma as digamma
from bindax_lax_basic.gamma_functions import digamma_p as digamma_p
from bindax_lax_basic.gamma_functions import lgamma as lgamma
from bindax_lax_basic.gamma_functions import lgamma_p as lgamma_p
from bindax_lax_basic.gamma_functions import polygamma as polygamma
from bindax_lax_basic.gamma_functions import polygamma_p as polygamma_p
from bindax_lax_basic.gamma_functions import zeta as zeta
from bindax_lax_basic.gamma_functions import zeta_p as zeta_p
from bindax_lax_basic.gathering import gather as gather
from bindax_lax_basic.gathering import gather_p as gather_p
from bindax_lax_basic.gathering import index_take as index_take
from bindax_lax_basic.gathering import scatter_add as scatter_add
from bindax_lax_basic.gathering import scatter_add_p as scatter_add_p
from bindax_lax_basic.gathering import take as take
from bindax_lax_basic.general_reduction import reduce as reduce
from bindax_lax_basic.general_reduction import reduce_p as reduce_p
from bindax_lax_basic.incomplete_functions import betainc as betainc
from bindax_lax_basic.incomplete_functions import igamma as igamma
from bindax_lax_basic.incomplete_functions import igamma_grad_a as igamma_grad_a
from bindax_lax_basic.incomplete_functions import igamma_grad_a_p as igamma_grad_a_p
from bindax_lax_basic.incomplete_functions import igamma_p as igamma_p
from bindax_lax_basic.incomplete_functions import igammac as igammac
from bindax_lax_basic.incomplete_functions import igammac_p as igammac_p
from bindax_lax_basic.incomplete_functions import random_gamma_grad as random_gamma_grad
from bindax_lax_basic.incomplete_functions import random_gamma_grad_p as random_gamma_grad_p
from bindax_lax_basic.incomplete_functions import (
    regularized_incomplete_beta_p as regularized_incomplete_beta_p,
)
from bindax_lax_basic.pooling import reduce_window_max_p as reduce_window_max_p
from bindax_lax_basic.pooling import reduce_window_min_p as reduce_window_min_p
from bindax_lax_basic.pooling import reduce_window_sum_p as reduce_window_sum_p
from bindax_lax_basic.powers import integer_pow as integer_pow
from bindax_lax_basic.powers import integer_pow_p as integer_pow_p
from bindax_lax_basic.powers import pow as pow
from bindax_lax_basic.powers import pow_p as pow_p
from bindax_lax_basic.powers import reciprocal as reciprocal
from bindax_lax_basic.precision import DotAlgorithm as DotAlgorithm
from bindax_lax_basic.precision import DotAlgorithmPreset as DotAlgorithmPreset
from bindax_lax_basic.precision import Precision as Precision
from bindax_lax_basic.precision import PrecisionLike as PrecisionLike
from bindax_lax_basic.ragged_contraction import (
    RaggedDotDimensionNumbers as RaggedDotDimensionNumbers,
)
from bindax_lax_basic.ragged_contraction import ragged_dot as ragged_dot
from bindax_lax_basic.ragged_contraction import ragged_dot_general as ragged_dot_general
from bindax_lax_basic.random_bits import RandomAlgorithm as RandomAlgorithm
from bindax_lax_basic.random_bits import rng_bit_generator as rng_bit_generator
from bindax_lax_basic.random_bits import rng_bit_generator_p as rng_bit_generator_p
from bindax_lax_basic.random_numbers import rng_uniform as rng_uniform
from bindax_lax_basic.random_numbers import rng_uniform_p as rng_uniform_p
from bindax_lax_basic.reductions import reduce_and as reduce_and
from bindax_lax_basic.reductions import reduce_and_p as reduce_and_p
from bindax_lax_basic.reductions import reduce_max as reduce_max
from bindax_lax_basic.reductions import reduce_max_p as reduce_max_p
from bindax_lax_basic.reductions import reduce_min as reduce_min
from bindax_lax_basic.reductions import reduce_min_p as reduce_min_p
from bindax_lax_basic.reductions import reduce_or as reduce_or
from bindax_lax_basic.reductions import reduce_or_p as reduce_or_p
from bindax_lax_basic.reductions import reduce_prod as reduce_prod
from bindax_lax_basic.reductions import reduce_prod_p as reduce_prod_p
from bindax_lax_basic.reductions import reduce_xor as reduce_xor
from bindax_lax_basic.reductions import reduce_xor_p as reduce_xor_p
from bindax_lax_basic.rounding import RoundingMethod as RoundingMethod
from bindax_lax_basic.rounding import abs as abs
from bindax_lax_basic.rounding import abs_p as abs_p
from bindax_lax_basic.rounding import ceil as ceil
from bindax_lax_basic.rounding import ceil_p as ceil_p
from bindax_lax_basic.rounding import floor as floor
from bindax_lax_basic.rounding import floor_p as floor_p
from bindax_lax_basic.rounding import round as round
from bindax_lax_basic.rounding import round_p as round_p
from bindax_lax_basic.rounding import sign as sign
from bindax_lax_basic.rounding import sign_p as sign_p
from bindax_lax_basic.scaled_contraction import scaled_dot as scaled_dot
from bindax_lax_basic.scatter_apply import scatter_apply as scatter_apply
from bindax_lax_basic.scattering import scatter as scatter
from bindax_lax_basic.scattering import scatter_max as scatter_max
from bindax_lax_basic.scattering import scatter_max_p as scatter_max_p
from bindax_lax_basic.scattering import scatter_min as scatter_min
from bindax_lax_basic.scattering import scatter_min_p as scatter_min_p
from bindax_lax_basic.scattering import scatter_mul as scatter_mul
from bindax_lax_basic.scattering import scatter_mul_p as scatter_mul_p
from bindax_lax_basic.scattering import scatter_p as scatter_p
from bindax_lax_basic.scattering import scatter_sub as scatter_sub
from bindax_lax_basic.selection import clamp as clamp
from bindax_lax_basic.selection import clamp_p as clamp_p
from bindax_lax_basic.selection import max as max
from bindax_lax_basic.selection import max_p as max_p
from bindax_lax_basic.selection import min as min
from bindax_lax_basic.selection import min_p as min_p
from bindax_lax_basic.selection import select as select
from bindax_lax_basic.selection import select_n as select_n
from bindax_lax_basic.selection import select_n_p as select_n_p
from bindax_lax_basic.shape import collapse as collapse
from bindax_lax_basic.shape import expand_dims as expand_dims
from bindax_lax_basic.shape import reshape as reshape
from bindax_lax_basic.shape import reshape_p as reshape_p
from bindax_lax_basic.shape import rev as rev
from bindax_lax_basic.shape import rev_p as rev_p
from bindax_lax_basic.shape import squeeze as squeeze
from bindax_lax_basic.shape import squeeze_p as squeeze_p
from bindax_lax_basic.slicing import index_in_dim as index_in_dim
from bindax_lax_basic.slicing import pad as pad
from bindax_lax_basic.slicing import pad_p as pad_p
from bindax_lax_basic.slicing import slice as slice
from bindax_lax_basic.slicing import slice_in_dim as slice_in_dim
from bindax_lax_basic.slicing import slice_p as slice_p
from bindax_lax_basic.sorting import sort as sort
from bindax_lax_basic.sorting import sort_key_val as sort_key_val
from bindax_lax_basic.sorting import sort_p as sort_p
from bindax_lax_basic.sorting import top_k as top_k
from bindax_lax_basic.sorting import top_k_p as top_k_p
from bindax_lax_basic.splitting import broadcast_to_rank as broadcast_to_rank
from bindax_lax_basic.splitting import split as split
from bindax_lax_basic.splitting import split_p as split_p
from bindax_lax_basic.splitting import stack as stack
from bindax_lax_basic.splitting import tile as tile
from bindax_lax_basic.splitting import tile_p as tile_p
from bindax_lax_basic.splitting import unstack as unstack
from bindax_lax_basic.trigonometry import acos as acos
from bindax_lax_basic.trigonometry import acos_p as acos_p
from bindax_lax_basic.trigonometry import acosh as acosh
from bindax_lax_basic.trigonometry import acosh_p as acosh_p
from bindax_lax_basic.trigonometry import asin as asin
from bindax_lax_basic.trigonometry import asin_p as asin_p
from bindax_lax_basic.trigonometry import asinh as asinh
from bindax_lax_basic.trigonometry import asinh_p as asinh_p
from bindax_lax_basic.trigonometry import atan as atan
from bindax_lax_basic.trigonometry import atan_p as atan_p
from bindax_lax_basic.trigonometry import atanh as atanh
from bindax_lax_basic.trigonometry import atanh_p as atanh_p
from bindax_lax_basic.trigonometry import cos as cos
from bindax_lax_basic.trigonometry import cos_p as cos_p
from bindax_lax_basic.trigonometry import cosh as cosh
from bindax_lax_basic.trigonometry import cosh_p as cosh_p
from bindax_lax_basic.trigonometry import sin as sin
from bindax_lax_basic.trigonometry import sin_p as sin_p
from bindax_lax_basic.trigonometry import sinh as sinh
from bindax_lax_basic.trigonometry import sinh_p as sinh_p
from bindax_lax_basic.trigonometry import tan as tan
from bindax_lax_basic.trigonometry import tan_p as tan_p
from bindax_lax_basic.trigonometry import tanh as tanh
from bindax_lax_basic.trigonometry import tanh_p as tanh_p
from bindax_lax_basic.window_scattering import select_and_scatter as select_and_scatter
from bindax_lax_basic.window_scattering import select_and_scatter_p as select_and_scatter_p
from bindax_lax_basic.window_selection import select_and_gather_add as select_and_gather_add
from bindax_lax_basic.window_selection import select_and_gather_add_p as select_and_gather_add_p
from bindax_lax_basic.window_selection import select_and_scatter_add as select_and_scatter_add
from bindax_lax_basic.window_selection import select_and_scatter_add_p as select_and_scatter_add_p
from bindax_lax_basic.windowed_reductions import reduce_window as reduce_window
from bindax_lax_basic.windowed_reductions import reduce_window_p as reduce_window_p
from bindax_lax_basic.windowed_reductions import (
    reduce_window_shape_tuple as reduce_window_shape_tuple,
)

register_internal(__file__)
