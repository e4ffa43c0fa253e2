"""Functions that others wrote: where their code is, and what they can be called with."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from types import CodeType, FunctionType
from typing import Any, TypeVar

W = TypeVar("W")


def unwrapped_function(function: Any) -> Any:
    """Return the function behind partial applications and decorators.

    A Python function with an attribute ``func`` stands for that one. Other objects may answer to
    any name, and mean nothing by it.

    >>> unwrapped_function(partial(pow, 2)) is pow
    True
    """
    inner = function
    while inner is not None:
        function = inner
        inner = getattr(function, "__wrapped__", None)
        if isinstance(function, partial):
            inner = function.func
        elif inner is None and isinstance(function, FunctionType):
            inner = vars(function).get("func")
    return function


def code_of(function: Any) -> CodeType | None:
    """Return the code of a function, or None when it is not written in Python.

    >>> code_of(partial(lambda x, y: x, 2)).co_varnames, code_of(pow)
    (('x', 'y'), None)
    """
    function = unwrapped_function(function)
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def describe_function(function: Callable[..., Any]) -> str:
    """Name a function, with the place of its definition, for messages.

    >>> def loss(x):
    ...     return x * x
    >>> describe_function(loss), describe_function(pow)
    ('loss (...:1)', 'pow')
    """
    inner = unwrapped_function(function)
    name = getattr(function, "__name__", None) or getattr(inner, "__name__", None)
    try:
        name = str(name or function)
    except Exception:  # whatever the text of an object of a user raises
        name = f"an object of type {type(function).__name__}"
    code = code_of(inner)
    return name if code is None else f"{name} ({code.co_filename}:{code.co_firstlineno})"


def wraps(function: Any) -> Callable[[W], W]:
    """Give a wrapper the name, text and signature of a function, as ``functools.wraps`` does.

    A callable object may have a name that is no string, which a function cannot have.

    >>> class Curve:
    ...     __name__ = 3
    >>> wraps(Curve())(lambda x: x).__name__
    '<lambda>'
    """
    return partial(_update_wrapper, wrapped=function)


def _update_wrapper(wrapper: W, wrapped: Any) -> W:
    update: Any = functools.update_wrapper  # whose types are of functions alone
    try:
        update(wrapper, wrapped)
    except TypeError:  # an attribute of an object that a function cannot have
        for name in functools.WRAPPER_ASSIGNMENTS:
            with suppress(AttributeError, TypeError):
                setattr(wrapper, name, getattr(wrapped, name))
        update(wrapper, wrapped, ())
    return wrapper


def signature_error(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> str | None:
    """Tell why a function cannot be called so; None if it can, or nobody knows.

    >>> signature_error(lambda x: x, (1, 2), {})
    'cannot be called with the 2 arguments that it is given: too many positional arguments'
    """
    import inspect  # slow, and seldom needed

    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as why:
        named = f" and the parameters {', '.join(kwargs)}" if kwargs else ""
        count = f"{len(args)} arguments" if len(args) > 1 else "one argument"
        return f"cannot be called with the {count}{named} that it is given: {why}"
    except ValueError:  # what is written in C may have no signature
        return None
    return None
