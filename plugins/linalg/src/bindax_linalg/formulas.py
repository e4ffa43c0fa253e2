"""The formula of each derivative, for the documentation.

``x``, ``y`` and ``z`` are the operands in their order, ``o`` is the result, and a dot marks
tangents. Products of matrices are ``A B``; ``ᵀ`` transposes and ``ᴴ`` conjugates too.
"""

from __future__ import annotations

from collections.abc import Mapping

DERIVATIVES: Mapping[str, str] = {
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
    "lu_pivots_to_permutation": "none: results are discrete, their tangents have the dtype float0",
}
"""The formula of each primitive's derivative, in Markdown."""
