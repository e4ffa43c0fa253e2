"""The names of NumPy for bindax, with JAX's semantics; public as ``bindax.numpy``.

Everything here is made of the operations of ``bindax_lax_basic``, so every transformation applies.
Functions promote dtypes and broadcast shapes. Arrays are made in the default dtypes, float32 and
int32 unless ``config.dtype_bits`` is 64; a dtype that is named is honoured, 64 bits or not.

>>> import bindax_numpy as jnp
>>> jnp.sum(jnp.sin(jnp.arange(3.0)) ** 2).round(4)
Array(1.5349, dtype=float32)
"""

# Several names to a line, as one for each would take most of a thousand lines.
# fmt: off
# isort: off
from numpy.exceptions import ComplexWarning

from bindax_core.extend import former_modules, register_internal
from bindax_numpy import fft, linalg
from bindax_numpy.arithmetic import (
    abs, absolute, angle, around, ceil, clip, conj, conjugate, divide, divmod, floor, floor_divide,
    fmod, imag, mod, nan_to_num, positive, pow, power, real, remainder, rint, round, sign, square,
    true_divide, trunc,
)
from bindax_numpy.array_api import (
    __array_api_version__ as __array_api_version__,
    __array_namespace_info__ as __array_namespace_info__,
    SUPPORTED_API_VERSIONS as SUPPORTED_API_VERSIONS,
)
from bindax_numpy.append_insert_delete import (
    append, block, delete, dsplit, hsplit, insert, resize, trim_zeros, unstack, vsplit,
)
from bindax_numpy.comparison import (
    allclose, array_equal, array_equiv, bitwise_invert, bitwise_not, equal, greater, greater_equal,
    invert, isclose, isfinite, isinf, isnan, isneginf, isposinf, less, less_equal, logical_not,
    not_equal, where,
)
from bindax_numpy.dot_matmul import dot, inner, matmul, outer, tensordot, vdot
from bindax_numpy.conversion import (
    astype, can_cast, copy, from_dlpack, frombuffer, fromfunction, iscomplexobj, isdtype, isrealobj,
    isscalar, iterable,
)
from bindax_numpy.creation import (
    array, asarray, empty, empty_like, full, full_like, ones, ones_like, zeros, zeros_like,
)
from bindax_numpy.cumulative import (
    cumprod, cumulative_prod, cumulative_sum, diff, ediff1d, gradient, nancumprod, nancumsum,
    trapezoid, unwrap,
)
from bindax_numpy.dtypes import (
    bfloat16, bool_, bool_ as bool, cdouble, character, complex128, complex64, complex_,
    complexfloating, csingle, double, dtype, e, euler_gamma, finfo, flexible, float16, float32,
    float4_e2m1fn, float64, float8_e3m4, float8_e4m3, float8_e4m3b11fnuz, float8_e4m3fn,
    float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, float_, floating, generic, iinfo,
    inexact, inf, int16, int2, int32, int4, int64, int8, int_, integer, issubdtype, nan, ndarray,
    ndim, newaxis, number, object_, pi, promote_types, result_type, shape, signedinteger, single,
    size, uint, uint16, uint2, uint32, uint4, uint64, uint8, unsignedinteger,
)
from bindax_numpy.files import (
    array_repr, array_str, fromfile, fromiter, fromstring, get_printoptions, load, printoptions,
    save, savez, set_printoptions,
)
from bindax_numpy.exp_log_trigonometry import (
    acos, acosh, arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, asin, asinh, atan,
    atan2, atanh, cbrt, cos, cosh, deg2rad, degrees, exp, exp2, expm1, heaviside, hypot, log, log10,
    log1p, log2, rad2deg, radians, reciprocal, sin, sinh, sqrt, tan, tanh,
)
from bindax_numpy.histograms import (
    bincount, histogram, histogram2d, histogram_bin_edges, histogramdd, interp,
)
from bindax_numpy.index_grids import (
    apply_along_axis, apply_over_axes, c_, index_exp, indices, ix_, mgrid, ogrid, r_,
    ravel_multi_index, s_, unravel_index,
)
from bindax_numpy.indexing import (
    diag, diag_indices, diag_indices_from, diagflat, diagonal, fill_diagonal, put_along_axis, take,
    take_along_axis, trace, tril_indices, tril_indices_from, triu_indices, triu_indices_from,
)
from bindax_numpy.integers import (
    bitwise_count, bitwise_left_shift, bitwise_right_shift, gcd, lcm, left_shift, packbits,
    right_shift, unpackbits,
)
from bindax_numpy.concatenate import (
    array_split, column_stack, concat, concatenate, dstack, hstack, repeat, split, stack, tile,
    vstack,
)
from bindax_numpy.nan_reductions import (
    nanargmax, nanargmin, nanmax, nanmean, nanmin, nanprod, nanstd, nansum, nanvar,
)
from bindax_numpy.quantiles import (
    median, nanmedian, nanpercentile, nanquantile, percentile, quantile,
)
from bindax_numpy.pad import pad
from bindax_numpy.polynomials import (
    poly, polyadd, polyder, polydiv, polyfit, polyint, polymul, polysub, polyval, roots, vander,
)
from bindax_numpy.kron_convolve import convolve, correlate, cross, kron, matvec, vecdot, vecmat
from bindax_numpy.ranges import (
    arange, eye, geomspace, identity, linspace, logspace, meshgrid, tri, tril, triu,
)
from bindax_numpy.reductions import (
    all, amax, amin, any, argmax, argmin, count_nonzero, cumsum, max, min, minmax, prod, ptp, sum,
)
from bindax_numpy.reshaping import (
    atleast_1d, atleast_2d, atleast_3d, broadcast_arrays, broadcast_shapes, broadcast_to,
    expand_dims, flip, fliplr, flipud, matrix_transpose, moveaxis, permute_dims, ravel, reshape,
    roll, rollaxis, rot90, squeeze, swapaxes, transpose,
)
from bindax_numpy.nonzero_searchsorted import (
    argwhere, compress, digitize, extract, flatnonzero, mask_indices, nonzero, searchsorted,
)
from bindax_numpy.selection import choose, piecewise, place, put, select
from bindax_numpy.sets import (
    intersect1d, isin, setdiff1d, setxor1d, union1d, unique, unique_all, unique_counts,
    unique_inverse, unique_values, UniqueAllResult, UniqueCountsResult, UniqueInverseResult,
)
from bindax_numpy.sorting import (
    argpartition, argsort, lexsort, partition, sort, sort_complex, top_k,
)
from bindax_numpy.special import (
    copysign, fabs, float_power, fmax, fmin, frexp, i0, iscomplex, isreal, ldexp, modf, nextafter,
    signbit, sinc, spacing,
)
from bindax_numpy.statistics import average, corrcoef, cov, mean, std, var
from bindax_numpy.einsum import einsum, einsum_path
from bindax_numpy.ufuncs import (
    add, bitwise_and, bitwise_or, bitwise_xor, frompyfunc, logaddexp, logaddexp2, logical_and,
    logical_or, logical_xor, maximum, minimum, multiply, negative, subtract, ufunc,
)
from bindax_numpy.vectorize import vectorize
from bindax_numpy.windows import bartlett, blackman, hamming, hanning, kaiser

register_internal(__file__)
former_modules(
    __name__,
    {
        "assembly": "append_insert_delete",
        "bytes_of_elements": "view_byteswap",
        "contraction": "dot_matmul",
        "flattening": "ravel_pytree",
        "functions": "exp_log_trigonometry",
        "joining": "concatenate",
        "order_statistics": "quantiles",
        "padding": "pad",
        "products": "kron_convolve",
        "searching": "nonzero_searchsorted",
        "summation": "einsum",
        "vectorization": "vectorize",
        "linalg.norms": "linalg.norm_det_rank",
        "linalg.powers": "linalg.matrix_power",
        "linalg.systems": "linalg.solve",
    },
)

__all__ = [
    "ComplexWarning", "UniqueAllResult", "UniqueCountsResult", "UniqueInverseResult",
    "__array_api_version__", "__array_namespace_info__", "abs", "absolute", "acos", "acosh", "add",
    "all", "allclose", "amax", "amin", "angle", "any", "append", "apply_along_axis",
    "apply_over_axes", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "argmax", "argmin", "argpartition", "argsort", "argwhere", "around", "array",
    "array_equal", "array_equiv", "array_repr", "array_split", "array_str", "asarray", "asin",
    "asinh", "astype", "atan", "atan2", "atanh", "atleast_1d", "atleast_2d", "atleast_3d",
    "average", "bartlett", "bfloat16", "bincount", "bitwise_and", "bitwise_count", "bitwise_invert",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "blackman", "block", "bool", "bool_", "broadcast_arrays", "broadcast_shapes", "broadcast_to",
    "c_", "can_cast", "cbrt", "cdouble", "ceil", "character", "choose", "clip", "column_stack",
    "complex64", "complex128", "complex_", "complexfloating", "compress", "concat", "concatenate",
    "conj", "conjugate", "convolve", "copy", "copysign", "corrcoef", "correlate", "cos", "cosh",
    "count_nonzero", "cov", "cross", "csingle", "cumprod", "cumsum", "cumulative_prod",
    "cumulative_sum", "deg2rad", "degrees", "delete", "diag", "diag_indices", "diag_indices_from",
    "diagflat", "diagonal", "diff", "digitize", "divide", "divmod", "dot", "double", "dsplit",
    "dstack", "dtype", "e", "ediff1d", "einsum", "einsum_path", "empty", "empty_like", "equal",
    "euler_gamma", "exp", "exp2", "expand_dims", "expm1", "extract", "eye", "fabs", "fft",
    "fill_diagonal", "finfo", "flatnonzero", "flexible", "flip", "fliplr", "flipud",
    "float4_e2m1fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
    "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float16", "float32",
    "float64", "float_", "float_power", "floating", "floor", "floor_divide", "fmax", "fmin", "fmod",
    "frexp", "from_dlpack", "frombuffer", "fromfile", "fromfunction", "fromiter", "frompyfunc",
    "fromstring", "full", "full_like", "gcd", "generic", "geomspace", "get_printoptions",
    "gradient", "greater", "greater_equal", "hamming", "hanning", "heaviside", "histogram",
    "histogram2d", "histogram_bin_edges", "histogramdd", "hsplit", "hstack", "hypot", "i0",
    "identity", "iinfo", "imag", "index_exp", "indices", "inexact", "inf", "inner", "insert",
    "int2", "int4", "int8", "int16", "int32", "int64", "int_", "integer", "interp", "intersect1d",
    "invert", "isclose", "iscomplex", "iscomplexobj", "isdtype", "isfinite", "isin", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "issubdtype", "iterable",
    "ix_", "kaiser", "kron", "lcm", "ldexp", "left_shift", "less", "less_equal", "lexsort",
    "linalg", "linspace", "load", "log", "log1p", "log2", "log10", "logaddexp", "logaddexp2",
    "logical_and", "logical_not", "logical_or", "logical_xor", "logspace", "mask_indices", "matmul",
    "matrix_transpose", "matvec", "max", "maximum", "mean", "median", "meshgrid", "mgrid", "min",
    "minimum", "minmax", "mod", "modf", "moveaxis", "multiply", "nan", "nan_to_num", "nanargmax",
    "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin",
    "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "ndarray", "ndim",
    "negative", "newaxis", "nextafter", "nonzero", "not_equal", "number", "object_", "ogrid",
    "ones", "ones_like", "outer", "packbits", "pad", "partition", "percentile", "permute_dims",
    "pi", "piecewise", "place", "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint",
    "polymul", "polysub", "polyval", "positive", "pow", "power", "printoptions", "prod",
    "promote_types", "ptp", "put", "put_along_axis", "quantile", "r_", "rad2deg", "radians",
    "ravel", "ravel_multi_index", "real", "reciprocal", "remainder", "repeat", "reshape", "resize",
    "result_type", "right_shift", "rint", "roll", "rollaxis", "roots", "rot90", "round", "s_",
    "save", "savez", "searchsorted", "select", "set_printoptions", "setdiff1d", "setxor1d", "shape",
    "sign", "signbit", "signedinteger", "sin", "sinc", "single", "sinh", "size", "sort",
    "sort_complex", "spacing", "split", "sqrt", "square", "squeeze", "stack", "std", "subtract",
    "sum", "swapaxes", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "top_k",
    "trace", "transpose", "trapezoid", "tri", "tril", "tril_indices", "tril_indices_from",
    "trim_zeros", "triu", "triu_indices", "triu_indices_from", "true_divide", "trunc", "ufunc",
    "uint", "uint2", "uint4", "uint8", "uint16", "uint32", "uint64", "union1d", "unique",
    "unique_all", "unique_counts", "unique_inverse", "unique_values", "unpackbits", "unravel_index",
    "unsignedinteger", "unstack", "unwrap", "vander", "var", "vdot", "vecdot", "vecmat",
    "vectorize", "vsplit", "vstack", "where", "zeros", "zeros_like",
]
