"""Sharding rules on devices: results of divided operands beside those of whole ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

import numpy as np

from bindax_core import device_put
from bindax_core.errors import ShardingTypeError
from bindax_core.extend import Primitive, Rule, as_array, is_differentiable, rules, typeof
from bindax_core.sharding import Mesh, NamedSharding, PartitionSpec
from bindax_testing._cases import Case, cases_of
from bindax_testing._samples import Sample
from bindax_transforms import jit, vjp, vmap

_MOST = 12
"""The divisions of the operands of one case that are tried, at most."""


def check_shardings(
    primitive: Primitive, samples: Sequence[Sample], mesh: Mesh, *, most: int = _MOST
) -> list[str]:
    """Compare the results of a primitive on divided operands with those on whole ones.

    In every division of the operands that its ``sharding`` rule accepts, the compiled results have
    to be those of whole operands, and to lie as the rule says; so have a batch of them, divided
    along the new axis, and the cotangents, which lie as the operands do.

    Args:
        primitive: a primitive with a ``sharding`` rule.
        samples: what it is applied to. Axes of odd sizes are divided in no way.
        mesh: a mesh whose axes are explicit.
        most: the divisions that are tried for a sample, at most.

    Returns:
        What is wrong, as text, for each division.

    Raises:
        ValueError: when an axis of the mesh is not explicit.

    >>> from bindax_core.sharding import AxisType, make_mesh
    >>> from bindax_lax_basic import neg_p
    >>> from bindax_testing import array, sample
    >>> mesh = make_mesh((1,), ("x",), AxisType.Explicit)
    >>> check_shardings(neg_p, [sample(neg_p, array((4, 2)))], mesh)
    []
    """
    if not mesh.are_all_axes_explicit:
        raise ValueError(f"check_shardings: all axes of the mesh must be explicit, but got {mesh}.")
    found: list[str] = []
    for one in samples:
        for case in cases_of(one, (primitive,)):
            found += case_problems(case, mesh, most)
    return found


def case_problems(case: Case, mesh: Mesh, most: int) -> list[str]:
    """Find mistakes in the first divisions of the operands of one case."""
    divisions = islice(_divisions(case, mesh), most)
    return [problem for specs in divisions for problem in _problems(case, specs, mesh)]


def _divisions(case: Case, mesh: Mesh) -> Iterator[tuple[PartitionSpec, ...]]:
    """Ways to divide the operands, of which one at least is; those first that divide more."""
    ways = [list(_specs(aval, mesh)) for aval in case.avals]
    for specs in product(*ways):
        if any(any(spec.axes) for spec in specs):
            yield specs


def _specs(aval: Any, mesh: Mesh) -> Iterator[PartitionSpec]:
    """Ways to divide an operand: along one axis by one axis of the mesh, and not at all."""
    shape = getattr(aval, "shape", ())
    for name in mesh.axis_names[:2]:
        for axis, size in enumerate(shape):
            if size and size % mesh.shape[name] == 0:
                yield PartitionSpec(*[name if i == axis else None for i in range(len(shape))])
    yield PartitionSpec(*[None] * len(shape))


def _problems(case: Case, specs: Sequence[PartitionSpec], mesh: Mesh) -> Iterator[str]:
    where = f"{case.description} of operands that lie as {', '.join(map(repr, specs))}"
    operands = [as_array(x) for x in case.operands]
    divided = [
        device_put(x, NamedSharding(mesh, spec)) for x, spec in zip(operands, specs, strict=True)
    ]
    try:
        avals = case.primitive.out_avals(tuple(typeof(x) for x in divided), dict(case.params))
    except ShardingTypeError:
        return
    wanted = case.call(*operands)
    yield from _different(where, wanted, jit(case.fresh())(*divided), avals)
    yield from _batch_problems(case, where, operands, specs, mesh)
    yield from _cotangent_problems(case, where, operands, divided)


def _different(
    where: str, wanted: Sequence[Any], found: Sequence[Any], avals: Sequence[Any] | None
) -> Iterator[str]:
    """Find mistakes in results: their values, and how they lie."""
    for i, (right, made) in enumerate(zip(wanted, found, strict=True)):
        if avals is not None and typeof(made) is not avals[i]:
            yield (
                f"{where}: result {i} has the type {typeof(made).str_short()}, but the rule says "
                f"{avals[i].str_short()}."
            )
        if not _close(right, made):
            yield f"{where}: result {i} differs from that of whole operands."


def _close(right: Any, made: Any) -> bool:
    one, other = np.asarray(right), np.asarray(made)
    if not is_differentiable(one.dtype):
        return bool(np.array_equal(one, other))
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    tolerance = 1e-2 if one.dtype.itemsize < 4 else 2e-4
    return bool(
        np.allclose(one.astype(wide), other.astype(wide), tolerance, tolerance, equal_nan=True)
    )


def _batch_problems(
    case: Case,
    where: str,
    operands: Sequence[Any],
    specs: Sequence[PartitionSpec],
    mesh: Mesh,
) -> Iterator[str]:
    """The same of a batch that is divided along its axis, by the last axis of the mesh."""
    name = mesh.axis_names[-1]
    rule = rules.vmap.rule_of(case.primitive)
    if rule is None or not rule.is_present or not operands or "vmap" in case.skip:
        return
    if any(name in axes for spec in specs for axes in spec.axes):
        return
    count = mesh.shape[name]
    batch = [np.stack([np.asarray(x)] * count) for x in operands]
    divided = [
        device_put(x, NamedSharding(mesh, PartitionSpec(name, *spec)))
        for x, spec in zip(batch, specs, strict=True)
    ]
    batched = vmap(case.fresh())
    try:
        found = jit(batched)(*divided)
    except ShardingTypeError:
        return
    for i, made in enumerate(found):
        if typeof(made).sharding.spec[0] != name:
            yield f"{where}: result {i} of a batch that {name!r} divides is not divided by it."
    yield from _different(f"{where}, in a batch", batched(*batch), found, None)


def _cotangent_problems(
    case: Case, where: str, operands: Sequence[Any], divided: Sequence[Any]
) -> Iterator[str]:
    """The cotangents, beside those of whole operands."""
    places = [i for i in case.positions if typeof(operands[i]).dtype.itemsize >= 4]
    if not places or not _is_present(rules.jvp.rule_of(case.primitive)):
        return

    def of(values: Sequence[Any]) -> list[Any]:
        def function(*chosen: Any) -> list[Any]:
            given = list(values)
            for i, x in zip(places, chosen, strict=True):
                given[i] = x
            outs = case.call(*given)
            return [out for out in outs if is_differentiable(typeof(out).dtype)]

        def pulled(*chosen: Any) -> tuple[Any, ...]:
            outs, pull = vjp(function, *chosen)
            return tuple(pull(outs))

        return list(jit(pulled)(*[values[i] for i in places]))

    try:
        found = of(divided)
    except ShardingTypeError:
        return
    for i, made in zip(places, found, strict=True):
        if typeof(made).sharding.spec != typeof(divided[i]).sharding.spec:
            yield f"{where}: the cotangent of operand {i} lies as {typeof(made).str_short()}."
    yield from _different(f"{where}, of cotangents", of(operands), found, None)


def _is_present(rule: Rule | None) -> bool:
    return rule is not None and rule.is_present
