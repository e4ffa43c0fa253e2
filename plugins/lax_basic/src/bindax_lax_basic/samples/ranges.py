"""Ranges of operands for samples of error functions and of operations on bits."""

from __future__ import annotations

Range = tuple[float, float]

_FLOATS = ("float64", "float32", "float16", "bfloat16")
_INTEGERS = ("int32", "int8", "uint64")

FUNCTIONS: tuple[tuple[str, tuple[Range, ...], tuple[str, ...]], ...] = (
    ("erf", ((-2, 2),), _FLOATS),
    ("erfc", ((-2, 2),), _FLOATS),
    ("erf_inv", ((-0.9, 0.9),), _FLOATS),
    ("clz", ((-2, 2),), _INTEGERS),
    ("population_count", ((-2, 2),), _INTEGERS),
    ("mulhi", ((-2, 2), (-2, 2)), _INTEGERS),
    ("shift_left", ((-2, 2), (-2, 2)), _INTEGERS),
    ("shift_right_arithmetic", ((-2, 2), (-2, 2)), _INTEGERS),
    ("shift_right_logical", ((-2, 2), (-2, 2)), _INTEGERS),
)
"""A function, the range of each operand, and the dtypes it is sampled with."""

BITCASTS: tuple[tuple[tuple[int, ...], str, str], ...] = (
    ((2, 3), "float32", "int32"),
    ((2, 3), "float32", "uint8"),
    ((2, 2), "int32", "float64"),
    ((2, 4), "uint8", "int32"),
    ((2, 3), "int8", "int4"),
    ((2, 2), "uint4", "int8"),
    ((3,), "bfloat16", "uint16"),
    ((0, 2), "int8", "int4"),
)
"""The shape and dtype of an operand, and the dtype its bits are taken for."""

ROUNDINGS: tuple[tuple[str, int, int], ...] = (
    ("float32", 5, 2),
    ("float64", 8, 7),
    ("float16", 4, 3),
    ("bfloat16", 8, 3),
)
"""A dtype, and the bits of exponent and mantissa it is rounded to."""
