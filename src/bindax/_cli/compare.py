"""`bindax compare FILE.py:NAME`: the first equation whose results differ between two runs."""

from __future__ import annotations

from pathlib import Path

import click

from bindax._cli._output import Failure, NewFile, example, json_option, print_json
from bindax._cli._program_files import call_of_file


@click.command(
    epilog=example("bindax compare model.py:loss --args 'params, batch' --a numpy --b xla")
)
@click.argument("target", metavar="FILE.py:NAME")
@click.option("--args", "arguments", default="", help="Arguments of the function, as in a call.")
@click.option("--grad", "of_gradient", is_flag=True, help="Compare its gradient.")
@click.option(
    "--a",
    "first",
    default="eager",
    show_default=True,
    help="One way to run it; several words with commas.",
)
@click.option("--b", "second", default="compiled", show_default=True, help="The other way.")
@click.option("--rtol", type=float, help="The relative error that counts as rounding.")
@click.option("--save", type=NewFile(), help="Write a program that repeats the equation.")
@json_option
def compare(
    target: str,
    arguments: str,
    of_gradient: bool,
    first: str,
    second: str,
    rtol: float | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Find the first equation of a program whose results differ between two ways to run it.

    Ways are eager, compiled, the name of a backend (numpy, xla), and a float type (float64), which
    can be joined: xla,float64. The exit code is 1 where the results differ.
    """
    import bindax

    function, args = call_of_file(target, arguments)
    ways = {"a": _way(first), "b": _way(second)}
    try:
        found = bindax.compare(
            bindax.grad(function) if of_gradient else function, args, rtol=rtol, **ways
        )
    except ValueError as error:
        raise Failure(str(error)) from error
    if as_json:
        print_json(found.as_dict())
    else:
        click.echo(str(found))
    if save is not None and not found.agrees:
        found.save(save)
    if not found.agrees:
        click.get_current_context().exit(1)


def _way(text: str) -> str | tuple[str, ...]:
    words = tuple(text.split(","))
    return words if len(words) > 1 else text
