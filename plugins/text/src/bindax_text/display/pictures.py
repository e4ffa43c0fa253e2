"""Small pictures of arrays: histograms as SVG, matrices as PNG."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np

SIDE = 64
"""The pixels of a side of an image at most; of more rows or columns, evenly spaced ones."""
_LEAST_SIDE = 4
_POSITIVE, _NEGATIVE, _BROKEN = (230, 126, 34), (52, 120, 200), (200, 30, 160)
_BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(counts: tuple[int, ...]) -> str:
    """A histogram in one line of text; what is not empty is seen.

    >>> sparkline((0, 1, 4))
    ' ▂█'
    """
    most = max(counts, default=0)
    if len(counts) < 2:
        return ""
    return "".join(_BLOCKS[max(n * 8 // most - 1, min(n, 1))] if n else " " for n in counts)


def histogram_svg(counts: tuple[int, ...]) -> str:
    """A histogram in the color of the text around it."""
    most = max(counts, default=0)
    if len(counts) < 2:
        return ""
    heights = [max(24 * n / most, 1.0) if n else 0.0 for n in counts]
    bars = "".join(
        f'<rect x="{3 * i}" y="{24 - height:.1f}" width="2.4" height="{height:.1f}"/>'
        for i, height in enumerate(heights)
        if height
    )
    return (
        f'<svg width="{3 * len(counts)}" height="24" fill="currentColor" opacity="0.6" '
        f'role="img" aria-label="histogram">{bars}</svg>'
    )


def image_of(host: np.ndarray[Any, Any]) -> tuple[str, str] | None:
    """An image of a matrix, or of the first one of an array, with what it shows.

    Positive elements are orange, negative ones blue, the weaker the nearer they are to zero, so
    that they are seen on light and on dark pages. What is not finite is purple.

    Returns:
        The image as a ``data:`` address and its caption; None of what is no matrix.
    """
    if host.ndim < 2 or min(host.shape[-2:]) < _LEAST_SIDE or host.size == 0:
        return None
    if host.dtype.names is not None:
        return None
    rows, columns = (_spaced(n) for n in host.shape[-2:])
    first = (0,) * (host.ndim - 2)
    picked: Any = host[first][np.ix_(rows, columns)]
    if picked.dtype.kind == "c":
        picked = np.abs(picked)
    values = picked.astype(np.float64)
    shown = f"[{', '.join(['0'] * len(first) + [':', ':'])}]" if first else "all of it"
    is_whole = len(rows) == host.shape[-2] and len(columns) == host.shape[-1]
    caption = shown if is_whole else f"{shown}, every {_step(host.shape)}"
    return f"data:image/png;base64,{base64.b64encode(_png(_pixels(values))).decode()}", caption


def _spaced(n: int) -> np.ndarray[Any, Any]:
    return np.arange(n) if n <= SIDE else np.linspace(0, n - 1, SIDE).astype(np.int64)


def _step(shape: tuple[int, ...]) -> str:
    rows, columns = (max(n / SIDE, 1.0) for n in shape[-2:])
    return f"{rows:.3g} rows and {columns:.3g} columns"


def _pixels(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Colors with opacity, of the magnitudes relative to the greatest one."""
    finite = np.isfinite(values)
    magnitudes = np.where(finite, np.abs(np.where(finite, values, 0.0)), 0.0)
    greatest = magnitudes.max()
    strength = magnitudes / greatest if greatest > 0 else magnitudes
    pixels = np.empty((*values.shape, 4), np.uint8)
    pixels[..., :3] = np.where((values < 0)[..., None], _NEGATIVE, _POSITIVE)
    pixels[..., 3] = np.rint(strength * 255)
    pixels[~finite] = (*_BROKEN, 255)
    return pixels


def _png(pixels: np.ndarray[Any, Any]) -> bytes:
    """A PNG file of pixels with red, green, blue and opacity, as its specification says."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 4 * width), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
