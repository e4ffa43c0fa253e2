"""The kernel, and the same with NumPy."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np

from bindax_ffi import pycapsule, register_ffi_target

TARGET = "example.fading_sum"
LIBRARY = Path(__file__).with_name("kernels.dll" if os.name == "nt" else "kernels.so")


def fading_sum_numpy(x: np.ndarray[Any, Any], *, decay: float, reverse: bool) -> Any:
    """The same as the kernel, step by step."""
    y = np.empty_like(x)
    steps = range(x.shape[-1])
    total = np.zeros(x.shape[:-1], x.dtype)
    for t in reversed(steps) if reverse else steps:
        total = x[..., t] + x.dtype.type(decay) * total
        y[..., t] = total
    return y


_library = ctypes.CDLL(str(LIBRARY))
register_ffi_target(TARGET, pycapsule(_library.FadingSumHandler), numpy=fading_sum_numpy)
