"""Where bindax and JAX differ, and where rounding is larger than elsewhere; each with the reason.

What a user can notice stands in the README of the package, too.
"""

import re
from typing import NamedTuple


class Difference(NamedTuple):
    """Parts of samples that differ.

    Attributes:
        parts: the names of the parts, or the beginning of their names.
        reason: why they differ.
        samples: a regular expression that the labels of the samples match.
    """

    parts: tuple[str, ...]
    reason: str
    samples: str = ""


DERIVATIVES = ("jvp", "vjp")
ALL = (*DERIVATIVES, "vmap")
JAX_HAS_NONE = "JAX has no derivative; that of bindax is checked by differences"
JAX_NAN = "JAX's tangents of windows that were moved to within the array are nan"
JAX_CUTS = "JAX refuses to cut elements off here"
NO_CUT = "JAX transposes no windows with dilation, and none of general reductions"
JAX_CUTS_BACK = (
    "JAX's derivative slices from a negative index where padding is negative; that of bindax is "
    "checked by differences"
)
KEYS = "each key gives its own bits; in JAX all bits under vmap come from the first key"
TRIANGLE = "one triangle is read, so the other has no tangent; JAX averages them"
SCHUR = "a Schur form is not unique"

DIFFERENCES: dict[str, tuple[Difference, ...]] = {
    "sign": (
        Difference(DERIVATIVES, "JAX takes the sign of a complex number for constant", "complex"),
    ),
    "nextafter": (Difference(DERIVATIVES, JAX_HAS_NONE),),
    "igamma_grad_a": (Difference(DERIVATIVES, JAX_HAS_NONE),),
    "random_gamma_grad": (
        Difference(("vjp",), "JAX differentiates a loop, which has no reverse mode"),
        Difference(
            ("jvp",), "no closed form is known with respect to a", r"^random_gamma_grad-float"
        ),
    ),
    "scatter_apply": (
        Difference(("value", "vmap"), "an element named twice is computed once", r"5,1\]|2,1\]$"),
    ),
    "zeta": (Difference(DERIVATIVES, JAX_HAS_NONE),),
    "reduce_max": (Difference(("jvp",), "JAX divides 0 by 0 for the extremum of nothing", ",0]"),),
    "reduce_min": (Difference(("jvp",), "JAX divides 0 by 0 for the extremum of nothing", ",0]"),),
    "scatter_mul": (Difference(DERIVATIVES, "JAX has none where positions may be repeated"),),
    "scatter_max": (Difference(DERIVATIVES, JAX_NAN, "mode=clip"),),
    "scatter_min": (Difference(DERIVATIVES, JAX_NAN, "mode=clip"),),
    "reduce": (
        Difference(("jvp", "vjp", "vmap 1"), "JAX has none in initial values", r"\[\]-\w+$"),
        Difference(DERIVATIVES, "JAX has none of reductions of several arrays", "pairs"),
    ),
    "reduce_window": (
        Difference(("vjp",), JAX_CUTS_BACK, "(add|max|min)3$"),
        Difference(("vjp",), NO_CUT, "joined|(max|min)[56]$"),
        Difference(DERIVATIVES, "JAX has none of windows of several arrays", "pairs"),
    ),
    "select_and_gather_add": (
        Difference(("vjp",), JAX_CUTS_BACK, "3$"),
        Difference(("vjp",), NO_CUT, "[56]$"),
    ),
    "select_and_scatter_add": (Difference((*ALL, "value"), JAX_CUTS, "3$"),),
    "select_and_scatter": (
        Difference(ALL, "JAX has no rules for it; those of bindax are checked"),
    ),
    "rng_bit_generator": (Difference(("vmap",), KEYS),),
    "qr": (
        Difference(DERIVATIVES, "JAX's derivative with pivoting takes no stacks", "pivoting"),
        Difference(
            DERIVATIVES,
            "bindax turns the columns that full_matrices adds, JAX does not",
            r"\[4,2\]",
        ),
    ),
    "svd": (Difference(DERIVATIVES, "JAX has none with full_matrices", r"\[4,2\]$"),),
    "eigh": (Difference(DERIVATIVES, TRIANGLE, "symmetrize_input=False"),),
    "householder_product": (Difference(DERIVATIVES, JAX_HAS_NONE),),
    "schur": (Difference(("value", "vmap"), SCHUR),),
}
"""For each function where it differs from JAX's."""

FEW = "NumPy and XLA approximate it, or products in its derivative, in other ways"
ROUNDED = "the operations of its derivative are rounded one by one, or some of them together"
PRODUCTS = "products of ten numbers, of which each is rounded; XLA multiplies in another order"
SPECIAL = "JAX's approximation is less exact than the unit; bindax's is checked with SciPy"
LARGE = "JAX's series and continued fractions lose digits where operands are large"
SYSTEM = "rounding is multiplied by the condition of the matrix"

ROUNDINGS: dict[str, tuple[float, str]] = {
    **dict.fromkeys(("tanh", "tan", "atanh", "pow", "div", "cumlogsumexp"), (4, FEW)),
    **dict.fromkeys(("logistic", "acosh", "cumprod"), (1.25, ROUNDED)),
    "reduce": (2, PRODUCTS),
    **dict.fromkeys(("digamma", "polygamma", "zeta", "erf_inv"), (8, SPECIAL)),
    "lgamma": (64, SPECIAL),  # its derivative passes through 0 between the poles
    **dict.fromkeys(("bessel_i0e", "bessel_i1e", "betainc"), (64, SPECIAL)),
    **dict.fromkeys(("igamma", "igammac", "igamma_grad_a", "random_gamma_grad"), (1e5, LARGE)),
    **dict.fromkeys(
        (
            *("triangular_solve", "tridiagonal_solve", "cholesky", "lu", "qr"),
            *("eigh", "svd", "eig", "hessenberg", "tridiagonal", "schur", "householder_product"),
        ),
        (32, SYSTEM),
    ),
}
"""How many times two units in the last place the results of a function may differ, and why."""

SUMS = {
    *("reduce_sum", "pad", "cumsum", "reduce", "reduce_window", "dot_general", "dot"),
    *("batch_matmul", "conv", "conv_general_dilated", "conv_transpose", "fft"),
}
"""Functions that add, so that results are smaller than the terms that were rounded."""

TURNED = {"eigh", "svd"}
"""Functions whose derivatives turn what comes in by unitary matrices: rounding is in its size."""


COMPILED_DIFFERENCES: dict[str, tuple[Difference, ...]] = {
    "schur": DIFFERENCES["schur"],
}
"""Where compiled programs of bindax differ from evaluated ones."""


def known(
    table: dict[str, tuple[Difference, ...]], name: str, label: str, part: str
) -> Difference | None:
    """The entry of a table that a difference is known by."""
    for difference in table.get(name, ()):
        if part.startswith(difference.parts) and re.search(difference.samples, label):
            return difference
    return None
