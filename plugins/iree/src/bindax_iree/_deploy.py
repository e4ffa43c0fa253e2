"""Compiling exported programs to files, for this machine and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bindax_core.extend import api_boundary
from bindax_iree._errors import CompilationError
from bindax_iree._targets import TARGETS

if TYPE_CHECKING:
    from bindax_export import Exported


@api_boundary
def deploy(
    exported: Exported, target: str, *, processor: str | None = None, flags: Sequence[str] = ()
) -> bytes:
    """Compile an exported program ahead of time, to a file that IREE's runtime loads alone.

    Symbolic sizes stay open: one file serves all of them. Its function ``main`` takes the operands
    of the export that the program uses, flat and in order; it does not check that equal names are
    equal sizes.

    Args:
        exported: the program, from ``export`` or ``deserialize``.
        target: what it is compiled for, one of ``TARGETS``.
        processor: the processor or device to compile for, in the compiler's words, such as
            ``"x86-64-v3"``, ``"sm_90"`` or ``"gfx942"``; the least of the target when omitted.
        flags: more flags of ``iree-compile``.

    Returns:
        The contents of a ``.vmfb`` file.

    Raises:
        ValueError: when there is no such target, or it has no kinds of processors.
        CompilationError: when IREE cannot compile the program for the target.
        InstallationError: when the compiler of IREE is not installed.
    """
    from bindax_iree._compile import compile_artifact  # as the backend is, when it is needed

    if target not in TARGETS:
        raise ValueError(f"deploy: there is no target {target!r}; there are {', '.join(TARGETS)}.")
    chosen = TARGETS[target]
    if processor is not None and not chosen.processor_flag:
        raise ValueError(f"deploy: the target {target} has no kinds of processors.")
    if exported.nr_devices != 1 or len(exported.platforms) > 1:
        raise CompilationError(
            f"deploy: {exported.fun_name} is exported for {exported.nr_devices} devices and the "
            f"platforms {', '.join(exported.platforms)}; export it for one of each."
        )
    name, module = exported.fun_name, exported.mlir_module_serialized
    return compile_artifact(module, chosen, name=name, processor=processor, flags=flags)
