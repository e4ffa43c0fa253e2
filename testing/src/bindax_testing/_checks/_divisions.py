"""Sharding rules on devices: results of divided operands beside those of whole ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

import attrs
import numpy as np

from bindax_core import config, device_put, devices
from bindax_core.errors import ShardingTypeError
from bindax_core.extend import Primitive, Rule, as_array, is_differentiable, rules, typeof
from bindax_core.sharding import (
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
    make_mesh,
)
from bindax_testing._cases import Case
from bindax_testing._checks._base import check, unless_absent, value
from bindax_testing._compare import Mismatch, NotApplicable, host, host_parts
from bindax_transforms import jit, vjp, vmap

MOST = 32
"""The divisions of the operands of one case that are tried, at most."""
_SIZES, _NAMES = (2, 2, 2), ("x", "y", "z")
_EXPLICIT = (AxisType.Explicit,) * 3
_EIGHT = 'import os\n\nos.environ.setdefault("BINDAX_NUM_CPU_DEVICES", "8")\n\n'


def _why_not(primitive: Primitive, compiler: str | None) -> str | None:
    reason = unless_absent(rules.sharding)(primitive, compiler)
    if reason is None and compiler is None:
        return "no compiling backend is installed"
    if reason is not None:
        return reason
    with config.override(backend=compiler):
        count = len(devices())
    if count >= 8:
        return None
    there = "there is one device" if count == 1 else f"there are {count} devices"
    return f"{there}; with BINDAX_NUM_CPU_DEVICES=8 the CPU is divided into eight"


def divisions(case: Case) -> list[Case]:
    """The cases of divided operands that the check runs on; itself where nothing can be divided."""
    return [*divided_cases(case, AbstractMesh(_SIZES, _NAMES, _EXPLICIT))] or [case]


@check("divided", "sharding", rank=4, why_not=_why_not, setup=_EIGHT, cases=divisions)
def _divided(case: Case, compiler: str | None) -> None:
    if case.specs is None:
        raise NotApplicable("no operand has an axis of an even size")
    with config.override(backend=compiler):
        mesh = make_mesh(_SIZES, _NAMES, _EXPLICIT, devices=devices()[:8])
        found = division_problems(case, mesh)
    if found is None:
        raise NotApplicable("the rule refuses the division")
    if found:
        raise Mismatch("\n".join(found))


def divided_cases(case: Case, mesh: Any, most: int = MOST) -> Iterator[Case]:
    """A case in the ways to divide its operands, of which one at least is."""
    given = product(*[list(_specs(aval, mesh)) for aval in case.avals])
    ways = (specs for specs in given if mesh.axis_names[0] in _names(specs)[:1])
    return (attrs.evolve(case, specs=specs) for specs in islice(ways, most))


def _names(specs: Sequence[PartitionSpec]) -> list[str]:
    """The mesh axes that divide operands, as they come; it does not matter which is the first."""
    return [name for spec in specs for name in spec.names]


def _specs(aval: Any, mesh: Any) -> Iterator[PartitionSpec]:
    """Ways to divide an operand: along one axis by one axis of the mesh, and not at all."""
    shape = getattr(aval, "shape", ())
    for name in mesh.axis_names[:2]:
        for axis, size in enumerate(shape):
            if size and size % mesh.shape[name] == 0:
                yield PartitionSpec(*[name if i == axis else None for i in range(len(shape))])
    yield PartitionSpec(*[None] * len(shape))


def division_problems(case: Case, mesh: Mesh) -> list[str] | None:
    """Find mistakes in a case of divided operands; None where the rule refuses the division."""
    specs = case.specs or ()
    where = f"operands that lie as {', '.join(map(repr, specs))}"
    operands = [as_array(x) for x in case.operands]
    divided = [
        device_put(x, NamedSharding(mesh, spec)) for x, spec in zip(operands, specs, strict=True)
    ]
    try:
        avals = case.primitive.out_avals(tuple(map(typeof, divided)), dict(case.params))
    except ShardingTypeError:
        return None
    wanted = case.call(*operands)
    found = [*_different(where, wanted, jit(case.fresh())(*divided), avals)]
    found += _different(f"{where}, one by one", wanted, case.call(*divided), avals)
    found += _batch_problems(case, where, operands, specs, mesh)
    found += _cotangent_problems(case, where, operands, divided)
    return found


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
    one, other = host_parts(right), host_parts(made)
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
    batch = [_repeated(x, count) for x in operands]
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


def _repeated(x: Any, count: int) -> Any:
    """An array several times, along a new first axis."""
    aval = typeof(x)
    made = aval.update(shape=(count, *aval.shape))
    return value(np.stack([host(x)] * count), made)


def _cotangent_problems(
    case: Case, where: str, operands: Sequence[Any], divided: Sequence[Any]
) -> Iterator[str]:
    """The cotangents, beside those of whole operands."""
    places = [i for i in case.positions if typeof(operands[i]).dtype.itemsize >= 4]
    if not places or not _is_present(rules.jvp.rule_of(case.primitive)):
        return
    if "divided cotangents" in case.skip:
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
    except ShardingTypeError as error:
        yield f"{where}: the cotangents raise {error}"
        return
    for i, made in zip(places, found, strict=True):
        if typeof(made).sharding.spec != typeof(divided[i]).sharding.spec:
            yield f"{where}: the cotangent of operand {i} lies as {typeof(made).str_short()}."
    yield from _different(f"{where}, of cotangents", of(operands), found, None)


def _is_present(rule: Rule | None) -> bool:
    return rule is not None and rule.is_present
