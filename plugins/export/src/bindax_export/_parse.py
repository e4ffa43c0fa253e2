"""Shapes with symbolic dimensions, from text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import (
    ShapedArray,
    flatten_prefix,
    keystr,
    tree_flatten_with_path,
    tree_unflatten,
    typeof,
)
from bindax_export._dimensions import Size
from bindax_export._expressions import Parser
from bindax_export._scope import SymbolicScope


def symbolic_shape(
    shape_spec: str | None,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[int | None] | None = None,
) -> tuple[Size, ...]:
    """The sizes of a shape that is given as text.

    Args:
        shape_spec: dimensions separated by commas, in brackets or not: integers, names and
            expressions of them; ``_`` takes the size of ``like``, ``...`` those of all that are
            left. None is ``"..."``.
        constraints: comparisons of dimensions, such as ``"b >= 8"``, for a new scope.
        scope: the scope of the variables; a new one when omitted.
        like: the sizes for placeholders.

    Raises:
        ValueError: when the text does not parse, or a placeholder has no size.

    >>> symbolic_shape("b, 2*b + 1, 3")
    (b, 2*b + 1, 3)
    >>> symbolic_shape("b, ...", like=(5, 6, 7))
    (b, 6, 7)
    """
    if scope is not None and constraints:
        raise ValueError(
            "symbolic_shape got both a scope and constraints; give the constraints to the scope."
        )
    scope = SymbolicScope(constraints) if scope is None else scope
    text = "..." if shape_spec is None else str(shape_spec)
    parser = Parser(text, scope)
    if parser.tokens and parser.tokens[0] in "([" and _brackets_all(parser.tokens):
        parser.tokens = parser.tokens[1:-1]
    shape: list[Size] = []
    while parser.tokens:
        if parser.peek() == "...":
            parser.take()
            shape += _rest(like, len(shape), text)
        elif parser.peek() == "_":
            parser.take()
            shape.append(_one(like, len(shape), text))
        else:
            shape.append(parser.sum())
        if parser.tokens:
            parser.take(",")
    if like is not None and len(like) != len(shape):
        raise ValueError(
            f"the symbolic shape {text!r} has {len(shape)} dimensions, but the array it is for has "
            f"{len(like)}: {tuple(like)}; end it with '...' to keep the others."
        )
    return tuple(shape)


def _brackets_all(tokens: Sequence[str]) -> bool:
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token in "([") - (token in ")]")
        if depth == 0:
            return i == len(tokens) - 1
    return False


def _one(like: Sequence[int | None] | None, axis: int, text: str) -> Size:
    size = like[axis] if like is not None and axis < len(like) else None
    if size is None:
        raise ValueError(
            f"the placeholder for dimension {axis} of the symbolic shape {text!r} has no size: "
            f"pass like=, the shape of an array."
        )
    return size


def _rest(like: Sequence[int | None] | None, axis: int, text: str) -> list[Size]:
    if like is None:
        _one(like, axis, text)
    return [_one(like, i, text) for i in range(axis, len(like or ()))]


def symbolic_args_specs(
    args: Any,
    shapes_specs: Any,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
) -> Any:
    """The types of arguments, with shapes given as text; all variables are of one scope.

    Args:
        args: a tree of arrays or types.
        shapes_specs: a text or None for every leaf, or one for a whole subtree.
        constraints: comparisons of dimensions, for a new scope.
        scope: the scope of the variables; a new one when omitted.

    Raises:
        ValueError: when a text does not parse, or does not fit the rank of its array.

    >>> import numpy as np
    >>> symbolic_args_specs((np.ones((4, 3)), np.ones(4)), ("b, ...", "b"))
    (ShapeDtypeStruct(shape=(b, 3), dtype=float64), ShapeDtypeStruct(shape=(b,), dtype=float64))
    """
    if scope is None:
        scope = SymbolicScope(constraints)
    elif constraints:
        raise ValueError("symbolic_args_specs got both a scope and constraints; give one of them.")
    leaves, tree = tree_flatten_with_path(args)
    if isinstance(shapes_specs, list) and isinstance(args, tuple):
        shapes_specs = tuple(shapes_specs)
    texts = flatten_prefix(shapes_specs, args, "shapes_specs", full_name="args")
    specs = []
    for (path, leaf), text in zip(leaves, texts, strict=True):
        aval = leaf if isinstance(leaf, ShapedArray) else typeof(leaf)
        try:
            shape = symbolic_shape(text, scope=scope, like=aval.shape)
        except ValueError as error:
            raise ValueError(f"shapes_specs for the argument {keystr(path)}: {error}") from None
        specs.append(ShapedArray(shape, aval.dtype))
    return tree_unflatten(tree, specs)
