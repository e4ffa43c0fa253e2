"""Ranges for samples of special functions and of operations on bits, as ``samples`` takes them."""

from __future__ import annotations

Range = tuple[float, float]

_FLOATS = ("float64", "float32", "float16", "bfloat16")
_INTEGERS = ("int32", "int8", "uint64")
_WIDER = ("float64", "float32", "bfloat16")
_POSITIVE = (0.3, 4.0)

FUNCTIONS: tuple[tuple[str, tuple[Range, ...], tuple[str, ...]], ...] = (
    ("erf", ((-2, 2),), _FLOATS),
    ("erfc", ((-2, 2),), _FLOATS),
    ("erf_inv", ((-0.9, 0.9),), _FLOATS),
    ("lgamma", ((0.3, 6),), _FLOATS),
    ("lgamma", ((-0.8, -0.2),), ("float64",)),
    ("digamma", ((0.3, 6),), _FLOATS),
    ("digamma", ((-0.8, -0.2),), ("float64",)),
    ("bessel_i0e", ((0.2, 9),), _FLOATS),
    ("bessel_i0e", ((-30, -20),), ("float64",)),
    ("bessel_i1e", ((0.2, 9),), _FLOATS),
    ("igamma", (_POSITIVE, _POSITIVE), _WIDER),
    ("igammac", (_POSITIVE, _POSITIVE), _WIDER),
    ("igamma", ((210, 250), (210, 250)), ("float64",)),
    ("clz", ((-2, 2),), _INTEGERS),
    ("population_count", ((-2, 2),), _INTEGERS),
    ("mulhi", ((-2, 2), (-2, 2)), _INTEGERS),
    ("shift_left", ((-2, 2), (-2, 2)), _INTEGERS),
    ("shift_right_arithmetic", ((-2, 2), (-2, 2)), _INTEGERS),
    ("shift_right_logical", ((-2, 2), (-2, 2)), _INTEGERS),
)
"""A function, the range of each operand, and the dtypes it is sampled with."""

IN_LAST_OPERAND: tuple[tuple[str, tuple[float, ...], Range, tuple[str, ...]], ...] = (
    ("igamma_grad_a", (1.5,), _POSITIVE, _WIDER),
    ("igamma_grad_a", (300.0,), (290, 310), ("float64",)),
    ("random_gamma_grad", (1.5,), _POSITIVE, _WIDER),
    ("random_gamma_grad", (300.0,), (290, 310), ("float64",)),
    ("betainc", (1.5, 2.5), (0.1, 0.9), _WIDER),
    ("zeta", (2.5,), (0.5, 4), _WIDER),
    ("zeta", (3.0,), (-0.8, -0.2), ("float64",)),
    ("polygamma", (0.0,), _POSITIVE, ("float64",)),
    ("polygamma", (2.0,), _POSITIVE, _WIDER),
)
"""A function, its operands that have no derivative, the range of the last one, and the dtypes."""

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
