"""Run tests with each inexact result of an evaluated primitive moved by one unit in its last place.

Another processor's kernels give other last digits. An example whose output changes under this
plugin prints what a processor decides, though its result looks round: 0.25 here, 0.24999999 there.
What compiled programs compute inside is not moved.

    PYTHONPATH=scripts BINDAX_LAST_DIGITS=up uv run python -m pytest -p last_digits plugins/*/src
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.arrays._evaluation import EvalTrace
from bindax_core.extend import Array, evaluate_with

# What IEEE 754 rounds once, or what moves bits, is the same on each processor.
_NAMES = (
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh digamma erf erf_inv erfc exp exp2 expm1 "
    "lgamma log log1p logistic polygamma pow rsqrt sin sinh tan tanh zeta igamma igammac "
    "regularized_incomplete_beta bessel_i0e bessel_i1e cumlogsumexp cumprod cumsum dot_general "
    "conv_general_dilated fft reduce_sum reduce_prod reduce_window_sum cholesky eig eigh lu qr svd "
    "triangular_solve schur hessenberg tridiagonal_solve geqrf householder_product"
)
INEXACT = set(_NAMES.split())
MASKS = {np.dtype("float32"): (np.uint32, 0x1FFF), np.dtype("float64"): (np.uint64, 2**42 - 1)}
END = {"up": np.inf, "down": -np.inf}[os.environ.get("BINDAX_LAST_DIGITS", "up")]


def moved(value: Any) -> Any:
    """Return a result with the elements moved that are no short binary fractions."""
    if not isinstance(value, Array) or value.dtype not in MASKS:
        return value
    host = np.asarray(value)
    kind, mask = MASKS[host.dtype]
    is_short = (np.ascontiguousarray(host).view(kind).reshape(host.shape) & kind(mask)) == 0
    with np.errstate(all="ignore"):
        out = np.where(is_short, host, np.nextafter(host, host.dtype.type(END)))
    return Array(value.aval, out.astype(host.dtype))


class OtherDigits(EvalTrace):
    """Evaluation with other last digits."""

    __slots__ = ()

    def process_primitive(
        self, primitive: Any, operands: Sequence[Any], params: dict[str, Any]
    ) -> Sequence[Any]:
        """Compute the results of a primitive, and move them."""
        outs = super().process_primitive(primitive, operands, params)
        return [moved(x) for x in outs] if primitive.name in INEXACT else outs

    def __repr__(self) -> str:
        """Return what a page shows of the evaluation that this one stands for."""
        return f"<{EvalTrace.__module__}.{EvalTrace.__qualname__} object at {id(self):#x}>"


def pytest_collection_finish() -> None:
    """Begin when everything is collected."""
    evaluate_with(OtherDigits)
