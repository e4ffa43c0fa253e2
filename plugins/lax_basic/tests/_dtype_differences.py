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
    **dict.fromkeys(("atanh", "lgamma", "logistic", "conv_transpose"), Known(E8, NO_ZERO)),
    "schur": VALUES["schur"],
}
"""Results of compiled programs of bindax differ from evaluated ones."""


def has(table: Table, name: str, dtype: str) -> bool:
    """Whether a table has an entry for a case and a dtype."""
    return name in table and dtype in table[name].dtypes
