"""Marks of attributes: which hold data, and which are static."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from typing import Any, get_args

if sys.version_info >= (3, 14):
    from annotationlib import Format, get_annotations

DATA, STATIC = "data", "static"
"""Marks, as annotations of attributes say them."""


class Marked:
    """A value with what the attribute that it becomes is to be: data or static."""

    __slots__ = ("is_data", "value")

    def __init__(self, value: Any, is_data: bool) -> None:
        self.value = value
        self.is_data = is_data


def marked_field(name: str, is_data: bool, options: dict[str, Any]) -> Any:
    """A field of a dataclass whose attribute is data, or static.

    Args:
        name: the function that users called, for messages.
        is_data: which of the two.
        options: those of ``dataclasses.field``.

    Raises:
        ValueError: the metadata have an entry ``static`` already.
    """
    metadata = dict(options.pop("metadata", None) or {})
    if "static" in metadata:
        raise ValueError(
            f"nnx.{name}: metadata has the key 'static', which says whether the attribute is "
            f"static; leave it out."
        )
    return dataclasses.field(**options, metadata={**metadata, "static": not is_data})


def declared_marks(cls: type) -> dict[str, bool] | None:
    """Marks that the annotations and fields of a class give its attributes; None without any."""
    marks = dict(getattr(cls, "_nnx_declared", None) or {})
    for name, annotation in _annotations(cls).items():
        mark = _mark_in(annotation)
        if mark is not None:
            marks[name] = mark == DATA
    for name, field in vars(cls).items():
        if isinstance(field, dataclasses.Field) and "static" in field.metadata:
            is_static = field.metadata["static"]
            if not isinstance(is_static, bool):
                raise ValueError(
                    f"{cls.__name__}.{name}: the entry 'static' of its metadata must be True or "
                    f"False, but it is {is_static!r:.60}."
                )
            if marks.get(name, not is_static) is is_static:
                was, now = (DATA, STATIC) if is_static else (STATIC, DATA)
                raise ValueError(
                    f"{cls.__name__}.{name} is marked as {was} and as {now}: decide on one."
                )
            marks[name] = not is_static
    return marks or None


def _annotations(cls: type) -> dict[str, Any]:
    """The annotations of a class, which may name what is defined later."""
    if sys.version_info >= (3, 14):
        return get_annotations(cls, format=Format.FORWARDREF)
    return inspect.get_annotations(cls)


def _mark_in(annotation: Any) -> str | None:
    """The mark in an annotation, which may be text where annotations are not evaluated."""
    if isinstance(annotation, str):
        names = {"Data": DATA, "Static": STATIC}
        return names.get(annotation.partition("[")[0].rpartition(".")[2])
    extras = get_args(annotation)[1:] if hasattr(annotation, "__metadata__") else ()
    return next((x for x in extras if x in (DATA, STATIC)), None)
