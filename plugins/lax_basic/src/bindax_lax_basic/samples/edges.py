"""Samples at the edges of ranges, which mistakes in the text of rules showed to be missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bindax_lax_basic.samples.calls import SCATTERS, Numbers, Operand, Sample, Shape


def edges() -> Iterator[Sample]:
    """Wide integers, floats that overflow and vanish, places out of reach, empty transforms."""
    for name in ("clz", "population_count"):
        for dtype, high in (("int8", 127), ("uint16", 2**16 - 1), ("int64", 2**62)):
            yield Sample(name, (Operand((7,), dtype, -high, high),))
        yield Sample(name, (Operand((8,), "uint64", 2**62, 2**63 - 1),))
    ranges = (("erf", -5.0, 5.0), ("erfc", -3.0, 5.0), ("erf_inv", -0.999, 0.999))
    for name, first, last in ranges:
        yield Sample(name, (Operand((9,), "float64", first, last),))
    # Beside larger values, differences of the least ones would count for nothing.
    yield Sample("erfc", (Operand((3,), "float64", 4.5, 5.0),))
    for dtype, high in (("int32", 2**31 - 1), ("int64", 2**62), ("uint64", 2**62)):
        yield Sample("mulhi", (Operand((7,), dtype, -high, high),) * 2)
    # Cases of the same types and parameters would count as one. With no bits of mantissa left,
    # many values are the least that is infinite, or the least that does not vanish.
    roundings = (1e5, 7, 2), (1e-5, 9, 2), (1e5, 20, 0), (1.2e-4, 21, 0), (2.0, 22, 21)
    for scale, size, mantissa in roundings:
        arguments: dict[str, Any] = {"exponent_bits": 5, "mantissa_bits": mantissa}
        yield Sample("reduce_precision", (Operand((size,), "float32", -scale, scale),), arguments)
    yield from _bits()
    yield from _mixtures()
    windows: tuple[tuple[tuple[Shape, ...], Shape, Shape], ...] = (
        (((), (0,), (0,)), (1,), (9,)),
        (((1,), (), (0,)), (2,), (9, 2)),
    )
    for fields, sizes, updates in windows:
        places = Operand((9, 1), "int32", -2, 5)
        for mode in ("clip", "fill"):
            numbers = Numbers("GatherDimensionNumbers", fields)
            arguments = {"dimension_numbers": numbers, "slice_sizes": sizes, "mode": mode}
            yield Sample("gather", (Operand((5,), "float32"), places), arguments)
            numbers = Numbers("ScatterDimensionNumbers", fields)
            for name in SCATTERS:
                operands = Operand((5,), "float32"), places, Operand(updates, "float32")
                yield Sample(name, operands, {"dimension_numbers": numbers, "mode": mode})
    numbers = Numbers("ScatterDimensionNumbers", ((), (0,), (0,)))
    narrow = Operand((3, 1), "int8", 0, 4)
    arguments = {"dimension_numbers": Numbers("GatherDimensionNumbers", ((), (0,), (0,)))}
    yield Sample("gather", (Operand((5,), "float32"), narrow), {**arguments, "slice_sizes": (1,)})
    one = Operand((1,), "float32")
    for name in SCATTERS:
        if name != "scatter_mul":  # of one element alone, it is linear in updates by accident
            operands = one, Operand((1, 1), "int32", 0, 0), one
            yield Sample(name, operands, {"dimension_numbers": numbers})
        # Updates like the operand, at other places, may not change places with it.
        three = Operand((3,), "float32")
        operands = three, Operand((3, 1), "int32", 1, 2), three
        yield Sample(name, operands, {"dimension_numbers": numbers})
    empty: tuple[tuple[str, Shape, str], ...] = (
        ("FFT", (2, 0, 4), "complex64"),
        ("RFFT", (0, 4), "float32"),
        ("IRFFT", (0, 3), "complex64"),
    )
    for kind, shape, dtype in empty:
        yield Sample("fft", (Operand(shape, dtype),), {"fft_type": kind, "fft_lengths": (4,)})
    for left, right in (((2, 1, 0), (3, 1, 2)), ((0, 1, 4), (3, 1, 2))):
        pair = Operand(left, "float32"), Operand(right, "float32")
        arguments = {"window_strides": (1,), "padding": ((2, 1),)}
        yield Sample("conv_general_dilated", pair, arguments)


def _bits() -> Iterator[Sample]:
    """Integers narrower than a byte, and shifts by as many bits as there are."""
    for name in ("clz", "population_count"):
        for dtype in ("int4", "uint4"):
            yield Sample(name, (Operand((5,), dtype, -4, 3),))
    for name in ("add", "rem"):
        operands = Operand((5,), "int4", -4, 3), Operand((5,), "int4", 1, 3)
        yield Sample(name, operands)
    bitcasts = (
        ((2, 4), "int4", "int16"),
        ((3,), "int4", "uint4"),
        ((2,), "int16", "int4"),
        ((3,), "bool", "bool"),
    )
    for shape, dtype, target in bitcasts:
        yield Sample("bitcast_convert_type", (Operand(shape, dtype),), {"new_dtype": target})
    for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical"):
        for dtype, width, high in (("int64", 64, 2**62), ("uint8", 8, 250), ("int32", 32, 2**30)):
            amounts = Operand((9,), dtype, width - 2, width + 2)
            yield Sample(name, (Operand((9,), dtype, -high, high), amounts))


def _mixtures() -> Iterator[Sample]:
    """Operands of one type that may not change places, bounds and numbers of several kinds."""
    square = Operand((3, 3), "float32")
    for axes in ((((1,), (0,)), ((), ())), (((0,), (1,)), ((), ()))):
        yield Sample("dot_general", (square, square), {"dimension_numbers": axes})
    for name in ("reduce_and", "reduce_or"):
        yield Sample(name, (Operand((6, 1), "int32", -9, 9),), {"axes": (1,)})
    arguments: dict[str, Any] = {"dtype": "float32", "shape": (3, 2), "dimension": 0}
    yield Sample("broadcasted_iota", (), arguments)
    # An axis of size 1 that is left out, behind windows of several elements.
    numbers = Numbers("GatherDimensionNumbers", ((1,), (1,), (0,)))
    places = Operand((5, 1), "float32"), Operand((3, 1), "int32", 0, 3)
    yield Sample("gather", places, {"dimension_numbers": numbers, "slice_sizes": (2, 1)})
    full = (Operand((2, 3), "complex64", -1.1, -0.9), Operand((2, 3), "complex64"))
    yield Sample("clamp", (*full, Operand((2, 3), "complex64", 0.9, 1.1)))
    number, case = Operand((9,), "int32", -2, 4), Operand((9,), "float32")
    for count in (1, 4):
        yield Sample("select_n", (number, *[case] * count))
