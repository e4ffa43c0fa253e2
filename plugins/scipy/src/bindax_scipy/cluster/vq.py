"""Vector quantization."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import one_dtype

__all__ = ["vq"]


def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Array, Array]:
    """The nearest of several codes for each point.

    Args:
        obs: points, of shape ``[m, d]`` or ``[m]``.
        code_book: codes, of shape ``[k, d]`` or ``[k]``.
        check_finite: not used.

    Returns:
        The indices of the codes, and their distances.

    Raises:
        ValueError: when the shapes do not fit together.

    >>> vq.vq(jnp.array([0.0, 2.0]), jnp.array([0.5, 1.5]))
    (Array([0, 1], dtype=int32), Array([0.5, 0.5], dtype=float32))
    """
    points, codes = one_dtype("vq", obs, code_book)
    if points.ndim != codes.ndim or points.ndim not in (1, 2):
        raise ValueError(
            f"vq: obs and code_book must both have one or two axes, but their shapes are "
            f"{points.shape} and {codes.shape}."
        )
    if points.ndim == 1:
        points, codes = points[:, None], codes[:, None]
    distances = jnp.linalg.norm(points[:, None] - codes[None], axis=-1)
    code = jnp.argmin(distances, axis=-1)
    return code, jnp.take_along_axis(distances, code[:, None], axis=-1)[:, 0]
