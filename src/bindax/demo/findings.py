"""The results that the demo reports and draws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Findings(NamedTuple):
    """Results of a training run, as the picture shows them.

    Attributes:
        losses: mean training loss of each epoch.
        accuracies: test accuracy after each epoch, from 0 to 1.
        images: `float32[n,64]`, the test images.
        labels: `int[n]`, the digits that they show.
        predictions: `int[n]`, the digits that were recognized.
        norms: `float32[n]`, the norm of the gradient of each image.
    """

    losses: list[float]
    accuracies: list[float]
    images: NDArray[np.float32]
    labels: NDArray[np.int32]
    predictions: NDArray[np.int32]
    norms: NDArray[np.float32]

    @property
    def hardest(self) -> NDArray[np.intp]:
        """The positions of the images, those with the largest gradient first."""
        return np.argsort(-self.norms)
