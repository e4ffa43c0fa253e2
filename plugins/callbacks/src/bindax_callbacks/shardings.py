"""Looking at shardings: which part of an array lies on which device, as a picture or a value."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bindax_core.extend import (
    Array,
    Effect,
    LoweringContext,
    Primitive,
    api_boundary,
    default_sharding,
    primitive,
    rules,
    typeof,
)
from bindax_core.sharding import Sharding
from bindax_transforms.zeros import Zero

__all__ = [
    "inspect_array_sharding",
    "inspect_sharding_p",
    "visualize_array_sharding",
    "visualize_sharding",
]

_LOOK = Effect("inspect sharding", repeatable=True)


@api_boundary
def inspect_array_sharding(value: Any, *, callback: Callable[[Sharding], None]) -> None:
    """Call a function with the sharding of an array.

    Inside of ``jit`` it is called when the program is compiled, with what the compiler decided.

    Args:
        value: an array.
        callback: takes a ``Sharding``; what it returns is ignored.

    Raises:
        TypeError: when ``callback`` is no function.

    >>> import numpy as np
    >>> from bindax_core import device_put
    >>> inspect_array_sharding(device_put(np.ones(2)), callback=lambda s: print(s.num_devices))
    1
    """
    if not callable(callback):
        raise TypeError(
            f"debug.inspect_array_sharding: callback must be a function, but it is "
            f"{callback!r:.80}."
        )
    inspect_sharding_p.bind(value, callback=callback)


@api_boundary
def visualize_array_sharding(arr: Any, **options: Any) -> None:
    """Print which part of an array of one or two axes lies on which device.

    Inside of ``jit`` it is printed when the program is compiled.

    Args:
        arr: the array.
        options: those of ``visualize_sharding``.

    Raises:
        ValueError: when the array has other than one or two axes.

    >>> import numpy as np
    >>> from bindax_core import device_put
    >>> visualize_array_sharding(device_put(np.ones((2, 2))))
    ┌...┐
    │ ... 0 │
    └...┘
    """
    shape = typeof(arr).shape
    inspect_array_sharding(arr, callback=partial(visualize_sharding, shape, **options))


def visualize_sharding(
    shape: Sequence[int],
    sharding: Sharding,
    *,
    use_color: bool = False,
    scale: float = 1.0,
    min_width: int = 0,
    max_width: int = 80,
    color_map: Callable[[float], Sequence[float]] | None = None,
) -> None:
    """Print which part of arrays of a shape lies on which device.

    Args:
        shape: the shape, of one or two axes.
        sharding: which part lies on which device.
        use_color: whether the parts have colors, by the escape codes of terminals.
        scale: how wide the picture is.
        min_width: how many characters a part is wide at least.
        max_width: how many it is wide at most; longer texts are cut.
        color_map: gives the red, green and blue of parts, from 0 to 1, for numbers from 0 to 1
            that are spread over the parts; by default the colors of the terminal.

    Raises:
        ValueError: when the shape has other than one or two axes.

    >>> from bindax_core import devices
    >>> from bindax_core.sharding import SingleDeviceSharding
    >>> visualize_sharding((2, 2), SingleDeviceSharding(devices("numpy")[0]))
    ┌...
    """
    if not hasattr(sharding, "device_assignment"):
        raise TypeError(
            f"visualize_sharding: sharding must be a Sharding, but it is {sharding!r:.80}."
        )
    shape = tuple(shape)
    if len(shape) not in (1, 2):
        raise ValueError(
            f"visualize_array_sharding: arrays of one or two axes can be drawn, but the shape is "
            f"{shape}; draw a slice."
        )
    rows, columns = (1, *sharding.partitions(1)) if len(shape) == 1 else sharding.partitions(2)
    cells: list[list[list[Any]]] = [[[] for _ in range(columns)] for _ in range(rows)]
    places = sharding._coordinates(len(shape))
    for device, place in zip(sharding.device_assignment, places, strict=True):
        row, column = (0, place[0]) if len(shape) == 1 else place
        cells[row][column].append(device)
    platform = getattr(sharding.device_assignment[0], "platform", "device")
    texts = [[f"{platform} {','.join(str(d.id) for d in held)}" for held in row] for row in cells]
    width = max(len(text) for row in texts for text in row) + 2
    width = min(max(width, round(width * scale), min_width), max_width)
    colors = _colors(rows * columns, color_map) if use_color else None
    sys.stdout.write(_drawn(texts, width, colors) + "\n")
    sys.stdout.flush()


def _colors(count: int, color_map: Callable[[float], Sequence[float]] | None) -> list[str]:
    """The codes of the backgrounds of parts."""
    if color_map is None:
        return [str(41 + i % 6) for i in range(count)]
    shades = [color_map(i / max(1, count - 1)) for i in range(count)]
    return ["48;2;" + ";".join(str(round(255 * part)) for part in rgb[:3]) for rgb in shades]


def _drawn(texts: list[list[str]], width: int, colors: Sequence[str] | None) -> str:
    """A table with borders."""
    bar = "─" * width
    lines = [f"┌{'┬'.join([bar] * len(texts[0]))}┐"]
    for i, row in enumerate(texts):
        if i:
            lines.append(f"├{'┼'.join([bar] * len(row))}┤")
        cells = [text[:width].center(width) for text in row]
        if colors is not None:
            own = colors[i * len(row) : (i + 1) * len(row)]
            cells = [f"\x1b[{c}m{t}\x1b[0m" for c, t in zip(own, cells, strict=True)]
        lines.append(f"│{'│'.join(cells)}│")
    return "\n".join([*lines, f"└{'┴'.join([bar] * len(texts[0]))}┘"])


def _impl(x: Any, *, callback: Callable[[Sharding], None]) -> list[Any]:
    callback(x.sharding if isinstance(x, Array) else default_sharding())
    return []


def _jvp(primals: Sequence[Any], tangents: Sequence[Zero], **params: Any) -> tuple[Any, Any]:
    return inspect_sharding_p.bind(*primals, **params), []


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[Any], **params: Any
) -> tuple[list[Any], list[Any]]:
    return inspect_sharding_p.bind(*operands, **params), []


def _lowering(ctx: LoweringContext, x: Any, *, callback: Callable[[Sharding], None]) -> list[Any]:
    ctx.inspect_sharding(x, callback)
    return []


inspect_sharding_p: Primitive = primitive(
    "inspect_sharding",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(lambda x, **params: []),
    rules.effects(lambda **params: frozenset({_LOOK})),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose.absent("it has no result; look at the sharding of the primal value"),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""Calls a function with the sharding of its operand. Parameter: ``callback``."""
