"""``vmap`` against a Python loop, for mapped and unmapped operands and all axis positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import typeof
from bindax_testing._cases import DRAWS, Call, replaced
from bindax_testing._checks._base import Run, check, mapped_choices, unless_absent, value
from bindax_testing._checks._keeping import require_forgotten
from bindax_testing._checks._purity import copies, require_unchanged, special_case
from bindax_testing._compare import Mismatch, NotApplicable, host, require_same, require_type
from bindax_transforms import make_jaxpr, vmap
from bindax_transforms.rules import vmap as vmap_rules


def stacked(case: Call, i: int, axis: int, size: int = DRAWS) -> Any:
    """The draws of one operand, stacked along an axis."""
    rows = [host(case.draws[k % len(case.draws)][i]) for k in range(size)]
    aval = case.avals[i]
    shape = (*aval.shape[:axis], size, *aval.shape[axis:])
    made = np.stack(rows, axis) if rows else np.zeros(shape, aval.dtype)
    return value(made, aval.update(shape=shape))


def rows_of(case: Call, mapped: Sequence[bool]) -> list[list[Any]]:
    """The operands of each element of a batch."""
    rows = [case.draws[k % len(case.draws)] for k in range(DRAWS)]
    given = case.operands
    return [[row[i] if flag else given[i] for i, flag in enumerate(mapped)] for row in rows]


def batched(case: Call) -> tuple[list[list[Any]], list[Any]]:
    """The operands of each element of a batch, and the batch of them all, its axis in front."""
    count = len(case.operands)
    return rows_of(case, [True] * count), [stacked(case, i, 0) for i in range(count)]


def require_loop(what: str, outs: Sequence[Any], rows: Sequence[Sequence[Any]]) -> None:
    """Raise unless batched results, their axis in front, are those of each element."""
    for i, out in enumerate(outs):
        wanted = [host(row[i]) for row in rows]
        aval = typeof(rows[0][i])
        full = aval.update(shape=(len(rows), *aval.shape))
        require_type(f"{what}: result {i}", typeof(out), full)
        require_same(f"{what}: result {i}", out, value(np.stack(wanted), full), types=False)


def placements(case: Call, mapped: Sequence[bool]) -> list[list[int | None]]:
    """Axis positions: all first, all last, mixed, and each of those in between."""
    last = [aval.ndim for aval in case.avals]
    ways = [[0] * len(last), last, [n if i % 2 else 0 for i, n in enumerate(last)]]
    ways += [[min(k, n) for n in last] for k in range(1, max(last, default=0))]
    found: list[list[int | None]] = []
    for way in ways:
        axes = [axis if flag else None for axis, flag in zip(way, mapped, strict=True)]
        if axes not in found:
            found.append(axes)
    return found


def _mapping(name: str, rank: int = 3) -> Callable[[Run], Run]:
    """A check of primitives with operands, which gets as many draws as a batch has elements."""

    def register(run: Run) -> Run:
        @check(name, "vmap", rank=rank, why_not=unless_absent(vmap_rules))
        def checked(case: Call, compiler: str | None) -> None:
            if not case.operands:
                raise NotApplicable("it has no operand to map")
            several = case if len(case.draws) > 1 else replaced(case, case.draws * DRAWS)
            run(several, compiler)

        return checked

    return register


@_mapping("vmap", rank=2)
def _vmap(case: Call, compiler: str | None) -> None:
    for mapped in mapped_choices(len(case.operands)):
        rows = [case.call(*row) for row in rows_of(case, mapped)]
        for axes in placements(case, mapped):
            batch = [
                x if axis is None else stacked(case, i, axis)
                for i, (x, axis) in enumerate(zip(case.operands, axes, strict=True))
            ]
            before = copies(batch)
            outs = vmap(case.call, tuple(axes))(*batch)
            require_unchanged(batch, before)
            require_loop(f"vmap with in_axes={tuple(axes)}", outs, rows)
    require_forgotten(case, vmap_rules, lambda: _staged_batch(case))


def _staged_batch(case: Call) -> None:
    make_jaxpr(vmap(case.fresh()))(*map(typeof, batched(case)[1]))


@_mapping("batch sizes")
def _sizes(case: Call, compiler: str | None) -> None:
    wanted = case.call(*case.operands)
    choices = list(mapped_choices(len(case.operands)))
    for mapped in choices[:1] + choices[1:][-3:]:
        axes = tuple(0 if flag else None for flag in mapped)
        for size in (0, 1):
            batch = [
                stacked(case, i, 0, size) if flag else x
                for i, (x, flag) in enumerate(zip(case.operands, mapped, strict=True))
            ]
            outs = vmap(case.call, axes)(*batch)
            what = f"vmap with in_axes={axes} and batch size {size}"
            for i, (out, one) in enumerate(zip(outs, wanted, strict=True)):
                aval = typeof(one)
                full = aval.update(shape=(size, *aval.shape))
                require_type(f"{what}: result {i}", typeof(out), full)
                if size:
                    require_same(what, out, value(host(one)[None], full), types=False)


@_mapping("nested vmap")
def _nested(case: Call, compiler: str | None) -> None:
    count = len(case.operands)
    ways = [((True,) * count, (True,) * count)]
    if count > 1:
        first = tuple(i == 0 for i in range(count))
        rest = tuple(not flag for flag in first)
        ways += [(first, rest), (rest, first), (first, (True,) * count)]
    for outer, inner in ways:
        _nested_once(case, outer, inner)


def _nested_once(case: Call, outer: Sequence[bool], inner: Sequence[bool]) -> None:
    """The outer axis of an operand is its first, the inner one its last."""
    draws = case.draws
    rows = [
        [
            draws[(2 * k * o + m * n) % len(draws)][i]
            for i, (o, n) in enumerate(zip(outer, inner, strict=True))
        ]
        for k in range(2)
        for m in range(3)
    ]
    batch = []
    for i, aval in enumerate(case.avals):
        grid = np.stack([host(row[i]) for row in rows]).reshape(2, 3, *aval.shape)
        full = np.moveaxis(grid, 1, -1)
        full = full if inner[i] else full[..., 0]
        full = full if outer[i] else full[0]
        batch.append(value(full, aval.update(shape=full.shape)))
    in_axes = tuple(-1 if flag else None for flag in inner)
    out_axes = tuple(0 if flag else None for flag in outer)
    outs = vmap(vmap(case.call, in_axes), out_axes)(*batch)
    wanted = [case.call(*row) for row in rows]
    flat = []
    for out in outs:
        aval = typeof(out)
        if aval.shape[:2] != (2, 3):
            raise Mismatch(f"nested vmap: a result has the shape {aval.shape}.")
        shape = (6, *aval.shape[2:])
        flat.append(value(host(out).reshape(shape), aval.update(shape=shape)))
    require_loop("nested vmap", flat, wanted)


@_mapping("vmap special values")
def _special(case: Call, compiler: str | None) -> None:
    special = special_case(case)
    rows, batch = batched(special)
    wanted = [special.call(*row) for row in rows]
    require_loop("vmap over special values", vmap(special.call)(*batch), wanted)
