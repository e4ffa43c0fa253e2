"""The plugin that the registry loads: methods and properties that arrays and tracers have.

The functions themselves are imported when one of them is first used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from bindax_core import devices
from bindax_core.extend import Array, hookimpl, typeof

# Functions whose first argument is the array.
_FUNCTIONS = {
    "argpartition": "The order that puts the element of a place there, the smaller before it.",
    "argsort": "The order that sorts along an axis.",
    "choose": "Elements of several arrays, by the numbers of the arrays.",
    "cumprod": "The products up to and including each element.",
    "diagonal": "The elements on diagonals.",
    "dot": "The sum of products over the last axis and the second last of another array.",
    "nonzero": "The indices of the elements that are not zero, for each axis.",
    "ptp": "The range of the elements over axes.",
    "repeat": "The elements, each repeated.",
    "round": "The elements rounded to a number of decimals.",
    "searchsorted": "Where elements belong in this sorted vector.",
    "sort": "The elements sorted along an axis.",
    "std": "The standard deviation over axes.",
    "take": "Slices along an axis, by their indices.",
    "trace": "The sums of diagonals.",
    "var": "The variance over axes.",
}


def _namespace() -> ModuleType:
    return importlib.import_module("bindax_numpy")


def _method(name: str, text: str) -> Callable[..., Any]:
    def method(self: Any, /, *args: Any, **options: Any) -> Any:
        return getattr(_namespace(), name)(self, *args, **options)

    method.__name__ = name
    method.__doc__ = f"{text} Arguments as for ``bindax.numpy.{name}``."
    return method


def _array_namespace(self: Any, /, *, api_version: str | None = None) -> ModuleType:
    """The functions for this array, as the Python array API standard says."""
    space = _namespace()
    if api_version not in (None, *space.SUPPORTED_API_VERSIONS):
        raise ValueError(
            f"the array API of version {api_version!r} is not supported; it is in the versions "
            f"{', '.join(space.SUPPORTED_API_VERSIONS)}."
        )
    return space


def _compress(
    self: Any, condition: Any, axis: int | None = None, *args: Any, **options: Any
) -> Any:
    """The slices along an axis for which a condition holds."""
    return _namespace().compress(condition, self, axis, *args, **options)


def _clip(self: Any, min: Any = None, max: Any = None, out: None = None) -> Any:
    """The elements limited to between two bounds; None is no bound."""
    if out is not None:
        raise TypeError("clip: arrays are immutable, so out must be None; use the result.")
    return _namespace().clip(self, min, max)


def _contains(self: Any, item: Any) -> bool:
    """Tell whether any element equals a value."""
    typeof(item)  # refuses what is no operand, with which == would be False, not an array
    return bool((self == item).any())


def _view(self: Any, dtype: Any = None, type: None = None) -> Any:
    """The bytes as elements of another dtype; of another size they change the last axis.

    Raises:
        ValueError: when the bytes along the last axis are no whole elements.
    """
    if type is not None:
        raise TypeError("view: there is one type of arrays, so type must be None.")
    return importlib.import_module("bindax_numpy.view_byteswap").viewed(self, dtype)


def _byteswap(self: Any, inplace: bool = False) -> Any:
    """The elements with their bytes in reverse order."""
    if inplace:
        raise TypeError("byteswap: arrays are immutable, so inplace must be False.")
    return importlib.import_module("bindax_numpy.view_byteswap").byteswapped(self)


def _tobytes(self: Any, order: str = "C") -> bytes:
    """The bytes of the elements, in order."""
    return np.asarray(self).tobytes(order)  # type: ignore[arg-type]


def _tolist(self: Any) -> Any:
    """The elements as nested Python lists; they must be known while tracing."""
    return np.asarray(self).tolist()


def _device(self: Any) -> Any:
    """The device of the bytes; the first one for those that are on the host only, or traced."""
    own = self.devices() if isinstance(self, Array) else set()
    return next(iter(own), devices()[0])


def _to_device(self: Any, device: Any, /, *, stream: Any = None) -> Any:
    """The array on a device, as the array API standard has it; there are no streams."""
    if stream is not None:
        raise ValueError("to_device: there are no streams, so stream must be None.")
    return importlib.import_module("bindax_numpy._operands").placed("to_device", self, device)


_METHODS: Mapping[str, Any] = {
    **{name: _method(name, text) for name, text in _FUNCTIONS.items()},
    "__array_namespace__": _array_namespace,
    "__contains__": _contains,
    "byteswap": _byteswap,
    "clip": _clip,
    "compress": _compress,
    "device": property(_device, doc=_device.__doc__),
    "itemsize": property(lambda x: typeof(x).dtype.itemsize, doc="The bytes of one element."),
    "nbytes": property(lambda x: typeof(x).size * typeof(x).dtype.itemsize, doc="All bytes."),
    "to_device": _to_device,
    "tobytes": _tobytes,
    "tolist": _tolist,
    "view": _view,
}


@hookimpl
def bindax_array_attributes() -> Mapping[str, Any]:
    """The methods and properties of arrays and tracers."""
    return _METHODS
