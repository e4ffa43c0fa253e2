"""`bindax inspect FILE.py:NAME`: the work of a program, line by line, here or on a mesh."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from bindax._cli._output import Failure, NewFile, console, example, json_option, print_json
from bindax._cli._program_files import call_of_file, evaluated

_FILE = NewFile()


@click.command(epilog=example("bindax inspect model.py:loss --args 'params, batch' --grad"))
@click.argument("target", metavar="FILE.py:NAME")
@click.option("--args", "arguments", default="", help="Arguments of the function, as in a call.")
@click.option("--grad", "of_gradient", is_flag=True, help="Inspect its gradient.")
@click.option("--html", type=_FILE, help="Write a page to look at.")
@click.option("--trace", type=_FILE, help="Write a trace that ui.perfetto.dev opens.")
@click.option("--runs", default=10, help="The most runs to measure the time of; 0 for none.")
@click.option("--mesh", help="Devices that need not exist, such as data=64,model=8.")
@click.option(
    "--specs", default="", help="How each argument is divided, such as \"P(), P('data')\"."
)
@click.option("--device", help="The kind of the devices of the mesh; h100 by default.")
@click.option("--values", is_flag=True, help="Show constants of the program.")
@json_option
def inspect(
    target: str,
    arguments: str,
    of_gradient: bool,
    html: Path | None,
    trace: Path | None,
    runs: int,
    mesh: str | None,
    specs: str,
    device: str | None,
    values: bool,
    as_json: bool,
) -> None:
    """Report what a function of a program computes: work, memory and time of each line.

    The program is imported, and the function traced for the arguments of --args, compiled, and run
    a few times. A page of --html has the source, the jaxpr, StableHLO and the optimized program
    side by side.

    With --mesh nothing is run. The program is compiled for as many devices, and the report says
    what each of them holds, computes and sends.
    """
    import bindax

    function, args = call_of_file(target, arguments)
    shown = bindax.grad(function) if of_gradient else function
    report: Any
    if mesh is None:
        _require_mesh(specs=specs, device=device)
        report = bindax.inspect(shown, runs=runs, values=values)(*args)
    else:
        if html is not None or trace is not None:
            raise click.UsageError(
                "--html and --trace are about programs that are run; with --mesh none is."
            )
        report = _on_mesh(shown, args, mesh, _specs(specs, target), device or "h100")
    if as_json:
        print_json(report.as_dict())
    else:
        console().print(report)
    if html is not None:
        report.save(html)
    if trace is not None:
        report.trace(trace)


def _require_mesh(**options: str | None) -> None:
    for name, given in options.items():
        if given:
            raise click.UsageError(f"--{name} says something of a mesh, which --mesh must give.")


def _specs(text: str, target: str) -> tuple[Any, ...]:
    module = sys.modules[Path(target.rpartition(":")[0]).stem]
    return evaluated(text, module, f"the specs {text!r}", "--specs \"P(), P('data')\"")


def _on_mesh(
    function: Callable[..., Any], args: Sequence[Any], mesh: str, specs: Sequence[Any], device: str
) -> Any:
    import bindax
    from bindax.sharding import AbstractMesh

    axes = [axis.partition("=") for axis in mesh.split(",")]
    if not all(name.strip() and size.strip().isdigit() and int(size) for name, _, size in axes):
        raise click.UsageError(
            f"--mesh takes axes with their sizes, such as data=64,model=8, but it is {mesh!r}."
        )
    sizes, names = [int(size) for *_, size in axes], [name.strip() for name, *_ in axes]
    try:
        return bindax.inspect_mesh(function, AbstractMesh(sizes, names), *specs, device=device)(
            *args
        )
    except (TypeError, ValueError) as error:
        if not str(error).startswith(_REFUSALS):
            raise  # of the program itself
        raise Failure(str(error)) from error


_REFUSALS = ("inspect_mesh: ", "specs ", "AbstractMesh: ", "NamedSharding: ")
"""The beginnings of messages about what the options say."""
