"""Graphs that are taken apart and put together in several steps, with the identity of their parts.

``split`` and ``merge`` make new objects. In a context, what a function of states changes in a graph
is changed in the graph it came from: this lifts any transformation by hand.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from bindax_core.tree_util import register_static
from bindax_nnx.errors import GraphError
from bindax_nnx.filters import Filter, Path
from bindax_nnx.graph import GraphTraversal, data_of
from bindax_nnx.object import Object
from bindax_nnx.split_merge import GraphDef, content_by_path
from bindax_nnx.state import split_flat, state_of_part
from bindax_nnx.unflatten import Build
from bindax_nnx.variables import Variable, store_metadata, store_value


class _Update:
    """The parts of the graph of an ``update_context``, outside and inside."""

    def __init__(self) -> None:
        self.outer: list[Any] = []
        self.inner: list[Any] | None = None


_updates: ContextVar[dict[Hashable, _Update] | None] = ContextVar("_updates", default=None)


@register_static
class ChangedGraphDef(GraphDef):
    """The structure of a graph that knows which of its parts were there before.

    Attributes:
        origins: for each variable its number in the former graph, or None if it is new.
    """

    __slots__ = ("origins",)

    def __init__(
        self, tokens: tuple[Any, ...], paths: tuple[Path, ...], origins: tuple[int | None, ...]
    ) -> None:
        super().__init__(tokens, paths)
        self.origins: tuple[int | None, ...] = origins

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, ChangedGraphDef) and other.origins == self.origins
        return same and super().__eq__(other)

    def __hash__(self) -> int:
        return super().__hash__()


@contextmanager
def update_context(tag: Hashable) -> Iterator[None]:
    """Let a graph keep the identity of its parts through functions of states, in a block.

    In the block, ``split_context`` and ``merge_context`` of the same tag are used four times: to
    take the graph apart, to put it together inside of the function, to take it apart there, and
    to put the result together outside, which changes the objects of the first step.

    Args:
        tag: a name for the graph.

    Raises:
        GraphError: a block of the tag is open.

    >>> import numpy as np
    >>> from bindax_transforms import jit
    >>> from bindax_nnx import Module, Param
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(np.float32(2.0))
    >>> @jit
    ... def double(graphdef, state):
    ...     with merge_context("scale", inner=True) as ctx:
    ...         scale = ctx.merge(graphdef, state)
    ...     scale.factor.value *= 2
    ...     scale.again = scale.factor
    ...     with split_context("scale") as ctx:
    ...         return ctx.split(scale)
    >>> scale = Scale()
    >>> with update_context("scale"):
    ...     with split_context("scale") as ctx:
    ...         graphdef, state = ctx.split(scale)
    ...     graphdef, state = double(graphdef, state)
    ...     with merge_context("scale", inner=False) as ctx:
    ...         assert ctx.merge(graphdef, state) is scale
    >>> float(scale.factor), scale.again is scale.factor
    (4.0, True)
    """
    present = _updates.get() or {}
    if tag in present:
        raise GraphError(f"update_context: a block of the tag {tag!r} is open; choose another tag.")
    token = _updates.set({**present, tag: _Update()})
    try:
        yield
    finally:
        _updates.reset(token)


def _update(function: str, tag: Hashable | None) -> _Update | None:
    if tag is None:
        return None
    found = (_updates.get() or {}).get(tag)
    if found is None:
        raise GraphError(
            f"{function}: there is no open block of update_context with the tag {tag!r}."
        )
    return found


class SplitContext:
    """An object that takes several graphs apart, whose shared parts are written once.

    >>> from bindax_nnx import Param
    >>> with split_context() as ctx:
    ...     _, state = ctx.split({"a": Param(1.0)})
    >>> isinstance(ctx, SplitContext), float(state["a"])
    (True, 1.0)
    """

    def __init__(self, update: _Update | None = None) -> None:
        if not isinstance(update, _Update | None):
            raise TypeError(f"SplitContext takes no {update!r:.60}; it is made by split_context.")
        inner = None if update is None else update.inner
        self._former = {id(x): i for i, x in enumerate(inner or ())}
        nodes = {key: i for key, i in self._former.items() if isinstance((inner or ())[i], Object)}
        known = None if inner is None else nodes
        self.traversal = GraphTraversal(known, expand=True, whole=True, paths=True)

    def split(self, node: Any, *filters: Filter) -> Any:
        """The structure of a graph, and its variables in one state for each filter."""
        traversal = self.traversal
        words, count = len(traversal.tokens), len(traversal.variables)
        traversal.value(node)
        tokens, paths = traversal.structure()[words:], tuple((traversal.paths or [])[count:])
        found = data_of(traversal, count)
        if traversal.known is None:
            graphdef = GraphDef(tokens, paths)
        else:
            origins = tuple([self._former.get(id(x)) for x in found])
            graphdef = ChangedGraphDef(tokens, paths, origins)
        present = dict(zip(paths, found, strict=True))
        parts = split_flat(present, filters or (...,), everything=True)
        return (graphdef, *map(state_of_part, parts))


class MergeContext:
    """An object that puts graphs together that share parts.

    >>> from bindax_nnx import Param
    >>> with split_context() as ctx:
    ...     parts = ctx.split({"a": Param(1.0)})
    >>> with merge_context() as ctx:
    ...     found = ctx.merge(*parts)
    >>> isinstance(ctx, MergeContext), float(found["a"])
    (True, 1.0)
    """

    def __init__(self, outer: Sequence[Any] | None) -> None:
        self._outer = outer
        self.references: list[Any] = []

    def merge(self, graphdef: GraphDef, state: Any, /, *states: Any) -> Any:
        """The graph of a structure and the states that have its variables."""
        given = content_by_path(graphdef, (state, *states))
        values = [x._value if isinstance(x, Variable) else x for x in given]
        reused: list[Any] | None = None
        originals: Sequence[Any] = ()
        if isinstance(graphdef, ChangedGraphDef):
            originals = self._outer or ()
            reused = [None if i is None else originals[i] for i in graphdef.origins]
        build = Build(
            graphdef.tokens, iter(values), originals=originals, expand=True, reused=reused
        )
        build.references = self.references
        node = build.next()
        for variable, x, value in zip(build.variables, given, values, strict=True):
            if reused is not None and any(variable is old for old in reused):
                store_value(variable, value)
            if isinstance(x, Variable) and x.token != variable.token:
                store_metadata(variable, x.token)
        return node


@contextmanager
def split_context(ctxtag: Hashable | None = None) -> Iterator[SplitContext]:
    """Take several graphs apart, whose shared parts are written once, in a block.

    Args:
        ctxtag: the tag of the ``update_context`` around, or None.

    Raises:
        GraphError: no block of the tag is open.

    >>> from bindax_nnx import Linear, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> with split_context() as ctx:
    ...     (_, first), (_, second) = ctx.split(layer), ctx.split(layer)
    >>> len(first), len(second)
    (2, 0)
    """
    update = _update("split_context", ctxtag)
    context = SplitContext(update)
    yield context
    if update is not None:
        if update.inner is None:
            update.outer = context.traversal.references
        update.inner = None


@contextmanager
def merge_context(
    ctxtag: Hashable | None = None, inner: bool | None = None
) -> Iterator[MergeContext]:
    """Put several graphs together that share parts, in a block.

    Args:
        ctxtag: the tag of the ``update_context`` around, or None.
        inner: whether this is inside of the function of states; otherwise the graphs that were
            taken apart first are changed.

    Raises:
        GraphError: no block of the tag is open.
        ValueError: there is a tag, and ``inner`` is not said.

    >>> from bindax_nnx import Linear, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> with split_context() as ctx:
    ...     parts = ctx.split(layer), ctx.split(layer)
    >>> with merge_context() as ctx:
    ...     first, second = [ctx.merge(*part) for part in parts]
    >>> first is second
    True
    """
    update = _update("merge_context", ctxtag)
    if update is not None and inner is None:
        raise ValueError(f"merge_context: inner must be True or False for the tag {ctxtag!r}.")
    context = MergeContext(None if update is None else update.outer)
    yield context
    if update is not None and inner:
        update.inner = context.references
