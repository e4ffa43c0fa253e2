"""Functions of the random streams in an object: split, fork, replace, restore and reseed them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from types import FunctionType, MethodType
from typing import Any, ParamSpec, TypeVar, overload

import bindax_numpy as jnp
import bindax_random as random
from bindax_core.extend import typeof
from bindax_nnx._paths import layer_name
from bindax_nnx.filters import Filter, Path, Predicate, to_predicate
from bindax_nnx.modes import Mode, is_graph, mode_of
from bindax_nnx.object import Object
from bindax_nnx.recursion import iter_graph, recursive_map
from bindax_nnx.rngs import Parts, Rngs, RngStream, first_rule
from bindax_nnx.sharing import key_text, require_tree

P = ParamSpec("P")
R = TypeVar("R")


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


@overload
def split_rngs(
    *,
    splits: int | tuple[int, ...],
    only: Filter = ...,
    squeeze: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@overload
def split_rngs(
    node: Any,
    /,
    *,
    splits: int | tuple[int, ...],
    only: Filter = ...,
    squeeze: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any: ...
def split_rngs(
    node: Any = None,
    /,
    *,
    splits: int | tuple[int, ...],
    only: Filter = ...,
    squeeze: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Give each stream an array of keys, for use along an axis that ``vmap`` or ``scan`` maps.

    Args:
        node: an object, or a tree of objects; or a function whose arguments are to be split and
            restored around each call. None gives a decorator for such functions.
        splits: how many keys, or the shape of the array of keys.
        only: which streams, by the variables that hold their keys.
        squeeze: whether to remove the axis of the keys, which must be one.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.
        graph_updates: whether the streams are changed in place; by default as
            ``set_graph_updates`` says. Otherwise, and in tree mode, a copy has other streams.

    Returns:
        What ``restore_rngs`` takes and ``with`` restores, a copy, or a function.

    Raises:
        ValueError: ``squeeze`` with more than one key.

    >>> rngs = Rngs(0)
    >>> with split_rngs(rngs, splits=3, graph=True, graph_updates=True):
    ...     rngs.default.key.shape
    (3,)
    >>> rngs.default.key.shape
    ()
    """
    if squeeze and splits != 1:
        raise ValueError(f"split_rngs can remove the axis of one key only, but splits={splits}.")

    def made(path: Path, stream: RngStream) -> RngStream | None:
        if not _takes_both(takes, path, stream):
            return None
        keys = random.split(stream(), splits)
        return RngStream(keys[0] if squeeze else keys, tag=stream.tag)

    takes = to_predicate(only)
    return _changed("split_rngs", node, made, mode_of(graph, graph_updates))


def _takes_both(takes: Predicate, path: Path, stream: RngStream) -> bool:
    return takes((*path, "key"), stream.key) and takes((*path, "count"), stream.count)


Change = Callable[[Path, RngStream], RngStream | None]
"""From the path of a stream and the stream to another in its place, or None."""


def _changed(name: str, node: Any, made: Change, mode: Mode) -> Any:
    """Change the streams of a node in place, or of a copy; or of the arguments of a function."""
    if node is None:
        return lambda f: _around(name, f, made, mode)
    if _is_function(node):
        return _around(name, node, made, mode)
    return _change_in_place(node, made) if mode is Mode.UPDATES else _copy(name, node, made, mode)


def _change_in_place(node: Any, made: Change) -> RngBackups:
    backups = []
    for path, stream in list(iter_graph(node, graph=True)):
        if isinstance(stream, RngStream):
            before = stream.key.value
            own = made(path, stream)
            if own is not None:
                backups.append((stream, before, stream.count.value))
                stream.key.value, stream.count.value = own.key.value, own.count.value
    return RngBackups(backups)


def _copy(name: str, node: Any, made: Change, mode: Mode) -> Any:
    """A copy of a node around the same variables, with other streams."""
    is_graph = mode is not Mode.TREE
    if not is_graph:
        require_tree(name, node)

    def replaced(path: Path, x: Any) -> Any:
        own = made(path, x) if isinstance(x, RngStream) else None
        return x if own is None else own

    return recursive_map(replaced, node, graph=True)


def _is_function(node: Any) -> bool:
    return isinstance(node, (FunctionType, MethodType)) or (
        callable(node) and not isinstance(node, Object)
    )


def _around(name: str, f: Callable[..., Any], made: Change, mode: Mode) -> Callable[..., Any]:
    """A function whose arguments have other keys during its calls."""

    @wraps(f)
    def changed(*args: Any, **kwargs: Any) -> Any:
        if mode is Mode.UPDATES:
            with _change_in_place([args, kwargs], made):
                return f(*args, **kwargs)
        args, kwargs = _copy(name, (args, kwargs), made, mode)
        return f(*args, **kwargs)

    return changed


def restore_rngs(backups: RngBackups) -> None:
    """Undo ``split_rngs``; the next keys are others than before.

    >>> rngs = Rngs(0)
    >>> backups = split_rngs(rngs, splits=3, graph=True, graph_updates=True)
    >>> rngs.default.key.shape
    (3,)
    >>> restore_rngs(backups)
    >>> rngs.default.key.shape
    ()
    """
    if not isinstance(backups, RngBackups):
        raise TypeError(
            f"restore_rngs takes what split_rngs returns with updates of graphs, but got a value "
            f"of type {type(backups).__name__}. Without updates it returns a copy, and there is "
            f"nothing to restore."
        )
    backups.restore()


@overload
def fork_rngs(
    *,
    split: Parts = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@overload
def fork_rngs(
    node: Any,
    /,
    *,
    split: Parts = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any: ...
def fork_rngs(
    node: Any = None,
    /,
    *,
    split: Parts = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Give streams keys of their own, made from their next ones, in place.

    Args:
        node: an object, or a tree of objects; or a function around whose calls its arguments have
            such keys. None gives a decorator for such functions.
        split: how many keys each stream gets, None for one without an axis; or that by filter.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.
        graph_updates: whether the streams are changed in place; by default as
            ``set_graph_updates`` says. Otherwise, and in tree mode, a copy has other streams.

    Returns:
        What ``restore_rngs`` takes and ``with`` restores, a copy, or a function.

    >>> rngs = Rngs(params=0, dropout=1)
    >>> split = {"params": 4, ...: None}
    >>> with fork_rngs(rngs, split=split, graph=True, graph_updates=True):
    ...     rngs.params.key.shape, rngs.dropout.key.shape
    ((4,), ())
    >>> int(rngs.dropout.count)
    1
    """
    find = first_rule(split)

    def made(path: Path, stream: RngStream) -> RngStream | None:
        key = find((*path, "key"), stream.key)
        if key is None or find((*path, "count"), stream.count) != key:
            return None
        return stream.fork(split=key[1])

    return _changed("fork_rngs", node, made, mode_of(graph, graph_updates))


@overload
def with_rngs(
    *,
    split: Parts = None,
    fork: Filter | Sequence[Filter] | None = None,
    broadcast: Parts = None,
    only: Filter = True,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@overload
def with_rngs(
    node: Any,
    /,
    *,
    split: Parts = None,
    fork: Filter | Sequence[Filter] | None = None,
    broadcast: Parts = None,
    only: Filter = True,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any: ...
def with_rngs(
    node: Any = None,
    /,
    *,
    split: Parts = None,
    fork: Filter | Sequence[Filter] | None = None,
    broadcast: Parts = None,
    only: Filter = True,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """A copy of a node with other streams, around the same variables.

    Args:
        node: an object, or a tree of objects; or a function around whose calls its arguments have
            such streams. None gives a decorator for such functions.
        split: how many keys streams get, or the shape of the array of keys; or that by filter.
        fork: which streams get a key of their own.
        broadcast: how often streams repeat a key of their own, or the shape; or that by filter.
        only: which streams are replaced at all.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.
        graph_updates: accepted as everywhere; nothing is changed in place.

    Raises:
        ValueError: two of the rules for one stream are about it in particular.

    >>> rngs = with_rngs(Rngs(params=0, dropout=1), split={"params": 4}, fork="dropout")
    >>> rngs.params.key.shape, rngs.dropout.key.shape
    ((4,), ())
    """
    takes = to_predicate(only)
    several = isinstance(fork, Sequence) and not isinstance(fork, str)
    forked: Any = fork if several else [] if fork is None else [fork]
    rules = {
        "split": first_rule({} if split is None else split),
        "broadcast": first_rule({} if broadcast is None else broadcast),
        "fork": first_rule(dict.fromkeys(forked)),
    }

    def made(path: Path, stream: RngStream) -> RngStream | None:
        if not takes(path, stream):
            return None
        found = {name: rule for name, find in rules.items() if (rule := find(path, stream))}
        specific = {k: rule for k, rule in found.items() if rule[0] not in (..., True)}
        if len(found) > 1 and len(specific) > 1:
            listed = ", ".join(f"{name} by {rule[0]!r}" for name, rule in found.items())
            raise ValueError(
                f"with_rngs: the stream at {key_text(path) or 'the root'} matches multiple rules, "
                f"{listed}. Leave it to one of them."
            )
        for name, rule in found.items():
            if name == "fork":
                return stream.fork()
            own: RngStream = getattr(stream, name)(rule[1])
            return own
        return None

    mode = Mode.GRAPH if is_graph(graph) else Mode.TREE
    return _changed("with_rngs", node, made, mode)


def backup_keys(node: Any, /, *, graph: bool | None = None) -> RngBackups:
    """Backups for ``restore_rngs``, to give the streams of a node the keys that they have now.

    Args:
        node: an object, or a tree of objects.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    >>> rngs = Rngs(0)
    >>> backups = backup_keys(rngs)
    >>> _ = rngs.default()
    >>> restore_rngs(backups)
    >>> int(rngs.default.count)
    0
    """
    streams = [x for _, x in iter_graph(node, graph=graph) if isinstance(x, RngStream)]
    return RngBackups([(x, x.key.value, x.count.value) for x in streams])


Policy = str | Callable[[Any, Any, tuple[int, ...]], Any]


def reseed(
    node: Any,
    /,
    *,
    graph: bool | None = None,
    policy: Policy = "scalars_only",
    **seeds: Any,
) -> None:
    """Give the streams of these names new keys, and start their counts at zero.

    The keys are those that new streams of the seeds give, as for layers that are made with these.

    Args:
        node: an object, or a tree of objects.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.
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
    for path, stream in iter_graph(node, graph=graph):
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
