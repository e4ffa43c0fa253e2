"""What the user gives to ``scan``, checked and traced."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bindax_control_flow._lists import split
from bindax_control_flow._scan_loop import slice_aval
from bindax_core import trace_to_jaxpr
from bindax_core.errors import ConcretizationTypeError
from bindax_core.extend import (
    ClosedJaxpr,
    Origin,
    PyTreeDef,
    Tracer,
    config,
    describe_function,
    hoist_consts,
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


class Step(NamedTuple):
    """The function of a scan, traced.

    Attributes:
        jaxpr: one step, without constants.
        consts: its leading arguments.
        carry_avals: the types of the carry.
        y_tree: the structure of the stacked results.
    """

    jaxpr: ClosedJaxpr
    consts: list[Any]
    carry_avals: list[Any]
    y_tree: PyTreeDef


def leaf_paths(name: str, tree: Any) -> list[str]:
    """The path of each leaf of an argument, such as ``carry['h'][0]``."""
    return [name + keystr(path) for path, _ in tree_flatten_with_path(tree)[0]]


def check_values(name: str, argument: str, tree: Any) -> None:
    """Raise when a leaf of an argument is no array."""
    for i, x in enumerate(tree_flatten(tree)[0]):
        if not is_value(x):
            place = leaf_paths(argument, tree)[i]
            raise TypeError(f"{place} of {name}: {unknown_type_message(x)}")


def check_function(name: str, f: Any) -> None:
    """Raise when what should be a function is none."""
    if not callable(f):
        raise TypeError(f"{name} takes a function, but got {f!r:.80} of type {type(f).__name__}.")


def common_length(name: str, xs: Any) -> int | None:
    """The size of the first axis of all leaves; None without any.

    Raises:
        ValueError: when a leaf has no axis, or the sizes differ.
    """
    check_values(name, "xs", xs)
    leaves = tree_flatten(xs)[0]
    lengths: dict[int, str] = {}
    for i, x in enumerate(leaves):
        shape = typeof(x).shape
        if not shape:
            raise ValueError(
                f"{name} runs along the first axis of xs, but {leaf_paths('xs', xs)[i]} has none: "
                f"it is {typeof(x).str_short()}. Let the function close over what is the same in "
                f"all steps."
            )
        lengths.setdefault(int(shape[0]), leaf_paths("xs", xs)[i])
    if len(lengths) > 1:
        listed = " and ".join(f"{path} has {length}" for length, path in lengths.items())
        raise ValueError(
            f"the arrays of xs must have first axes of one length in {name}, but {listed}."
        )
    return next(iter(lengths), None)


def checked_length(xs: Any, length: Any) -> int:
    """The number of steps, from the sequences and the argument ``length``.

    Raises:
        ValueError: when they contradict each other, or neither tells.
        ConcretizationTypeError: when ``length`` is traced.
    """
    found = common_length("scan", xs)
    if length is None:
        if found is None:
            raise ValueError("scan needs length=..., because xs holds no arrays.")
        return found
    if isinstance(length, Tracer):
        raise ConcretizationTypeError(
            f"the length of scan must be known while tracing, but it is traced: "
            f"{length.aval.str_short()}. Make it static with static_argnums, or use while_loop or "
            f"fori_loop for a number of steps that is not known."
        )
    try:
        given = operator.index(length)
    except TypeError as error:
        raise TypeError(
            f"the length of scan must be an integer, but it is {length!r:.80}."
        ) from error
    if given < 0:
        raise ValueError(f"the length of scan must not be negative, but it is {given}.")
    if found is not None and given != found:
        raise ValueError(
            f"scan was given length={given}, but {leaf_paths('xs', xs)[0]} has the length {found}."
        )
    return given


def checked_unroll(unroll: Any, length: int) -> int:
    """How many steps one round of a compiled loop makes.

    Raises:
        ValueError: when it is less than 1.
    """
    if isinstance(unroll, bool):
        return max(length, 1) if unroll else 1
    try:
        count = operator.index(unroll)
    except TypeError as error:
        raise TypeError(
            f"unroll of scan must be an integer or a bool, but it is {unroll!r:.80}."
        ) from error
    if count < 1:
        raise ValueError(
            f"unroll of scan must be at least 1, but it is {count}; unroll=True unrolls all steps."
        )
    return count


_traced: weakref.WeakKeyDictionary[Any, dict[Any, Step]] = weakref.WeakKeyDictionary()


def trace_step(f: Callable[..., Any], init: Any, xs: Any) -> Step:
    """Trace one step, once for each function and type of its arguments.

    Where the step returns a carry that a weakly typed initial value can be promoted to, it is
    traced again with the promoted one.
    """
    leaves, init_tree = tree_flatten(init)
    sequences, xs_tree = tree_flatten(xs)
    x_avals = [slice_aval(typeof(x)) for x in sequences]
    carry_avals = [typeof(x) for x in leaves]
    key = (init_tree, xs_tree, *carry_avals, *x_avals, config.default_dtype_bits)
    try:
        known = _traced.setdefault(f, {})
    except TypeError:  # a callable without hash or weak references is traced each time
        known = {}
    if key not in known:
        step = _trace_step(f, init, init_tree, xs_tree, carry_avals, x_avals)
        if any(isinstance(const, Tracer) for const in step.consts):
            return step  # what it closes over dies with an outer transformation
        known[key] = step
    return known[key]


def _trace_step(
    f: Callable[..., Any],
    init: Any,
    init_tree: PyTreeDef,
    xs_tree: PyTreeDef,
    carry_avals: list[Any],
    x_avals: list[Any],
) -> Step:
    while True:
        flat, y_tree = _flat_step(f, init, init_tree, xs_tree, carry_avals)
        closed = trace_to_jaxpr(flat, [*carry_avals, *x_avals], Origin("scan", f))
        outs = closed.out_avals[: len(carry_avals)]
        promoted = [_promoted(a, out) for a, out in zip(carry_avals, outs, strict=True)]
        if promoted == carry_avals:
            break
        carry_avals = promoted
    _check_types(f, init, carry_avals, outs)
    jaxpr, consts = hoist_consts(closed)
    return Step(jaxpr, list(consts), carry_avals, y_tree())


def _flat_step(
    f: Callable[..., Any],
    init: Any,
    init_tree: PyTreeDef,
    xs_tree: PyTreeDef,
    carry_avals: list[Any],
) -> tuple[Callable[..., list[Any]], Callable[[], PyTreeDef]]:
    """The step as a function of flat values, and where to find the structure of its ``y``."""
    trees: list[PyTreeDef] = []

    def flat(*values: Any) -> list[Any]:
        carry, x = split(values, len(carry_avals))
        result = f(tree_unflatten(init_tree, carry), tree_unflatten(xs_tree, x))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(
                f"the function of scan must return a pair (carry, y), but {describe_function(f)} "
                f"returned {result!r:.80} of type {type(result).__name__}. Return (carry, None) "
                f"when nothing is stacked."
            )
        carry_out, carry_tree = tree_flatten(result[0])
        _check_tree(f, init, init_tree, result[0], carry_tree)
        check_values(f"what {describe_function(f)} returned to scan", "carry", result[0])
        check_values(f"what {describe_function(f)} returned to scan", "y", result[1])
        ys, y_tree = tree_flatten(result[1])
        trees.append(y_tree)
        return [*map(_as_carry, carry_out, carry_avals), *ys]

    return flat, lambda: trees[-1]


def _promoted(aval: Any, out: Any) -> Any:
    """The type that a carry starts with, when a step returns ``out`` for it."""
    if out is aval or not aval.weak_type or out.shape != aval.shape:
        return aval
    pair = ((aval.dtype, aval.weak_type), (out.dtype, out.weak_type))
    dtype, weak_type = promote_avals(pair, config.default_dtype_bits)
    return aval.update(dtype=dtype, weak_type=weak_type)


def _as_carry(x: Any, aval: Any) -> Any:
    """A result for the carry; one of weak type takes the carry's width."""
    out = typeof(x)
    if out is aval or out.shape != aval.shape:
        return x
    if out.weak_type and kind_of(out.dtype) == kind_of(aval.dtype):
        return operations_for(aval).convert(x, aval.dtype, aval.weak_type)
    return x


def _check_tree(
    f: Callable[..., Any], init: Any, init_tree: PyTreeDef, carry: Any, tree: PyTreeDef
) -> None:
    if tree == init_tree:
        return
    before, after = leaf_paths("carry", init), leaf_paths("carry", carry)
    missing = [path for path in before if path not in after]
    added = [path for path in after if path not in before]
    parts = [f"{', '.join(missing)} is missing from it"] * bool(missing)
    parts += [f"{', '.join(added)} is in it alone"] * bool(added)
    raise TypeError(
        f"the carry of scan must keep its structure, but init has {init_tree} and "
        f"{describe_function(f)} returned {tree}"
        f"{': ' if parts else ''}{' and '.join(parts)}. Return the carry as it came in, with other "
        f"values."
    )


def _check_types(
    f: Callable[..., Any], init: Any, before: Sequence[Any], after: Sequence[Any]
) -> None:
    paths = leaf_paths("carry", init)
    wrong = [
        _mismatch(path, a, b)
        for path, a, b in zip(paths, before, after, strict=True)
        if a.strip_weak_type() != b.strip_weak_type()
    ]
    if wrong:
        raise TypeError(
            f"the carry of scan must keep its types, but after a step of {describe_function(f)} "
            f"{'; '.join(wrong)}."
        )


def _mismatch(path: str, before: Any, after: Any) -> str:
    found = f"{path} has the type {_described(after)}, and it came in as {_described(before)}"
    if before.shape != after.shape:
        return f"{found}: return it with the shape {before.shape}, or begin with {after.shape}"
    name = before.dtype.name
    return f"{found}: convert it with .astype('{name}'), or init with .astype('{after.dtype.name}')"


def _described(aval: Any) -> str:
    return f"{aval.str_short()}{' (weakly typed)' if aval.weak_type else ''}"
