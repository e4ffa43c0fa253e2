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
    "cbrt": "ȯ = o / (3 x) ẋ",
    "cos": "ȯ = -sin(x) ẋ",
    "cosh": "ȯ = sinh(x) ẋ",
    "erf": "ȯ = 2/√π exp(-x²) ẋ",
    "erf_inv": "ȯ = √π/2 exp(o²) ẋ",
    "erfc": "ȯ = -2/√π exp(-x²) ẋ",
    "exp": "ȯ = o ẋ",
    "exp2": "ȯ = log(2) o ẋ",
    "expm1": "ȯ = (o + 1) ẋ",
    "integer_pow": "ȯ = n xⁿ⁻¹ ẋ, with n = y",
    "log": "ȯ = ẋ / x",
    "log1p": "ȯ = ẋ / (1 + x)",
    "log2": "ȯ = ẋ / (log(2) x)",
    "logistic": "ȯ = o (1 - o) ẋ",
    "one_minus_square": "ȯ = -2 x ẋ",
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
        for name in (
            *(
                "complex",
                "concatenate",
                "pad",
                "dynamic_update_slice",
                "scatter_add",
                "scatter_sub",
            ),
            "stack",
        )
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
    # discrete
    **dict.fromkeys(
        (
            *("and", "or", "xor", "not", "eq", "ne", "lt", "le", "gt", "ge", "is_finite"),
            *("argmax", "argmin", "reduce_and", "reduce_or", "reduce_xor"),
            *("clz", "mulhi", "population_count"),
            *("shift_left", "shift_right_arithmetic", "shift_right_logical"),
            "rng_bit_generator",
        ),
        _DISCRETE,
    ),
}
"""The formula of each primitive's derivative, in Markdown."""
