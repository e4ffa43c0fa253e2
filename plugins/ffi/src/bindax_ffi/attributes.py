"""The named values that a call passes to a kernel besides arrays, as MLIR attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

_ELEMENTS = {
    "bool": "i1",
    **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"ui{n}" for n in (8, 16, 32, 64)},
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
}
"""The MLIR types of the dtypes that attributes can have."""


@attrs.frozen(repr=False)
class Attributes:
    """The attributes of one call, by name; equal when they are the same to the kernel.

    Attributes:
        text: an MLIR dictionary.
        values: the same for rules in Python; arrays in it are read-only.
    """

    text: str
    values: Mapping[str, Any] = attrs.field(eq=False)

    def __repr__(self) -> str:
        return self.text

    def text_fields(self) -> dict[str, Any]:
        """The fields in texts of jaxprs."""
        return {"values": dict(self.values)}

    @staticmethod
    def from_text_fields(values: Mapping[str, Any]) -> Attributes:
        """The inverse of ``text_fields``."""
        return make_attributes("ffi_call", values)


def make_attributes(caller: str, values: Mapping[str, Any]) -> Attributes:
    """The attributes with these values.

    Args:
        caller: what the user called, for messages.
        values: Python or NumPy scalars, strings, NumPy arrays, tuples and dicts of them. A Python
            ``int`` has 64 bits, a ``float`` too; NumPy's scalars say theirs.

    Raises:
        TypeError: for a value of another type.

    >>> make_attributes("call", {"n": 3, "name": "x", "eps": np.float32(0.5)})
    {eps = 0x3F000000 : f32, n = 3 : i64, name = "x"}
    """
    kept = {name: _kept(value) for name, value in sorted(values.items())}
    return Attributes(_dictionary(caller, kept), kept)


def _kept(value: Any) -> Any:
    """A copy that nobody writes to."""
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
    elif isinstance(value, dict):
        value = {key: _kept(x) for key, x in value.items()}
    return value


def _dictionary(where: str, values: Mapping[str, Any]) -> str:
    parts = [f"{_name(key)} = {_text(f'{where}({key}=…)', x)}" for key, x in values.items()]
    return f"{{{', '.join(parts)}}}"


def _name(key: Any) -> str:
    text = str(key)
    return text if text.isascii() and text.isidentifier() else string(text)


def _text(where: str, value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, str):
        return string(value)
    if isinstance(value, dict):
        return _dictionary(where, value)
    if isinstance(value, tuple):
        return f"[{', '.join(_text(where, x) for x in value)}]"
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise TypeError(
            f"the attribute {where} is {value}, but a Python int must fit into 64 signed bits; "
            f"give it as np.uint64, or as a string."
        )
    if isinstance(value, int | float):
        value = np.asarray(value, np.int64 if isinstance(value, int) else np.float64)[()]
    element = (
        _ELEMENTS.get(value.dtype.name) if isinstance(value, np.ndarray | np.generic) else None
    )
    if element is None:
        kind = f"{type(value).__name__}"
        if isinstance(value, np.ndarray | np.generic):
            kind = f"{kind} of dtype {value.dtype.name}"
        raise TypeError(
            f"the attribute {where} is a {kind}, but kernels take bool, int, float, str, NumPy "
            f"scalars and arrays of real dtypes, and tuples and dicts of them."
        )
    return _dense(value, element) if isinstance(value, np.ndarray) else _scalar(value, element)


def _scalar(value: Any, element: str) -> str:
    if "f" not in element:
        return f"{value} : {element}"
    # The bits: decimal text would round, and has no infinities.
    bits = int(np.asarray(value).view(f"u{value.dtype.itemsize}"))
    return f"0x{bits:0{2 * value.dtype.itemsize}X} : {element}"


def _dense(array: np.ndarray[Any, Any], element: str) -> str:
    sizes = "".join(f"{n}x" for n in array.shape)
    if array.size == 0:
        elements = ""
    elif element == "i1":
        flags = ["true" if x else "false" for x in array.ravel()]
        elements = flags[0] if len(set(flags)) == 1 else _nested(flags, array.shape)
    else:
        little = array.astype(array.dtype.newbyteorder("<"), order="C")
        elements = f'"0x{little.tobytes().hex().upper()}"'
    return f"dense<{elements}> : tensor<{sizes}{element}>"


def _nested(items: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return items[0]
    step = math.prod(shape[1:])
    rows = [_nested(items[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]
    return f"[{', '.join(rows)}]"


def string(text: str) -> str:
    r"""A string as MLIR text, whatever characters it has.

    >>> string('a"b')
    '"a\\22b"'
    """
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}"
        for byte in text.encode()
    )
    return f'"{plain}"'
