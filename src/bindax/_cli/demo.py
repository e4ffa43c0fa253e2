"""`bindax demo`: train a small network on the handwritten digits, or run an example model."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from bindax._cli import _complete
from bindax._cli._output import example, json_option, print_json


@click.command(epilog=example("bindax demo", "bindax demo list"))
@click.argument("name", default="", shell_complete=_complete.models)
@click.option(
    "--backend",
    type=click.Choice(["auto", "xla", "numpy"]),
    default="auto",
    help="What jit compiles with; numpy interprets, and needs no compiler.",
)
@click.option("--seed", type=int, default=0, help="Of every random number.")
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    default=30,
    help="How often each training image is looked at.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    default=Path("bindax-demo.png"),
    help="The picture to write.",
)
@json_option
def demo(name: str, backend: str, seed: int, epochs: int, output: Path, as_json: bool) -> None:
    """Train a small network on the handwritten digits, or run the example model NAME.

    Without a name it reports the test accuracy, the gradient of single examples, and the time of a
    training step with and without compilation; it draws the loss curve and some predictions. The
    name `list` prints the names of the example models, which print what they do.
    """
    chosen = None if backend == "auto" else backend
    if name:
        run_model(name, chosen, as_json)
        return
    from bindax.demo.program import run

    findings = run(output, chosen, seed, epochs, quiet=as_json)
    if as_json:
        print_json(findings)


def run_model(name: str, backend: str | None, as_json: bool) -> None:
    """Run an example model, or list all."""
    from bindax.demo import models

    context = click.get_current_context()
    for option in ("seed", "epochs", "output"):
        if context.get_parameter_source(option) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--{option} belongs to the demo without a name.")
    names = models.available()
    if name == "list" and as_json:
        print_json(names)
    elif as_json:
        raise click.UsageError("--json belongs to the demo without a name, and to `demo list`.")
    elif name == "list":
        width = max(map(len, names), default=0)
        for one, line in names.items():
            click.echo(f"{one.ljust(width)}  {line}")
    elif name in names:
        models.run(name, backend)
    else:
        raise click.UsageError(f"there is no model {name!r}; there are {', '.join(names)}.")
