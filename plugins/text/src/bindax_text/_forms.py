"""Text forms: classes whose instances texts can hold, each with the name that texts use for it.

A package declares a class as an entry ``Name = "package.module:Class"`` in the group
``bindax.v1.text_forms``, where the module is one that is imported wherever instances are made. A
class that is not made of its fields says what they are by ``text_fields`` and ``from_text_fields``.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from bindax_core.extend import (
    Effect,
    Site,
    caller_site,
    distribution_of,
    manifest_entries,
    on_rollback,
)
from bindax_text._shardings import FORMS

Write = Callable[[Any], Mapping[str, Any]]
Class = TypeVar("Class", bound=type)


class TextForm(NamedTuple):
    """The text form of the instances of a class."""

    type: type
    name: str  # in texts, after that of the distribution that declares it
    write: Write  # from an instance to its fields
    read: Callable[..., Any]  # from the fields, as keyword arguments, to an instance
    site: Site


_forms: dict[type, TextForm] = {}
"""The text forms of this process: registered by calls, or declared by modules imported so far."""


def register_text_form(
    type_: Class,
    *,
    name: str | None = None,
    write: Write | None = None,
    read: Callable[..., Any] | None = None,
) -> Class:
    """Let texts of jaxprs hold instances of a class, as parameters, types, constants or literals.

    Enumerations, named tuples, attrs classes and dataclasses need nothing but their name. Texts
    name the class by the distribution of the module that registers it. A package that should not
    depend on ``bindax-text`` declares an entry in the group ``bindax.v1.text_forms`` instead.

    Args:
        type_: the class; it is returned, so that this is a class decorator as well.
        name: its name in texts, to be kept when the class is renamed; the class's name by default.
        write: gives the fields of an instance, a mapping from names to what texts can hold.
        read: makes an instance from the fields, given by keyword. It may get anything that a text
            can hold, and should raise on what ``write`` does not give.

    Raises:
        TypeError: when ``write`` and ``read`` are needed and not both given.
        ValueError: when the class has a text form already.

    >>> import enum
    >>> class Side(enum.Enum):
    ...     LEFT = 1
    ...     RIGHT = 2
    >>> register_text_form(Side)
    <enum 'Side'>
    """
    site = caller_site()
    if (write is None) != (read is None):
        raise TypeError(f"the text form of {type_.__name__} needs both write and read, or neither.")
    if write is None or read is None:
        write, read = _of_fields(type_)
    form = TextForm(type_, type_.__name__ if name is None else name, write, read, site)
    known = form_of(type_)
    if known is not None:
        raise ValueError(
            f"the class {type_.__module__}:{type_.__qualname__} has a text form already, "
            f"registered in {known.site}."
        )
    same_name = [one for one in list(_forms.values()) if one.name == form.name]
    former = [one for one in same_name if one.site.module == site.module]
    for other in former:
        # A class that is defined again, in a notebook or by a reload, replaces its former self.
        if other.type.__qualname__ != type_.__qualname__:
            raise ValueError(
                f"the name {form.name!r} is taken in {site.module} by the class "
                f"{other.type.__qualname__}; give register_text_form another name=."
            )
        del _forms[other.type]
    _forms[type_] = form
    on_rollback(lambda: _restore(form, former))
    return type_


def _restore(form: TextForm, former: list[TextForm]) -> None:
    _forms.pop(form.type, None)
    _forms.update({other.type: other for other in former})


def _of_fields(type_: Any) -> tuple[Write, Callable[..., Any]]:
    """``write`` and ``read`` of a class that has fields, or says what they are."""
    if hasattr(type_, "text_fields") and hasattr(type_, "from_text_fields"):
        return (lambda x: x.text_fields()), type_.from_text_fields
    if issubclass(type_, enum.Enum):
        return (lambda x: {"name": x.name}), (lambda name: type_[name])
    if issubclass(type_, tuple) and hasattr(type_, "_fields"):
        return (lambda x: x._asdict()), type_
    if hasattr(type_, "__attrs_attrs__"):  # without loading attrs where nobody else did
        names = {a.alias: a.name for a in type_.__attrs_attrs__ if a.init}
    elif hasattr(type_, "__dataclass_fields__"):  # without loading dataclasses for all the others
        import dataclasses

        names = {field.name: field.name for field in dataclasses.fields(type_) if field.init}
    else:
        raise TypeError(
            f"{type_.__name__} is no enumeration, named tuple, attrs class or dataclass: give "
            f"write and read."
        )
    return (lambda x: {alias: getattr(x, name) for alias, name in names.items()}), type_


def form_of(type_: type) -> TextForm | None:
    """The text form of a class, or None."""
    return _forms.get(type_) or next((one for one in _declared() if one.type is type_), None)


def find_form(distribution: str, name: str) -> TextForm | None:
    """The text form of a name that a distribution declares or registers, or None."""
    for entry in manifest_entries("text_forms"):
        if entry.name == name and entry.distribution.name == distribution:
            import_module(entry.module)
    for form in (*_forms.values(), *_declared()):
        owner = distribution_of(form.site.module) if form.name == name else None
        if owner is not None and owner.name == distribution:
            return form
    return None


def _declared() -> Iterator[TextForm]:
    """The forms that entry points declare for classes of modules which are imported by now.

    A class of which there is an instance is in such a module, so that nothing needs importing.
    """
    for entry in manifest_entries("text_forms"):
        type_ = getattr(sys.modules.get(entry.module), entry.attribute, None)
        if isinstance(type_, type) and type_ not in _forms:
            site = Site(entry.module, entry.distribution.entry_points, entry.line)
            _forms[type_] = TextForm(type_, entry.name, *_of_fields(type_), site)
            yield _forms[type_]


for _type, _form in {Effect: _of_fields(Effect), **FORMS}.items():
    _forms[_type] = TextForm(_type, _type.__name__, *_form, Site("bindax_core", __file__, 0))
