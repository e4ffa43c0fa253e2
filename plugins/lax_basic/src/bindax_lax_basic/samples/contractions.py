"""Sample inputs of convolutions, Fourier transforms and products; see ``samples``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bindax_lax_basic.samples.calls import Operand, Sample, Shape

_LAST = ("NHWC", "HWIO", "NHWC")
_Case = tuple[Shape, Shape, dict[str, Any]]

_CASES: tuple[_Case, ...] = (
    ((2, 3, 5, 4), (4, 3, 3, 2), {"window_strides": (2, 1), "padding": "SAME"}),
    ((2, 3, 5), (2, 3, 3), {"window_strides": (1,), "padding": "SAME_LOWER"}),
    (
        (2, 5, 6, 3),
        (2, 3, 3, 4),
        {"window_strides": (1, 2), "padding": "VALID", "dimension_numbers": _LAST},
    ),
    (
        (2, 2, 4, 5),
        (3, 2, 2, 3),
        {
            "window_strides": (2, 3),
            "padding": ((2, -1), (1, 3)),
            "lhs_dilation": (1, 2),
            "rhs_dilation": (2, 1),
        },
    ),
    ((2, 4, 5), (6, 2, 3), {"window_strides": (2,), "padding": "SAME", "feature_group_count": 2}),
    ((4, 2, 5), (6, 2, 3), {"window_strides": (1,), "padding": ((1, 0),), "batch_group_count": 2}),
    ((2, 3), (4, 3), {"window_strides": (), "padding": ()}),
    ((2, 0, 4), (3, 0, 2), {"window_strides": (1,), "padding": "VALID"}),
    ((0, 2, 4), (3, 2, 2), {"window_strides": (1,), "padding": "VALID"}),
    ((2, 2, 3), (3, 2, 4), {"window_strides": (1,), "padding": "VALID"}),
)


def convolutions() -> Iterator[Sample]:
    """Samples of convolutions."""
    for lhs, rhs, arguments in _CASES:
        operands = Operand(lhs, "float32"), Operand(rhs, "float32")
        yield Sample("conv_general_dilated", operands, arguments)
    plain = {"window_strides": (1,), "padding": "SAME"}
    for dtype in ("float64", "bfloat16", "complex64", "int32"):
        operands = Operand((2, 2, 4), dtype), Operand((3, 2, 2), dtype)
        yield Sample("conv", operands, plain)
    wide = {**plain, "preferred_element_type": "float32"}
    half = Operand((2, 2, 4), "bfloat16"), Operand((3, 2, 2), "bfloat16")
    yield Sample("conv_general_dilated", half, wide)
    narrow = Operand((2, 2, 4), "int8"), Operand((3, 2, 2), "int8")
    yield Sample("conv_general_dilated", narrow, {**plain, "preferred_element_type": "int32"})
    for padding in ("SAME", "VALID", ((1, 2),)):
        operands = Operand((2, 4, 3), "float32"), Operand((3, 2, 3), "float32")
        arguments = {"strides": (2,), "padding": padding, "transpose_kernel": True}
        yield Sample("conv_transpose", operands, arguments)


def transforms() -> Iterator[Sample]:
    """Samples of Fourier transforms."""
    for kind in ("FFT", "IFFT"):
        for dtype in ("complex64", "complex128"):
            yield Sample("fft", (Operand((3, 4), dtype),), {"fft_type": kind, "fft_lengths": (4,)})
        several = {"fft_type": kind, "fft_lengths": (2, 3, 5)}
        yield Sample("fft", (Operand((2, 3, 5), "complex64"),), several)
        nothing = {"fft_type": kind, "fft_lengths": (4,)}
        yield Sample("fft", (Operand((0, 4), "complex64"),), nothing)
    for n in (4, 5, 1):
        for dtype in ("float32", "float64"):
            real = {"fft_type": "RFFT", "fft_lengths": (3, n)}
            yield Sample("fft", (Operand((2, 3, n), dtype),), real)
        back = {"fft_type": "IRFFT", "fft_lengths": (3, n)}
        yield Sample("fft", (Operand((2, 3, n // 2 + 1), "complex64"),), back)


def products() -> Iterator[Sample]:
    """Samples of products of matrices beyond those of ``dot_general``."""
    stacks = Operand((2, 3, 4), "float32"), Operand((2, 4, 2), "float32")
    yield Sample("batch_matmul", stacks)
    matrices = Operand((2, 3), "float32"), Operand((3, 4), "float32")
    yield Sample("dot", matrices, {"precision": "highest"})


_ALGORITHMS = (
    ("F16_F16_F16", "float16"),
    ("BF16_BF16_F32", "bfloat16"),
    ("BF16_BF16_F32_X3", "float32"),
    ("F32_F32_F32", "float16"),
    ("F32_F32_F32", "float32"),
    ("F32_F32_F32", "int32"),
    ("F64_F64_F64", "float32"),
    ("DEFAULT", "float64"),
)


def algorithms() -> Iterator[Sample]:
    """Samples of products by a given algorithm."""
    for algorithm, dtype in _ALGORITHMS:
        operands = Operand((2, 3), dtype), Operand((3, 4), dtype)
        yield Sample("dot", operands, {"precision": algorithm})
    half = Operand((2, 3), "bfloat16"), Operand((3, 4), "bfloat16")
    wide = {"precision": "BF16_BF16_F32", "preferred_element_type": "float32"}
    yield Sample("dot", half, wide)


CONTRACTIONS = (*convolutions(), *transforms(), *products(), *algorithms())
"""All samples of this module."""
