"""Running the compiler of IREE on an artifact, in a process of its own."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bindax_iree._errors import compilation_error
from bindax_iree._installed import compiler
from bindax_iree._modules import prepared
from bindax_iree._targets import HOST, Target, processor_flags

_ALWAYS = (
    "--iree-input-demote-f64-to-f32=false",  # or it would change the types of operands
    "--iree-input-demote-i64-to-i32=false",
    "--iree-global-opt-enable-warn-on-uninitialized-values=false",  # said of empty sums
)


def compile_artifact(
    artifact: bytes,
    target: Target,
    *,
    name: str,
    processor: str | None = None,
    flags: Sequence[str] = (),
    primitives: Sequence[str] = (),
) -> bytes:
    """Compile a StableHLO artifact for a target.

    Args:
        artifact: the program, as an export has it.
        target: what it is compiled for.
        name: the name of the program, for messages.
        processor: the processor or device; that of the target when omitted.
        flags: more flags of ``iree-compile``.
        primitives: the names of those that the program is made of, for messages.

    Returns:
        The module of IREE's virtual machine, as the contents of a ``.vmfb`` file.

    Raises:
        CompilationError: when IREE rejects the program.
        InstallationError: when its compiler is not installed.
    """
    iree = compiler()
    arguments = [*_ALWAYS, *target.flags]
    arguments += [*processor_flags(target, processor), *flags]
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, "program.mlirbc")
        source.write_bytes(_prepared(artifact, name, target.name, primitives))
        if target is HOST and sys.platform == "linux":
            arguments += _linked_with_libm(Path(directory, "link"))
        try:
            made = iree.compile_file(str(source), input_type="stablehlo", extra_args=arguments)
        except iree.CompilerToolError as error:
            raise compilation_error(name, target.name, str(error), primitives) from error
    return bytes(made)


def _prepared(artifact: bytes, name: str, what: str, primitives: Sequence[str]) -> bytes:
    """An artifact in the form that IREE compiles; one that is divided among devices has none."""
    from iree.compiler import ir

    try:
        return prepared(artifact)
    except ir.MLIRError as error:
        if "dialect 'sdy'" not in str(error):
            raise
        reason = "error: it is divided among several devices, and IREE has one"
        raise compilation_error(name, what, reason, primitives) from error


def _linked_with_libm(linker: Path) -> list[str]:
    """Flags to link a program for this process, where it finds the functions of the C library.

    IREE's own format for all systems has none, and no replacements for those of double precision.
    Its linker does this, too, when it is told for which system.
    """
    from iree.compiler.tools import binaries

    tool = shlex.quote(binaries.find_tool("iree-lld"))
    linker.write_text(f'#!/bin/sh\nexec {tool} -flavor gnu "$@"\n')
    linker.chmod(0o700)
    return ["--iree-llvmcpu-link-embedded=false", f"--iree-llvmcpu-system-linker-path={linker}"]
