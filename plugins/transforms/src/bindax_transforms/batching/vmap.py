"""Vectorization: values that carry one more axis than the program knows of."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, ParamSpec, TypeVar

from bindax_core.errors import DerivedRuleNotice
from bindax_core.extend import (
    Array,
    DebugInfo,
    Dimension,
    MissingRuleError,
    Primitive,
    Rule,
    Trace,
    ValueTracer,
    api_boundary,
    as_array,
    bind_flat,
    config,
    current_source,
    explain_failure,
    flatten_prefix,
    full_raise,
    is_value,
    new_main,
    operations_for,
    rules,
    tree_flatten,
    tree_unflatten,
    typeof,
    unknown_type_error,
    warn_user,
    wraps,
)
from bindax_core.sharding import AbstractMesh
from bindax_transforms._callables import check_function
from bindax_transforms._flat import flatten_function, parameter_names
from bindax_transforms._rule_checks import check_batch_result, check_counts
from bindax_transforms.batching.axis_sizes import NamedSize, mesh_axes_tuple
from bindax_transforms.batching.mapped_references import MappedReferences
from bindax_transforms.batching.mapped_types import (
    BatchDim,
    explicit_axis,
    laid_batch,
    lies_by_rules,
    mapped_aval,
    unmapped_aval,
)
from bindax_transforms.staging.effects import check_unordered
from bindax_transforms.staging.names import VMAP, enter_name
from bindax_transforms.staging.reference import has_references

P = ParamSpec("P")
R = TypeVar("R")

_rules = rules.vmap.functions


class AxisData:
    """The mapped axis of a ``vmap``; ``index`` is the tracer of positions, once asked for."""

    __slots__ = ("index", "name", "size")

    def __init__(
        self,
        size: int,
        name: Any = None,
        mesh_axes: tuple[Any, ...] = (),
        mesh: AbstractMesh | None = None,
    ) -> None:
        if type(size) is NamedSize:
            name = name if size.name is None else size.name
            mesh_axes, mesh = size.mesh_axes, size.mesh
        plain = name is None and not mesh_axes
        self.size: NamedSize | int = size if plain else NamedSize(size, name, mesh_axes, mesh)
        self.name: Any | None = name
        self.index: BatchTracer | None = None


class BatchTracer(ValueTracer):
    """A value with a batch axis, or with none (``batch_dim`` is None)."""

    __slots__ = ("_aval", "batch_dim")

    def __init__(self, trace: Trace, val: Any, batch_dim: BatchDim) -> None:
        self._trace = trace
        self.value = val
        self.batch_dim: BatchDim = batch_dim
        self._aval: Any = None

    @property
    def aval(self) -> Any:
        aval = self._aval
        if aval is None:
            aval = self._aval = mapped_aval(self.batch_dim, typeof(self.value))
        return aval

    @property
    def is_plain(self) -> bool:
        return self.batch_dim is None

    def concrete(self) -> Any:
        return super().concrete() if self.batch_dim is None else None


class BatchTrace(Trace):
    """Applies ``vmap`` rules."""

    __slots__ = ()

    @property
    def axis_size(self) -> int:
        """The size of the mapped axis."""
        data: AxisData = self.main.global_data
        return data.size

    def pure(self, value: Any) -> BatchTracer:
        return BatchTracer(self, value, None)

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[BatchTracer], params: dict[str, Any]
    ) -> list[Any]:
        rule = _rules.get(primitive) or rules.vmap.get(primitive)
        size = self.axis_size
        given = (size, [t.value for t in tracers], [t.batch_dim for t in tracers])
        try:
            outs, out_dims = rule(*given, **params)
        except Exception as error:
            explain_failure(primitive, "vmap", error, given, params)
            raise
        if primitive.multiple_results:
            parts = (("the results", outs), ("the batch dimensions", out_dims))
            check_counts(primitive, "vmap", parts, [t.aval for t in tracers], params)
        tracers_out = []
        for i, (x, d) in enumerate(zip(outs, out_dims, strict=True)):
            if type(d) is not int or d or type(x) is not Array or x.aval.shape[:1] != (size,):
                check_batch_result(primitive, size, i, x, d, tracers, params)
            if type(size) is NamedSize and size.mesh and lies_by_rules(given[1], params):
                x = laid_batch(size, d, x)
            tracers_out.append(BatchTracer(self, x, d))
        return tracers_out


def move_batch_axis(axis_size: int, source: BatchDim, destination: int, x: Any) -> Any:
    """A batch with its axis elsewhere; a value without batch axis is repeated along a new one."""
    if source == destination:
        return x
    operations = operations_for(typeof(x))
    if source is None:
        return laid_batch(
            axis_size, destination, operations.broadcast_axis(x, axis_size, destination)
        )
    return operations.move_axis(x, source, destination)


def vmap_flat(
    function: Callable[..., Sequence[Any]],
    axis: AxisData,
    operands: Sequence[Any],
    in_dims: Sequence[BatchDim],
    origin: DebugInfo,
) -> tuple[list[Any], list[BatchDim]]:
    """Batch a function of flat values; gives the results and where their batch axes are."""
    with new_main(BatchTrace, axis, origin=origin) as main:
        trace = main.trace
        tracers = [
            x if d is None else BatchTracer(trace, x, d)
            for x, d in zip(operands, in_dims, strict=True)
        ]
        outs = [full_raise(trace, out) for out in function(*tracers)]
        return [out.value for out in outs], [out.batch_dim for out in outs]


@api_boundary
def vmap(
    fun: Callable[P, R],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
) -> Callable[P, R]:
    """A function that applies ``fun`` along an axis of its arguments, all elements at once.

    Args:
        fun: a function of arrays and trees of arrays.
        in_axes: which axis of each argument to map: an integer, None for "the same for all
            elements", or a tuple of these and of trees that are prefixes of the arguments.
            Keyword arguments are mapped along axis 0.
        out_axes: where the mapped axis goes in the output: an integer or a prefix tree.
        axis_name: a name for the axis, for operations across it: those of ``bindax_parallel``.
        axis_size: the size of the axis, needed only when no argument is mapped.
        spmd_axis_name: mesh axes that divide the mapped axis where arrays are laid on devices.

    Returns:
        A function of the same structure, whose mapped arguments and results have one more axis.

    Raises:
        ValueError: when sizes disagree, an axis does not exist, or a prefix does not fit.
        TypeError: when an axis is no integer, or ``in_axes`` has no entry for each argument.

    >>> import numpy as np
    >>> vmap(lambda x, y: x * y, in_axes=(0, None))(np.arange(3.0), 2.0)
    Array([0., 2., 4.], dtype=float64)
    """
    check_function("vmap", "fun", fun)
    in_axes = _checked_axes(in_axes, "in_axes")
    _checked_axes(out_axes, "out_axes")  # a list may still be filled when the function runs
    mesh_axes = mesh_axes_tuple(spmd_axis_name)
    if not isinstance(axis_name, Hashable):
        raise TypeError(f"vmap: axis_name must be hashable, such as a text, but is {axis_name!r}.")

    @wraps(fun)
    @api_boundary
    def batched(*args: P.args, **kwargs: P.kwargs) -> Any:
        operands, in_tree = tree_flatten((args, kwargs))
        _check_entries(in_axes, args)
        in_dims = flatten_prefix(in_axes, args, "in_axes") + [0] * len(tree_flatten(kwargs)[0])
        names = partial(parameter_names, fun, args, kwargs)
        mapped = MappedReferences(operands, in_dims, names) if has_references(operands) else None
        operands = operands if mapped is None else mapped.values
        in_dims = _checked_dims(in_dims, operands, names)
        size = _axis_size(in_dims, operands, axis_size, names)
        divided = explicit_axis(operands, in_dims, mesh_axes)
        origin, axis = DebugInfo("vmap", fun), AxisData(size, axis_name, *divided)
        flat_function, out_tree = flatten_function(fun, in_tree, origin)
        outs, out_dims = _named(flat_function, axis, operands, in_dims, origin, mapped)
        wanted = flatten_prefix(_checked_axes(out_axes, "out_axes"), out_tree(), "out_axes")
        pairs = enumerate(zip(outs, out_dims, wanted, strict=True))
        moved = [as_array(_placed(axis.size, d, w, x, i)) for i, (x, d, w) in pairs]
        return tree_unflatten(out_tree(), moved)

    return batched


def _named(
    function: Callable[..., Sequence[Any]],
    axis: AxisData,
    operands: Sequence[Any],
    in_dims: Sequence[BatchDim],
    origin: DebugInfo,
    mapped: MappedReferences | None,
) -> tuple[list[Any], list[BatchDim]]:
    """``vmap_flat`` with the name that operations have, and with references among the operands."""
    outer = enter_name(VMAP)
    try:
        if mapped is None:
            return vmap_flat(function, axis, operands, in_dims, origin)
        outs, dims = vmap_flat(mapped.function(function), axis, operands, in_dims, origin)
        return mapped.store(outs, dims, partial(move_batch_axis, axis.size))
    finally:
        current_source.info = outer


def _check_entries(in_axes: Any, args: tuple[Any, ...]) -> None:
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise ValueError(
            f"in_axes of vmap has {len(in_axes)} entries for {len(args)} positional "
            f"arguments: in_axes={in_axes!r}."
        )


def _checked_axes(axes: Any, what: str) -> Any:
    """The axes as Python integers; a list of those of arguments as a tuple."""
    leaves, tree = tree_flatten(axes)
    is_entry = what == "out_axes" or isinstance(axes, (tuple, list)) or tree.num_nodes == 1
    if not is_entry:
        raise TypeError(
            f"vmap in_axes must be an int, None, or a tuple with an entry for each positional "
            f"argument, but it is {axes!r:.80}."
        )
    checked = tree_unflatten(tree, [_axis(leaf, what) for leaf in leaves])
    return tuple(checked) if what == "in_axes" and isinstance(checked, list) else checked


def _axis(leaf: Any, what: str) -> int:
    try:
        if not isinstance(leaf, bool):
            return operator.index(leaf)
    except TypeError:
        pass
    raise TypeError(
        f"vmap {what} must be an int, None, or a tree of these, but it holds {leaf!r:.80} of "
        f"type {type(leaf).__name__}."
    )


def _checked_dims(
    in_dims: list[BatchDim], operands: Sequence[Any], names: Callable[[], list[str]]
) -> list[BatchDim]:
    """Batch dimensions counted from the front, checked against the operands' shapes."""
    checked: list[BatchDim] = []
    for i, (x, d) in enumerate(zip(operands, in_dims, strict=True)):
        if d is None:
            checked.append(None)
            continue
        if not is_value(x):
            raise unknown_type_error(x, f"vmap over {names()[i]}: ")
        ndim = len(typeof(x).shape)
        if not -ndim <= d < ndim:
            raise ValueError(
                f"vmap was asked to map axis {d} of {names()[i]}, which has the type "
                f"{typeof(x).str_short()} and so {ndim} axes; use None in in_axes for arguments "
                f"that are the same for all elements."
            )
        checked.append(d % ndim)
    return checked


def _axis_size(
    in_dims: Sequence[BatchDim],
    operands: Sequence[Any],
    given: int | None,
    names: Callable[[], list[str]],
) -> int:
    sizes = {
        i: typeof(x).shape[d]
        for i, (x, d) in enumerate(zip(operands, in_dims, strict=True))
        if d is not None
    }
    given = _given_size(given)
    found = set(sizes.values()) | ({given} if given is not None else set())
    if len(found) == 1:
        size: Any = found.pop()
        return size if isinstance(size, Dimension) else int(size)  # type: ignore[return-value]
    if not found:
        raise ValueError(
            "vmap needs at least one mapped argument, or axis_size=...: every entry of in_axes is "
            "None or an argument without arrays."
        )
    named = names()
    listed = "; ".join(
        f"{named[i]} of type {typeof(operands[i]).str_short()} has size {size} along axis "
        f"{in_dims[i]}"
        for i, size in sizes.items()
    )
    asked = f" axis_size={given} was given." if given is not None else ""
    raise ValueError(f"vmap got inconsistent sizes for array axes to be mapped: {listed}.{asked}")


def _given_size(given: Any) -> Any:
    if given is None or isinstance(given, Dimension):
        return given
    try:
        size = operator.index(given)
    except TypeError:
        size = -1
    if size < 0:
        raise TypeError(f"axis_size of vmap must be an integer from 0 on, but it is {given!r}.")
    return size


class OutAxesError(ValueError):
    """An output that has no axis for the batch depends on a mapped argument.

    Attributes:
        output: its number.

    >>> import numpy as np
    >>> try:
    ...     vmap(lambda x: (2.0, x), out_axes=None)(np.ones(3))
    ... except OutAxesError as error:
    ...     print(error.output)
    1
    """

    def __init__(self, output: int) -> None:
        super().__init__(
            f"vmap has out_axes None for output {output}, but that output depends on a mapped "
            f"argument; give the axis where the batch goes."
        )
        self.output = output


def _placed(size: int, source: BatchDim, destination: BatchDim, x: Any, index: int) -> Any:
    if destination is None:
        if source is not None:
            raise OutAxesError(index)
        return x
    ndim = len(typeof(x).shape) + (source is None)
    if not -ndim <= destination < ndim:
        raise ValueError(
            f"vmap was asked to put the mapped axis at {destination} of output {index}, which has "
            f"{ndim} axes with it."
        )
    return move_batch_axis(size, source, destination % ndim, laid_batch(size, source, x))


def _loop_rule(primitive: Primitive) -> Rule:
    """The derived rule of a primitive without one: one element after the other."""

    def rule(
        axis_size: int, operands: Sequence[Any], dims: Sequence[BatchDim], **params: Any
    ) -> Any:
        check_unordered(primitive, params)
        _notice(primitive)
        rows = []
        for i in range(axis_size):
            row = [
                x if d is None else operations_for(typeof(x)).index_axis(x, i, d)
                for x, d in zip(operands, dims, strict=True)
            ]
            rows.append(bind_flat(primitive, row, params))
        outs = [operations_for(typeof(xs[0])).stack(xs, 0) for xs in zip(*rows, strict=True)]
        outs = outs if rows else _empty(primitive, operands, dims, params)
        return (outs, [0] * len(outs)) if primitive.multiple_results else (outs[0], 0)

    return rules.vmap(rule).replace(derived="a loop over the elements")


def _empty(primitive: Primitive, operands: Any, dims: Any, params: dict[str, Any]) -> list[Any]:
    avals = [mapped_aval(d, typeof(x)) for x, d in zip(operands, dims, strict=True)]
    out_avals = [unmapped_aval(0, 0, aval) for aval in primitive.out_avals(tuple(avals), params)]
    return [operations_for(aval).zeros(aval) for aval in out_avals]


_noticed: set[Primitive] = set()


def _notice(primitive: Primitive) -> None:
    message = (
        f"{primitive.name} has no vmap rule, so vmap runs it in a loop over the elements; add "
        f"vmap(...) to its definition to make it fast, or set config.derived_rules to 'silent'."
    )
    if config.derived_rules == "error":
        raise MissingRuleError(message)
    if config.derived_rules == "notice" and primitive not in _noticed:
        _noticed.add(primitive)
        warn_user(message, DerivedRuleNotice)


rules.vmap.derive(_loop_rule)
