"""The geometry of windows that slide over an array: parameters, shapes, and slices."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bindax_core.extend import ShapedArray, typeof
from bindax_lax_basic.rules.lowering import integers
from bindax_lax_basic.rules.types import larger, static_ints
from bindax_lax_basic.shape.slice_and_pad import pad_p, slice_p
from bindax_lax_basic.window.convolution.dimension_numbers import dilated, padtype_to_pads

Sizes = tuple[int, ...]
Padding = tuple[tuple[int, int], ...]


class Geometry(NamedTuple):
    """Layout of windows in an array, with an entry for each axis; see ``reduce_window``."""

    window_dimensions: Sizes
    window_strides: Sizes
    padding: Padding
    base_dilation: Sizes
    window_dilation: Sizes

    def with_axis(self, d: int) -> Geometry:
        """The same beside a new axis on which windows have size one."""
        added = zip(self, (1, 1, (0, 0), 1, 1), strict=True)
        parts: Any = [(*values[:d], one, *values[d:]) for values, one in added]
        return Geometry(*parts)

    def along(self, axis: int) -> Geometry:
        """The geometry of one axis."""
        parts: Any = [values[axis : axis + 1] for values in self]
        return Geometry(*parts)

    def spans(self) -> Sizes:
        """Extents of the windows on each axis."""
        return tuple(map(dilated, self.window_dimensions, self.window_dilation))

    def padded_shape(self, shape: Sizes) -> Sizes:
        """The shape of an array of a shape, spread and padded."""
        sizes = map(dilated, shape, self.base_dilation)
        pairs = zip(sizes, self.padding, strict=True)
        return tuple([low + high + size for size, (low, high) in pairs])

    def out_shape(self, shape: Sizes) -> Sizes:
        """Numbers of windows on each axis of an array of a shape."""
        sizes = zip(self.padded_shape(shape), self.spans(), self.window_strides, strict=True)
        return tuple([larger((total - span) // stride + 1, 0) for total, span, stride in sizes])

    def padding_config(self) -> tuple[tuple[int, int, int], ...]:
        """The argument of ``pad`` that spreads and pads an array."""
        pairs = zip(self.padding, self.base_dilation, strict=True)
        return tuple([(low, high, b - 1) for (low, high), b in pairs])

    def offsets(self) -> Iterator[Sizes]:
        """The places within a window, the last axis fastest."""
        return itertools.product(*map(range, self.window_dimensions))

    def starts(self, offset: Sizes) -> Sizes:
        """Where the element at a place of the first window is in the padded array."""
        return tuple([i * d for i, d in zip(offset, self.window_dilation, strict=True)])

    def _bounds(self, offset: Sizes, shape: Sizes) -> tuple[Sizes, Sizes]:
        starts = self.starts(offset)
        return starts, tuple(map(operator.add, starts, map(dilated, shape, self.window_strides)))

    def slices(self, offset: Sizes, shape: Sizes) -> tuple[slice, ...]:
        """The index, of NumPy, of the elements at one place of all windows."""
        starts, limits = self._bounds(offset, shape)
        return tuple(map(slice, starts, limits, self.window_strides))

    def at(self, padded: Any, offset: Sizes, shape: Sizes) -> Any:
        """The elements at one place of all windows, of which there are so many on each axis."""
        starts, limits = self._bounds(offset, shape)
        return slice_p.bind(
            padded, start_indices=starts, limit_indices=limits, strides=self.window_strides
        )

    def spread(self, values: Any, zero: Any, offset: Sizes, shape: Sizes) -> Any:
        """The transpose of ``at``: values put to that place of their windows in a padded array."""
        config = []
        sizes = typeof(values).shape
        for start, count, stride, total in zip(
            self.starts(offset), sizes, self.window_strides, shape, strict=True
        ):
            config.append((start, total - start - dilated(count, stride), stride - 1))
        return pad_p.bind(values, zero, padding_config=tuple(config))


def geometry(
    name: str,
    shape: Sizes,
    window_dimensions: Any,
    window_strides: Any = None,
    padding: Any = "VALID",
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> Geometry:
    """A geometry from the arguments of a public function, checked."""
    ones = (1,) * len(shape)

    def sizes(argument: str, values: Any) -> Sizes:
        found = ones if values is None else static_ints(name, argument, values)
        _check_sizes(name, argument, found, len(shape))
        return found

    window = sizes("window_dimensions", window_dimensions)
    strides = sizes("window_strides", window_strides)
    base = sizes("base_dilation", base_dilation)
    dilation = sizes("window_dilation", window_dilation)
    bare = Geometry(window, strides, ((0, 0),) * len(shape), base, dilation)
    return bare._replace(padding=_padding(name, bare, shape, padding))


def _check_sizes(name: str, argument: str, values: Sizes, ndim: int) -> None:
    if len(values) != ndim:
        raise TypeError(
            f"{name}: {argument} {values} must have one entry for each of the {ndim} axes of the "
            f"operand."
        )
    if any(v < 1 for v in values):
        raise ValueError(f"{name}: every entry of {argument} must be positive, but got {values}.")


def _padding(name: str, bare: Geometry, shape: Sizes, padding: Any) -> Padding:
    if isinstance(padding, str):
        return tuple(padtype_to_pads(shape, bare.spans(), bare.window_strides, padding))
    pairs = padding if np.iterable(padding) else [padding]
    pads = tuple([static_ints(name, "padding", pair) for pair in pairs])
    if len(pads) != len(shape) or any(len(pair) != 2 for pair in pads):
        raise TypeError(
            f"{name}: padding must be 'VALID', 'SAME', 'SAME_LOWER' or one pair (low, high) for "
            f"each of the {len(shape)} axes of the operand, but got {padding!r}."
        )
    checked = tuple([(low, high) for low, high in pads])
    totals = bare._replace(padding=checked).padded_shape(shape)
    if any(total < 0 for total in totals):
        raise ValueError(
            f"{name}: the padding {checked} of the shape {shape} leaves the negative sizes "
            f"{totals}."
        )
    return checked


def check_geometry(name: str, aval: ShapedArray, window: Geometry) -> None:
    """Raise unless a geometry that was bound directly fits an array."""
    _padding(name, window, aval.shape, window.padding)
    for argument in ("window_dimensions", "window_strides", "base_dilation", "window_dilation"):
        _check_sizes(name, argument, getattr(window, argument), aval.ndim)


def window_attributes(window: Geometry) -> dict[str, str]:
    """The attributes of ``stablehlo.reduce_window``."""
    return {
        "window_dimensions": integers(window.window_dimensions),
        "window_strides": integers(window.window_strides),
        "base_dilations": integers(window.base_dilation),
        "window_dilations": integers(window.window_dilation),
        "padding": padding_attribute(window.padding),
    }


def padding_attribute(padding: Padding) -> str:
    """Padding as the text of an MLIR attribute.

    >>> padding_attribute(((0, 1), (2, 3)))
    'dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>'
    """
    if not padding:
        return "dense<> : tensor<0x2xi64>"
    return f"dense<{[list(pair) for pair in padding]}> : tensor<{len(padding)}x2xi64>"
