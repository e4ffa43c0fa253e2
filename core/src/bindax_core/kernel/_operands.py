"""Values that stand for an array: those of classes with the method ``__bindax_array__``."""

from __future__ import annotations

from typing import Any

from bindax_core.errors import AbstractionError, MaskedArrayError

_METHODS = ("__bindax_array__", "__jax_array__")  # the second is of classes written for JAX


def is_wrapper(kind: type) -> bool:
    """Tell whether instances of a class stand for an array."""
    return any(hasattr(kind, name) for name in _METHODS)


def unwrapped(x: Any) -> Any:
    """Return the operand that a value stands for: what its method ``__bindax_array__`` returns.

    A class with this method needs no registration. Its instances are legal operands: operations
    compute with the array, or the tracer, that the method returns, so results are plain arrays.
    A function that looks at ``x.shape`` or calls methods of ``x`` should unwrap it first. The
    method ``__jax_array__``, of classes written for JAX, counts as the same.

    Args:
        x: any value.

    Returns:
        The operand, or ``x`` itself if its class has no such method.

    >>> import numpy as np
    >>> class Measured:
    ...     def __init__(self, value, unit):
    ...         self.value, self.unit = value, unit
    ...     def __bindax_array__(self):
    ...         return self.value
    >>> unwrapped(Measured(np.ones(2), "m"))
    array([1., 1.])
    """
    kind = type(x)
    for name in _METHODS:
        method = getattr(kind, name, None)
        if method is not None:
            return method(x)
    return x


def to_operand(x: Any) -> Any:
    """Return the operand that a value stands for; raise if it stands for none."""
    inner = unwrapped(x)
    if inner is x:
        raise unknown_type_error(x)
    return inner


def is_masked(x: Any) -> bool:
    """Tell whether ``x`` is a masked array of NumPy, whose mask an operation would ignore.

    >>> import numpy as np
    >>> is_masked(np.ma.array([1, 2])), is_masked(np.array([1, 2]))
    (True, False)
    """
    return hasattr(type(x), "filled")


def unknown_type_error(x: Any, before: str = "", hint: str = "") -> AbstractionError:
    """The error about an operand of an unknown type.

    A class whose instances are never operands can say what to do instead: the text of its
    attribute ``__bindax_remedy__`` is shown.

    Args:
        x: the operand.
        before: the beginning of the message, such as the operand's place.
        hint: the way to pass it that the caller has.
    """
    kind = type(x)
    start = f"{before}a value of type {kind.__module__}.{kind.__qualname__} is not a legal operand"
    own = getattr(kind, "__bindax_remedy__", None)
    if own is not None:
        return AbstractionError(f"{start}. {own}")
    start = (
        f"{start}: {x!r:.80}. Legal are arrays, NumPy scalars, Python bool, int, float and "
        f"complex, and the types that installed plugins register."
    )
    if is_masked(x):
        return MaskedArrayError(
            f"{start} Its mask would be ignored: pass x.filled(value), or x.data and x.mask."
        )
    remedy = "Convert it with bindax.numpy.asarray, or pass it as static."
    return AbstractionError(" ".join(filter(None, (start, remedy, hint))))
