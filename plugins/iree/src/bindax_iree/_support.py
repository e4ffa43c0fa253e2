"""The statements of the backend on itself, for ``check_backend`` and the documentation."""

from __future__ import annotations

PLATFORM = "iree"
"""The platform whose lowering rules are used; where a primitive has none, the general one is."""

UNSUPPORTED: frozenset[str] = frozenset(
    (
        # IREE has no such operations of StableHLO, or not for all lengths and dtypes.
        *("cholesky", "triangular_solve", "fft", "rng_uniform", "cbrt"),
        *("scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max", "scatter_sub"),
        *("select_and_scatter", "select_and_scatter_add"),
        # Its compiler ends at sums over windows of complex numbers.
        *("conv_general_dilated", "reduce_window_sum"),
        # LAPACK computes them.
        *("lu", "qr", "eigh", "eig", "svd", "schur", "hessenberg", "tridiagonal"),
        *("tridiagonal_solve", "householder_product"),
        # Functions of this process.
        *("debug_callback", "io_callback", "pure_callback", "check", "ffi_call"),
        # A program that was exported for the CPU is not for this platform.
        "call_exported",
        # No loop begins with zeros of complex128.
        *("scan", "while"),
        # It has one device.
        "shard_map",
        # IREE has no element types for them.
        *("int2", "int4", "uint2", "uint4", "float4_e2m1fn"),
    )
)
"""The primitives that the backend refuses, with all or some types, and the dtypes."""

UNITS: dict[str, float] = {
    "atan float32": 48.0,
    "atan2 float32": 48.0,
    "atan2 complex64": 48.0,
    "cbrt float32": 12.0,
    "lgamma float32": 32.0,
}
"""The distance from the reference that functions may have, in units in the last place."""

_SPECIAL: dict[str, tuple[str, ...]] = {
    "it is infinite where the square of a part overflows": ("abs complex64",),
    "of two infinite operands it is nan": ("atan2 float32", "atan2 float16", "atan2 bfloat16"),
    "of an infinite number it is nan": ("cbrt float32", "cbrt float16", "cbrt bfloat16"),
    "of an infinite base it is nan": ("pow float64", "pow float32", "pow float16", "pow bfloat16"),
    "of numbers as large as 1e30 it is no number between -1 and 1": (
        *("cos float32", "cos bfloat16", "cos complex64"),
        *("sin float32", "sin bfloat16", "sin complex64"),
    ),
    "of numbers as large as 1e30 it is nan": ("tan float32", "tan bfloat16", "tan complex64"),
    "a part is nan where both parts of the operand are infinite": (
        *("acos complex64", "acosh complex64", "asin complex64", "asinh complex64"),
        *("log complex64", "log1p complex64", "log2 complex64"),
    ),
    "a part is nan where an operand is infinite": (
        *("cosh complex64", "cosh complex128", "sinh complex64", "sinh complex128"),
        *("div complex64", "div complex128", "fft complex64"),
    ),
    "it is not infinite beside its pole at 0, below": ("digamma float32", "digamma bfloat16"),
}
"""Differences of results for zeros, infinities and nan, each with primitives and dtypes."""

DIFFERENCES: dict[str, str] = {
    "platform_index int32": "the platform is iree, wherever it runs",
    "cond int32": "the platform is iree, where branches are for platforms",
    "cond int32: special values": "the platform is iree, where branches are for platforms",
    **{f"{one}: special values": how for how, some in _SPECIAL.items() for one in some},
}
"""The results that are others than those of evaluation, as ``check_backend`` reads them."""
