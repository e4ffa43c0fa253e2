"""Arrays of other libraries, by the DLPack protocol."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_numpy.array_api import KINDS
from bindax_numpy.conversion import from_dlpack as from_dlpack

_SUPPORTED = frozenset(map(np.dtype, (*KINDS["bool"], *KINDS["numeric"], "float16")))


def is_supported_dtype(dtype: Any) -> bool:
    """True for the dtypes of arrays that can be exchanged with other libraries.

    Raises:
        TypeError: for None, of which NumPy makes float64.

    >>> from bindax_numpy.dlpack import is_supported_dtype
    >>> is_supported_dtype("float32"), is_supported_dtype("bfloat16")
    (True, False)
    """
    if dtype is None:
        raise TypeError("is_supported_dtype takes a dtype or its name, but got None.")
    return np.dtype(dtype) in _SUPPORTED
