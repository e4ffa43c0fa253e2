"""Settings: each is declared by the package that uses it, and is an attribute of ``config``."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, TypeVar

from bindax_core._config import config, derived, settings
from bindax_core._extension_points import runtime
from bindax_core._site import Site, Statement, caller_site, is_declared_again, running_statement
from bindax_core.errors import PluginConflictError

R = TypeVar("R")

_OFF = ("0", "false", "no", "off")


class Setting:
    """The declaration of a setting; called with a value, a context manager that sets it.

    A package offers its settings in the entry-point group ``bindax.v1.settings``, so that they are
    known before it is imported.

    Args:
        name: the attribute of ``config``.
        default: the value where nothing says otherwise.
        help: what it does, for the documentation.
        choices: the legal values, if they are few; of a flag by default False and True.
        read: gives the value that the text of a variable means, or None if it means none; by
            default from the type of the default.
        check: gives the value to keep for one that is given, or raises an error whose text says
            what the value must be; for settings without choices.
        traced: whether traced programs depend on it, so that it is part of the keys of caches.
        variables: the environment variables of its initial value, of which the first that is set
            counts; by default ``BINDAX_`` and the name in capitals.

    >>> from bindax_core import config, enable_x64
    >>> with enable_x64(True):
    ...     config.enable_x64
    True
    """

    def __init__(
        self,
        name: str,
        default: Any,
        help: str,
        *,
        choices: Sequence[Any] = (),
        read: Callable[[str], Any] | None = None,
        check: Callable[[Any], Any] | None = None,
        traced: bool = False,
        variables: Sequence[str] | None = None,
    ) -> None:
        self.name = name
        self.default = default
        self.__doc__ = help
        self.help: str = help
        self.choices: tuple[Any, ...] = tuple(choices) or (
            (False, True) if type(default) is bool else ()
        )
        self.traced = traced
        self.variables: tuple[str, ...] = (
            (f"BINDAX_{name.upper()}",) if variables is None else tuple(variables)
        )
        self.site: Site = caller_site()
        self.statement: Statement = running_statement()
        self.checks: list[Callable[[Any], object]] = []
        self.observers: list[Callable[[bool], None]] = []
        self._read = read or _READERS.get(type(default), str)
        self._check = check
        self._require_unique()
        config._declare(self, *self.read())

    def _require_unique(self) -> None:
        """Check that no other module declares the name; one that is loaded again may."""
        name, module = self.name, self.site.module
        if name not in settings:
            runtime.plugins.find_setting(name, module)
        old = settings.get(name)
        if old is None:
            return
        if not is_declared_again(old, self):
            here, there = map(runtime.plugins.describe_site, (self.site, old.site))
            raise PluginConflictError(
                f"the setting {name!r} from {here} is already declared by {there}. Give yours the "
                f"name of your package, as in 'my_package_{name}'."
            )
        self.checks, self.observers = old.checks, old.observers

    def __repr__(self) -> str:
        return f"Setting({self.name!r})"

    def __call__(self, new_val: Any = True) -> AbstractContextManager[None]:
        """Change the setting inside a ``with`` block, for this thread or asynchronous task alone.

        Args:
            new_val: the value inside the block.
        """
        return config.override(**{self.name: new_val})

    def __reduce__(self) -> tuple[Any, ...]:
        return config.setting, (self.name,)

    def read(self, environment: Mapping[str, str] = os.environ) -> tuple[Any, str]:
        """Return the initial value, and the variable that it comes from or ``"default"``.

        A variable that is empty counts as one that is not set.
        """
        for variable in self.variables:
            text = environment.get(variable, "").strip()
            value = self._read(text) if text else None
            if value is not None:
                return self.checked(value), variable
        return self.default, "default"

    def checked(self, value: Any) -> Any:
        """Return the value to keep for one that is given.

        Raises:
            ValueError: when the setting does not take the value.
            TypeError: when it takes no value of that type.
        """
        try:
            if self.choices:
                value = _choice(self.choices, value)
            elif self._check is not None:
                value = self._check(value)
        except (TypeError, ValueError) as error:
            how = f" or by the environment variable {self.variables[0]}" if self.variables else ""
            raise type(error)(
                f"config.{self.name} must be {error}, but got {value!r:.200}; it is set by "
                f"assignment{how}."
            ) from None
        if self.traced and not isinstance(value, Hashable):
            raise TypeError(
                f"config.{self.name} is part of the keys of compiled programs and must be "
                f"hashable, but got {value!r:.60} of type {type(value).__name__}."
            )
        return value

    def is_in_key(self, value: Any) -> bool:
        """Tell whether the keys of caches hold the value: if programs depend on it, and need to."""
        default = self.default
        return self.traced and not (
            value is default or (type(value) is type(default) and bool(value == default))
        )


def derived_setting(function: Callable[[Any], R]) -> Callable[[Any], R]:
    """Make a value that follows from settings an attribute of ``config``, for reading.

    Args:
        function: gives the value of the attribute of its name from the values of the settings, a
            mapping.
    """
    derived[function.__name__] = function
    return function


def _choice(choices: Sequence[Any], value: Any) -> Any:
    """Return the choice that a value is equal to."""
    if type(value).__module__ == "numpy" and value.shape == ():
        value = value.item()
    if isinstance(value, bool | int | str):
        for choice in choices:
            if value == choice:
                return choice
    raise ValueError(f"one of {', '.join(map(repr, choices))}")


_READERS: Final[dict[type, Callable[[str], Any]]] = {
    bool: lambda text: text.lower() not in _OFF,
    int: lambda text: int(text) if text.isdecimal() else text,
}
"""Readers of the texts of variables, by the type of the default."""
