"""Random state: streams of keys that are variables like others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from types import FunctionType, MethodType
from typing import Any

import bindax_numpy as jnp
import bindax_random as random
from bindax_core.extend import is_extended, typeof
from bindax_nnx._draws import Draws
from bindax_nnx._places import layer_name
from bindax_nnx.filters import Filter, to_predicate
from bindax_nnx.graph import iter_graph
from bindax_nnx.object import Object
from bindax_nnx.variables import Variable


class RngState(Variable[Any]):
    """Random state; the base of the two kinds that there are."""


class RngKey(RngState):
    """The key of a stream."""


class RngCount(RngState):
    """The number of keys that a stream has given."""


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
        if isinstance(key, Variable):
            key = key.value
        if not _is_key(key):
            key = random.key(key)
        self.tag = tag
        self.key = RngKey(key, tag=tag)
        self.count = RngCount(jnp.zeros(typeof(key).shape, "uint32"), tag=tag)

    def __call__(self) -> Any:
        """The next key."""
        count = self.count.value
        key = random.fold_in(self.key.value, count)
        self.count.value = count + jnp.ones((), "uint32")
        return key

    def fork(self) -> RngStream:
        """A stream of its own, which begins with the next key of this one."""
        return RngStream(self(), tag=self.tag)

    def split(self, splits: int | tuple[int, ...]) -> RngStream:
        """A stream with an array of new keys, for use inside of ``vmap``."""
        return RngStream(random.split(self(), splits), tag=self.tag)


def _is_key(x: Any) -> bool:
    return is_extended(typeof(x).dtype)


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
            key = seed() if isinstance(seed, RngStream) else seed
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

    def fork(self, *, split: int | tuple[int, ...] | None = None) -> Rngs:
        """New streams from a new key of each, or from as many as ``split`` says."""
        if split is not None:
            return self.split(split)
        return Rngs({name: stream() for name, stream in self.items()})

    def split(self, splits: int | tuple[int, ...]) -> Rngs:
        """New streams with arrays of new keys, for use inside of ``vmap``."""
        return Rngs({name: random.split(stream(), splits) for name, stream in self.items()})


def stream_for(rngs: Any, name: str, user: str) -> Any:
    """The stream of a name.

    Args:
        rngs: random streams.
        name: of the stream.
        user: the layer that needs it, and the attribute if it is for one.

    Raises:
        AttributeError: there is no such stream; the message names who needs it.
    """
    if isinstance(rngs, Rngs) and name not in rngs and "default" not in rngs:
        raise AttributeError(f"{user} needs random numbers, but {rngs._lacks(name)}")
    return getattr(rngs, name)


def own_stream(layer: Object, rngs: Rngs | RngStream | None, name: str) -> RngStream | None:
    """A new stream for a layer, from the next key of the one of a name.

    Raises:
        AttributeError: there is no such stream.
        TypeError: the argument holds no streams.
    """
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


class RngBackups:
    """The streams that ``split_rngs`` changed; at the end of a ``with`` block they are restored."""

    def __init__(self, backups: list[tuple[RngStream, Any, Any]]) -> None:
        self._backups = backups

    def restore(self) -> None:
        """Give the streams the keys and counts that they had."""
        for stream, key, count in self._backups:
            stream.key.value, stream.count.value = key, count

    def __enter__(self) -> RngBackups:
        return self

    def __exit__(self, *error: object) -> None:
        self.restore()


def split_rngs(
    node: Any = None,
    /,
    *,
    splits: int | tuple[int, ...],
    only: Filter = ...,
    squeeze: bool = False,
) -> Any:
    """Give each stream an array of keys, for use along an axis that ``vmap`` or ``scan`` maps.

    Args:
        node: an object, or a tree of objects; or a function whose arguments are to be split and
            restored around each call. None gives a decorator for such functions.
        splits: how many keys, or the shape of the array of keys.
        only: which streams, by the variables that hold their keys.
        squeeze: whether to remove the axis of the keys, which must be one.

    Returns:
        What ``restore_rngs`` takes and ``with`` restores, or a function.

    Raises:
        ValueError: ``squeeze`` with more than one key.

    >>> rngs = Rngs(0)
    >>> with split_rngs(rngs, splits=3):
    ...     rngs.default.key.shape
    (3,)
    >>> rngs.default.key.shape
    ()
    """
    if node is None:
        return lambda f: split_rngs(f, splits=splits, only=only, squeeze=squeeze)
    if isinstance(node, (FunctionType, MethodType)) or (
        callable(node) and not isinstance(node, Object)
    ):
        return _around(node, splits, only, squeeze)
    if squeeze and splits != 1:
        raise ValueError(f"split_rngs can remove the axis of one key only, but splits={splits}.")
    takes = to_predicate(only)
    backups = []
    for path, stream in list(iter_graph(node)):
        if isinstance(stream, RngStream) and takes((*path, "key"), stream.key):
            key = stream()
            backups.append((stream, stream.key.value, stream.count.value))
            keys = random.split(key, splits)
            stream.key.value = keys[0] if squeeze else keys
            stream.count.value = jnp.zeros(typeof(stream.key.value).shape, "uint32")
    return RngBackups(backups)


def _around(f: Callable[..., Any], splits: Any, only: Filter, squeeze: bool) -> Callable[..., Any]:
    @wraps(f)
    def split(*args: Any, **kwargs: Any) -> Any:
        with split_rngs([args, kwargs], splits=splits, only=only, squeeze=squeeze):
            return f(*args, **kwargs)

    return split


def restore_rngs(backups: RngBackups) -> None:
    """Undo ``split_rngs``; the next keys are others than before."""
    if not isinstance(backups, RngBackups):
        raise TypeError(f"restore_rngs takes what split_rngs returned, but got {backups!r:.60}.")
    backups.restore()


def reseed(node: Any, /, **seeds: Any) -> None:
    """Give the streams of these names new seeds or keys, and start their counts at zero.

    >>> rngs = Rngs(0)
    >>> first = rngs()
    >>> reseed(rngs, default=0)
    >>> int(rngs.default.count)
    0
    """
    for _, stream in iter_graph(node):
        if isinstance(stream, RngStream) and stream.tag in seeds:
            fresh = RngStream(seeds[stream.tag], tag=stream.tag)
            stream.key.value, stream.count.value = fresh.key.value, fresh.count.value
