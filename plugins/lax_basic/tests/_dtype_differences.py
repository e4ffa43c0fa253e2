"""Where bindax and JAX differ in the dtypes that a function takes, or in results of a dtype."""

from collections.abc import Mapping
from typing import NamedTuple

from _dtype_cases import DTYPES, FLOATS, INTEGERS, NARROW_FLOATS, NARROW_INTEGERS


class Known(NamedTuple):
    """The dtypes of a case that differ, and why."""

    dtypes: tuple[str, ...]
    reason: str


Table = Mapping[str, Known]
TWO_BITS = ("int2", "uint2")
SUB_BYTE = (*NARROW_INTEGERS, "float4_e2m1fn")
E8 = ("float8_e8m0fnu",)
WITHOUT_INFINITY = (
    *("float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2fnuz"),
    "float8_e8m0fnu",
)

ASKS = "JAX asks for int8 or wider; the function is defined for all integers"
NO_KERNEL = "JAX's program does not compile: XLA has no kernel; bindax computes in wider types"
LIKE_FLOATS = "integers become float32 here, those of 2 bits too"

REFUSED_BY_JAX: Table = {
    "abs": Known(("int2", "int4"), ASKS),
    **dict.fromkeys(("reduce_and", "reduce_or", "reduce_xor"), Known(NARROW_INTEGERS, ASKS)),
    **dict.fromkeys(("cholesky", "eigh", "rfft"), Known(TWO_BITS, LIKE_FLOATS)),
    "dot_general_float32": Known(
        ("int64", "uint64"), "JAX compares bits of integers with bits of floats"
    ),
    "select_and_gather_add": Known(
        (*NARROW_INTEGERS, *INTEGERS), "JAX pads with infinities, which integers have not"
    ),
    "betainc": Known(("float4_e2m1fn",), "JAX looks for a method of a Python number"),
}
"""JAX raises an error before it compiles, bindax computes."""

FAILS_IN_JAX: Table = {
    **dict.fromkeys(
        ("concatenate", "stack", "sort", "sort_key_val", "argmax_index"),
        Known(TWO_BITS, "JAX's program returns wrong numbers or aborts the process"),
    ),
    **dict.fromkeys(
        ("argmax", "argmin", "dot", "dot_general", "batch_matmul", "conv", "conv_transpose"),
        Known(TWO_BITS, NO_KERNEL),
    ),
    "top_k": Known(SUB_BYTE, NO_KERNEL),
    "dot_general_float32": Known(SUB_BYTE, NO_KERNEL),
    "dot_general_int32": Known(NARROW_INTEGERS, NO_KERNEL),
    **dict.fromkeys(("erfc", "bessel_i1e"), Known(NARROW_FLOATS, NO_KERNEL)),
}
"""JAX fails after that."""

SUMS_OF_BOOLEANS = "JAX adds booleans here, and nowhere else"
FRACTIONS = "XLA's result is wrong: 8.875 becomes the greatest integer"

TAKEN_BY_JAX: Table = {
    **dict.fromkeys(
        ("select_and_scatter_add", "select_and_gather_add"), Known(("bool",), SUMS_OF_BOOLEANS)
    ),
    "dot_general_float32": Known(("complex64",), "JAX drops the imaginary part"),
    "dot_general_int32": Known((*NARROW_FLOATS, *FLOATS, "complex64"), FRACTIONS),
}
"""JAX computes, bindax raises an error."""

NO_ZERO = "there is neither zero nor sign, so initial values, padding and steps on the way are nan"
INITIAL = "JAX starts from minus infinity, which is nan there"
NO_NAN = "there is no nan: what stands for one is not defined"

VALUES: Table = {
    **dict.fromkeys(
        (
            *("asin", "atanh", "lgamma", "igamma", "igammac", "random_gamma_grad", "pow_integer"),
            *("cummax", "cummin", "cumsum", "argmax", "argmin", "conv_transpose", "scatter_sub"),
            *("betainc", "reduce_max", "reduce_min", "reduce_sum", "select_and_scatter_add"),
        ),
        Known(E8, NO_ZERO),
    ),
    "cumlogsumexp": Known(WITHOUT_INFINITY, INITIAL),
    "population_count": Known(("int4",), "JAX counts the bits of a byte"),
    "triangular_solve": Known(("float4_e2m1fn", *E8), "JAX's solution is zero or nan"),
    "schur": Known(DTYPES, "a Schur form is not unique"),
    **dict.fromkeys(("cholesky", "eigh"), Known(("bool",), "JAX's result is weakly typed")),
}
"""Results differ, or their types."""

COMPILED_VALUES: Table = {
    **dict.fromkeys(("asin", "acos"), Known(("float4_e2m1fn", *E8), f"{NO_NAN}; {NO_ZERO}")),
    **dict.fromkeys(
        ("atanh", "lgamma", "logistic", "conv_transpose", "reduce_sum", "select_and_scatter_add"),
        Known(E8, NO_ZERO),
    ),
    "schur": VALUES["schur"],
}
"""Results of compiled programs of bindax differ from evaluated ones."""

FLOATS_OF_FEW_BITS = (*NARROW_FLOATS, "bfloat16", "float16")
JAX_HAS_NO_RULE = "JAX has no derivative; that of bindax is checked by differences"
REPEATED = "JAX has none where positions may be repeated"
GENERAL = "JAX has no reverse mode of windows of functions that it does not know"
NO_INITIAL = f"{GENERAL}, and knows the function by its initial value, which is nan there"

DERIVATIVES_FAIL_IN_JAX: Table = {
    "bessel_i0e": Known(NARROW_FLOATS, "the derivative is made of bessel_i1e: XLA has no kernel"),
}
"""JAX traces the derivatives of a case, and fails after that."""

DERIVATIVES_REFUSED_BY_JAX: Table = {
    **{
        f"{part} of {name}": Known(FLOATS_OF_FEW_BITS, reason)
        for part in ("jvp", "vjp")
        for name, reason in (
            ("nextafter", JAX_HAS_NO_RULE),
            ("select_and_scatter", JAX_HAS_NO_RULE),
            ("scatter_mul", REPEATED),
        )
    },
    "vjp of reduce_window": Known(FLOATS_OF_FEW_BITS, GENERAL),
    **dict.fromkeys(
        (f"vjp of reduce_window_{name}" for name in ("max", "min", "sum")), Known(E8, NO_INITIAL)
    ),
}
"""JAX has no such derivative, bindax has."""

DERIVATIVES_TAKEN_BY_JAX: Table = {
    "jvp of random_gamma_grad": Known(
        FLOATS_OF_FEW_BITS,
        "JAX differentiates a loop of its approximation; bindax knows no closed form in a",
    ),
}
"""JAX has a derivative, bindax raises an error."""

OUTSIDE_DOMAIN: Table = {
    **dict.fromkeys(
        ("acosh", "igamma", "igammac"),
        Known(FLOATS_OF_FEW_BITS, "JAX's derivative is a number where the function itself is nan"),
    ),
}
"""Derivatives of bindax are nan outside of the function's domain, JAX's are not."""

ORDER = "products of three factors, each rounded, are multiplied in another order"
ON_THE_WAY = (
    "x / y² is greater than all numbers; JAX multiplies with the cotangent before it divides"
)
AT_ZERO = "the derivative at 0 is 0, in JAX 1"
NEGATION = "JAX negates, which gives nan where there is no sign"
SHARES = "JAX takes each update's share away from the operand, and the shares are rounded to zero"
DIGAMMA_AT_ZERO = "digamma(0) is minus infinity; in JAX before 0.12 nan"
FLOAT4 = ("float4_e2m1fn",)

DERIVATIVES: Table = {
    **dict.fromkeys(("acos", "acosh", "asin", "sqrt", "rsqrt"), Known(FLOAT4, NO_NAN)),
    **dict.fromkeys(
        ("igamma", "igammac"), Known((*FLOAT4, *E8), f"{NO_NAN}; JAX's change from run to run")
    ),
    "abs": Known((*FLOAT4, *E8), f"{AT_ZERO}; {NEGATION}"),
    "clamp": Known(
        ("float8_e4m3fn",), "between bounds in the wrong order the upper one is the result"
    ),
    "div": Known(("float8_e4m3b11fnuz",), ON_THE_WAY),
    "exp2": Known(FLOAT4, ORDER),
    "lgamma": Known(FLOAT4, f"{DIGAMMA_AT_ZERO}; {NO_NAN}"),
    "triangular_solve": VALUES["triangular_solve"],
    **dict.fromkeys(("scatter_min", "scatter_max"), Known((*FLOAT4, *E8), f"{SHARES}; {NO_ZERO}")),
    **dict.fromkeys(
        (
            *("erf", "pow_integer", "broadcast_in_dim", "tile", "reduce_sum", "scatter"),
            *("cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum", "scatter_sub"),
            *("reduce_window_sum", "reduce_window_max", "reduce_window_min"),
        ),
        Known(E8, NO_ZERO),
    ),
}
"""Derivatives differ."""


def has(table: Table, name: str, dtype: str) -> bool:
    """Whether a table has an entry for a case and a dtype."""
    return name in table and dtype in table[name].dtypes
