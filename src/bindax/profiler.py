"""Where the time of a program goes, and its memory: traces, marks in them, snapshots.

>>> import bindax, numpy as np, pathlib, tempfile
>>> step = bindax.jit(lambda x: x * 2.0)
>>> with bindax.profiler.TraceAnnotation("first step"):
...     y = step(np.ones(3))
"""

import typing as _typing

from bindax_core.extend import public_names as _public_names
from bindax_transforms.compilation import profiler as _profiler
from bindax_transforms.compilation.profiler import ProfileOptions as ProfileOptions
from bindax_transforms.compilation.profiler import StepTraceAnnotation as StepTraceAnnotation
from bindax_transforms.compilation.profiler import TraceAnnotation as TraceAnnotation
from bindax_transforms.compilation.profiler import annotate_function as annotate_function
from bindax_transforms.compilation.profiler import device_memory_profile as device_memory_profile
from bindax_transforms.compilation.profiler import (
    save_device_memory_profile as save_device_memory_profile,
)
from bindax_transforms.compilation.profiler import start_server as start_server
from bindax_transforms.compilation.profiler import start_trace as start_trace
from bindax_transforms.compilation.profiler import stop_server as stop_server
from bindax_transforms.compilation.profiler import stop_trace as stop_trace
from bindax_transforms.compilation.profiler import trace as trace

vars()["__all__"] = _public_names(vars())


def __getattr__(name: str) -> _typing.Any:
    return getattr(_profiler, name)  # ProfileData, which needs the compiler
