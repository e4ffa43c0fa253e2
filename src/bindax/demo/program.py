"""Trains the classifier, and reports what came of it."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import bindax
from bindax.demo import classifier, digits

BATCH_SIZE = 64

TrainStep: TypeAlias = Callable[..., tuple[classifier.State, bindax.Array]]


class Findings(NamedTuple):
    """Results of a training run, as the picture shows them."""

    losses: list[float]  # mean training loss of each epoch
    accuracies: list[float]  # on the test images after each epoch, from 0 to 1
    test: digits.Digits
    predictions: NDArray[np.int32]  # `int[n]`, the digits that were recognized
    norms: NDArray[np.float32]  # `float32[n]`, the norm of the gradient of each image

    @property
    def hardest(self) -> NDArray[np.intp]:
        """The positions of the images, those with the largest gradient first."""
        return np.argsort(-self.norms)


def run(
    output: Path, backend: str | None, seed: int, epochs: int, quiet: bool = False
) -> dict[str, Any]:
    """Train, report, and draw the picture.

    Args:
        output: where to write the picture.
        backend: what `jit` compiles with; None for the best that is installed.
        seed: of the initial weights and of the order of the images.
        epochs: how often each training image is looked at.
        quiet: whether nothing is printed.

    Returns:
        What was found, as plain data.
    """
    console = Console(quiet=quiet)
    with bindax.config.override(backend=backend):
        training, test = digits.load()
        name = bindax.default_backend()
        console.print(
            f"[bold]bindax demo[/bold]: {len(training.labels)} handwritten digits to learn from, "
            f"{len(test.labels)} to test on; backend {name}"
        )
        started = time.perf_counter()
        state, losses, accuracies = train(training, test, seed, epochs, console)
        seconds = time.perf_counter() - started
        console.print(
            f"test accuracy [bold green]{accuracies[-1]:.1%}[/] after {epochs} epochs "
            f"in {seconds:.1f} s, compilation included"
        )
        given: list[Any] = [state.parameters, test.images]
        norms = np.asarray(jitted(classifier.gradient_norms)(*given, test.targets))
        predictions = np.asarray(jitted(classifier.classify)(*given))
        findings = Findings(losses, accuracies, test, predictions, norms)
        console.print(hardest_table(findings))
        console.print(timing_table(state, training))
    drawn = draw(findings, output)
    # Brackets would be markup.
    missing = "no picture, matplotlib is not installed: pip install 'bindax\\[demo]'"
    console.print(f"picture written to [bold]{output}[/bold]" if drawn else missing)
    return {
        "backend": name,
        "seconds": round(seconds, 3),
        "losses": losses,
        "test accuracies": accuracies,
        "picture": str(output) if drawn else None,
    }


def jitted(function: Callable[..., bindax.Array]) -> Callable[..., bindax.Array]:
    """Compile a function; the digits that it is called with are arrays of NumPy."""
    return bindax.jit(function)


def draw(findings: Findings, output: Path) -> bool:
    """Write the picture; return False where matplotlib is not installed."""
    try:
        from bindax.demo import picture
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        return False
    picture.draw(findings, output)
    return True


def train(
    training: digits.Digits, test: digits.Digits, seed: int, epochs: int, console: Console
) -> tuple[classifier.State, list[float], list[float]]:
    """Train, with a progress bar; give the state, and the loss and the accuracy of each epoch."""
    state = classifier.initial_state(seed)
    step: TrainStep = bindax.jit(classifier.train_step)
    classify = jitted(classifier.classify)
    losses: list[float] = []
    accuracies: list[float] = []
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("epochs, loss {task.fields[loss]:.4f}, accuracy {task.fields[accuracy]:.1%}"),
        TimeElapsedColumn(),
    )
    random = np.random.default_rng(seed)
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=epochs, loss=np.nan, accuracy=0.0)
        for _ in range(epochs):
            epoch_losses = []
            for images, targets in batches(training, random):
                state, loss = step(state, images, targets)
                epoch_losses.append(loss)
            predictions = np.asarray(classify(state.parameters, test.images))
            losses.append(float(np.mean([float(loss) for loss in epoch_losses])))
            accuracies.append(float(np.mean(predictions == test.labels)))
            progress.update(task, advance=1, loss=losses[-1], accuracy=accuracies[-1])
    return state, losses, accuracies


def batches(
    data: digits.Digits, random: np.random.Generator
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Yield images and targets in random order; a batch that would not be full is left out."""
    order = random.permutation(len(data.labels))
    for start in range(0, len(order) - BATCH_SIZE + 1, BATCH_SIZE):
        chosen = order[start : start + BATCH_SIZE]
        yield data.images[chosen], data.targets[chosen]


def hardest_table(findings: Findings) -> Table:
    """Tabulate the images with the largest gradients, beside one that is easy."""
    table = Table(title="Hardest test images (vmap of grad)")
    for column in ("test image", "shows", "recognized as", "norm of its gradient"):
        table.add_column(column, justify="right")
    order = findings.hardest
    for position in (*order[:5], order[len(order) // 2]):
        label, prediction = findings.test.labels[position], findings.predictions[position]
        recognized = str(prediction) if label == prediction else f"[red]{prediction}[/]"
        norm = f"{findings.norms[position]:.4f}"
        table.add_row(str(position), str(label), recognized, norm)
    table.caption = "last row: the median image"
    return table


def timing_table(state: classifier.State, training: digits.Digits) -> Table:
    """Tabulate how long a step takes as plain Python calls, and compiled by `jit`."""
    images, targets = training.images[:BATCH_SIZE], training.targets[:BATCH_SIZE]

    def milliseconds(step: TrainStep, repeats: int) -> float:
        times = timeit.repeat(
            lambda: float(step(state, images, targets)[1]), repeat=repeats + 1, number=1
        )
        return 1000 * median(times[1:])  # the first call compiles

    eager = milliseconds(classifier.train_step, repeats=5)
    compiled = milliseconds(bindax.jit(classifier.train_step), repeats=50)
    table = Table(title=f"One training step on {BATCH_SIZE} images")
    table.add_column("")
    table.add_column("time", justify="right")
    table.add_row("eager: operation by operation", f"{eager:.2f} ms")
    table.add_row(f"jit: {bindax.default_backend()}", f"{compiled:.2f} ms")
    table.add_row("ratio", f"{eager / compiled:.1f}")
    return table
