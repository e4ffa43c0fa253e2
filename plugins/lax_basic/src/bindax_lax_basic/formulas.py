"""The formula of each derivative, for the documentation.

``x``, ``y`` and ``z`` are the operands in their order, ``o`` is the result, and a dot marks
tangents. Products of numbers are elementwise, those of matrices ``A B`` are not; ``ᵀ`` transposes
and ``ᴴ`` conjugates too. A reference is given where the formula has a source.
"""

from __future__ import annotations

from collections.abc import Mapping

_LINEAR = "ȯ = {name}(ẋ)"
_JOINTLY = "ȯ = {name}(ẋ, ẏ, …): linear in all of its inexact operands together"
_ZERO = "ȯ = 0: the function is made of steps"
_DISCRETE = "none: results are discrete, their tangents have the dtype float0"
_TAKEN = "ȯ = ẋ at the positions that the results are taken from"
_SHARED = "ȯ = the mean of ẋ over the elements that are equal to o"
_TANGENTS = (
    "ȯ = the derivative of the computation along (o, ẋ), in the same order of combinations; from "
    "the rules of the primitives that it is made of"
)

DERIVATIVES: Mapping[str, str] = {
    # one operand
    "abs": "ȯ = sign(x) ẋ; for complex numbers ȯ = Re(conj(sign(x)) ẋ)",
    "acos": "ȯ = -ẋ / √(1 - x²)",
    "acosh": "ȯ = ẋ / √((x - 1)(x + 1))",
    "asin": "ȯ = ẋ / √(1 - x²)",
    "asinh": "ȯ = ẋ / √(1 + x²)",
    "atan": "ȯ = ẋ / (1 + x²)",
    "atanh": "ȯ = ẋ / ((1 - x)(1 + x))",
    "bessel_i0e": "ȯ = (i1e(x) - sign(x) o) ẋ",
    "bessel_i1e": "ȯ = (i0e(x) - (sign(x) + 1/x) o) ẋ, which is ẋ / 2 at 0",
    "cbrt": "ȯ = o / (3 x) ẋ",
    "cos": "ȯ = -sin(x) ẋ",
    "cosh": "ȯ = sinh(x) ẋ",
    "digamma": "ȯ = ψ₁(x) ẋ, with ψ₁ = polygamma(1, ·)",
    "erf": "ȯ = 2/√π exp(-x²) ẋ",
    "erf_inv": "ȯ = √π/2 exp(o²) ẋ",
    "erfc": "ȯ = -2/√π exp(-x²) ẋ",
    "exp": "ȯ = o ẋ",
    "exp2": "ȯ = log(2) o ẋ",
    "expm1": "ȯ = (o + 1) ẋ",
    "integer_pow": "ȯ = n xⁿ⁻¹ ẋ, with n = y",
    "lgamma": "ȯ = ψ(x) ẋ, with ψ = digamma",
    "log": "ȯ = ẋ / x",
    "log1p": "ȯ = ẋ / (1 + x)",
    "logistic": "ȯ = o (1 - o) ẋ",
    "rsqrt": "ȯ = -o / (2 x) ẋ",
    "sin": "ȯ = cos(x) ẋ",
    "sinh": "ȯ = cosh(x) ẋ",
    "sqrt": "ȯ = ẋ / (2 o)",
    "square": "ȯ = 2 x ẋ",
    "tan": "ȯ = (1 + o²) ẋ",
    "tanh": "ȯ = (1 - o²) ẋ",
    **dict.fromkeys(("ceil", "floor", "round"), _ZERO),
    "sign": "ȯ = 0; for complex numbers ȯ = i o Im(conj(o) ẋ) / |x|",
    "stop_gradient": "ȯ = 0, by definition",
    "bitcast_convert_type": "ȯ = 0, by definition",
    "reduce_precision": "ȯ = reduce_precision(ẋ)",
    # several operands
    "add": "ȯ = ẋ + ẏ",
    "sub": "ȯ = ẋ - ẏ",
    "mul": "ȯ = y ẋ + x ẏ",
    "div": "ȯ = ẋ / y - o / y ẏ",
    "rem": "ȯ = ẋ - trunc(x / y) ẏ",
    "atan2": "ȯ = (y ẋ - x ẏ) / (x² + y²)",
    "nextafter": "ȯ = ẋ",
    "pow": "ȯ = y x^(y - 1) ẋ + log(x) o ẏ",
    **dict.fromkeys(("max", "min"), "ȯ = the tangent of the operand that is taken; ties: the mean"),
    "clamp": "ȯ = ẏ within the bounds, and the tangent of the bound elsewhere",
    "select_n": "ȯ = the tangents of the cases, selected alike",
    "igamma": "ȯ = igamma_grad_a(x, y) ẋ + exp(-y + (x - 1) log y - lgamma(x)) ẏ",
    "igammac": "ȯ = -igamma_grad_a(x, y) ẋ - exp(-y + (x - 1) log y - lgamma(x)) ẏ",
    "igamma_grad_a": "ȯ = (log y - ψ(x)) exp(-y + (x - 1) log y - lgamma(x)) ẏ; none in x",
    "random_gamma_grad": "ȯ = (ψ(x) - log y - o ((x - 1) / y - 1)) ẏ; none in x",
    "regularized_incomplete_beta": "ȯ = z^(x - 1) (1 - z)^(y - 1) / B(x, y) ż; none in x, y",
    "polygamma": "ȯ = polygamma(x + 1, y) ẏ; none in x",
    "zeta": "ȯ = -x zeta(x + 1, y) ẏ; none in x",
    # linear
    **{
        name: _LINEAR.format(name=name)
        for name in (
            *("neg", "real", "imag", "conj", "convert_element_type", "copy", "fft"),
            *("broadcast_in_dim", "reduce_sum", "transpose", "reshape", "rev", "squeeze", "slice"),
            *("split", "tile", "cumsum", "reduce_window_sum", "optimization_barrier"),
        )
    },
    **{
        name: _JOINTLY.format(name=name)
        for name in ("complex", "concatenate", "pad", "dynamic_update_slice", "scatter_add")
    },
    "dynamic_slice": "ȯ = dynamic_slice(ẋ, starts)",
    "gather": "ȯ = gather(ẋ, indices)",
    "scatter": "ȯ = scatter(ẋ, indices, ż), where the last of repeated positions counts",
    "scatter_mul": "ȯ = ẋ times the updates of its position, and ż times x and the other updates",
    "dot_general": "ȯ = dot_general(ẋ, y) + dot_general(x, ẏ)",
    "conv_general_dilated": "ȯ = conv(ẋ, y) + conv(x, ẏ)",
    # reductions, scans, windows, sorts
    **dict.fromkeys(("reduce_max", "reduce_min"), _SHARED),
    "reduce_prod": "ȯ = Σᵢ ẋᵢ Πⱼ≠ᵢ xⱼ",
    **dict.fromkeys(("cummax", "cummin"), "ȯₖ = that of max or min of oₖ₋₁ and xₖ, step by step"),
    "cumprod": "ȯₖ = Σᵢ≤ₖ ẋᵢ Πⱼ≤ₖ,ⱼ≠ᵢ xⱼ",
    "cumlogsumexp": "ȯₖ = Σᵢ≤ₖ exp(xᵢ - oₖ) ẋᵢ",
    **dict.fromkeys(("reduce", "reduce_window", "select_and_scatter"), _TANGENTS),
    **dict.fromkeys(("reduce_window_max", "reduce_window_min", "sort", "top_k"), _TAKEN),
    "select_and_gather_add": "ȯ = select_and_gather_add(ẋ, y), the same selection of tangents",
    "select_and_scatter_add": "ȯ = select_and_scatter_add(ẋ, y), to the same places",
    **dict.fromkeys(
        ("scatter_max", "scatter_min"), "ȯ = the tangent of what is taken; ties: the mean"
    ),
    # linear algebra
    "cholesky": "L̇ = L Φ(L⁻¹ Ȧ L⁻ᴴ), Φ: lower triangle with half the diagonal (Murray, 2016)",
    "eig": "ẇ = diag(V⁻¹ Ȧ V), V̇ = V (F ∘ (V⁻¹ Ȧ V)), Fᵢⱼ = 1 / (wⱼ - wᵢ) (Giles, 2008)",
    "eigh": "ẇ = diag(Vᴴ Ȧ V), V̇ = V (F ∘ (Vᴴ Ȧ V)), Fᵢⱼ = 1 / (wⱼ - wᵢ) (Giles, 2008)",
    "householder_product": "o = I - V W, so ȯ = -(V̇ W + V Ẇ) (Schreiber and Van Loan, 1989)",
    "lu": "with X = L⁻¹ P Ȧ U⁻¹: L̇ = L tril(X, -1), U̇ = triu(X) U",
    "qr": "with X = Qᴴ Ȧ R⁻¹ and its skew part Ω = tril(X, -1) - tril(X, -1)ᴴ + i Im diag(X): "
    "Q̇ = Q (Ω - X) + Ȧ R⁻¹, Ṙ = (X - Ω) R",
    "svd": "with X = Uᴴ Ȧ V and Fᵢⱼ = 1 / (sⱼ² - sᵢ²): ṡ = Re diag(X), U̇ = U (F ∘ (X s + s Xᴴ)), "
    "V̇ = V (F ∘ (s X + Xᴴ s)) (Giles, 2008); and what leaves the span of U and V",
    "triangular_solve": "ẋ = A⁻¹ (ḃ - Ȧ x), with the triangle of Ȧ that is read",
    "tridiagonal_solve": "ẋ = T⁻¹ (ḃ - Ṫ x)",
    # discrete
    **dict.fromkeys(
        (
            *("and", "or", "xor", "not", "eq", "ne", "lt", "le", "gt", "ge", "is_finite"),
            *("argmax", "argmin", "reduce_and", "reduce_or", "reduce_xor"),
            *("clz", "mulhi", "population_count"),
            *("shift_left", "shift_right_arithmetic", "shift_right_logical"),
            *("rng_bit_generator", "lu_pivots_to_permutation"),
        ),
        _DISCRETE,
    ),
}
"""The formula of each primitive's derivative, in Markdown."""
