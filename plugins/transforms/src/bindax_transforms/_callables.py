"""The check of every argument that is to be a function, and what its error says."""

from __future__ import annotations

import inspect
from typing import Any

ITSELF = "the function itself, not what it returns: f, not f(x)"


def check_function(name: str, argument: str, given: Any, wanted: str = ITSELF) -> None:
    """Refuse what is given in place of a function.

    Args:
        name: what the user called, for the message.
        argument: the name of its argument.
        given: what was given.
        wanted: what to pass instead.

    Raises:
        TypeError: when ``given`` is not callable.

    >>> from bindax_transforms import check_function
    >>> check_function("vmap", "fun", 3)
    Traceback (most recent call last):
    TypeError: fun of vmap must be a function, but got 3 of type int. Pass the function itself, ...
    """
    if not callable(given):
        raise TypeError(
            f"{argument} of {name} must be a function, but got {given!r:.80} of type "
            f"{type(given).__name__}. Pass {wanted}."
        )


class Signature:
    """The signature of a compiled function: that of the function itself; the class has its own."""

    def __get__(self, instance: Any, owner: Any = None) -> inspect.Signature:
        if instance is None:
            raise AttributeError("__signature__")
        return inspect.signature(instance._fun)
