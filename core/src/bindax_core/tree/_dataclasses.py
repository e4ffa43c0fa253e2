"""Dataclasses as pytree nodes."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import Any, TypeVar

from bindax_core.errors import TreeError
from bindax_core.tree._node_definition import Flatten, NodeDefinition, Unflatten, type_name
from bindax_core.tree._registry import register_node

_Class = TypeVar("_Class", bound=type)


def static(**kwargs: Any) -> Any:
    """A dataclass field that is metadata, as ``dataclasses.field(metadata={"static": True})``.

    Args:
        **kwargs: arguments of ``dataclasses.field``.

    >>> from bindax_core.tree_util import tree_leaves
    >>> import dataclasses
    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Scaled:
    ...     values: list
    ...     unit: str = static(default="m")
    >>> tree_leaves(Scaled([1, 2]))
    [1, 2]
    """
    metadata = {**(kwargs.pop("metadata", None) or {}), "static": True}
    from dataclasses import field

    return field(**kwargs, metadata=metadata)


def register_dataclass(
    nodetype: _Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
    *,
    bypass_init: bool = False,
) -> _Class:
    """Make instances of a dataclass pytree nodes.

    Args:
        nodetype: a dataclass, or a class whose ``__init__`` takes the fields as keywords.
        data_fields: the names of the fields that are children; by default all fields of the
            dataclass's ``__init__`` that are not marked as static.
        meta_fields: the names of the fields that are metadata; by default those marked with
            ``metadata={"static": True}`` or made by ``bindax.tree.static``.
        drop_fields: names of fields to leave out; they get their default values.
        bypass_init: set the fields without calling ``__init__`` and ``__post_init__``, which then
            may validate and convert their arguments. Dropped fields are not set then unless they
            have a default.

    Returns:
        The class, so that this can be a decorator, by way of ``functools.partial`` if need be.

    Raises:
        TreeError: the fields do not make up the fields of the dataclass, or are not given and the
            class is not a dataclass, or another module registered the class.

    >>> import functools
    >>> from bindax_core.tree_util import tree_flatten
    >>> import dataclasses
    >>> @functools.partial(register_dataclass, data_fields=["x"], meta_fields=["name"])
    ... @dataclasses.dataclass
    ... class Named:
    ...     x: float
    ...     name: str
    >>> tree_flatten(Named(1.0, "a"))
    ([1.0], PyTreeDef(CustomNode(Named[('a',)], [*])))
    """
    data, meta = _fields(nodetype, data_fields, meta_fields, drop_fields)
    _check_fields(nodetype, data, meta, tuple(drop_fields))
    unflatten = _unflatten_without_init if bypass_init else _unflatten
    definition = NodeDefinition(
        nodetype, _flatten(data, meta), unflatten(nodetype, data, meta), attributes=data
    )
    if all(name.isidentifier() and not keyword.iskeyword(name) for name in (*data, *meta)):
        definition._fields = data, meta, not bypass_init
    register_node(definition)
    return nodetype


def _fields(
    nodetype: type,
    data_fields: Sequence[str] | None,
    meta_fields: Sequence[str] | None,
    drop_fields: Sequence[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the children and of the metadata, as given or inferred."""
    if not isinstance(nodetype, type):
        raise TreeError(
            f"register_dataclass needs a class, got {nodetype!r}. As a decorator with arguments it "
            f"is written @functools.partial(register_dataclass, data_fields=[...], ...)."
        )
    if (data_fields is None) != (meta_fields is None):
        raise TreeError(
            f"register_dataclass({type_name(nodetype)}): give both data_fields and meta_fields, or "
            f"neither."
        )
    if data_fields is not None and meta_fields is not None:
        return tuple(data_fields), tuple(meta_fields)
    declared = _declared_fields(nodetype)
    if declared is None:
        raise TreeError(
            f"register_dataclass({type_name(nodetype)}): data_fields and meta_fields are required, "
            f"because the class is not a dataclass."
        )
    fields = [f for f in declared if f.init and f.name not in drop_fields]
    meta = tuple(f.name for f in fields if f.metadata.get("static", False))
    return tuple(f.name for f in fields if f.name not in meta), meta


def _declared_fields(nodetype: Any) -> tuple[Any, ...] | None:
    """The fields of a dataclass, for which alone the module is loaded; None of another class."""
    if not hasattr(nodetype, "__dataclass_fields__"):
        return None
    import dataclasses

    return dataclasses.fields(nodetype)


def _check_fields(
    nodetype: type, data: tuple[str, ...], meta: tuple[str, ...], drop: tuple[str, ...]
) -> None:
    start = f"register_dataclass({type_name(nodetype)}):"
    for name in (*data, *meta, *drop):
        if not isinstance(name, str):
            raise TreeError(f"{start} names of fields must be strings, got {name!r}.")
    given = (*data, *meta, *drop)
    twice = sorted({name for name in given if given.count(name) > 1})
    if twice:
        raise TreeError(
            f"{start} each field must be in one of data_fields, meta_fields and drop_fields; "
            f"{twice} are there more than once."
        )
    declared = _declared_fields(nodetype)
    if declared is None:
        return
    expected = {f.name for f in declared if f.init}
    missing = sorted(expected - set(given))
    unexpected = sorted({*data, *meta} - expected)
    if missing or unexpected:
        parts = [f"Missing fields: {missing}."] if missing else []
        parts += [f"Unexpected fields: {unexpected}."] if unexpected else []
        raise TreeError(
            f"{start} data_fields and meta_fields must include all dataclass fields with "
            f"init=True and only them. {' '.join(parts)} Put fields that are not wanted into "
            f"drop_fields."
        )


def _flatten(data: tuple[str, ...], meta: tuple[str, ...]) -> Flatten:
    def values(node: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
        return tuple([getattr(node, name) for name in names])

    return lambda node: (values(node, data), values(node, meta))


def _unflatten(nodetype: type, data: tuple[str, ...], meta: tuple[str, ...]) -> Unflatten:
    names = (*meta, *data)
    return lambda metadata, children: nodetype(
        **dict(zip(names, (*metadata, *children), strict=True))
    )


def _unflatten_without_init(
    nodetype: type, data: tuple[str, ...], meta: tuple[str, ...]
) -> Unflatten:
    from dataclasses import MISSING

    names = (*meta, *data)
    defaults = [
        field
        for field in _declared_fields(nodetype) or ()
        if field.name not in names
        and not (field.default is MISSING and field.default_factory is MISSING)
    ]

    def unflatten(metadata: Any, children: Any) -> Any:
        node: Any = object.__new__(nodetype)
        # object.__setattr__ also sets the fields of frozen dataclasses.
        for name, value in zip(names, (*metadata, *children), strict=True):
            object.__setattr__(node, name, value)
        for field in defaults:
            factory = field.default_factory
            object.__setattr__(node, field.name, field.default if factory is MISSING else factory())
        return node

    return unflatten
