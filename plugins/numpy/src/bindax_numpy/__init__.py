"""The names of NumPy for bindax, with JAX's semantics; public as ``bindax.numpy``.

Everything here is made of the operations of ``bindax_lax_basic``, so every transformation applies.
Functions promote dtypes and broadcast shapes. Arrays are made in the default dtypes, float32 and
int32 unless ``config.default_dtype_bits`` is 64; a dtype that is named is honoured, 64 bits or not.

>>> import bindax_numpy as jnp
>>> jnp.sum(jnp.sin(jnp.arange(3.0)) ** 2)
Array(1.5348952, dtype=float32)
"""

from bindax_core.extend import register_internal
from bindax_numpy import linalg as linalg
from bindax_numpy.arithmetic import abs as abs
from bindax_numpy.arithmetic import absolute as absolute
from bindax_numpy.arithmetic import add as add
from bindax_numpy.arithmetic import clip as clip
from bindax_numpy.arithmetic import divide as divide
from bindax_numpy.arithmetic import divmod as divmod
from bindax_numpy.arithmetic import floor_divide as floor_divide
from bindax_numpy.arithmetic import fmod as fmod
from bindax_numpy.arithmetic import maximum as maximum
from bindax_numpy.arithmetic import minimum as minimum
from bindax_numpy.arithmetic import mod as mod
from bindax_numpy.arithmetic import multiply as multiply
from bindax_numpy.arithmetic import nan_to_num as nan_to_num
from bindax_numpy.arithmetic import negative as negative
from bindax_numpy.arithmetic import positive as positive
from bindax_numpy.arithmetic import power as power
from bindax_numpy.arithmetic import remainder as remainder
from bindax_numpy.arithmetic import sign as sign
from bindax_numpy.arithmetic import square as square
from bindax_numpy.arithmetic import subtract as subtract
from bindax_numpy.arithmetic import true_divide as true_divide
from bindax_numpy.comparison import allclose as allclose
from bindax_numpy.comparison import array_equal as array_equal
from bindax_numpy.comparison import bitwise_and as bitwise_and
from bindax_numpy.comparison import bitwise_not as bitwise_not
from bindax_numpy.comparison import bitwise_or as bitwise_or
from bindax_numpy.comparison import bitwise_xor as bitwise_xor
from bindax_numpy.comparison import equal as equal
from bindax_numpy.comparison import greater as greater
from bindax_numpy.comparison import greater_equal as greater_equal
from bindax_numpy.comparison import invert as invert
from bindax_numpy.comparison import isclose as isclose
from bindax_numpy.comparison import isfinite as isfinite
from bindax_numpy.comparison import isinf as isinf
from bindax_numpy.comparison import isnan as isnan
from bindax_numpy.comparison import isneginf as isneginf
from bindax_numpy.comparison import isposinf as isposinf
from bindax_numpy.comparison import less as less
from bindax_numpy.comparison import less_equal as less_equal
from bindax_numpy.comparison import logical_and as logical_and
from bindax_numpy.comparison import logical_not as logical_not
from bindax_numpy.comparison import logical_or as logical_or
from bindax_numpy.comparison import logical_xor as logical_xor
from bindax_numpy.comparison import not_equal as not_equal
from bindax_numpy.comparison import where as where
from bindax_numpy.contraction import dot as dot
from bindax_numpy.contraction import inner as inner
from bindax_numpy.contraction import matmul as matmul
from bindax_numpy.contraction import outer as outer
from bindax_numpy.contraction import tensordot as tensordot
from bindax_numpy.contraction import vdot as vdot
from bindax_numpy.creation import array as array
from bindax_numpy.creation import asarray as asarray
from bindax_numpy.creation import empty as empty
from bindax_numpy.creation import empty_like as empty_like
from bindax_numpy.creation import full as full
from bindax_numpy.creation import full_like as full_like
from bindax_numpy.creation import ones as ones
from bindax_numpy.creation import ones_like as ones_like
from bindax_numpy.creation import zeros as zeros
from bindax_numpy.creation import zeros_like as zeros_like
from bindax_numpy.dtypes import bfloat16 as bfloat16
from bindax_numpy.dtypes import bool_ as bool_
from bindax_numpy.dtypes import complex64 as complex64
from bindax_numpy.dtypes import complex128 as complex128
from bindax_numpy.dtypes import complex_ as complex_
from bindax_numpy.dtypes import complexfloating as complexfloating
from bindax_numpy.dtypes import dtype as dtype
from bindax_numpy.dtypes import e as e
from bindax_numpy.dtypes import euler_gamma as euler_gamma
from bindax_numpy.dtypes import finfo as finfo
from bindax_numpy.dtypes import float8_e4m3fn as float8_e4m3fn
from bindax_numpy.dtypes import float8_e5m2 as float8_e5m2
from bindax_numpy.dtypes import float16 as float16
from bindax_numpy.dtypes import float32 as float32
from bindax_numpy.dtypes import float64 as float64
from bindax_numpy.dtypes import float_ as float_
from bindax_numpy.dtypes import floating as floating
from bindax_numpy.dtypes import generic as generic
from bindax_numpy.dtypes import iinfo as iinfo
from bindax_numpy.dtypes import inexact as inexact
from bindax_numpy.dtypes import inf as inf
from bindax_numpy.dtypes import int4 as int4
from bindax_numpy.dtypes import int8 as int8
from bindax_numpy.dtypes import int16 as int16
from bindax_numpy.dtypes import int32 as int32
from bindax_numpy.dtypes import int64 as int64
from bindax_numpy.dtypes import int_ as int_
from bindax_numpy.dtypes import integer as integer
from bindax_numpy.dtypes import issubdtype as issubdtype
from bindax_numpy.dtypes import nan as nan
from bindax_numpy.dtypes import ndarray as ndarray
from bindax_numpy.dtypes import ndim as ndim
from bindax_numpy.dtypes import newaxis as newaxis
from bindax_numpy.dtypes import number as number
from bindax_numpy.dtypes import pi as pi
from bindax_numpy.dtypes import promote_types as promote_types
from bindax_numpy.dtypes import result_type as result_type
from bindax_numpy.dtypes import shape as shape
from bindax_numpy.dtypes import signedinteger as signedinteger
from bindax_numpy.dtypes import size as size
from bindax_numpy.dtypes import uint4 as uint4
from bindax_numpy.dtypes import uint8 as uint8
from bindax_numpy.dtypes import uint16 as uint16
from bindax_numpy.dtypes import uint32 as uint32
from bindax_numpy.dtypes import uint64 as uint64
from bindax_numpy.dtypes import unsignedinteger as unsignedinteger
from bindax_numpy.functions import arccos as arccos
from bindax_numpy.functions import arccosh as arccosh
from bindax_numpy.functions import arcsin as arcsin
from bindax_numpy.functions import arcsinh as arcsinh
from bindax_numpy.functions import arctan as arctan
from bindax_numpy.functions import arctan2 as arctan2
from bindax_numpy.functions import arctanh as arctanh
from bindax_numpy.functions import cbrt as cbrt
from bindax_numpy.functions import cos as cos
from bindax_numpy.functions import cosh as cosh
from bindax_numpy.functions import deg2rad as deg2rad
from bindax_numpy.functions import exp as exp
from bindax_numpy.functions import exp2 as exp2
from bindax_numpy.functions import expm1 as expm1
from bindax_numpy.functions import heaviside as heaviside
from bindax_numpy.functions import hypot as hypot
from bindax_numpy.functions import log as log
from bindax_numpy.functions import log1p as log1p
from bindax_numpy.functions import log2 as log2
from bindax_numpy.functions import log10 as log10
from bindax_numpy.functions import logaddexp as logaddexp
from bindax_numpy.functions import rad2deg as rad2deg
from bindax_numpy.functions import reciprocal as reciprocal
from bindax_numpy.functions import sin as sin
from bindax_numpy.functions import sinh as sinh
from bindax_numpy.functions import sqrt as sqrt
from bindax_numpy.functions import tan as tan
from bindax_numpy.functions import tanh as tanh
from bindax_numpy.joining import array_split as array_split
from bindax_numpy.joining import column_stack as column_stack
from bindax_numpy.joining import concat as concat
from bindax_numpy.joining import concatenate as concatenate
from bindax_numpy.joining import dstack as dstack
from bindax_numpy.joining import hstack as hstack
from bindax_numpy.joining import repeat as repeat
from bindax_numpy.joining import split as split
from bindax_numpy.joining import stack as stack
from bindax_numpy.joining import tile as tile
from bindax_numpy.joining import vstack as vstack
from bindax_numpy.moving import flip as flip
from bindax_numpy.moving import fliplr as fliplr
from bindax_numpy.moving import flipud as flipud
from bindax_numpy.moving import pad as pad
from bindax_numpy.moving import roll as roll
from bindax_numpy.moving import rot90 as rot90
from bindax_numpy.ranges import arange as arange
from bindax_numpy.ranges import eye as eye
from bindax_numpy.ranges import identity as identity
from bindax_numpy.ranges import linspace as linspace
from bindax_numpy.ranges import meshgrid as meshgrid
from bindax_numpy.ranges import tri as tri
from bindax_numpy.ranges import tril as tril
from bindax_numpy.ranges import triu as triu
from bindax_numpy.reductions import all as all
from bindax_numpy.reductions import amax as amax
from bindax_numpy.reductions import amin as amin
from bindax_numpy.reductions import any as any
from bindax_numpy.reductions import argmax as argmax
from bindax_numpy.reductions import argmin as argmin
from bindax_numpy.reductions import count_nonzero as count_nonzero
from bindax_numpy.reductions import cumsum as cumsum
from bindax_numpy.reductions import max as max
from bindax_numpy.reductions import min as min
from bindax_numpy.reductions import prod as prod
from bindax_numpy.reductions import ptp as ptp
from bindax_numpy.reductions import sum as sum
from bindax_numpy.reshaping import atleast_1d as atleast_1d
from bindax_numpy.reshaping import atleast_2d as atleast_2d
from bindax_numpy.reshaping import atleast_3d as atleast_3d
from bindax_numpy.reshaping import broadcast_arrays as broadcast_arrays
from bindax_numpy.reshaping import broadcast_shapes as broadcast_shapes
from bindax_numpy.reshaping import broadcast_to as broadcast_to
from bindax_numpy.reshaping import expand_dims as expand_dims
from bindax_numpy.reshaping import matrix_transpose as matrix_transpose
from bindax_numpy.reshaping import moveaxis as moveaxis
from bindax_numpy.reshaping import permute_dims as permute_dims
from bindax_numpy.reshaping import ravel as ravel
from bindax_numpy.reshaping import reshape as reshape
from bindax_numpy.reshaping import squeeze as squeeze
from bindax_numpy.reshaping import swapaxes as swapaxes
from bindax_numpy.reshaping import transpose as transpose
from bindax_numpy.rounding import angle as angle
from bindax_numpy.rounding import ceil as ceil
from bindax_numpy.rounding import conj as conj
from bindax_numpy.rounding import conjugate as conjugate
from bindax_numpy.rounding import floor as floor
from bindax_numpy.rounding import imag as imag
from bindax_numpy.rounding import real as real
from bindax_numpy.rounding import rint as rint
from bindax_numpy.rounding import round as round
from bindax_numpy.rounding import trunc as trunc
from bindax_numpy.statistics import average as average
from bindax_numpy.statistics import mean as mean
from bindax_numpy.statistics import std as std
from bindax_numpy.statistics import var as var
from bindax_numpy.summation import einsum as einsum
from bindax_numpy.vectorization import vectorize as vectorize

register_internal(__file__)

__all__ = [
    "abs",
    "absolute",
    "add",
    "all",
    "allclose",
    "amax",
    "amin",
    "angle",
    "any",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "array",
    "array_equal",
    "array_split",
    "asarray",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "average",
    "bfloat16",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "bool_",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "cbrt",
    "ceil",
    "clip",
    "column_stack",
    "complex64",
    "complex128",
    "complex_",
    "complexfloating",
    "concat",
    "concatenate",
    "conj",
    "conjugate",
    "cos",
    "cosh",
    "count_nonzero",
    "cumsum",
    "deg2rad",
    "divide",
    "divmod",
    "dot",
    "dstack",
    "dtype",
    "e",
    "einsum",
    "empty",
    "empty_like",
    "equal",
    "euler_gamma",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "eye",
    "finfo",
    "flip",
    "fliplr",
    "flipud",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "float32",
    "float64",
    "float_",
    "floating",
    "floor",
    "floor_divide",
    "fmod",
    "full",
    "full_like",
    "generic",
    "greater",
    "greater_equal",
    "heaviside",
    "hstack",
    "hypot",
    "identity",
    "iinfo",
    "imag",
    "inexact",
    "inf",
    "inner",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "integer",
    "invert",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "issubdtype",
    "less",
    "less_equal",
    "linalg",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "meshgrid",
    "min",
    "minimum",
    "mod",
    "moveaxis",
    "multiply",
    "nan",
    "nan_to_num",
    "ndarray",
    "ndim",
    "negative",
    "newaxis",
    "not_equal",
    "number",
    "ones",
    "ones_like",
    "outer",
    "pad",
    "permute_dims",
    "pi",
    "positive",
    "power",
    "prod",
    "promote_types",
    "ptp",
    "rad2deg",
    "ravel",
    "real",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "rint",
    "roll",
    "rot90",
    "round",
    "shape",
    "sign",
    "signedinteger",
    "sin",
    "sinh",
    "size",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "transpose",
    "tri",
    "tril",
    "triu",
    "true_divide",
    "trunc",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unsignedinteger",
    "var",
    "vdot",
    "vectorize",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]
