"""Python values as the text of attributes of MLIR."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array
from bindax_xla_backend._element_types import element_type
from bindax_xla_backend.lowering import mlir


def attribute_text(name: str, key: str, value: Any) -> str:
    """The text of an attribute of a composite.

    Args:
        name: the name of the composite, for the message.
        key: that of the attribute.
        value: a number, a string, a dtype or a NumPy array.

    Raises:
        TypeError: when it is none of these.
    """
    if isinstance(value, Array):
        value = value.numpy()
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, str):
        return mlir.quoted(value)
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, float):
        return f"{np.float64(value).view(np.int64):#018x} : f64"
    if isinstance(value, np.dtype):
        return str(element_type(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return _dense(np.asarray(value))
    raise TypeError(
        f"composite {name!r}: the attribute {key!r} must be a number, a string, a dtype or a NumPy "
        f"array, but it is {value!r:.80} of type {type(value).__name__}. What is traced is no "
        f"attribute: pass it as an argument."
    )


def _dense(array: np.ndarray[Any, Any]) -> str:
    sizes = "".join(f"{size}x" for size in array.shape)
    kind = f"tensor<{sizes}{element_type(array.dtype)}>"
    if array.dtype == np.bool_:
        return f"dense<{array.tolist()}> : {kind}".lower()
    if not array.size:
        return f"dense<> : {kind}"
    return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex()}"> : {kind}'
