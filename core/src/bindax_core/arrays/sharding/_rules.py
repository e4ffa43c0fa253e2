"""The rule kind ``sharding``: how the results of a primitive lie, from how its operands do.

It is asked beside ``abstract_eval``, and only where the type of an operand says something of the
explicit axes of a mesh.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bindax_core._extension_points import runtime
from bindax_core._site import caller_site
from bindax_core.arrays._memories import Space
from bindax_core.arrays.sharding._ambiguity import OUT_SHARDING, listed, missing
from bindax_core.arrays.sharding._current_mesh import NO_MESH, get_abstract_mesh
from bindax_core.arrays.sharding._mesh import AbstractMesh
from bindax_core.arrays.sharding._named_axes import elementwise, named_axes
from bindax_core.arrays.sharding._sharding import NamedSharding, Sharding
from bindax_core.arrays.sharding._spec import PartitionSpec
from bindax_core.arrays.sharding._sums import manual_sums_of, sums_of
from bindax_core.arrays.sharding._types import NO_MANUAL_AXES, ManualAxisType
from bindax_core.errors import ShardingTypeError
from bindax_core.kernel._jaxpr import subjaxprs
from bindax_core.kernel._rule_errors import explain_failure, rule_output_error
from bindax_core.kernel._rules import Rule, RuleKind, core_kinds, list_result, rule_kinds
from bindax_core.kernel._source_info import current_source

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


class ShardingKind(RuleKind):
    """The rule kind whose rules say how results lie.

    A rule is a function ``(*avals, **params)`` from the types of the operands, whose
    ``sharding.spec`` has an entry for each axis, to the ``PartitionSpec`` of the result, or to one
    for each result. Or it is a text that names axes as ``einsum`` does:

    - an axis of the result is divided as those of its name;
    - a name that no result has is summed over: it may be divided, in one operand;
    - a capital letter names an axis that has to be whole;
    - ``...`` stands for the other axes, which are counted from the last.

    The text ``"elementwise"`` is the rule of primitives that compute each element of their results
    from those beside it: an axis is divided as it is in one operand, or as in all.

    The option ``linear`` tells in which operands the primitive is linear, so that they may be sums
    that are still to be added up: True for all of them together, ``"each"`` for each by itself, a
    tuple of positions for some together, or a function ``(*avals, **params)`` to one of these;
    ``"own"`` says that the rule tells of sums by itself. The option ``manual`` tells the same for
    manual axes, where that is something else, or is a function ``(differing, *mats, **params)``
    from the axes along which each result differs between devices, and the ``ManualAxisType`` of
    each operand, to that of each result.

    >>> from bindax_core.extend import rules
    >>> rules.sharding("ij,jk->ik").kind, rules.sharding("...MN->...MN").is_present
    (RuleKind('sharding'), True)
    """

    def __call__(
        self, function: str | Callable[..., Any], *, platform: str | None = None, **options: Any
    ) -> Rule:
        """Make a rule from a function, or from names of axes."""
        if isinstance(function, str):
            function = elementwise if function == "elementwise" else named_axes(function)
            options["takes_primitive"] = True
        rule = super().__call__(function, platform=platform, **options)
        return rule.replace(site=caller_site())


sharding: ShardingKind = ShardingKind(
    "sharding", adapt=list_result, signature="(*avals, **params) -> PartitionSpec"
)
"""The division of the results of a primitive, from that of its operands: see ``ShardingKind``."""

core_kinds.append(sharding)


def placed_results(
    primitive: Primitive, avals: Sequence[Any], plain: Sequence[Any], params: dict[str, Any]
) -> Sequence[Any]:
    """The types of the results, from types that say how the operands lie."""
    rule = sharding.find(primitive)
    if rule is None and (subjaxprs(params) or any(map(_is_sharding, params.values()))):
        return primitive.result_types(tuple(avals), params)  # these say how results lie
    given = sharding.rule_of(primitive)
    options = {} if given is None else given.options
    linear = options.get("linear")
    if callable(linear):
        linear = linear(*avals, **params)
    outs = primitive.out_avals(tuple(plain), params)
    manual = options.get("manual", linear)
    outs = _with_manual_axes(primitive, avals, outs, params, manual)
    if not outs or not any(getattr(aval, "is_divided", False) for aval in avals):
        return outs
    mesh = _mesh_of(primitive, avals)
    if rule is None:
        raise missing(primitive, avals)
    try:
        specs = rule(*avals, **params)
    except Exception as error:
        explain_failure(primitive, "sharding", error, avals, params)
        raise
    of_itself = linear == "own" or all(isinstance(spec, PartitionSpec) for spec in specs)
    sums = (frozenset(), frozenset()) if of_itself else sums_of(primitive, linear, avals)
    return tuple(
        _placed(primitive, avals, aval, mesh, _with_sums(spec, sums))
        for aval, spec in zip(outs, specs, strict=True)
    )


runtime.placed_results = placed_results


def _is_sharding(value: Any) -> bool:
    return isinstance(value, (Sharding, Space))


def _with_manual_axes(
    primitive: Primitive,
    avals: Sequence[Any],
    outs: Sequence[Any],
    params: dict[str, Any],
    manual: Any,
) -> Sequence[Any]:
    """The types of results with what is known of manual axes, from the operands."""
    mats = [getattr(aval, "mat", NO_MANUAL_AXES) for aval in avals]
    if not any(mats):
        return outs
    own = [mat.varying | mat.unreduced for mat in mats]  # terms of a sum differ, too
    kind = rule_kinds.get("varying")
    rule = None if kind is None else kind.find(primitive)
    found = frozenset().union(*own) if rule is None else rule(*own, **params)
    each = found if isinstance(found, list) else [found] * len(outs)
    if len(each) != len(outs):
        problem = f"returned {len(each)} sets of axes for {len(outs)} results"
        raise rule_output_error(primitive, "varying", problem)
    if callable(manual):
        results = manual(each, *mats, **params)
    else:
        unreduced, reduced = manual_sums_of(primitive, manual, avals)
        sums = unreduced | reduced
        results = [ManualAxisType(along - sums, unreduced, reduced) for along in each]
    pairs = zip(outs, results, strict=True)
    return tuple([aval.update(mat=mat) if hasattr(aval, "mat") else aval for aval, mat in pairs])


def _mesh_of(primitive: Primitive, avals: Sequence[Any]) -> AbstractMesh:
    """The mesh of the operands, which is the one at work if there is one.

    Where a jaxpr is applied, another one may have been at work when it was written.
    """
    meshes = [aval.placement.mesh for aval in avals if getattr(aval, "is_divided", False)]
    present = NO_MESH if current_source.info.code is not None else get_abstract_mesh()
    for mesh in meshes:
        if not present.empty and present != mesh:
            raise ValueError(
                f"For primitive {primitive.name}, context mesh {present} should match the aval "
                f"mesh {mesh}: an operand lies on another mesh than the one at work, among "
                f"{listed(avals)}. Lay it out there by reshard, or name its mesh by set_mesh."
            )
        if mesh != meshes[0]:
            raise ValueError(
                f"{primitive.name} got operands on different meshes, {meshes[0]} and {mesh}: "
                f"{listed(avals)}. Lay them out on one by reshard."
            )
    found: AbstractMesh = meshes[0]
    return found


def _with_sums(spec: Any, sums: tuple[frozenset[Any], frozenset[Any]]) -> Any:
    """The spec of a rule, with the mesh axes along which the results are unreduced and reduced."""
    if isinstance(spec, PartitionSpec) or not any(sums):
        return spec
    names = {name for entry in spec for name in (entry if isinstance(entry, tuple) else (entry,))}
    return PartitionSpec(*spec, unreduced=sums[0] - names, reduced=sums[1] - names)


def _placed(
    primitive: Primitive, avals: Sequence[Any], aval: Any, mesh: AbstractMesh, spec: Any
) -> Any:
    """The type of one result with what its rule says."""
    names = [name for entry in spec for name in (entry if isinstance(entry, tuple) else (entry,))]
    names = [name for name in names if name is not None]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ShardingTypeError(
            f"{primitive.name} operation with inputs {listed(avals)} produces an illegally "
            f"sharded result {aval.str_short()}: the mesh axis {twice!r} would divide two of its "
            f"axes. {OUT_SHARDING}"
        )
    spec = spec if isinstance(spec, PartitionSpec) else PartitionSpec(*spec)
    try:
        return aval.update(sharding=NamedSharding(mesh, spec))
    except ValueError as error:
        raise ShardingTypeError(
            f"{primitive.name} of {listed(avals)}: the result {aval.str_short()} cannot lie as "
            f"{spec!r} says. {error}"
        ) from error
