"""Programs that run a deployed file with NumPy and the runtime of IREE alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_iree._targets import TARGETS

if TYPE_CHECKING:
    from bindax_export import Exported


def example_program(exported: Exported, target: str, path: str | Path) -> str:
    """The text of a Python program that loads a deployed file and calls it with zeros.

    Args:
        exported: the program that was deployed.
        target: the target that it was compiled for.
        path: the file, as the program names it.
    """
    operands, notes = [], []
    for i in exported.module_kept_var_idx:
        aval = exported.in_avals[i]
        sizes: tuple[Any, ...] = aval.shape
        shape = tuple(n if isinstance(n, int) else 1 for n in sizes)
        operands.append(f"np.zeros({shape}, {np.dtype(aval.dtype).name!r})")
        notes.append(aval.str_short())
    return _TEXT.format(
        driver=TARGETS[target].driver,
        path=str(path),
        operands=", ".join(operands),
        notes=", ".join(notes),
    )


_TEXT = """\
import numpy as np
from iree import runtime

config = runtime.Config({driver!r})
module = runtime.VmModule.mmap(config.vm_instance, {path!r})
main = runtime.load_vm_module(module, config).main
result = main({operands})  # {notes}
for array in result if isinstance(result, tuple) else (result,):
    print(array.to_host())
"""
