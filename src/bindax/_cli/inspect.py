"""`bindax inspect FILE.py:NAME`: what a program computes, line by line."""

from __future__ import annotations

from pathlib import Path

import click

from bindax._cli._output import NewFile, console, example, json_option, print_json
from bindax._cli._program_files import call_of_file

_FILE = NewFile()


@click.command(epilog=example("bindax inspect model.py:loss --args 'params, batch' --grad"))
@click.argument("target", metavar="FILE.py:NAME")
@click.option("--args", "arguments", default="", help="Arguments of the function, as in a call.")
@click.option("--grad", "of_gradient", is_flag=True, help="Inspect its gradient.")
@click.option("--html", type=_FILE, help="Write a page to look at.")
@click.option("--trace", type=_FILE, help="Write a trace that ui.perfetto.dev opens.")
@click.option("--runs", default=10, help="The most runs to measure the time of; 0 for none.")
@click.option("--values", is_flag=True, help="Show constants of the program.")
@json_option
def inspect(
    target: str,
    arguments: str,
    of_gradient: bool,
    html: Path | None,
    trace: Path | None,
    runs: int,
    values: bool,
    as_json: bool,
) -> None:
    """Report what a function of a program computes: work, memory and time of each line.

    The program is imported, and the function traced for the arguments of --args, compiled, and run
    a few times. A page of --html has the source, the jaxpr, StableHLO and the optimized program
    side by side.
    """
    import bindax

    function, args = call_of_file(target, arguments)
    shown = bindax.grad(function) if of_gradient else function
    report = bindax.inspect(shown, runs=runs, values=values)(*args)
    if as_json:
        print_json(report.as_dict())
    else:
        console().print(report)
    if html is not None:
        report.save(html)
    if trace is not None:
        report.trace(trace)
