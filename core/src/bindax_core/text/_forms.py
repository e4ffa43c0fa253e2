"""Classes whose instances texts can hold, each with the name that texts use for it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from bindax_core._site import Site, caller_site
from bindax_core.kernel._rollback import record_undo
from bindax_core.kernel._rules import Effect

Write = Callable[[Any], Mapping[str, Any]]
Class = TypeVar("Class", bound=type)


class TextForm(NamedTuple):
    """The text form of the instances of a class."""

    type: type
    name: str  # in texts, after that of the distribution that registered it
    write: Write  # from an instance to its fields
    read: Callable[..., Any]  # from the fields, as keyword arguments, to an instance
    site: Site


_forms: dict[type, TextForm] = {}


def register_text_form(
    type_: Class,
    *,
    name: str | None = None,
    write: Write | None = None,
    read: Callable[..., Any] | None = None,
) -> Class:
    """Let texts of jaxprs hold instances of a class, as parameters, types, constants or literals.

    Enumerations, named tuples, attrs classes and dataclasses need nothing but their name. Texts
    name the class by the distribution of the module that registers it.

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
    if type_ in _forms:
        raise ValueError(
            f"the class {type_.__module__}:{type_.__qualname__} has a text form already, "
            f"registered in {_forms[type_].site}."
        )
    former = [one for one in forms_named(form.name) if one.site.module == site.module]
    for other in former:
        # A class that is defined again, in a notebook or by a reload, replaces its former self.
        if other.type.__qualname__ != type_.__qualname__:
            raise ValueError(
                f"the name {form.name!r} is taken in {site.module} by the class "
                f"{other.type.__qualname__}; give register_text_form another name=."
            )
        del _forms[other.type]
    _forms[type_] = form
    record_undo(lambda: _restore(form, former))
    return type_


def _restore(form: TextForm, former: list[TextForm]) -> None:
    _forms.pop(form.type, None)
    _forms.update({other.type: other for other in former})


def _of_fields(type_: Any) -> tuple[Write, Callable[..., Any]]:
    """``write`` and ``read`` of a class that is made of its fields."""
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
    return _forms.get(type_)


def forms_named(name: str) -> list[TextForm]:
    """The text forms of a name; distributions tell them apart."""
    return [form for form in list(_forms.values()) if form.name == name]


register_text_form(Effect)
