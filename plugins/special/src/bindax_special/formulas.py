"""The formula of each derivative, for the documentation.

``x``, ``y`` and ``z`` are the operands in their order, ``o`` is the result, and a dot marks
tangents.
"""

from __future__ import annotations

from collections.abc import Mapping

DERIVATIVES: Mapping[str, str] = {
    "bessel_i0e": "ȯ = (i1e(x) - sign(x) o) ẋ",
    "bessel_i1e": "ȯ = (i0e(x) - (sign(x) + 1/x) o) ẋ, which is ẋ / 2 at 0",
    "digamma": "ȯ = ψ₁(x) ẋ, with ψ₁ = polygamma(1, ·)",
    "lgamma": "ȯ = ψ(x) ẋ, with ψ = digamma",
    "igamma": "ȯ = igamma_grad_a(x, y) ẋ + exp(-y + (x - 1) log y - lgamma(x)) ẏ",
    "igammac": "ȯ = -igamma_grad_a(x, y) ẋ - exp(-y + (x - 1) log y - lgamma(x)) ẏ",
    "igamma_grad_a": "ȯ = (log y - ψ(x)) exp(-y + (x - 1) log y - lgamma(x)) ẏ; none in x",
    "random_gamma_grad": "ȯ = (ψ(x) - log y - o ((x - 1) / y - 1)) ẏ; none in x",
    "regularized_incomplete_beta": "ȯ = z^(x - 1) (1 - z)^(y - 1) / B(x, y) ż; none in x, y",
    "polygamma": "ȯ = polygamma(x + 1, y) ẏ; none in x",
    "zeta": "ȯ = -x zeta(x + 1, y) ẏ; none in x",
}
"""The formula of each primitive's derivative, in Markdown."""
