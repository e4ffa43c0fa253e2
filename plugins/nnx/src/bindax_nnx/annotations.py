"""Annotations of attributes and variables, and dataclasses of objects.

>>> from bindax_nnx import Data, Linear, Module, Rngs, Static, dataclass
>>> @dataclass
... class Block(Module):
...     layer: Data[Linear]
...     name: Static[str]
>>> Block(Linear(2, 3, rngs=Rngs(0)), "first").name
'first'
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from bindax_core.extend import is_value
from bindax_nnx.graph import is_reference
from bindax_nnx.object import Object
from bindax_nnx.variables import VariableMetadata

T = TypeVar("T")

Data = Annotated[T, "data"]
"""In annotations of attributes: variables, objects, and containers of them."""
Static = Annotated[T, "static"]
"""In annotations of attributes: hashable values that are part of the structure."""


def static(value: Any = dataclasses.MISSING, /, **options: Any) -> Any:
    """The value itself: attributes without variables in them are static anyway.

    Args:
        value: any value; without one, this makes a field of a dataclass.
        options: those of ``dataclasses.field``.

    >>> static(3)
    3
    """
    return dataclasses.field(**options) if value is dataclasses.MISSING else value


def is_data(value: Any) -> bool:
    """Tell whether a value is an array, a variable or an object.

    >>> from bindax_nnx import Param
    >>> is_data(Param(1.0)), is_data("text")
    (True, False)
    """
    return is_reference(value) or (
        is_value(value) and not isinstance(value, bool | int | float | complex)
    )


def identity(x: T) -> T:
    """The argument.

    >>> identity(2)
    2
    """
    return x


def dataclass(cls: Any = None, /, **options: bool) -> Any:
    """Make a class of objects a dataclass, shown and compared as objects are.

    Args:
        cls: a subclass of ``Object`` or ``Module``.
        options: those of ``dataclasses.dataclass``.

    Raises:
        TypeError: the class is no class of objects.

    >>> from bindax_nnx import Module, Param
    >>> @dataclass
    ... class Scale(Module):
    ...     factor: Param
    ...     power: int = 2
    >>> Scale(Param(3.0)).power
    2
    """
    if cls is None:
        return lambda given: dataclass(given, **options)
    if not (isinstance(cls, type) and issubclass(cls, Object)):
        raise TypeError(f"nnx.dataclass is for subclasses of nnx.Object, but got {cls!r:.60}.")
    # Objects are compared by identity and shown with their parts.
    return dataclasses.dataclass(cls, **{"repr": False, "eq": False, **options})


def with_metadata(init: Callable[..., Any], **metadata: Any) -> Callable[..., VariableMetadata]:
    """An initializer whose variable has metadata.

    >>> import numpy as np
    >>> from bindax_nnx import Param
    >>> Param(with_metadata(np.zeros, role="bias")(3)).role
    'bias'
    """

    def initialize(*args: Any, **kwargs: Any) -> VariableMetadata:
        return VariableMetadata(init(*args, **kwargs), metadata)

    return initialize


def with_partitioning(
    init: Callable[..., Any], sharding: tuple[str | None, ...], **metadata: Any
) -> Callable[..., VariableMetadata]:
    """An initializer whose variable names the mesh axis along which each axis is divided.

    >>> from bindax_nnx import Linear, Rngs
    >>> from bindax_nnx import initializers
    >>> init = with_partitioning(initializers.zeros, ("rows", "columns"))
    >>> layer = Linear(2, 3, kernel_init=init, rngs=Rngs(0))
    >>> layer.kernel.sharding
    ('rows', 'columns')
    """
    return with_metadata(init, sharding=tuple(sharding), **metadata)
