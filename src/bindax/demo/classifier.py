"""A small neural network, written for one image and transformed into everything else.

`predict` and `loss` are plain functions of one image. `vmap` makes them functions of a batch,
`grad` differentiates them, `vmap` of `grad` gives the gradient of each image on its own, and `jit`
compiles what comes out.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

import bindax
from bindax import lax
from bindax.typing import ArrayLike

# For each layer its weights, `float32[inputs,outputs]`, and its biases, `float32[outputs]`.
Parameters: TypeAlias = list[tuple[ArrayLike, ArrayLike]]

LEARNING_RATE = 0.1
MOMENTUM = 0.9


class State(NamedTuple):
    """The state of the training: the parameters, and the direction in which they move."""

    parameters: Parameters
    velocity: Parameters


def initial_state(seed: int = 0, sizes: tuple[int, ...] = (64, 64, 10)) -> State:
    """Draw random weights.

    Args:
        seed: of the random numbers.
        sizes: the number of inputs, of units in each hidden layer, and of outputs.

    Returns:
        The parameters, and a velocity of zero.

    Example:
        >>> bindax.tree.map(np.shape, initial_state().parameters)
        [((64, 64), (64,)), ((64, 10), (10,))]
    """
    random = np.random.default_rng(seed)
    parameters: Parameters = [
        (
            (random.standard_normal((inputs, outputs)) / np.sqrt(inputs)).astype(np.float32),
            np.zeros(outputs, np.float32),
        )
        for inputs, outputs in pairwise(sizes)
    ]
    return State(parameters, bindax.tree.map(np.zeros_like, parameters))


def predict(parameters: Parameters, image: bindax.Array) -> bindax.Array:
    """Return a score for each digit, `float32[10]`, of one image, `float32[64]`."""
    *hidden, (last_weights, last_biases) = parameters
    for weights, biases in hidden:
        image = lax.tanh(image @ weights + biases)
    scores: bindax.Array = image @ last_weights + last_biases
    return scores


def loss(parameters: Parameters, image: bindax.Array, target: bindax.Array) -> bindax.Array:
    """Return the cross-entropy of one image: 0 where the digit is recognized with certainty."""
    scores = predict(parameters, image)
    shifted = scores - scores.max()
    cross_entropy: bindax.Array = lax.log(lax.exp(shifted).sum()) - (shifted * target).sum()
    return cross_entropy


def batch_loss(parameters: Parameters, images: bindax.Array, targets: bindax.Array) -> bindax.Array:
    """Return the mean loss over a batch of images, `float32[n,64]`."""
    losses = bindax.vmap(loss, in_axes=(None, 0, 0))(parameters, images, targets)
    mean: bindax.Array = losses.mean()
    return mean


def train_step(
    state: State, images: bindax.Array, targets: bindax.Array
) -> tuple[State, bindax.Array]:
    """Move the parameters down the gradient of one batch; return the new state and the loss."""
    value, gradient = bindax.value_and_grad(batch_loss)(state.parameters, images, targets)
    velocity = bindax.tree.map(
        lambda v, g: MOMENTUM * v - LEARNING_RATE * g, state.velocity, gradient
    )
    parameters = bindax.tree.map(lambda p, v: p + v, state.parameters, velocity)
    return State(parameters, velocity), value


def gradient_norms(
    parameters: Parameters, images: bindax.Array, targets: bindax.Array
) -> bindax.Array:
    """Return how strongly each image pulls at the parameters: the norm of its own gradient.

    The images with the largest norms are the ones that the network finds hardest.
    """

    def norm(image: bindax.Array, target: bindax.Array) -> bindax.Array:
        gradient = bindax.grad(loss)(parameters, image, target)
        return lax.sqrt(sum((leaf * leaf).sum() for leaf in bindax.tree.leaves(gradient)))

    norms: bindax.Array = bindax.vmap(norm)(images, targets)
    return norms


def classify(parameters: Parameters, images: bindax.Array) -> bindax.Array:
    """Return the digit that each image most likely shows, `int32[n]`."""
    scores = bindax.vmap(predict, in_axes=(None, 0))(parameters, images)
    best: bindax.Array = scores.argmax(axis=1)
    return best
