"""Errors of two classes, where NumPy and JAX do not raise the same, or one did here before."""

from __future__ import annotations


class IndexTypeError(TypeError, IndexError):
    """An array is indexed by what is no index."""


class ComplexOperandError(TypeError, ValueError):
    """An operand is complex, and the function is not defined for complex numbers.

    >>> try:
    ...     raise ComplexOperandError("floor: complex numbers have no floor.")
    ... except ValueError as error:
    ...     print(error)
    floor: complex numbers have no floor.
    """


class DtypeError(TypeError, ValueError):
    """A dtype is named that a function has no results of.

    >>> try:
    ...     raise DtypeError("fftfreq: the dtype must be a float, but it is int32.")
    ... except ValueError as error:
    ...     print(error)
    fftfreq: the dtype must be a float, but it is int32.
    """


class DivisorError(ValueError, ZeroDivisionError):
    """A step or a number of parts is zero.

    >>> try:
    ...     raise DivisorError("arange: the step must not be zero.")
    ... except ZeroDivisionError as error:
    ...     print(error)
    arange: the step must not be zero.
    """
