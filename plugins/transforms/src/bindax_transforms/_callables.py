"""The check of every argument that is to be a function, and what its error says."""

from __future__ import annotations

import inspect
from typing import Any

from bindax_core.extend import code_of

_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
ITSELF = "the function itself, not what it returns: f, not f(x)"


def check_function(name: str, argument: str, given: Any, wanted: str = ITSELF) -> None:
    """Refuse what is given in place of a function.

    Args:
        name: what the user called, for the message.
        argument: the name of its argument.
        given: what was given.
        wanted: what to pass instead.

    Raises:
        TypeError: when ``given`` is not callable; when its calls return before it has run, as those
            of generators do; when it is a static method, which a class has to wrap last.

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
    if isinstance(given, staticmethod):
        raise TypeError(
            f"{argument} of {name} must be a function, but got a static method: staticmethod "
            f"arguments are not supported. Apply staticmethod last, as the first of the decorators."
        )
    code = code_of(given)
    if code is not None and code.co_flags & _LATER:
        raise TypeError(
            f"{argument} of {name} must return its results, but got a generator function or a "
            f"coroutine, {code.co_name} ({code.co_filename}:{code.co_firstlineno}). Collect what "
            f"it yields, and return that."
        )


class Signature:
    """The signature of a compiled function: that of the function itself; the class has its own."""

    def __get__(self, instance: Any, owner: Any = None) -> inspect.Signature:
        if instance is None:
            raise AttributeError("__signature__")
        return inspect.signature(instance._fun)
