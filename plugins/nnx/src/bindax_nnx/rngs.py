"""Random state: streams of keys that are variables like others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from types import FunctionType, MethodType
from typing import Any

import bindax_numpy as jnp
import bindax_random as random
from bindax_core.extend import is_extended, typeof
from bindax_nnx._paths import layer_name
from bindax_nnx._sampling_methods import Draws
from bindax_nnx.filters import Filter, to_predicate
from bindax_nnx.graph import iter_graph
from bindax_nnx.object import Object
from bindax_nnx.variables import Variable


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
        if isinstance(key, Variable):
            key = key.value
        if not _is_key(key):
            key = random.key(key)
        self.tag = tag
        self.key: RngKey = RngKey(key, tag=tag)
        self.count: RngCount = RngCount(jnp.zeros(typeof(key).shape, "uint32"), tag=tag)

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
    if _is_function(node):
        return _around(
            node, lambda given: split_rngs(given, splits=splits, only=only, squeeze=squeeze)
        )
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


def _is_function(node: Any) -> bool:
    return isinstance(node, (FunctionType, MethodType)) or (
        callable(node) and not isinstance(node, Object)
    )


def _around(f: Callable[..., Any], change: Callable[[Any], RngBackups]) -> Callable[..., Any]:
    """A function whose arguments have other keys during its calls."""

    @wraps(f)
    def changed(*args: Any, **kwargs: Any) -> Any:
        with change([args, kwargs]):
            return f(*args, **kwargs)

    return changed


def restore_rngs(backups: RngBackups) -> None:
    """Undo ``split_rngs``; the next keys are others than before.

    >>> rngs = Rngs(0)
    >>> backups = split_rngs(rngs, splits=3)
    >>> rngs.default.key.shape
    (3,)
    >>> restore_rngs(backups)
    >>> rngs.default.key.shape
    ()
    """
    if not isinstance(backups, RngBackups):
        raise TypeError(f"restore_rngs takes what split_rngs returned, but got {backups!r:.60}.")
    backups.restore()


def fork_rngs(
    node: Any = None,
    /,
    *,
    split: Mapping[Filter, int | tuple[int, ...] | None] | int | tuple[int, ...] | None = None,
) -> Any:
    """Give streams keys of their own, made from their next ones, in place.

    Args:
        node: an object, or a tree of objects; or a function around whose calls its arguments have
            such keys. None gives a decorator for such functions.
        split: how many keys each stream gets, None for one without an axis; or that by filter.

    Returns:
        What ``restore_rngs`` takes and ``with`` restores, or a function.

    >>> rngs = Rngs(params=0, dropout=1)
    >>> with fork_rngs(rngs, split={"params": 4, ...: None}):
    ...     rngs.params.key.shape, rngs.dropout.key.shape
    ((4,), ())
    >>> int(rngs.dropout.count)
    1
    """
    if node is None:
        return lambda f: fork_rngs(f, split=split)
    if _is_function(node):
        return _around(node, lambda given: fork_rngs(given, split=split))
    parts = split if isinstance(split, Mapping) else {...: split}
    rules = [(to_predicate(filter), count) for filter, count in parts.items()]
    backups = []
    for path, stream in list(iter_graph(node)):
        if not isinstance(stream, RngStream):
            continue
        for takes, count in rules:
            if takes((*path, "key"), stream.key):
                own = stream.fork() if count is None else stream.split(count)
                backups.append((stream, stream.key.value, stream.count.value))
                stream.key.value, stream.count.value = own.key.value, own.count.value
                break
    return RngBackups(backups)


Policy = str | Callable[[Any, Any, tuple[int, ...]], Any]


def reseed(node: Any, /, *, policy: Policy = "scalars_only", **seeds: Any) -> None:
    """Give the streams of these names new keys, and start their counts at zero.

    The keys are those that new streams of the seeds give, as for layers that are made with these.

    Args:
        node: an object, or a tree of objects.
        policy: what becomes of streams with arrays of keys: ``"scalars_only"`` raises,
            ``"match_shape"`` splits the new key, and a function makes the keys from the path of
            the stream, the new key and the shape of the old ones.
        seeds: seeds and keys by name.

    Raises:
        ValueError: a stream has an array of keys, and nothing was said of that.

    >>> import numpy as np
    >>> from bindax_nnx import Dropout
    >>> layer = Dropout(0.5, rngs=Rngs(dropout=0))
    >>> first = layer(np.ones(5))
    >>> reseed(layer, dropout=0)
    >>> bool((layer(np.ones(5)) == first).all())
    True
    """
    if not callable(policy) and policy not in ("scalars_only", "match_shape"):
        raise ValueError(
            f"reseed: policy must be 'scalars_only', 'match_shape' or a function, but it is "
            f"{policy!r:.60}."
        )
    fresh, new = [], Rngs(**seeds)
    for path, stream in iter_graph(node):
        if isinstance(stream, RngStream) and stream.tag in seeds:
            key = new[stream.tag]()
            shape = typeof(stream.key.value).shape
            if callable(policy):
                key = policy(path, key, shape)
            elif shape and policy == "match_shape":
                key = random.split(key, shape)
            elif shape:
                raise ValueError(
                    f"reseed: {layer_name(stream)} has keys of the shape {shape}, and not one "
                    f"key; pass policy='match_shape' to split the new key, or a function."
                )
            fresh.append((stream, key))
    for stream, key in fresh:
        stream.key.value = key
        stream.count.value = jnp.zeros(typeof(key).shape, "uint32")
