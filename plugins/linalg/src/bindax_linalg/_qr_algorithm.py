"""The QR algorithm: Schur forms of Hessenberg matrices, one matrix at a time.

G. Golub and C. Van Loan, "Matrix computations", 4th edition, 2013, sections 7.4 and 7.5: implicit
steps with Wilkinson's shift for complex matrices, and with two shifts at once for real ones
(J. Francis, "The QR transformation", 1961).
"""

from __future__ import annotations

import math

import numpy as np

from bindax_lax_basic.extend import NumPyArray
from bindax_linalg._householder import reflector

_MOST_STEPS = 30  # for each eigenvalue, as in LAPACK


def schur_of_hessenberg(h: NumPyArray, q: NumPyArray) -> None:
    """Turn ``h`` into its Schur form, multiplying the transformation to the right of ``q``.

    Where it is real it has blocks of size 2 for pairs of complex eigenvalues.
    """
    real = h.dtype.kind == "f"
    high, steps = len(h) - 1, 0
    while high > 0:
        low = _start_of_block(h, high)
        size = high - low + 1
        if size == 1 or (real and size == 2):
            if size == 2:
                _standardize(h, q, low)
            high, steps = high - size, 0
            continue
        steps += 1
        if steps > _MOST_STEPS * len(h) or not np.isfinite(h[high, high]):
            raise np.linalg.LinAlgError("the QR algorithm did not converge")
        if real:
            _double_step(h, q, low, high, exceptional=steps % 10 == 0)
        else:
            _single_step(h, q, low, high, exceptional=steps % 10 == 0)


def _start_of_block(h: NumPyArray, high: int) -> int:
    """Where the irreducible block that ends at ``high`` starts; negligible elements become 0."""
    for low in range(high, 0, -1):
        size = abs(h[low, low]) + abs(h[low - 1, low - 1]) or np.abs(h).max()
        if abs(h[low, low - 1]) <= np.finfo(np.float64).eps * size:
            h[low, low - 1] = 0
            return low
    return 0


def _apply(h: NumPyArray, q: NumPyArray, g: NumPyArray, k: int, high: int) -> None:
    """Transform rows and columns from ``k`` on by a small unitary matrix."""
    m = len(g)
    first, last = max(0, k - 1), min(high, k + m) + 1
    h[k : k + m, first:] = g @ h[k : k + m, first:]
    gh = g.conj().T
    h[:last, k : k + m] = h[:last, k : k + m] @ gh
    q[:, k : k + m] = q[:, k : k + m] @ gh


def _single_step(h: NumPyArray, q: NumPyArray, low: int, high: int, *, exceptional: bool) -> None:
    if exceptional:
        shift = h[high, high] + abs(h[high, high - 1])
    else:
        values = np.linalg.eigvals(h[high - 1 : high + 1, high - 1 : high + 1])
        shift = values[np.argmin(np.abs(values - h[high, high]))]
    for k in range(low, high):
        x, y = (h[k, k] - shift, h[k + 1, k]) if k == low else (h[k, k - 1], h[k + 1, k - 1])
        r = math.hypot(abs(x), abs(y))
        if r == 0:
            continue
        g = np.array([[np.conj(x), np.conj(y)], [-y, x]]) / r
        _apply(h, q, g, k, high)
        if k > low:
            h[k + 1, k - 1] = 0


def _double_step(h: NumPyArray, q: NumPyArray, low: int, high: int, *, exceptional: bool) -> None:
    corner = h[high - 1 : high + 1, high - 1 : high + 1]
    total = corner[0, 0] + corner[1, 1]
    product = corner[0, 0] * corner[1, 1] - corner[0, 1] * corner[1, 0]
    if exceptional:
        size = abs(h[high, high - 1]) + abs(h[high - 1, high - 2])
        total, product = 1.5 * size, size * size
    # The first column of H^2 - total H + product.
    a, b = h[low : low + 3, low], h[low : low + 2, low + 1]
    x = np.array([a[0] * (a[0] - total) + product + b[0] * a[1], a[1] * (a[0] + b[1] - total), 0.0])
    x[2] = a[1] * h[low + 2, low + 1]
    for k in range(low, high):
        m = min(3, high - k + 1)
        if k > low:
            x = h[k : k + m, k - 1].copy()
        v, tau, _ = reflector(x[None, :m])
        g = np.eye(m) - tau[0] * np.outer(v[0], v[0])
        _apply(h, q, g, k, high)
        if k > low:
            h[k + 1 : k + m, k - 1] = 0


def _standardize(h: NumPyArray, q: NumPyArray, k: int) -> None:
    """Make a block of size 2 triangular, or its diagonal constant where eigenvalues are complex."""
    (a, b), (c, d) = h[k : k + 2, k : k + 2]
    half = (a - d) / 2
    inside = half * half + b * c
    if inside >= 0:
        z = half + math.copysign(math.sqrt(inside), half)
        r = math.hypot(z, c)
        x, y = (z / r, c / r) if r else (1.0, 0.0)
    else:
        angle = math.atan2(d - a, b + c) / 2
        x, y = math.cos(angle), math.sin(angle)
    _apply(h, q, np.array([[x, y], [-y, x]]), k, k + 1)
    if inside >= 0:
        h[k + 1, k] = 0
    else:
        h[k, k] = h[k + 1, k + 1] = (a + d) / 2
