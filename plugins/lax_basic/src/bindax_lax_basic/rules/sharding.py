"""``sharding`` rules of families: how results lie along explicit axes of a mesh.

Each gives the entries of a ``PartitionSpec`` for the axes of a result, from the types of operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import Primitive, Rule, ShapedArray, config, rules
from bindax_core.sharding import ambiguous

Entries = tuple[Any, ...]
Function = Callable[..., Any]


def entries(aval: ShapedArray) -> Entries:
    """The division of each axis of an array: names of mesh axes, or None.

    >>> entries(ShapedArray((2, 3), "float32"))
    (None, None)
    """
    return tuple(aval.sharding.spec)


def count(aval: ShapedArray, entry: Any) -> int:
    """The number of parts that an entry divides an axis into."""
    sizes, parts = aval.sharding.mesh.shape, 1
    for name in names_of(entry):
        parts *= sizes[name]
    return parts


def divides(aval: ShapedArray, entry: Any, size: Any) -> bool:
    """Tell whether an axis of a size can be divided as an entry says."""
    return not isinstance(size, int) or size % count(aval, entry) == 0


def names_of(entry: Any) -> tuple[Any, ...]:
    """The mesh axes of an entry, the outermost first."""
    return entry if isinstance(entry, tuple) else () if entry is None else (entry,)


def left_open(entry: Any) -> bool:
    """Tell whether a sum along an axis with an entry is one that is not to be added up."""
    names = config.open_sums
    return bool(names) and not names.isdisjoint(names_of(entry))


def by_axes(function: Function, linear: Any = None) -> Rule:
    """The rule whose result has a choice of an operand's axes.

    Args:
        function: ``(ndim, **params)`` gives for each axis of the result the operand's, or None for
            a new axis, which is whole.
        linear: in which operands the primitive is linear, as ``rules.sharding`` has it.
    """

    def rule(x: ShapedArray, **params: Any) -> Entries:
        own = entries(x)
        return tuple([None if i is None else own[i] for i in function(x.ndim, **params)])

    return rules.sharding(rule, linear=linear)


def without(parameter: str, linear: Any = None) -> Rule:
    """The rule of a primitive that removes the axes of its parameter of a name."""
    return by_axes(
        lambda ndim, **params: [i for i in range(ndim) if i not in params[parameter]], linear
    )


def whole_along(parameter: str, problem: str, linear: Any = None) -> Rule:
    """The rule of a primitive that keeps the shape, and needs the axis of a parameter whole.

    Args:
        parameter: its name; the axis, or a tuple of axes, counted from the front.
        problem: what is wrong otherwise, for the message.
        linear: in which operands it is linear, as ``rules.sharding`` has it.
    """

    def rule(primitive: Primitive, *avals: ShapedArray, **params: Any) -> Any:
        axes = params[parameter]
        for aval in avals:
            for axis in axes if isinstance(axes, tuple) else (axes,):
                if entries(aval)[axis] is not None:
                    raise ambiguous(primitive, problem, avals)
        first = alike(primitive, avals)
        return [first] * len(_results(primitive, avals, params)) if several(primitive) else first

    return rules.sharding(rule, takes_primitive=True, linear=linear)


def several(primitive: Primitive) -> bool:
    """Tell whether rules of a primitive give a list."""
    return primitive.multiple_results


def alike(primitive: Primitive, avals: Sequence[ShapedArray]) -> Entries:
    """The entries of operands of equally many axes, which agree where two of them have one."""
    found: list[Any] = [None] * avals[0].ndim
    for aval in avals:
        for axis, entry in enumerate(entries(aval)):
            if entry is not None and found[axis] not in (None, entry):
                problem = f"got incompatible shardings along axis {axis}"
                raise ambiguous(primitive, problem, avals)
            found[axis] = found[axis] or entry
    return tuple(found)


def batched(*own: int) -> Rule:
    """The rule of a primitive that does the same for each element along leading axes.

    Args:
        own: for each operand the number of axes behind those, which have to be whole. Results have
            the leading axes, too.

    >>> batched(2).kind  # of a decomposition of matrices
    RuleKind('sharding')
    """

    def rule(primitive: Primitive, *avals: ShapedArray, **params: Any) -> Any:
        counts = [aval.ndim - axes for aval, axes in zip(avals, own, strict=True)]
        for aval, leading in zip(avals, counts, strict=True):
            if any(entries(aval)[leading:]):
                raise ambiguous(primitive, "needs its operands whole along their last axes", avals)
        found: list[Any] = [None] * max(counts)
        for aval, leading in zip(avals, counts, strict=True):
            for axis, entry in enumerate(entries(aval)[:leading]):
                if None not in (entry, found[axis]) and entry != found[axis]:
                    problem = f"got incompatible shardings along axis {axis}"
                    raise ambiguous(primitive, problem, avals)
                found[axis] = found[axis] or entry
        if not several(primitive):
            return tuple(found)
        return [tuple(found)] * len(_results(primitive, avals, params))

    return rules.sharding(rule, takes_primitive=True)


def resized(problem: str, like: int = 0, linear: Any = None) -> Rule:
    """The rule of a primitive whose results have the axes of an operand, with other sizes.

    Args:
        problem: what is wrong where a size is not divisible, for the message.
        like: the operand.
        linear: in which operands it is linear, as ``rules.sharding`` has it.
    """

    def rule(primitive: Primitive, *avals: ShapedArray, **params: Any) -> Any:
        own = avals[like]
        found = _results(primitive, avals, params)
        for out in found:
            for entry, size, before in zip(entries(own), out.shape, own.shape, strict=True):
                if size != before and not divides(own, entry, size):
                    text = f"{problem}: a size of the result {out.str_short()} is not divisible, of"
                    raise ambiguous(primitive, text, avals)
        specs = [entries(own) for _ in found]
        return specs if several(primitive) else specs[0]

    return rules.sharding(rule, takes_primitive=True, linear=linear)


def _results(
    primitive: Primitive, avals: Sequence[ShapedArray], params: dict[str, Any]
) -> Sequence[ShapedArray]:
    return primitive.out_avals(tuple([aval.plain() for aval in avals]), params)
