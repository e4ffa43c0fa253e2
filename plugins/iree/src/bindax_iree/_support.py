"""The statements of the backend on itself, for ``check_backend`` and the documentation."""

from __future__ import annotations

UNSUPPORTED: frozenset[str] = frozenset(
    (
        # IREE has no such operations of StableHLO, or not for all lengths and dtypes.
        *("cholesky", "triangular_solve", "fft", "rng_uniform", "cbrt"),
        *("scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max"),
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
    )
)
"""The primitives that the backend refuses, with all or some types."""

UNITS: dict[str, float] = {
    "atan float32": 24.0,
    "atan2 float32": 32.0,
    "atan2 complex64": 32.0,
    "cbrt float32": 12.0,
    "lgamma float32": 32.0,
}
"""The distance from the reference that functions may have, in units in the last place."""
