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
    for name, first, last in (("erf", -5.0, 5.0), ("erfc", -3.0, 5.0), ("erf_inv", -0.999, 0.999)):
        yield Sample(name, (Operand((9,), "float64", first, last),))
    for dtype, high in (("int32", 2**31 - 1), ("int64", 2**62), ("uint64", 2**62)):
        yield Sample("mulhi", (Operand((7,), dtype, -high, high),) * 2)
    # Cases of the same types and parameters would count as one.
    for scale, size in ((1e5, 7), (1e-5, 9)):
        arguments: dict[str, Any] = {"exponent_bits": 5, "mantissa_bits": 2}
        yield Sample("reduce_precision", (Operand((size,), "float32", -scale, scale),), arguments)
    windows: tuple[tuple[tuple[Shape, ...], Shape, Shape], ...] = (
        (((), (0,), (0,)), (1,), (4,)),
        (((1,), (), (0,)), (2,), (4, 2)),
    )
    for fields, sizes, updates in windows:
        places = Operand((4, 1), "int32", -3, 8)
        for mode in ("clip", "fill"):
            numbers = Numbers("GatherDimensionNumbers", fields)
            arguments = {"dimension_numbers": numbers, "slice_sizes": sizes, "mode": mode}
            yield Sample("gather", (Operand((5,), "float32"), places), arguments)
            numbers = Numbers("ScatterDimensionNumbers", fields)
            for name in SCATTERS:
                operands = Operand((5,), "float32"), places, Operand(updates, "float32")
                yield Sample(name, operands, {"dimension_numbers": numbers, "mode": mode})
    empty: tuple[tuple[str, Shape, str], ...] = (
        ("FFT", (2, 0, 4), "complex64"),
        ("RFFT", (0, 4), "float32"),
        ("IRFFT", (0, 3), "complex64"),
    )
    for kind, shape, dtype in empty:
        yield Sample("fft", (Operand(shape, dtype),), {"fft_type": kind, "fft_lengths": (4,)})
