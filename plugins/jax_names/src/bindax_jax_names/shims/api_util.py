"""``jax.api_util``: functions of trees as functions of leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import flatten_prefix, tree_flatten, tree_unflatten
from bindax_jax_names.shims.linear_util import WrappedFun, transformation_with_aux2
from bindax_transforms import eval_shape

__all__ = [
    "argnums_partial",
    "debug_info",
    "flatten_axes",
    "flatten_fun",
    "flatten_fun_nokwargs",
    "safe_map",
    "shaped_abstractify",
]


class DebugInfo:
    """The name of a function for messages.

    Attributes:
        traced_for: the transformation.
        func_src_info: the function, as text.
        arg_names: the names of its arguments, or None.
        result_paths: the paths of its results, or None.
    """

    def __init__(self, traced_for: str, func_src_info: str) -> None:
        self.traced_for = traced_for
        self.func_src_info = func_src_info
        self.arg_names: None = None
        self.result_paths: None = None

    @property
    def func_name(self) -> str:
        """The name of the function."""
        return self.func_src_info.split(" ")[0]

    def with_unknown_names(self) -> DebugInfo:
        """The same: names are not kept."""
        return self


def debug_info(traced_for: str, fun: Callable[..., Any], *args: Any, **kwargs: Any) -> DebugInfo:
    """The name of a function for messages."""
    return DebugInfo(traced_for, getattr(fun, "__name__", type(fun).__name__))


def _flat(f: Callable[..., Any], store: Any, in_tree: Any, *leaves: Any) -> list[Any]:
    args, kwargs = tree_unflatten(in_tree, leaves)
    outs, out_tree = tree_flatten(f(*args, **kwargs))
    store.store(out_tree)
    return outs


def _flat_without_keywords(f: Callable[..., Any], store: Any, in_tree: Any, *leaves: Any) -> Any:
    outs, out_tree = tree_flatten(f(*tree_unflatten(in_tree, leaves)))
    store.store(out_tree)
    return outs


def flatten_fun(fun: WrappedFun, in_tree: Any) -> tuple[WrappedFun, Callable[[], Any]]:
    """A function of ``(args, kwargs)`` as one of leaves; also the structure of its result."""
    made: tuple[WrappedFun, Callable[[], Any]] = transformation_with_aux2(_flat, fun, in_tree)
    return made


def flatten_fun_nokwargs(fun: WrappedFun, in_tree: Any) -> tuple[WrappedFun, Callable[[], Any]]:
    """A function of ``args`` as one of leaves; also the structure of its result."""
    made: tuple[WrappedFun, Callable[[], Any]] = transformation_with_aux2(
        _flat_without_keywords, fun, in_tree
    )
    return made


def flatten_axes(name: str, treedef: Any, axes: Any, *, kws: bool = False) -> list[Any]:
    """One axis for each leaf of a structure, from a tree that is a prefix of it."""
    if kws:
        axes = (axes, 0)
    tree = tree_unflatten(treedef, [0] * treedef.num_leaves)
    return list(flatten_prefix(axes, tree))


def argnums_partial(
    fun: WrappedFun, dyn_argnums: int | Sequence[int], args: Sequence[Any], **options: Any
) -> tuple[WrappedFun, list[Any]]:
    """A function of some of its arguments, with the values of the others."""
    chosen = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    places = [i % len(args) for i in chosen]

    def around(f: Callable[..., Any], *dynamic: Any, **kwargs: Any) -> Any:
        full = list(args)
        for i, x in zip(places, dynamic, strict=True):
            full[i] = x
        return f(*full, **kwargs)

    return fun.wrap(around), [args[i] for i in places]


def safe_map(f: Callable[..., Any], *sequences: Sequence[Any]) -> list[Any]:
    """``map`` over sequences of one length, as a list."""
    return [f(*xs) for xs in zip(*sequences, strict=True)]


def shaped_abstractify(x: Any) -> Any:
    """The type of a value, or of anything with a shape and a dtype."""
    return eval_shape(lambda y: y, x)
