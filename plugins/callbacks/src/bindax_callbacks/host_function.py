"""The user's function as the program sees it: from flat NumPy arrays to flat NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import (
    Array,
    PyTreeDef,
    ShapedArray,
    describe_function,
    dtype_name,
    eval_context,
    is_value,
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
    unknown_type_error,
)
from bindax_transforms import argument_names


@attrs.frozen(eq=False, repr=False)
class Callback:
    """A function that a user gave to a ``caller``, with the structure of arguments and results.

    ``statics`` are arguments that are no arrays, by their position among the leaves of
    ``(args, kwargs)``. With no results announced, what the function returns is ignored.
    """

    caller: str
    function: Callable[..., Any]
    name: str
    in_tree: PyTreeDef
    statics: dict[int, Any]
    out_tree: PyTreeDef
    result_avals: tuple[ShapedArray, ...]

    @property
    def __name__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name

    @property
    def description(self) -> str:
        """Its name in messages."""
        if self.name == self.caller:
            return self.name
        return f"the callback {describe_function(self.function)} of {self.caller}"

    def __call__(self, *arrays: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        """Call the function on arrays in its structure; its results, checked."""
        # The function may keep its arguments, but the memory is the program's: copy it.
        given = iter([Array.from_numpy(np.array(x)) for x in arrays])
        leaves = [
            self.statics[i] if i in self.statics else next(given)
            for i in range(self.in_tree.num_leaves)
        ]
        args, kwargs = tree_unflatten(self.in_tree, leaves)
        try:
            with eval_context():
                result = self.function(*args, **kwargs)
        except Exception as error:
            error.add_note(f"This happened in {self.description}.")
            raise
        return self._checked(result) if self.result_avals else []

    def _checked(self, result: Any) -> list[np.ndarray[Any, Any]]:
        leaves, tree = tree_flatten(result)
        if len(leaves) != len(self.result_avals):
            raise TypeError(
                f"{self.description} returned {tree}, but "
                f"{self.out_tree} was announced in result_shape_dtypes."
            )
        arrays = []
        for i, (x, aval) in enumerate(zip(leaves, self.result_avals, strict=True)):
            array = _converted(x, aval)
            if array.shape != aval.shape or array.dtype != aval.dtype:
                sizes = ",".join(map(str, array.shape))
                numbered = tree_unflatten(self.out_tree, list(range(len(leaves))))
                raise TypeError(
                    f"{self.description} returned {dtype_name(array.dtype)}[{sizes}] at "
                    f"{argument_names(numbered, 'result')[i]}, but "
                    f"{aval.str_short()} was announced in result_shape_dtypes. Convert the "
                    f"result, or announce its type."
                )
            arrays.append(array)
        return arrays


@attrs.frozen(eq=False, repr=False)
class ForEach:
    """A host function on batches: applied to one element after the other, in order."""

    function: Callback | ForEach
    axis_size: int
    dims: tuple[int | None, ...]
    result_avals: tuple[ShapedArray, ...]

    @property
    def __name__(self) -> str:
        return self.function.__name__

    def __repr__(self) -> str:
        return f"{self.function!r} for each of {self.axis_size}"

    def __call__(self, *arrays: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        """Call the function on each element; the results, stacked."""
        outs = [np.empty(aval.shape, aval.dtype) for aval in self.result_avals]
        for i in range(self.axis_size):
            row = [
                x if d is None else x[(slice(None),) * d + (i,)]
                for x, d in zip(arrays, self.dims, strict=True)
            ]
            for out, x in zip(outs, self.function(*row), strict=True):
                out[i] = x
        return outs


HostFunction = Callback | ForEach


def make_callback(
    caller: str,
    function: Callable[..., Any],
    result_shape_dtypes: Any,
    arguments: tuple[Any, Any],
    *,
    name: str | None = None,
) -> tuple[Callback, list[Any]]:
    """A callback and the operands it is applied to, from ``(args, kwargs)``, checked.

    ``caller`` and ``name`` are how messages call what the user called, and the function.
    """
    if not callable(function):
        raise TypeError(f"{caller} takes a function, but got {function!r:.80}.")
    paths, in_tree = tree_flatten_with_path(arguments)
    statics: dict[int, Any] = {}
    operands = []
    for i, (path, x) in enumerate(paths):
        if is_value(x):
            operands.append(x)
        elif caller.startswith("debug."):
            statics[i] = x
        else:
            what = ("args", "kwargs")[path[0].idx] + keystr(path[1:])
            hint = "Bind what is no array with functools.partial."
            raise unknown_type_error(x, f"{caller}, argument {what}: ", hint)
    types, out_tree = tree_flatten(result_shape_dtypes)
    avals = tuple([_announced(caller, t) for t in types])
    name = name or str(getattr(function, "__name__", None) or type(function).__name__)
    return Callback(caller, function, name, in_tree, statics, out_tree, avals), operands


def _announced(caller: str, leaf: Any) -> ShapedArray:
    shape, dtype = getattr(leaf, "shape", None), getattr(leaf, "dtype", None)
    if shape is None or dtype is None:
        raise TypeError(
            f"result_shape_dtypes of {caller} must hold ShapeDtypeStruct(shape, dtype) or arrays, "
            f"but it holds {leaf!r:.80}."
        )
    return ShapedArray(tuple(shape), dtype)


_RANKS = {bool: 0, int: 1, float: 2, complex: 3}
_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}


def _converted(x: Any, aval: ShapedArray) -> np.ndarray[Any, Any]:
    """Convert a result; a Python scalar takes the dtype that was announced, if it can."""
    rank = _RANKS.get(type(x))
    if rank is not None and rank <= _KINDS.get(aval.dtype.kind, -1):
        return np.asarray(x, aval.dtype)
    return np.asarray(x)
