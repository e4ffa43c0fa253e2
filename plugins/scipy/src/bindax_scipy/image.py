"""Images of any number of dimensions, resampled; public as ``bindax.image``."""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import is_double, one_dtype

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]

# Weights whose sum is smaller are of no pixel.
_NOTHING = 1000.0 * float(np.finfo(np.float32).eps)


class ResizeMethod(enum.Enum):
    """The functions by which pixels are weighted with their distance."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of a name.

        Raises:
            ValueError: for another name.

        >>> image.ResizeMethod.from_string("bicubic").name
        'CUBIC'
        """
        if s not in _NAMES:
            raise ValueError(
                f"resize: method must be one of {', '.join(_NAMES)}, but it is {s!r:.60}."
            )
        return _NAMES[s]


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    "linear": ResizeMethod.LINEAR,
    "bilinear": ResizeMethod.LINEAR,
    "trilinear": ResizeMethod.LINEAR,
    "triangle": ResizeMethod.LINEAR,
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "cubic": ResizeMethod.CUBIC,
    "bicubic": ResizeMethod.CUBIC,
    "tricubic": ResizeMethod.CUBIC,
    "cubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "bicubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "area": ResizeMethod.AREA,
}


def _triangle(x: Any) -> Any:
    return jnp.maximum(0, 1 - x)


def _lanczos(radius: float) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        near = x <= 1e-3
        safe = jnp.where(near, 1.0, x)
        wave = radius * jnp.sin(math.pi * safe) * jnp.sin(math.pi * safe / radius)
        value = jnp.where(near, 1.0, wave / (math.pi**2 * safe**2))
        return jnp.where(x > radius, 0.0, value)

    return kernel


def _cubic(a: float) -> Callable[[Any], Any]:
    """Keys, "Cubic convolution interpolation for digital image processing", 1981."""

    def kernel(x: Any) -> Any:
        inner = ((a + 2) * x - (a + 3)) * x * x + 1
        outer = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return jnp.where(x >= 2, 0.0, jnp.where(x >= 1, outer, inner))

    return kernel


_KERNELS: dict[ResizeMethod, tuple[int, Callable[[Any], Any]]] = {
    ResizeMethod.LINEAR: (1, _triangle),
    ResizeMethod.LANCZOS3: (3, _lanczos(3.0)),
    ResizeMethod.LANCZOS5: (5, _lanczos(5.0)),
    ResizeMethod.CUBIC: (2, _cubic(-0.5)),
    ResizeMethod.CUBIC_PYTORCH: (2, _cubic(-0.75)),
}


def _weights(
    size: int, wanted: int, scale: Any, shift: Any, method: ResizeMethod, antialias: bool
) -> Any:
    """Return the weight of each old pixel in each new one, ``[size, wanted]``."""
    inverse = 1.0 / scale
    place = (jnp.arange(wanted, dtype=scale.dtype) + 0.5) * inverse - shift * inverse - 0.5
    at_edges = method is ResizeMethod.CUBIC_PYTORCH
    # Pixels beyond the edges repeat those at the edges.
    extra = _KERNELS[method][0] if at_edges else 0
    pixels = jnp.arange(-extra, size + extra, dtype=scale.dtype)[:, None]
    if method is ResizeMethod.AREA:
        left = (jnp.arange(wanted, dtype=scale.dtype) * inverse - shift * inverse)[None]
        shared = jnp.minimum(left + inverse, pixels + 1) - jnp.maximum(left, pixels)
        weights = jnp.maximum(0.0, shared)
    else:
        width = jnp.maximum(inverse, 1.0) if antialias else 1.0
        weights = _KERNELS[method][1](jnp.abs(place[None] - pixels) / width)
    if extra:
        inner = weights[extra : size + extra]
        inner = inner.at[0].add(jnp.sum(weights[:extra], axis=0))
        weights = inner.at[size - 1].add(jnp.sum(weights[size + extra :], axis=0))
    total = jnp.sum(weights, axis=0, keepdims=True)
    known = jnp.abs(total) > _NOTHING
    weights = jnp.where(known, weights / jnp.where(total != 0, total, 1), 0)
    if at_edges:
        return weights
    inside = (place >= -0.5) & (place <= size - 0.5)
    return jnp.where(inside[None], weights, 0)


def _method(method: Any, antialias: bool) -> ResizeMethod:
    found = ResizeMethod.from_string(method) if isinstance(method, str) else method
    if not isinstance(found, ResizeMethod):
        raise TypeError(
            f"resize: method must be a name or a ResizeMethod, but it is {method!r:.60}."
        )
    # With a wider kernel the methods are one.
    if found is ResizeMethod.CUBIC_PYTORCH and antialias:
        return ResizeMethod.CUBIC
    return found


def _shape(name: str, image: Any, shape: Any) -> tuple[int, ...]:
    sizes = tuple(operator.index(n) for n in shape)
    if len(sizes) != image.ndim or min(sizes, default=0) < 0:
        raise ValueError(
            f"{name}: shape must have a size for each axis of the image, but it is {sizes}, and "
            f"the image has shape {image.shape}."
        )
    return sizes


def scale_and_translate(
    image: Any,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = lax.Precision.HIGHEST,
) -> Array:
    """An image scaled by factors and moved; 0 where there was nothing.

    The centre of the pixel ``i`` is at ``i + 1/2``, and is moved to ``(i + 1/2) scale +
    translation``.

    Args:
        image: an array.
        shape: the shape of the result.
        spatial_dims: the axes that are scaled and moved.
        scale: a factor for each of them.
        translation: a distance for each of them.
        method: ``"linear"``, ``"cubic"``, ``"cubic-pytorch"``, ``"lanczos3"``, ``"lanczos5"`` or
            ``"area"``.
        antialias: take the mean of more pixels where the image is made smaller.
        precision: the precision of the products.

    Raises:
        ValueError: for another method, or when the sizes do not fit together.

    >>> x = jnp.array([1.0, 2.0, 3.0])
    >>> image.scale_and_translate(x, (3,), (0,), jnp.array([1.0]), jnp.array([1.0]), "linear")
    Array([0., 1., 2.], dtype=float32)
    """
    image = jnp.asarray(image)
    sizes = _shape("scale_and_translate", image, shape)
    chosen = _method(method, antialias)
    if chosen is ResizeMethod.NEAREST:
        raise ValueError(
            "scale_and_translate: method must not be 'nearest', which only resize has."
        )
    (image,) = one_dtype("scale_and_translate", image)
    factors, moves = one_dtype("scale_and_translate", jnp.asarray(scale), jnp.asarray(translation))
    axes = [operator.index(i) % image.ndim for i in spatial_dims]
    if factors.shape != (len(axes),) or moves.shape != (len(axes),):
        raise ValueError(
            f"scale_and_translate: scale and translation must have an element for each of the "
            f"{len(axes)} axes, but their shapes are {factors.shape} and {moves.shape}."
        )
    for i, axis in enumerate(axes):
        weights = _weights(image.shape[axis], sizes[axis], factors[i], moves[i], chosen, antialias)
        moved = jnp.tensordot(image, weights.astype(image.dtype), (axis, 0), precision=precision)
        image = jnp.moveaxis(moved, -1, axis)
    return image


def resize(
    image: Any,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = lax.Precision.HIGHEST,
) -> Array:
    """An image of other sizes.

    Args:
        image: an array.
        shape: the shape of the result.
        method: as for ``scale_and_translate``, or ``"nearest"``.
        antialias: take the mean of more pixels where the image is made smaller.
        precision: the precision of the products.

    Raises:
        ValueError: for another method, or when the sizes do not fit together.

    >>> image.resize(jnp.array([1.0, 3.0]), (4,), "linear")
    Array([1. , 1.5, 2.5, 3. ], dtype=float32)
    """
    image = jnp.asarray(image)
    sizes = _shape("resize", image, shape)
    chosen = _method(method, antialias)
    axes = [i for i in range(image.ndim) if image.shape[i] != sizes[i]]
    if chosen is ResizeMethod.NEAREST:
        for axis in axes:
            m, n = image.shape[axis], sizes[axis]
            place = (np.arange(n, dtype=np.float32) + np.float32(0.5)) * np.float32(m)
            index = np.floor(place / np.float32(max(n, 1))).astype(np.int32)
            image = jnp.take(image, index, axis=axis)
        return image
    (image,) = one_dtype("resize", image)
    if not axes:
        return image
    if any(sizes[i] and not image.shape[i] for i in axes):
        raise ValueError(f"resize: image has no pixels to draw from; its shape is {image.shape}.")
    scale = np.array([sizes[i] / image.shape[i] if sizes[i] else 1.0 for i in axes])
    scale = scale if is_double(jnp.real(image)) else scale.astype(np.float32)
    move = np.zeros_like(scale)
    return scale_and_translate(image, sizes, axes, scale, move, chosen, antialias, precision)
