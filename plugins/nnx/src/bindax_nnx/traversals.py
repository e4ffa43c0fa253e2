"""Nested mappings as flat ones whose keys are paths, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Path = tuple[Any, ...]


class _Empty:
    """Stands for a mapping without entries."""

    def __repr__(self) -> str:
        return "empty_node"


empty_node: _Empty = _Empty()
"""The value of a flat mapping that stands for a mapping without entries."""


def flatten_mapping(
    xs: Mapping[Any, Any],
    /,
    *,
    keep_empty_nodes: bool = False,
    is_leaf: Callable[[Path, Any], bool] | None = None,
    sep: str | None = None,
) -> dict[Any, Any]:
    """A nested mapping as one whose keys are paths.

    Args:
        xs: the mapping.
        keep_empty_nodes: whether mappings without entries are kept, as ``empty_node``.
        is_leaf: tells whether a mapping counts as a value, from its path and it.
        sep: joins the keys of a path to a text; None for tuples.

    >>> flatten_mapping({"foo": 1, "bar": {"a": 2, "b": {}}})
    {('foo',): 1, ('bar', 'a'): 2}
    >>> flatten_mapping({"bar": {"a": 2}}, sep="/")
    {'bar/a': 2}
    """
    return dict(flatten_to_sequence(xs, keep_empty_nodes, is_leaf, sep))


def flatten_to_sequence(
    xs: Mapping[Any, Any],
    keep_empty_nodes: bool = False,
    is_leaf: Callable[[Path, Any], bool] | None = None,
    sep: str | None = None,
) -> list[tuple[Any, Any]]:
    """The pairs of ``flatten_mapping``, in order.

    Raises:
        TypeError: it is no mapping.
    """
    if not isinstance(xs, Mapping):
        raise TypeError(f"flatten_mapping takes a mapping, but got {xs!r:.60}.")

    def pairs(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
        if not isinstance(value, Mapping) or (is_leaf is not None and is_leaf(path, value)):
            yield path, value
        elif not value and path:
            if keep_empty_nodes:
                yield path, empty_node
        else:
            for key, child in value.items():
                yield from pairs(child, (*path, key))

    return [(path if sep is None else sep.join(map(str, path)), x) for path, x in pairs(xs, ())]


def unflatten_mapping(xs: Mapping[Any, Any], /, *, sep: str | None = None) -> dict[Any, Any]:
    """The nested dictionaries of a mapping whose keys are paths; inverse of ``flatten_mapping``.

    Args:
        xs: the mapping.
        sep: what joins the keys of a path; None where paths are tuples.

    Raises:
        TypeError: it is no mapping.

    >>> unflatten_mapping({("foo",): 1, ("bar", "a"): 2})
    {'foo': 1, 'bar': {'a': 2}}
    """
    if not isinstance(xs, Mapping):
        raise TypeError(f"unflatten_mapping takes a mapping, but got {xs!r:.60}.")
    result: dict[Any, Any] = {}
    for key, value in xs.items():
        path = key if sep is None else key.split(sep)
        node = result
        for part in path[:-1]:
            node = node.setdefault(part, {})
        node[path[-1]] = {} if value is empty_node else value
    return result
