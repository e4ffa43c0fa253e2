"""The ways to register a class: by methods, with keys, as static; and ``Partial``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from bindax_core.errors import TreeError
from bindax_core.tree._node_definition import NodeDefinition, type_name
from bindax_core.tree._registry import register_node

_R = TypeVar("_R")
_Class = TypeVar("_Class", bound=type)


def register_pytree_node_class(cls: _Class) -> _Class:
    """Class decorator: a pytree node type that has ``tree_flatten`` and ``tree_unflatten``.

    The method ``tree_flatten(self)`` returns ``(children, metadata)``; the class method
    ``tree_unflatten(cls, metadata, children)`` returns an instance.

    Raises:
        TreeError: a method is missing, or another module registered the class.

    >>> from bindax_core.tree_util import tree_map
    >>> @register_pytree_node_class
    ... class Box:
    ...     def __init__(self, content):
    ...         self.content = content
    ...     def tree_flatten(self):
    ...         return (self.content,), None
    ...     @classmethod
    ...     def tree_unflatten(cls, metadata, children):
    ...         return cls(*children)
    >>> tree_map(lambda x: x + 1, Box(1)).content
    2
    """
    flatten, unflatten = _method(cls, "tree_flatten"), _method(cls, "tree_unflatten")
    register_node(NodeDefinition(cls, flatten, unflatten))
    return cls


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Make instances of a type pytree nodes whose children have keys.

    Args:
        nodetype: the type; its subclasses are not affected.
        flatten_with_keys: from an instance to ``([(key, child), ...], metadata)``.
        unflatten_func: from ``(metadata, children)`` to an instance.
        flatten_func: from an instance to ``(children, metadata)``; a faster way to the same.

    Raises:
        TreeError: an argument is of the wrong kind, or another module registered the type.

    >>> from bindax_core.tree_util import GetAttrKey, keystr, tree_leaves_with_path
    >>> class Keyed:
    ...     def __init__(self, content):
    ...         self.content = content
    >>> register_pytree_with_keys(
    ...     Keyed, lambda b: (((GetAttrKey("content"), b.content),), None), lambda _, xs: Keyed(*xs)
    ... )
    >>> [keystr(path) for path, _ in tree_leaves_with_path(Keyed([1]))]
    ['.content[0]']
    """

    def without_keys(node: Any) -> tuple[list[Any], Any]:
        pairs, data = flatten_with_keys(node)
        return [child for _, child in pairs], data

    flatten = without_keys if flatten_func is None else flatten_func
    register_node(NodeDefinition(nodetype, flatten, unflatten_func, flatten_with_keys))


def register_pytree_with_keys_class(cls: _Class) -> _Class:
    """Class decorator: a pytree node type that has ``tree_flatten_with_keys``.

    The method ``tree_flatten_with_keys(self)`` returns ``([(key, child), ...], metadata)``; the
    class method ``tree_unflatten(cls, metadata, children)`` returns an instance. A method
    ``tree_flatten`` is used where there is one and the keys are not needed.

    Raises:
        TreeError: a method is missing, or another module registered the class.

    >>> from bindax_core.tree_util import GetAttrKey, tree_leaves_with_path
    >>> @register_pytree_with_keys_class
    ... class Point:
    ...     def __init__(self, x):
    ...         self.x = x
    ...     def tree_flatten_with_keys(self):
    ...         return ((GetAttrKey("x"), self.x),), None
    ...     @classmethod
    ...     def tree_unflatten(cls, aux, children):
    ...         return cls(*children)
    >>> tree_leaves_with_path(Point(1))
    [((GetAttrKey(name='x'),), 1)]
    """
    register_pytree_with_keys(
        cls,
        _method(cls, "tree_flatten_with_keys"),
        _method(cls, "tree_unflatten"),
        getattr(cls, "tree_flatten", None),
    )
    return cls


def _method(cls: type, name: str) -> Callable[..., Any]:
    if not isinstance(cls, type):
        raise TypeError(f"this decorator is for classes, but it was given {cls!r:.80}.")
    method = getattr(cls, name, None)
    if method is None:
        raise TreeError(
            f"{type_name(cls)} cannot be registered as a pytree node type: it has no method {name}."
        )
    return method  # type: ignore[no-any-return]


def register_static(cls: _Class) -> _Class:
    """Class decorator: instances are part of the structure, with no leaves.

    Instances must support ``==`` and ``hash``; transformations take them for constants.

    Raises:
        TreeError: another module registered the class.

    >>> from bindax_core.tree_util import tree_flatten
    >>> @register_static
    ... class Mode(str):
    ...     pass
    >>> tree_flatten([1, Mode("train")])
    ([1], PyTreeDef([*, CustomNode(Mode[train], [])]))
    """
    register_node(NodeDefinition(cls, lambda node: ((), node), lambda data, _: data))
    return cls


class Partial(functools.partial[_R]):
    """A ``functools.partial`` that is a pytree: its arguments are the children.

    The function is metadata, and must support ``==`` and ``hash``.

    >>> import operator
    >>> from bindax_core.tree_util import tree_map
    >>> tree_map(lambda x: x * 10, Partial(operator.add, 1))(2)
    12
    """

    __slots__ = ()

    def __new__(cls, func: Callable[..., _R], /, *args: Any, **kwargs: Any) -> Partial[_R]:
        """Bind arguments to a function."""
        # functools.partial merges nested partials, which would make the arguments of the inner one
        # children of the outer one and lose what it is.
        if isinstance(func, functools.partial):
            func = _Opaque(func)
        return super().__new__(cls, func, *args, **kwargs)


class _Opaque:
    """A partial as the function of another one, which must not be merged with it."""

    def __init__(self, function: functools.partial[Any]) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    # Bound arguments may be arrays, which cannot be compared: it is equal to itself only.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Opaque) and self.function is other.function

    def __hash__(self) -> int:
        return id(self.function)

    def __repr__(self) -> str:
        return repr(self.function)


def _flatten_partial(node: Partial[Any]) -> tuple[tuple[Any, Any], Any]:
    return (node.args, node.keywords), node.func


def _unflatten_partial(func: Any, children: Any) -> Partial[Any]:
    return Partial(func, *children[0], **children[1])


register_node(
    NodeDefinition(
        Partial,
        _flatten_partial,
        _unflatten_partial,
        attributes=("args", "keywords"),
        site=(__name__, __file__, _flatten_partial.__code__.co_firstlineno),
    )
)
