"""Classes made with attrs as pytree nodes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, overload

import attrs

from bindax_core.errors import TreeError
from bindax_core.extend import NodeDefinition
from bindax_core.tree_util import register_node

_Class = TypeVar("_Class", bound=type)


def static(**kwargs: Any) -> Any:
    """An attrs field that is metadata, as ``attrs.field(metadata={"static": True})``.

    Args:
        **kwargs: arguments of ``attrs.field``.

    >>> import attrs
    >>> from bindax_core import tree
    >>> @register_attrs
    ... @attrs.define
    ... class Scaled:
    ...     values: list
    ...     unit: str = static(default="m")
    >>> tree.leaves(Scaled([1, 2]))
    [1, 2]
    """
    metadata = {**(kwargs.pop("metadata", None) or {}), "static": True}
    return attrs.field(**kwargs, metadata=metadata)


@overload
def register_attrs(cls: _Class, /, *, static: Sequence[str] = ()) -> _Class: ...
@overload
def register_attrs(
    cls: None = None, /, *, static: Sequence[str] = ()
) -> Callable[[_Class], _Class]: ...
def register_attrs(cls: Any = None, /, *, static: Sequence[str] = ()) -> Any:
    """Make instances of an attrs class pytree nodes: a class decorator, or a call for any class.

    The fields are found by inspection, so that the class may be one of another library. Those
    marked with ``metadata={"static": True}`` (or made by ``bindax_containers.static``) or named
    here are metadata, which has to support ``==`` and ``hash``; all others are children. Instances
    are rebuilt without calling ``__init__``, so that validators and converters never meet what
    transformations put into the fields; fields with ``init=False`` are kept, too.

    Args:
        cls: a class made by ``attrs.define``, ``attrs.frozen`` or ``attr.s``.
        static: names of fields that are metadata, besides those that are marked.

    Returns:
        The class; without one, the decorator.

    Raises:
        TreeError: the class was not made with attrs, ``static`` names no field of it, or another
            module registered it.

    >>> import attrs
    >>> from bindax_core import tree
    >>> @register_attrs(static=["name"])
    ... @attrs.frozen
    ... class Layer:
    ...     weights: float = attrs.field(validator=attrs.validators.instance_of(float))
    ...     name: str
    >>> tree.structure(Layer(1.0, "first"))
    PyTreeDef(CustomNode(Layer[('first',)], [*]))
    >>> tree.map(str, Layer(1.0, "first"))
    Layer(weights='1.0', name='first')
    """
    frame = sys._getframe(1)
    site = frame.f_globals.get("__name__", "?"), frame.f_code.co_filename, frame.f_lineno

    def register(cls: _Class) -> _Class:
        register_node(_definition(cls, static, site))
        return cls

    return register if cls is None else register(cls)


def attrs_definition(cls: type, /, *, static: Sequence[str] = ()) -> NodeDefinition:
    """The definition that ``register_attrs`` registers, for a hook ``bindax_pytree_nodes``.

    A package whose manifest names an attrs class returns this, and the class becomes a pytree node
    type when an instance appears.

    Args:
        cls: a class made with attrs.
        static: names of fields that are metadata, besides those that are marked.

    Raises:
        TreeError: the class was not made with attrs, or ``static`` names no field of it.

    >>> import attrs
    >>> attrs_definition(attrs.make_class("Pair", ["first", "second"])).attributes
    ('first', 'second')
    """
    frame = sys._getframe(1)
    site = frame.f_globals.get("__name__", "?"), frame.f_code.co_filename, frame.f_lineno
    return _definition(cls, static, site)


def _definition(cls: Any, static: Sequence[str], site: tuple[str, str, int]) -> NodeDefinition:
    data, meta = _fields(cls, static)
    # A class with cache_hash=True has one attribute more, which its __init__ sets.
    code = getattr(cls.__hash__, "__code__", None)
    caches_hash = code is not None and _CACHED_HASH in (*code.co_names, *code.co_consts)

    def values(node: Any, names: Iterable[str]) -> tuple[Any, ...]:
        try:
            return tuple([getattr(node, name) for name in names])
        except AttributeError as error:
            unset = [name for name in (*data, *meta) if not hasattr(node, name)]
            if not unset:
                raise
            raise TreeError(
                f"The fields {unset} of this instance of {cls.__qualname__} are not set, so "
                f"that it cannot be flattened. Set fields with init=False in "
                f"__attrs_post_init__, or give them a default."
            ) from error

    def flatten(node: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return values(node, data), values(node, meta)

    def unflatten(metadata: Any, children: Any) -> Any:
        node: Any = cls.__new__(cls)
        # object.__setattr__ also sets the fields of frozen classes, and runs no hook of attrs.
        for name, value in zip(data, children, strict=True):
            object.__setattr__(node, name, value)
        for name, value in zip(meta, metadata, strict=True):
            object.__setattr__(node, name, value)
        if caches_hash:
            object.__setattr__(node, _CACHED_HASH, None)
        return node

    return NodeDefinition(cls, flatten, unflatten, attributes=data, site=site)


def _fields(cls: Any, static: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the fields that are children, and of those that are metadata."""
    if not isinstance(cls, type) or not attrs.has(cls):
        raise TreeError(
            f"register_attrs needs a class made with attrs, got {cls!r}. Decorate it with "
            f"@attrs.define first (below @register_attrs), or register it in another way."
        )
    if isinstance(static, str):
        raise TreeError(f"static must be a sequence of names of fields, got {static!r}.")
    fields = attrs.fields(cls)
    names = [field.name for field in fields]
    unknown = [name for name in static if name not in names]
    if unknown:
        raise TreeError(
            f"register_attrs({cls.__qualname__}): static names {unknown}, but the fields are "
            f"{names}."
        )
    meta = tuple(
        field.name
        for field in fields
        if field.metadata.get("static", False) or field.name in static
    )
    return tuple(name for name in names if name not in meta), meta


_CACHED_HASH = "_attrs_cached_hash"
