"""`bindax deploy PROGRAM`: an exported program as a file that runs without bindax."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bindax._cli._output import Failure, NewFile, console, example, json_option, print_json

_FILE = NewFile()
_PROGRAM = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    epilog=example("bindax deploy predict.export --target aarch64 --output predict.vmfb")
)
@click.argument("program", type=_PROGRAM)
@click.option("--target", required=True, help="What it is compiled for, such as x86-64 or cuda.")
@click.option("--output", type=_FILE, required=True, help="The .vmfb file to write.")
@click.option("--processor", help="The processor or device, such as x86-64-v3 or sm_90.")
@click.option("--flag", "flags", multiple=True, help="A flag of iree-compile; repeat it.")
@click.option("--example", "program_file", type=_FILE, help="Write a program that runs the file.")
@json_option
def deploy(
    program: Path,
    target: str,
    output: Path,
    processor: str | None,
    flags: tuple[str, ...],
    program_file: Path | None,
    as_json: bool,
) -> None:
    """Compile PROGRAM, a file of bindax.export, with IREE, ahead of time.

    The result is run by NumPy and iree-base-runtime alone, for all sizes of its symbolic
    dimensions. The targets are x86-64, aarch64, riscv64, wasm32, vulkan, cuda, rocm, metal, vmvx.
    """
    try:
        import bindax_iree
    except ModuleNotFoundError as error:
        if error.name != "bindax_iree":
            raise
        raise Failure(
            "bindax deploy needs the package bindax-iree: pip install 'bindax[iree]'."
        ) from error
    from bindax import export

    exported = export.deserialize(program.read_bytes())
    try:
        module = bindax_iree.deploy(exported, target, processor=processor, flags=flags)
    except ValueError as error:
        raise Failure(str(error)) from error
    output.write_bytes(module)
    if program_file is not None:
        text = bindax_iree.example_program(exported, target, output)
        program_file.write_text(text, encoding="utf-8")
    record: dict[str, Any] = {
        "file": str(output),
        "bytes": len(module),
        "target": target,
        "driver": bindax_iree.TARGETS[target].driver,
        "operands": [exported.in_avals[i].str_short() for i in exported.module_kept_var_idx],
        "results": [aval.str_short() for aval in exported.out_avals],
    }
    if as_json:
        print_json(record)
    else:
        operands, results = (", ".join(record[key]) for key in ("operands", "results"))
        out = console()
        out.print(f"{output}: {len(module):,} bytes for {target}", markup=False)
        out.print(f"main: ({operands}) -> ({results})", markup=False)
