"""Element types: from NumPy dtypes to the names that MLIR gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import ShapedArray, float0
from bindax_xla_backend._errors import UnsupportedTypeError

_BOOL = np.dtype(np.bool_)
_ELEMENT_TYPES = {
    "bool": "i1",
    **{f"int{bits}": f"i{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"uint{bits}": f"ui{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    "float4_e2m1fn": "f4E2M1FN",
    "float8_e3m4": "f8E3M4",
    "float8_e4m3": "f8E4M3",
    "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
    "bfloat16": "bf16",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}

LAST_NUMPY_DTYPE = 23
"""The number of NumPy's last built-in numeric dtype; those of extensions start at 256."""

_elements: dict[np.dtype[Any], str] = {float0: "i1"}


def element_type(dtype: np.dtype[Any]) -> str:
    """The MLIR element type of a dtype; ``float0`` is carried as a boolean.

    Raises:
        UnsupportedTypeError: when XLA has no such type.

    >>> element_type(np.dtype(np.complex64))
    'complex<f32>'
    """
    found = _elements.get(dtype)
    if found is None:
        found = _ELEMENT_TYPES.get(dtype.name)
        if found is None:
            raise UnsupportedTypeError(
                f"XLA has no element type for the dtype {dtype.name}; convert the array to one of "
                f"{', '.join(_ELEMENT_TYPES)} first."
            )
        _elements[dtype] = found
    return found


def tensor_text(aval: ShapedArray) -> str:
    """The MLIR type of an abstract array, as text.

    >>> tensor_text(ShapedArray((3, 2), np.float32))
    'tensor<3x2xf32>'
    """
    return f"tensor<{'x'.join([*map(str, aval.shape), element_type(aval.dtype)])}>"


def storage_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which values are handed to XLA: boolean for ``float0``, else the same."""
    return _BOOL if dtype == float0 else dtype
