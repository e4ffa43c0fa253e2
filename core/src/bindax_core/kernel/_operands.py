"""Values that stand for an array: those of classes with the method ``__bindax_array__``."""

from __future__ import annotations

from typing import Any

from bindax_core.errors import AbstractionError

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
        raise AbstractionError(unknown_type_message(x))
    return inner


def unknown_type_message(x: Any, hint: str = "") -> str:
    """Describe an operand of an unknown type.

    A class whose instances are never operands can say what to do instead: the text of its
    attribute ``__bindax_remedy__`` is shown.

    Args:
        x: the operand.
        hint: the way to pass it as static, where there is one.
    """
    kind = type(x)
    own = getattr(kind, "__bindax_remedy__", None)
    if own is not None:
        return (
            f"a value of type {kind.__module__}.{kind.__qualname__} is not a legal operand. {own}"
        )
    remedy = f"Convert it with bindax.numpy.asarray, or pass it as static.{hint and f' {hint}'}"
    if hasattr(kind, "filled"):  # a masked array: others of NumPy are legal
        remedy = "Its mask would be ignored: pass x.filled(value), or x.data and x.mask."
    return (
        f"a value of type {kind.__module__}.{kind.__qualname__} is not a legal operand: {x!r:.80}. "
        f"Legal are arrays, NumPy scalars, Python bool, int, float and complex, and the types that "
        f"installed plugins register. {remedy}"
    )
