"""The handwritten digits that the demo learns from; `data/README.md` says whose they are."""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CLASSES = 10


class Digits(NamedTuple):
    """Images of digits, one per row, and what they show.

    Attributes:
        images: `float32[n,64]`, pixels from 0 to 1, row by row.
        labels: `int32[n]`, the digits.
    """

    images: NDArray[np.float32]
    labels: NDArray[np.int32]

    @property
    def targets(self) -> NDArray[np.float32]:
        """The labels as `float32[n,10]`: 1 at the digit, 0 elsewhere."""
        return np.eye(CLASSES, dtype=np.float32)[self.labels]


def load() -> tuple[Digits, Digits]:
    """Load the digits, shuffled, as one part to train on and one to test on.

    The parts are the same in each run, so that runs with different seeds can be compared.

    Returns:
        The training part, four fifths of the data, and the test part.

    Example:
        >>> training, test = load()
        >>> training.images.shape, test.images.shape
        ((1438, 64), (359, 64))
    """
    file = resources.files("bindax.demo") / "data" / "digits.npz"
    with file.open("rb") as stream, np.load(stream) as arrays:
        images = (arrays["images"].reshape(-1, 64) / 16).astype(np.float32)
        labels = arrays["labels"].astype(np.int32)
    order = np.random.default_rng(0).permutation(len(labels))
    test, training = np.split(order, [len(labels) // 5])
    return Digits(images[training], labels[training]), Digits(images[test], labels[test])
