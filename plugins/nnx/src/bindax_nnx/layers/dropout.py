"""Dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bindax_numpy as jnp
import bindax_random as random
from bindax_core.extend import Array
from bindax_nnx._paths import layer_name
from bindax_nnx.layers._common import array_of, first_given, positive
from bindax_nnx.module import Module
from bindax_nnx.rngs import Rngs, RngStream, own_stream, stream_for


class Dropout(Module):
    """Sets elements to zero at random, and scales the others so that the mean stays.

    Args:
        rate: the probability with which an element is dropped.
        broadcast_dims: the axes along which all elements are dropped together.
        deterministic: whether to leave inputs as they are.
        rng_collection: the name of the stream.
        rngs: random streams, of which the layer makes one of its own; they can be passed in calls
            instead.

    Raises:
        ValueError: the rate is no probability, or there is no stream.

    >>> import numpy as np
    >>> layer = Dropout(0.5, rngs=Rngs(0))
    >>> layer(np.ones(3, np.float32), deterministic=True)
    Array([1., 1., 1.], dtype=float32)
    """

    deterministic: bool

    def __init__(
        self,
        rate: float,
        *,
        broadcast_dims: Sequence[int] = (),
        deterministic: bool = False,
        rng_collection: str = "dropout",
        rngs: Rngs | RngStream | None = None,
    ) -> None:
        if not 0 <= rate <= 1:
            raise ValueError(f"the rate of Dropout is a probability, but is {rate}.")
        self.rate = rate
        self.broadcast_dims: tuple[int, ...] = tuple(broadcast_dims)
        self.deterministic = deterministic
        self.rng_collection = rng_collection
        self.rngs: RngStream | None = own_stream(self, rngs, rng_collection)

    def set_view(self, deterministic: bool | None = None) -> None:
        """Set what ``nnx.view`` was given.

        Args:
            deterministic: whether to leave inputs as they are.
        """
        if deterministic is not None:
            self.deterministic = deterministic

    def __call__(
        self, inputs: Any, *, deterministic: bool | None = None, rngs: Any = None
    ) -> Array:
        """Apply the layer, with other settings and streams than its own if they are given."""
        x = jnp.asarray(array_of(inputs))
        still = first_given("deterministic", self, deterministic, self.deterministic)
        if self.rate == 0 or still:
            return x
        if self.rate == 1:
            return jnp.zeros_like(x)
        streams = self.rngs if rngs is None else rngs
        if streams is None:
            raise ValueError(
                f"{layer_name(self)} needs random numbers of the stream {self.rng_collection!r}: "
                f"pass rngs when it is made or called, or use eval() of the model."
            )
        stream = streams
        if isinstance(streams, Rngs):
            stream = stream_for(streams, self.rng_collection, layer_name(self))
        key = stream() if isinstance(stream, RngStream) else stream
        keep = 1 - self.rate
        shared = positive(self.broadcast_dims, x.ndim)
        shape = [1 if i in shared else n for i, n in enumerate(x.shape)]
        kept = random.bernoulli(key, keep, tuple(shape))
        return jnp.where(kept, x / keep, jnp.zeros_like(x))
