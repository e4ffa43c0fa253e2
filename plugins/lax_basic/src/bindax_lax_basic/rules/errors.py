"""Errors of two classes, where NumPy and JAX do not raise the same, or one did here before."""

from __future__ import annotations


class IndexTypeError(TypeError, IndexError):
    """An array is indexed by what is no index."""


class ComplexOperandError(TypeError, ValueError):
    """An operand is complex, and the function is not defined for complex numbers."""


class DtypeError(TypeError, ValueError):
    """A dtype is named that a function has no results of."""


class DivisorError(ValueError, ZeroDivisionError):
    """A step or a number of parts is zero."""
