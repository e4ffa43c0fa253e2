"""`bindax demo`: train a small network on the handwritten digits."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--backend",
    type=click.Choice(["auto", "xla", "numpy"]),
    default="auto",
    show_default=True,
    help="What jit compiles with; numpy interprets, and needs no compiler.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of every random number.")
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="How often each training image is looked at.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    default=Path("bindax-demo.png"),
    show_default=True,
    help="The picture to write.",
)
def demo(backend: str, seed: int, epochs: int, output: Path) -> None:
    """Train a small network on the handwritten digits.

    Reports the test accuracy, the gradient of single examples, and the time of a training step with
    and without compilation; draws the loss curve and some predictions.
    """
    from bindax.demo.program import run
    from bindax.errors import BackendError

    try:
        run(output, None if backend == "auto" else backend, seed, epochs)
    except BackendError as error:
        raise click.ClickException(str(error)) from error
