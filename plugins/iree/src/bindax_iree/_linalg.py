"""Operations on tensors of unknown sizes as functions in MLIR's dialect ``linalg``.

IREE lowers these operations of StableHLO for known sizes alone: it cannot tell whether an axis of
unknown size is expanded by a broadcast. No symbolic size of an export stands for an axis that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import attrs


@attrs.frozen
class Tensor:
    """The type of a tensor: its sizes, ``"?"`` where unknown, and its element type.

    Integers have no sign here, as in the dialects that compute with them.
    """

    sizes: tuple[str, ...]
    element: str
    is_unsigned: bool = False

    def __str__(self) -> str:
        return f"tensor<{'x'.join([*self.sizes, self.element])}>"


def reshape(x: Tensor, shape: Tensor, out: Tensor) -> str:
    """A function that reshapes a tensor to the sizes in a vector."""
    line = f"%out = tensor.reshape %0(%1) : ({x}, {shape}) -> {out}"
    return function([x, shape], out, [line])


def broadcast(x: Tensor, shape: Tensor, out: Tensor, axes: Sequence[int]) -> str:
    """A function that broadcasts a tensor, whose axes become the given ones of the result.

    An axis of size 1 is expanded, any other keeps its size.
    """
    sizes = []
    for axis in _open(out):
        sizes += [
            f"%i{axis} = arith.constant {axis} : index",
            f"%s{axis} = tensor.extract %1[%i{axis}] : {shape}",
            f"%n{axis} = arith.index_cast %s{axis} : {shape.element} to index",
        ]
    taken = ["0" if n == "1" else f"d{axis}" for n, axis in zip(x.sizes, axes, strict=True)]
    whole = [f"d{axis}" for axis in range(len(out.sizes))]
    generic = loop([taken, whole], whole, reduced=())
    lines = [
        *sizes,
        empty(out),
        f"%out = {generic} ins(%0 : {x}) outs(%empty : {out}) {{",
        f"^bb0(%a: {x.element}, %b: {out.element}):",
        f"linalg.yield %a : {out.element}",
        f"}} -> {out}",
    ]
    return function([x, shape], out, lines)


def clamp(x: Tensor, last: Sequence[int], axis: int) -> str:
    """A function that moves numbers into bounds from 0, one for each position on an axis."""
    bits = int(x.element.removeprefix("i"))
    most = 2 ** (bits if x.is_unsigned else bits - 1) - 1
    bounds = Tensor((str(len(last)),), x.element)
    whole = [f"d{i}" for i in range(len(x.sizes))]
    where = whole[axis] if axis < len(whole) else "0"
    generic = loop([whole, [where], whole], whole, reduced=())
    smaller = ["%moved = arith.minui %a, %b"]
    if not x.is_unsigned:
        smaller = ["%positive = arith.maxsi %a, %zero", "%moved = arith.minsi %positive, %b"]
    lines = [
        *open_sizes(x, [(0, i) for i in range(len(whole))], [x]),
        empty(x),
        f"%zero = arith.constant 0 : {x.element}",
        f"%last = arith.constant dense<{[min(n, most) for n in last]}> : {bounds}",
        f"%out = {generic} ins(%0, %last : {x}, {bounds}) outs(%empty : {x}) {{",
        f"^bb0(%a: {x.element}, %b: {x.element}, %c: {x.element}):",
        *(f"{line} : {x.element}" for line in smaller),
        f"linalg.yield %moved : {x.element}",
        f"}} -> {x}",
    ]
    return function([x], x, lines)


def within(x: Tensor, last: Sequence[int], beyond: Sequence[int]) -> str:
    """A function that replaces vectors of numbers that are not all within bounds from 0.

    Args:
        x: the type of the vectors, along its last axis.
        last: the greatest number at each place of a vector.
        beyond: the vector in the place of those.
    """
    rows, flags = Tensor((str(len(last)),), x.element), Tensor(x.sizes[:-1], "i1")
    whole = [f"d{i}" for i in range(len(x.sizes))]
    batch, row = whole[:-1], whole[-1:]
    checked = loop([whole, row, batch], whole, reduced=row)
    chosen = loop([whole, batch, row, whole], whole, reduced=())
    checks = [f"%fits = arith.cmpi ule, %a, %b : {x.element}"]
    if not x.is_unsigned:
        checks = [
            f"%positive = arith.cmpi sge, %a, %zero : {x.element}",
            f"%small = arith.cmpi sle, %a, %b : {x.element}",
            "%fits = arith.andi %positive, %small : i1",
        ]
    lines = [
        *open_sizes(x, [(0, i) for i in range(len(whole))], [x]),
        empty(x),
        f"%zero = arith.constant 0 : {x.element}",
        f"%last = arith.constant dense<{list(last)}> : {rows}",
        f"%beyond = arith.constant dense<{list(beyond)}> : {rows}",
        "%true = arith.constant true",
        empty(flags).replace("%empty", "%flags", 1),
        f"%all = linalg.fill ins(%true : i1) outs(%flags : {flags}) -> {flags}",
        f"%valid = {checked} ins(%0, %last : {x}, {rows}) outs(%all : {flags}) {{",
        f"^bb0(%a: {x.element}, %b: {x.element}, %c: i1):",
        *checks,
        "%both = arith.andi %fits, %c : i1",
        "linalg.yield %both : i1",
        f"}} -> {flags}",
        f"%out = {chosen} ins(%0, %valid, %beyond : {x}, {flags}, {rows}) outs(%empty : {x}) {{",
        f"^bb0(%a: {x.element}, %b: i1, %c: {x.element}, %d: {x.element}):",
        f"%kept = arith.select %b, %a, %c : {x.element}",
        f"linalg.yield %kept : {x.element}",
        f"}} -> {x}",
    ]
    return function([x], x, lines)


def longer(x: Tensor, out: Tensor, axis: int, more: int) -> str:
    """A function that appends so many zeros along an axis."""
    added = [more if i == axis else 0 for i in range(len(x.sizes))]
    places = ", ".join(f"%i{i}: index" for i in range(len(x.sizes)))
    lines = [
        f"%zero = {zero(x.element)}",
        f"%out = tensor.pad %0 low{[0] * len(added)} high{added} {{",
        f"^bb0({places}):",
        f"tensor.yield %zero : {x.element}",
        f"}} : {x} to {out}",
    ]
    return function([x], out, lines)


def shorter(x: Tensor, out: Tensor) -> str:
    """A function that gives the first elements along each axis."""
    rank = len(out.sizes)
    sizes = ", ".join(f"%n{i}" if n == "?" else n for i, n in enumerate(out.sizes))
    lines = [
        *open_sizes(out, [(0, i) for i in range(rank)], [x]),
        f"%out = tensor.extract_slice %0{[0] * rank}[{sizes}]{[1] * rank} : {x} to {out}",
    ]
    return function([x], out, lines)


def zero(element: str) -> str:
    """The operation that gives the zero of an element type."""
    if element.startswith("complex"):
        part = element.removeprefix("complex<").removesuffix(">")
        return f"complex.constant [0.0 : {part}, 0.0 : {part}] : {element}"
    return f"arith.constant {'0' if element.startswith('i') else '0.0'} : {element}"


Axes = Sequence[int]


def dot_general(
    x: Tensor, y: Tensor, out: Tensor, batch: tuple[Axes, Axes], contracted: tuple[Axes, Axes]
) -> str | None:
    """A function that contracts axes of two tensors; None for element types that it lacks.

    The axes of the result are those of the batch, and the others of each operand in turn.
    """
    arithmetic = _sum_of_products(x.element, y.element, out.element)
    if arithmetic is None:
        return None
    names = _names((len(x.sizes), len(y.sizes)), batch, contracted)
    summed = [names[0][axis] for axis in contracted[0]]
    sources = [(0, axis) for axis in batch[0]]
    for side in (0, 1):
        taken = {*batch[side], *contracted[side]}
        sources += [(side, axis) for axis in sorted(names[side]) if axis not in taken]
    sizes = open_sizes(out, sources, [x, y])
    maps = [[own[axis] for axis in sorted(own)] for own in names]
    maps.append([names[side][axis] for side, axis in sources])
    whole = [f"d{i}" for i in range(len(sources) + len(summed))]
    initial, *step = arithmetic
    lines = [
        *sizes,
        empty(out),
        f"%zero = {initial}",
        f"%init = linalg.fill ins(%zero : {out.element}) outs(%empty : {out}) -> {out}",
        f"%out = {loop(maps, whole, summed)} ins(%0, %1 : {x}, {y}) outs(%init : {out}) {{",
        f"^bb0(%a: {x.element}, %b: {y.element}, %c: {out.element}):",
        *step,
        f"linalg.yield %sum : {out.element}",
        f"}} -> {out}",
    ]
    return function([x, y], out, lines)


def _names(
    ranks: tuple[int, int], batch: tuple[Axes, Axes], contracted: tuple[Axes, Axes]
) -> tuple[dict[int, str], dict[int, str]]:
    """The dimensions that the axes of both operands run through; shared ones have one name."""
    number = count()
    names: tuple[dict[int, str], dict[int, str]] = ({}, {})
    for axes in (batch, contracted):
        for left, right in zip(*axes, strict=True):
            names[0][left] = names[1][right] = f"d{next(number)}"
    for own, rank in zip(names, ranks, strict=True):
        for axis in range(rank):
            if axis not in own:
                own[axis] = f"d{next(number)}"
    return names


def _sum_of_products(left: str, right: str, out: str) -> list[str] | None:
    """The zero of an element type, and the steps that add a product to a sum."""
    is_widened = left == right and left in ("f16", "bf16") and out == "f32"
    if not is_widened and not left == right == out:
        return None
    if out.startswith("complex"):
        multiply, add = "complex.mul", "complex.add"
    elif out in ("f16", "bf16", "f32", "f64"):
        multiply, add = "arith.mulf", "arith.addf"
    elif out in ("i8", "i16", "i32", "i64"):
        multiply, add = "arith.muli", "arith.addi"
    else:
        return None
    wide = [f"%{v}_wide = arith.extf %{v} : {left} to {out}" for v in "ab"] if is_widened else []
    a, b = ("%a_wide", "%b_wide") if is_widened else ("%a", "%b")
    return [
        zero(out),
        *wide,
        f"%product = {multiply} {a}, {b} : {out}",
        f"%sum = {add} %c, %product : {out}",
    ]


def _open(tensor: Tensor) -> list[int]:
    return [axis for axis, size in enumerate(tensor.sizes) if size == "?"]


def open_sizes(
    out: Tensor, sources: Sequence[tuple[int, int]], operands: Sequence[Tensor]
) -> list[str]:
    """The unknown sizes of a result, each from an operand and its axis."""
    lines = []
    for axis in _open(out):
        operand, at = sources[axis]
        lines += [
            f"%i{axis} = arith.constant {at} : index",
            f"%n{axis} = tensor.dim %{operand}, %i{axis} : {operands[operand]}",
        ]
    return lines


def empty(out: Tensor) -> str:
    return f"%empty = tensor.empty({', '.join(f'%n{axis}' for axis in _open(out))}) : {out}"


def loop(maps: Sequence[Sequence[str]], dims: Sequence[str], reduced: Sequence[str]) -> str:
    """A loop over dimensions; a map for each operand says where its axes are among them."""
    shown = ", ".join(f"affine_map<({', '.join(dims)}) -> ({', '.join(one)})>" for one in maps)
    kinds = ", ".join('"reduction"' if d in reduced else '"parallel"' for d in dims)
    return f"linalg.generic {{indexing_maps = [{shown}], iterator_types = [{kinds}]}}"


def function(operands: Sequence[Tensor], out: Tensor, lines: Sequence[str]) -> str:
    parameters = ", ".join(f"%{i}: {kind}" for i, kind in enumerate(operands))
    body = "\n".join(lines)
    return f"func.func private @f({parameters}) -> {out} {{\n{body}\nreturn %out : {out}\n}}"
