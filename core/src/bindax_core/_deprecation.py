"""Deprecated functions: they warn for two minor versions, name the replacement, and then go."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

from bindax_core._tracebacks import warn_user

P = ParamSpec("P")
R = TypeVar("R")

KEPT_MINOR_VERSIONS = 2


class Deprecation(NamedTuple):
    """A declaration that a name is to go.

    Attributes:
        name: the name that users write.
        replacement: what to write in its place.
        since: the first version that warns, such as ``"0.2"``.
    """

    name: str
    replacement: str
    since: str

    @property
    def removal(self) -> str:
        """The version that no longer has it."""
        major, minor = map(int, self.since.split("."))
        return f"{major}.{minor + KEPT_MINOR_VERSIONS}"

    @property
    def message(self) -> str:
        """The text of the warning."""
        return (
            f"{self.name} is deprecated since bindax {self.since} and is removed in "
            f"{self.removal}; use {self.replacement}."
        )


deprecations: list[Deprecation] = []
"""Everything that was declared deprecated so far."""


def deprecated(
    name: str, *, replacement: str, since: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a function deprecated: each call warns at the user's line.

    Args:
        name: the name that users write, such as ``"bindax.lax.old"``.
        replacement: what to write in its place.
        since: the first version that warns, such as ``"0.2"``; two minor versions later the
            function goes.

    Returns:
        A decorator, whose functions are called as before.

    Raises:
        ValueError: when ``since`` is not a major and a minor version.

    >>> import warnings
    >>> from bindax_core.extend import deprecated
    >>> @deprecated("twice", replacement="double", since="0.2")
    ... def twice(x):
    ...     return 2 * x
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     twice(3), str(caught[0].message)
    (6, 'twice is deprecated since bindax 0.2 and is removed in 0.4; use double.')
    """
    if not re.fullmatch(r"\d+\.\d+", since):
        raise ValueError(
            f"deprecated({name!r}): since must be a version such as '0.2', but is {since!r}."
        )
    declared = Deprecation(name, replacement, since)
    message = declared.message
    deprecations.append(declared)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def warning(*args: P.args, **kwargs: P.kwargs) -> R:
            warn_user(message, DeprecationWarning)
            return function(*args, **kwargs)

        return warning

    return decorate
