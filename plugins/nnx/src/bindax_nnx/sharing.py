"""Checks that variables and objects do not appear several times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bindax_nnx._mutation_counter import current_trace
from bindax_nnx.graph import children_of, is_reference
from bindax_nnx.object import Object
from bindax_nnx.variables import Variable
from bindax_transforms.extend import Reference

Path = tuple[Any, ...]


def require_tree(function: str, node: Any) -> None:
    """Check that no variable is in a graph twice, no object in itself, and all are pytrees.

    Raises:
        ValueError: one is, or an object is no pytree; the message names the paths.
    """
    found = find_shared(node, function)
    if found is not None:
        first, second, value = found
        raise ValueError(
            f"Duplicate {_found(value, first, second)}: in tree mode, graph=False, nothing is "
            f"shared. Remove one of the two, or use graph mode: nnx.{function}(..., graph=True) or "
            f"nnx.compat.{function}."
        )


def require_unshared(function: str, **parts: Any) -> None:
    """Check that no variable is twice in what a transformed function takes and returns.

    Raises:
        ValueError: one is; the message names both paths.
    """
    found = find_shared(parts)
    if found is not None:
        raise _aliased(function, *found)


def _aliased(function: str, first: Path, second: Path, value: Any) -> ValueError:
    return ValueError(
        f"Duplicate {_found(value, first, second)}: nnx.{function} without graph updates does "
        f"not support Variable aliasing, of arguments or of "
        f"results. Remove one of the two, make another variable with nnx.clone, or use "
        f"nnx.{function}(..., graph=True, graph_updates=True) or nnx.compat.{function}."
    )


def _found(value: Any, first: Path, second: Path) -> str:
    return f"{type(value).__name__} found at paths {key_text(first)} and {key_text(second)}"


def require_own_results(function: str, arguments: Any, out: Any, is_tree: bool) -> None:
    """Check that the variables of a result were made by the function; in a tree each once.

    Raises:
        ValueError: one is of the arguments or of elsewhere; the message names its paths.
    """
    args, kwargs = arguments
    given = {"args": args, "kwargs": kwargs}
    known = {id(x): path for path, x, is_cycle in _places(given, (), {}) if is_cycle is None}
    now = current_trace()
    for path, value, is_cycle in _places({"out": out}, (), {}):
        if isinstance(value, Variable) and value._context is not now:
            raise ValueError(
                f"Cannot return captured Variable: {key_text(path)} of nnx.{function} is a "
                f"{type(value).__name__} from outside of the function. Pass it as an argument, "
                f"and return a copy."
            )
        before = is_cycle or known.get(id(value))
        if before is not None:
            raise _aliased(function, before, path, value)
        if is_tree:
            known[id(value)] = path


def require_apart(function: str, arguments: Sequence[Any], apart: Mapping[int, Any]) -> None:
    """Check that some arguments, by position, hold no variable of the other ones.

    Raises:
        ValueError: they do; the message names both paths.
    """
    others = {i: x for i, x in enumerate(arguments) if i not in apart}
    known = {id(x): path for path, x, _ in _places({"args": apart}, (), {})}
    for path, value, _ in _places({"args": others}, (), {}):
        if id(value) in known:
            raise _aliased(function, known[id(value)], path, value)


def require_pytree(function: str, node: Object, path: Path = ()) -> None:
    """Check that the class of an object was not defined with ``pytree=False``.

    Raises:
        ValueError: it was; the message names the path.
    """
    if not type(node)._nnx_is_pytree:
        raise ValueError(
            f"nnx.{function}: {type(node).__name__} is defined with pytree=False, so its objects "
            f"can be in no tree. Found at path {key_text(path) or '()'}. Define the class without "
            f"it, or use graph mode: nnx.{function}(..., graph=True)."
        )


def find_shared(node: Any, function: str = "") -> tuple[Path, Path, Any] | None:
    """Two paths of a variable that is in a graph twice, or of an object that is in itself.

    Raises:
        ValueError: an object is no pytree, and a function is named which takes trees.
    """
    met: dict[int, Path] = {}
    for path, value, is_cycle in _places(node, (), {}, function):
        if is_cycle is not None:
            return is_cycle, path, value
        before = met.setdefault(id(value), path)
        if before is not path:
            return before, path, value
    return None


def _places(
    value: Any, path: Path, above: dict[int, Path], function: str = ""
) -> Iterator[tuple[Path, Any, Path | None]]:
    """The variables of a graph by path, and the objects that contain themselves."""
    if isinstance(value, Variable | Reference):
        yield path, value, None
        return
    if function and isinstance(value, Object):
        require_pytree(function, value, path)
    is_object = isinstance(value, Object) or is_reference(value)
    if is_object:
        if id(value) in above:
            yield path, value, above[id(value)]
            return
        above[id(value)] = path
    for key, child in children_of(value):
        yield from _places(child, (*path, key), above, function)
    if is_object:
        del above[id(value)]


def key_text(path: Iterable[Any]) -> str:
    """A path as it is written in Python, without the root."""
    return "".join(
        f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]" for key in path
    )
