"""The carry of a loop: its body traced, so that it returns exactly the types that it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bindax_control_flow._branches import structure_difference, with_results
from bindax_core import trace_to_jaxpr
from bindax_core.extend import (
    ClosedJaxpr,
    Origin,
    PyTreeDef,
    config,
    describe_function,
    is_value,
    keystr,
    operations_for,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
    typeof,
    unknown_type_message,
)
from bindax_lax_basic.dtypes import kind_of, promote_avals


class TracedBody(NamedTuple):
    """The body of a loop as a program, and the carry that it starts from.

    Attributes:
        program: from the leading operands and the carry's leaves to the carry's leaves.
        leaves: the leaves of the initial carry, of the types that the program takes and returns.
        tree: the structure of the carry.
    """

    program: ClosedJaxpr
    leaves: list[Any]
    tree: PyTreeDef

    @property
    def avals(self) -> list[Any]:
        """The types of the carry's leaves."""
        return self.program.out_avals


def trace_body(
    name: str, body_fun: Callable[..., Any], leading: Sequence[Any], init_val: Any
) -> TracedBody:
    """Trace the body of a loop and settle the types of its carry.

    A component that starts weakly typed takes the type that the body promotes it to, so that a
    loop may start from Python numbers.

    Args:
        name: what the user called, for messages.
        body_fun: takes the leading operands and the carry, returns the next carry.
        leading: the types of the leading operands.
        init_val: the carry to begin with.

    Raises:
        TypeError: when the body returns another structure or other types than it takes.
    """
    leaves, tree = tree_flatten(init_val)
    paths = _paths("carry", init_val)
    for path, leaf in zip(_paths("init_val", init_val), leaves, strict=True):
        if not is_value(leaf):
            raise TypeError(f"{name}: {path}: {unknown_type_message(leaf)}")

    def flat(*values: Any) -> list[Any]:
        carry = tree_unflatten(tree, values[len(leading) :])
        out = body_fun(*values[: len(leading)], carry)
        return _checked_leaves(name, body_fun, tree, out)

    avals = [typeof(leaf) for leaf in leaves]
    while True:
        program = trace_to_jaxpr(flat, [*leading, *avals], Origin(name, body_fun))
        promoted = [_promoted(a, b) for a, b in zip(avals, program.out_avals, strict=True)]
        if promoted == avals:
            break
        avals = promoted
    for path, taken, returned in zip(paths, avals, program.out_avals, strict=True):
        if not _yields(returned, taken):
            raise TypeError(_mismatch(name, body_fun, path, taken, returned))
    converted = [_convert(leaf, aval) for leaf, aval in zip(leaves, avals, strict=True)]
    return TracedBody(with_results(program, avals), converted, tree)


def _paths(root: str, tree: Any) -> list[str]:
    return [root + keystr(path) for path, _ in tree_flatten_with_path(tree)[0]]


def _checked_leaves(
    name: str, body_fun: Callable[..., Any], tree: PyTreeDef, out: Any
) -> list[Any]:
    leaves, out_tree = tree_flatten(out)
    if out_tree != tree:
        raise TypeError(
            f"the body of {name} must return the structure of the carry that it takes, {tree}, "
            f"but {describe_function(body_fun)} returns {out_tree}"
            f"{structure_difference('carry', tree, out_tree)}."
        )
    for path, leaf in zip(_paths("carry", out), leaves, strict=True):
        if not is_value(leaf):
            raise TypeError(
                f"the body of {name}, {describe_function(body_fun)}, returned at {path} "
                f"{unknown_type_message(leaf)}"
            )
    return leaves


def _promoted(taken: Any, returned: Any) -> Any:
    """The type in which a weakly typed component can go through the body."""
    if not getattr(taken, "weak_type", False) or not hasattr(returned, "dtype"):
        return taken
    pairs = ((taken.dtype, True), (returned.dtype, returned.weak_type))
    dtype, weak_type = promote_avals(pairs, config.default_dtype_bits)
    return taken.update(dtype=dtype, weak_type=weak_type)


def _yields(returned: Any, taken: Any) -> bool:
    """Whether what the body returns becomes the carry's type without losing anything."""
    if returned == taken:
        return True
    if getattr(returned, "shape", None) != getattr(taken, "shape", None):
        return False
    same_kind = kind_of(returned.dtype) == kind_of(taken.dtype)
    return returned.dtype == taken.dtype or (returned.weak_type and same_kind)


def _mismatch(name: str, body_fun: Callable[..., Any], path: str, taken: Any, returned: Any) -> str:
    if taken.shape != returned.shape:
        remedy = "Start from a value of the shape that the body returns, or return the same shape"
    else:
        remedy = "Convert with .astype, in the body or where the loop starts"
    return (
        f"the body of {name} must return the type that it takes, but {path} comes in as "
        f"{describe_type(taken)} and {describe_function(body_fun)} returns "
        f"{describe_type(returned)}. {remedy}."
    )


def describe_type(aval: Any) -> str:
    """A type as messages print it, weak types told apart."""
    weak = " (weakly typed)" if getattr(aval, "weak_type", False) else ""
    return f"{aval.str_short()}{weak}"


def _convert(leaf: Any, aval: Any) -> Any:
    if typeof(leaf) == aval:
        return leaf
    return operations_for(aval).convert(leaf, aval.dtype, aval.weak_type)
