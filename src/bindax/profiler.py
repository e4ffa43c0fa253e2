"""Where the time of a program goes, and its memory: traces, marks in them, snapshots.

>>> import bindax, numpy as np, pathlib, tempfile
>>> step = bindax.jit(lambda x: x * 2.0)
>>> with bindax.profiler.TraceAnnotation("first step"):
...     y = step(np.ones(3))
"""

import typing as _typing

from bindax_transforms.compilation import profiler as _profiler
from bindax_transforms.compilation.profiler import *  # noqa: F403 -- all that is in its __all__
from bindax_transforms.compilation.profiler import __all__ as __all__


def __getattr__(name: str) -> _typing.Any:
    return getattr(_profiler, name)  # ProfileData, which needs the compiler
