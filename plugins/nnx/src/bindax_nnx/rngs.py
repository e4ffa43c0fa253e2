"""Random state: streams of keys that are variables like others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import bindax_numpy as jnp
import bindax_random as random
from bindax_core.extend import Array, Tracer, is_extended, typeof
from bindax_nnx._paths import layer_name
from bindax_nnx._sampling_methods import Draws
from bindax_nnx.filters import Filter, to_predicate
from bindax_nnx.object import Object
from bindax_nnx.variables import Variable

Shape = int | tuple[int, ...]
Parts = Shape | Mapping[Any, Shape | None] | None
"""A number or shape for all streams, or by filter."""


class RngState(Variable[Any]):
    """Random state; the base of the two kinds that there are.

    >>> from bindax_nnx import state
    >>> len(state(Rngs(0), RngState)["default"])
    2
    """

    __slots__ = ()


class RngKey(RngState):
    """The key of a stream.

    >>> from bindax_nnx import state
    >>> len(state(Rngs(0), RngKey)["default"])
    1
    """

    __slots__ = ()


class RngCount(RngState):
    """The number of keys that a stream has given.

    >>> from bindax_nnx import state
    >>> len(state(Rngs(0), RngCount)["default"])
    1
    """

    __slots__ = ()


class RngStream(Draws, Object):
    """A key and a counter, which give a new key at each call.

    Args:
        key: a seed, a key, or an array of keys for use inside of ``vmap``.
        tag: the name of the stream, by which filters tell its variables apart.

    >>> stream = RngStream(0, tag="dropout")
    >>> first, second = stream(), stream()
    >>> int(stream.count), stream.key.tag
    (2, 'dropout')
    """

    def __init__(self, key: Any, *, tag: str) -> None:
        own = _key_of(key)
        self.tag = tag
        self.key: RngKey = RngKey(own, tag=tag)
        self.count: RngCount = RngCount(jnp.zeros(typeof(own).shape, "uint32"), tag=tag)

    def __call__(self) -> Any:
        """The next key."""
        count = self.count.value
        key = random.fold_in(self.key.value, count)
        self.count.value = count + jnp.ones((), "uint32")
        return key

    def fork(self, *, split: Shape | None = None) -> RngStream:
        """A stream of its own, which begins with the next key of this one, or with several."""
        return RngStream(self(), tag=self.tag) if split is None else self.split(split)

    def split(self, splits: Shape) -> RngStream:
        """A stream with an array of new keys, for use inside of ``vmap``."""
        return RngStream(random.split(self(), splits), tag=self.tag)

    def broadcast(self, shape: Shape) -> RngStream:
        """A stream with one new key, repeated, for use inside of ``vmap``."""
        key, front = self(), (shape,) if isinstance(shape, int) else tuple(shape)
        repeated = jnp.broadcast_to(key, (*front, *typeof(key).shape))
        return RngStream(repeated, tag=self.tag)


def _key_of(given: Any) -> Any:
    """The key that a seed, a key or the data of one stands for."""
    if isinstance(given, Variable):
        given = given.value
    aval = typeof(given)
    if is_extended(aval.dtype):
        return given
    if isinstance(given, Array | Tracer) and aval.dtype == "uint32" and aval.ndim:
        return random.wrap_key_data(given)
    return random.key(given)


class Rngs(Draws, Object):
    """Streams of random keys by name.

    Args:
        default: the seed or key of the stream ``default``, which also stands for those that are
            not there; or seeds and keys by name.
        streams: seeds and keys by name.

    Raises:
        AttributeError: a stream is used that is not there, and there is no default.

    >>> rngs = Rngs(0, dropout=1)
    >>> list(rngs)
    ['default', 'dropout']
    >>> key = rngs.params()
    >>> int(rngs.default.count)
    1
    """

    def __init__(self, default: Any = None, /, **streams: Any) -> None:
        if isinstance(default, Mapping):
            streams = {**default, **streams}
        elif isinstance(default, Rngs):
            streams = {**{name: default[name] for name in default}, **streams}
        elif default is not None:
            streams = {"default": default, **streams}
        for name, seed in streams.items():
            key = seed.key if isinstance(seed, RngStream) else seed
            setattr(self, name, RngStream(key, tag=name))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        streams = self.__dict__
        if "default" in streams:
            return streams["default"]
        raise AttributeError(self._lacks(name))

    def _lacks(self, name: str) -> str:
        return (
            f"{layer_name(self)} has no stream {name!r} and no default one, but "
            f"{sorted(self.__dict__)}; pass {name}=seed, or a seed for all, when it is made."
        )

    def __call__(self) -> Any:
        """The next key of the default stream."""
        return self.default()

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return name in self.__dict__

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.__dict__))

    def __len__(self) -> int:
        return len(self.__dict__)

    def items(self) -> list[tuple[str, RngStream]]:
        """The pairs of names and streams."""
        return [(name, self.__dict__[name]) for name in self]

    def fork(self, *, split: Parts = None) -> Rngs:
        """New streams from a new key of each, or from as many as ``split`` says."""
        return self._with(split, lambda stream, n: stream.fork(split=n), RngStream.fork)

    def split(self, splits: Parts) -> Rngs:
        """New streams with arrays of new keys, for use inside of ``vmap``.

        Args:
            splits: how many keys, or the shape of the array of keys; or that by filter, and None
                for streams that stay what they are.
        """
        return self._with(splits, lambda stream, n: stream if n is None else stream.split(n))

    def broadcast(self, shape: Parts) -> Rngs:
        """New streams with one new key each, repeated, for use inside of ``vmap``.

        Args:
            shape: how often, or the shape of the array of keys; or that by filter, and None for
                streams that stay what they are.
        """
        return self._with(shape, lambda stream, n: stream if n is None else stream.broadcast(n))

    def _with(
        self,
        parts: Parts,
        change: Callable[[RngStream, Shape | None], RngStream],
        others: Callable[[RngStream], RngStream] = lambda stream: stream,
    ) -> Rngs:
        """Streams that a function makes of those that filters take, and of the others."""
        found = first_rule(parts)
        streams: dict[str, RngStream] = {}
        for name, stream in self.items():
            rule = found((name,), stream)
            streams[name] = others(stream) if rule is None else change(stream, rule[1])
        return Rngs(streams)


def first_rule(parts: Parts) -> Callable[[Any, Any], tuple[Filter, Shape | None] | None]:
    """From what is said of streams by filter to the first pair whose filter takes a stream."""
    given = parts if isinstance(parts, Mapping) else {...: parts}
    rules = [(to_predicate(filter), filter, value) for filter, value in given.items()]

    def find(path: Any, stream: Any) -> tuple[Filter, Shape | None] | None:
        return next(((f, value) for takes, f, value in rules if takes(path, stream)), None)

    return find


def stream_for(rngs: Any, name: str, user: str) -> Any:
    """The stream of a name, or an error that names the layer or attribute that needs it."""
    if isinstance(rngs, Rngs) and name not in rngs and "default" not in rngs:
        raise AttributeError(f"{user} needs random numbers, but {rngs._lacks(name)}")
    return getattr(rngs, name)


def own_stream(layer: Object, rngs: Rngs | RngStream | None, name: str) -> RngStream | None:
    """A new stream for a layer, from the next key of the one of a name."""
    if rngs is None:
        return None
    if not isinstance(rngs, (Rngs, RngStream)):
        raise TypeError(
            f"rngs are random streams, Rngs or an RngStream, but got {rngs!r:.60} of type "
            f"{type(rngs).__name__}; make them of a seed or key, as in Rngs(0)."
        )
    stream = stream_for(rngs, name, layer_name(layer)) if isinstance(rngs, Rngs) else rngs
    own: RngStream = stream.fork()
    return own
