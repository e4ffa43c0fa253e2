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

from bindax_nnx._marks import Marked, marked_field
from bindax_nnx.object import Object
from bindax_nnx.variables import VariableMetadata

T = TypeVar("T")

Data = Annotated[T, "data"]
"""In annotations of attributes: variables, objects, and containers of them."""
Static = Annotated[T, "static"]
"""In annotations of attributes: hashable values that are part of the structure."""


def data(value: Any = dataclasses.MISSING, /, **options: Any) -> Any:
    """Mark an attribute as data: what it holds is a part of the pytree, and is traced.

    Arrays, variables, objects and containers of these are data without a mark.

    Args:
        value: what the attribute is to hold; without it, this makes a field of a dataclass, or of
            any class, whose attribute of this name is data.
        options: those of ``dataclasses.field``.

    Raises:
        TypeError: both a value and options are given.

    >>> from bindax_core.extend import tree_leaves
    >>> from bindax_nnx import Module
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor, self.power = data(2.0), 3
    >>> tree_leaves(Scale())
    [2.0]
    """
    return _mark("data", value, True, options)


def static(value: Any = dataclasses.MISSING, /, **options: Any) -> Any:
    """Mark an attribute as static: what it holds is hashable, and a part of the structure.

    Args:
        value: what the attribute is to hold; without it, this makes a field of a dataclass, or of
            any class, whose attribute of this name is static.
        options: those of ``dataclasses.field``.

    Raises:
        TypeError: both a value and options are given.
        ValueError: the attribute is given arrays, variables or objects.

    >>> from bindax_nnx import Module
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.power = static(3)
    >>> Scale().power
    3
    """
    return _mark("static", value, False, options)


def _mark(name: str, value: Any, is_data: bool, options: dict[str, Any]) -> Any:
    if value is dataclasses.MISSING:
        return marked_field(name, is_data, options)
    if options:
        raise TypeError(f"nnx.{name} takes a value, or options of a field, but not both.")
    return Marked(value, is_data)


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
        return VariableMetadata(init(*args, **kwargs), metadata=metadata)

    return initialize


def with_partitioning(
    init: Callable[..., Any], sharding: Any, mesh: Any = None, **metadata: Any
) -> Callable[..., VariableMetadata]:
    """An initializer whose variable names the mesh axis along which each axis is divided.

    Args:
        init: the initializer.
        sharding: what becomes ``out_sharding`` of the variable: a tuple of names of mesh axes, a
            ``PartitionSpec`` or a ``Sharding``.
        mesh: the mesh; the one that is set when omitted.
        metadata: more metadata.

    >>> from bindax_core.sharding import make_mesh
    >>> from bindax_nnx import Linear, Rngs, initializers
    >>> mesh = make_mesh((1, 1), ("rows", "columns"))
    >>> init = with_partitioning(initializers.zeros, ("rows", "columns"), mesh)
    >>> layer = Linear(2, 3, kernel_init=init, rngs=Rngs(0))
    >>> layer.kernel.out_sharding
    ('rows', 'columns')
    """
    if isinstance(sharding, list):
        sharding = tuple(sharding)
    own = {} if mesh is None else {"mesh": mesh}
    return with_metadata(init, out_sharding=sharding, **own, **metadata)
