"""``jax.experimental.checkify``: kinds of checks, and checks of concrete values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Out = TypeVar("Out")


class JaxRuntimeError(ValueError):
    """A check failed."""


class JaxException(Exception):
    """Base of what checks may find."""


class FailedCheckError(JaxException):
    """A check of the program failed."""


class NaNError(JaxException):
    """A NaN was made."""


class DivisionByZeroError(JaxException):
    """A number was divided by zero."""


class OOBError(JaxException):
    """An index was out of bounds."""


ErrorCategory = type[JaxException]
user_checks = frozenset({FailedCheckError})
nan_checks = frozenset({NaNError})
div_checks = frozenset({DivisionByZeroError})
index_checks = frozenset({OOBError})
float_checks = nan_checks | div_checks
automatic_checks = float_checks | index_checks
all_checks = automatic_checks | user_checks


class Error:
    """What was found; nothing, or the first failed check."""

    def __init__(self, message: str | None = None) -> None:
        self._message = message

    def get(self) -> str | None:
        """The text of what was found, or None."""
        return self._message

    def throw(self) -> None:
        """Raise what was found.

        Raises:
            JaxRuntimeError: when a check failed.
        """
        if self._message is not None:
            raise JaxRuntimeError(self._message)


init_error = Error()


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Check a concrete condition.

    Raises:
        JaxRuntimeError: when it does not hold.
    """
    if not bool(pred):
        raise JaxRuntimeError(msg.format(*fmt_args, **fmt_kwargs))


def check_error(error: Error) -> None:
    """Raise what was found."""
    error.throw()


def checkify(
    f: Callable[..., Out], errors: Any = user_checks
) -> Callable[..., tuple[Error, Out | None]]:
    """A function that returns what its checks found, and its result; it runs uncompiled."""
    import bindax

    def checked(*args: Any, **kwargs: Any) -> tuple[Error, Out | None]:
        try:
            with bindax.disable_jit():
                return Error(), f(*args, **kwargs)
        except JaxRuntimeError as error:
            return Error(str(error)), None

    return checked
