"""Functions on references: making, reading, writing and ending them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import (
    ShapedArray,
    api_boundary,
    as_array,
    canonicalize_aval,
    is_value,
    typeof,
    unknown_type_error,
    zeros_like_aval,
)
from bindax_lax_basic import convert_element_type
from bindax_refs.ref import NoGradRef, Ref
from bindax_transforms.extend import Reference

_KINDS = {None: Ref, "no_grad_no_remat": NoGradRef}


@api_boundary
def new_ref(init_val: Any, *, memory_space: Any = None, kind: str | None = None) -> Ref:
    """A mutable array that holds a value at first.

    Functions may read and write it wherever they run: in ``jit``, loops, branches, ``vmap`` and
    derivatives, in the order in which they say so. It cannot be returned.

    Args:
        init_val: the value, an array or number; its shape and dtype are those of the reference.
        memory_space: None; references lie where their values do.
        kind: ``"no_grad_no_remat"`` for a reference that is written without derivatives, such as
            statistics of a model that is differentiated; None otherwise.

    Raises:
        TypeError: when the value is no array.
        ValueError: when ``init_val`` is a reference, or an option is not known.

    >>> from bindax_refs import new_ref
    >>> from bindax_transforms import grad
    >>> def f(x):
    ...     ref = new_ref(x)
    ...     for _ in range(2):
    ...         ref[...] = ref[...] * x
    ...     return ref[...]
    >>> float(grad(f)(2.0))
    12.0
    """
    if memory_space is not None:
        raise ValueError(f"new_ref: memory_space must be None, but it is {memory_space!r}.")
    if kind not in _KINDS:
        known = " or ".join(repr(name) for name in _KINDS)
        raise ValueError(f"new_ref: kind must be {known}, but it is {kind!r}.")
    if isinstance(init_val, Reference):
        raise ValueError(
            "new_ref was given a mutable array reference. Pass its value, ref[...]: a reference "
            "does not hold another one."
        )
    if isinstance(init_val, list | tuple):
        init_val = np.asarray(init_val)
    if not is_value(init_val):
        raise unknown_type_error(init_val, "new_ref: ")
    return _KINDS[kind](_strong(init_val))


def _strong(value: Any) -> Any:
    """A value of the type of a reference, which is not weak."""
    aval: Any = typeof(value)
    if not getattr(aval, "weak_type", False):
        return as_array(value)
    wanted: Any = canonicalize_aval(aval)
    return convert_element_type(value, wanted.dtype)


@api_boundary
def empty_ref(ty: Any, memory_space: Any = None) -> Ref:
    """A mutable array of a type, which is written before it is read; its elements are zeros.

    Args:
        ty: what has a ``shape`` and a ``dtype``, such as ``ShapeDtypeStruct``.
        memory_space: None; references lie where their values do.

    Raises:
        TypeError: when ``ty`` has no shape or dtype.

    >>> from bindax_core import ShapeDtypeStruct
    >>> from bindax_refs import empty_ref
    >>> ref = empty_ref(ShapeDtypeStruct((2,), "float32"))
    >>> ref[...] = 1.0
    >>> ref
    Ref([1., 1.], dtype=float32)
    """
    if not hasattr(ty, "shape") or not hasattr(ty, "dtype"):
        raise TypeError(
            f"empty_ref takes a type with a shape and a dtype, such as "
            f"ShapeDtypeStruct((2, 3), 'float32'), but got {ty!r:.80}."
        )
    is_type = isinstance(ty, ShapedArray)
    aval = canonicalize_aval(ty) if is_type else ShapedArray(tuple(ty.shape), ty.dtype)
    return new_ref(zeros_like_aval(aval), memory_space=memory_space)


@api_boundary
def freeze(ref: Ref) -> Any:
    """The value of a reference, which cannot be used any more.

    Args:
        ref: a reference that was made in the same function.

    Raises:
        ValueError: when the reference was frozen or freed, or made outside of the function that is
            traced.

    >>> from bindax_refs import freeze, new_ref
    >>> ref = new_ref(1.0)
    >>> freeze(ref)
    Array(1., dtype=float64)
    >>> ref[...]
    Traceback (most recent call last):
    ValueError: a mutable array reference of type float64[] was used after it was frozen. Use it ...
    """
    return _reference("freeze", ref).end("frozen")


@api_boundary
def free_ref(ref: Ref) -> None:
    """End a reference: each later use is an error.

    Args:
        ref: a reference that was made in the same function.

    Raises:
        ValueError: as of ``freeze``.

    >>> from bindax_refs import free_ref, new_ref
    >>> ref = new_ref(1.0)
    >>> free_ref(ref)
    >>> ref[...] = 2.0
    Traceback (most recent call last):
    ValueError: a mutable array reference of type float64[] was used after it was freed. Use it ...
    """
    _reference("free_ref", ref).end("freed")


@api_boundary
def get(ref: Ref, idx: Any = None) -> Any:
    """The elements of a reference at an index; without one, all.

    Args:
        ref: the reference.
        idx: an index as of arrays, or None.

    >>> from bindax_refs import get, new_ref
    >>> get(new_ref([1.0, 2.0]), 1)
    Array(2., dtype=float64)
    """
    return _reference("get", ref)[_index(idx)]


@api_boundary
def set(ref: Ref, idx: Any, value: Any) -> None:
    """Write to the elements of a reference at an index.

    Args:
        ref: the reference.
        idx: an index as of arrays, or None for all.
        value: what is written.

    >>> from bindax_refs import new_ref, set
    >>> ref = new_ref([1.0, 2.0])
    >>> set(ref, 0, 5.0)
    >>> ref
    Ref([5., 2.], dtype=float64)
    """
    _reference("set", ref)[_index(idx)] = value


@api_boundary
def swap(ref: Ref, idx: Any, value: Any) -> Any:
    """Write to the elements of a reference at an index, and return what they were before.

    Args:
        ref: the reference.
        idx: an index as of arrays, or None for all.
        value: what is written.

    >>> from bindax_refs import new_ref, swap
    >>> ref = new_ref([1.0, 2.0])
    >>> swap(ref, 0, 5.0), ref
    (Array(1., dtype=float64), Ref([5., 2.], dtype=float64))
    """
    return _reference("swap", ref).swap(value, _index(idx))


@api_boundary
def addupdate(ref: Ref, idx: Any, x: Any) -> None:
    """Add to the elements of a reference at an index.

    An element whose index is there several times gets all summands.

    Args:
        ref: the reference.
        idx: an index as of arrays, or None for all.
        x: what is added.

    >>> import numpy as np
    >>> from bindax_refs import addupdate, new_ref
    >>> ref = new_ref([1.0, 2.0])
    >>> addupdate(ref, np.array([0, 0]), 1.0)
    >>> ref
    Ref([3., 2.], dtype=float64)
    """
    _reference("addupdate", ref).addupdate(x, _index(idx))


def _index(idx: Any) -> Any:
    return Ellipsis if idx is None or (isinstance(idx, tuple) and not idx) else idx


def _reference(name: str, ref: Any) -> Ref:
    if not isinstance(ref, Ref):
        raise TypeError(
            f"{name} takes a mutable array reference, made by new_ref, but got {ref!r:.80} of type "
            f"{type(ref).__name__}."
        )
    return ref
