"""Exchanges whose results are asked for later than they are begun."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from bindax_parallel.exchanges import psum_scatter

__all__ = ["Future", "psum_scatter_start"]

Value = TypeVar("Value")


class Future(Generic[Value]):
    """The result of an exchange that was begun.

    >>> Future(3.0).done()
    3.0
    """

    def __init__(self, value: Value) -> None:
        self._value = value

    def done(self) -> Value:
        """Give the result."""
        return self._value


def psum_scatter_start(
    x: Any,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Future[Any]:
    """Begin ``psum_scatter``; what stands before ``done()`` may be computed meanwhile.

    Compilers let exchanges and other work overlap as far as operands allow, wherever both stand in
    the program; this says so to its readers, and takes programs that are written so.

    Args:
        x: an array or a tree of arrays.
        axis_name: the name of an axis, or a tuple of names.
        scatter_dimension: the axis of ``x`` that is divided.
        axis_index_groups: lists of indices that partition the axis: each is an axis by itself.
        tiled: whether the divided axis stays, with the size of a part.

    Returns:
        A ``Future``, whose method ``done`` gives the result.

    Raises:
        NameError: when nothing around the caller gives a name.
        ValueError: when the groups or the size of the axis do not fit.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> def f(x):
    ...     begun = psum_scatter_start(x, "i")
    ...     y = x @ x
    ...     return begun.done() + y
    >>> vmap(f, axis_name="i")(np.array([[1, 2], [10, 20]]))
    Array([ 16, 522], dtype=int64)
    """
    options = {"scatter_dimension": scatter_dimension, "axis_index_groups": axis_index_groups}
    return Future(psum_scatter(x, axis_name, tiled=tiled, **options))
