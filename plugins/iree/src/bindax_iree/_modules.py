"""StableHLO artifacts in the form that IREE compiles for all sizes.

Operations that IREE lowers for known sizes alone become calls of functions that it lowers for all,
and those that it computes less exactly, calls of functions that are as exact as elsewhere.
Assertions on sizes are custom calls, which IREE lacks; without them the sizes are not checked.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from typing import Any

from bindax_iree import _elementwise, _linalg
from bindax_iree._installed import compiler
from bindax_iree._linalg import Tensor


def prepared(artifact: bytes) -> bytes:
    """An artifact without assertions, whose operations that IREE lacks are functions."""
    compiler()
    from iree.compiler import ir
    from iree.compiler.api import Session

    context = Session().context
    module = ir.Module.parse(artifact, context=context)

    def call(operation: Any, text: str, operands: list[Any], result: Any) -> Any:
        symbol = f"bindax.{len(module.body.operations)}"
        function = ir.Module.parse(text.replace("@f", f"@{symbol}", 1))
        module.body.append(function.body.operations[0])
        return _called(ir, operation, symbol, operands, result)

    with context:
        for operation in list(_operations(module.operation)):
            name = operation.name
            if name == "vhlo.custom_call_v1" and "shape_assertion" in str(
                operation.attributes["call_target_name"]
            ):
                operation.erase()
                continue
            if name in _MENDED:
                _MENDED[name](ir, operation)
            if name in _SCATTERS:
                _drop_beyond(ir, operation, call)
                continue
            text = _FUNCTIONS[name](operation) if name in _FUNCTIONS else None
            if text is not None:
                if "gather" in name:
                    indices = operation.operands[1]
                    operation.operands[1] = call(operation, text, [indices], indices.type)
                    continue
                (result,) = operation.results
                made = call(operation, text, list(operation.operands), result.type)
                result.replace_all_uses_with(made)
                operation.erase()
        written = io.BytesIO()
        module.operation.write_bytecode(written)
    return written.getvalue()


def _operations(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region:
            for inner in block:
                yield inner.operation
                yield from _operations(inner.operation)


def _called(ir: Any, operation: Any, function: str, operands: list[Any], result: Any) -> Any:
    """The result of a function, called before an operation.

    Casts stand between the types of StableHLO's portable dialect and those of others.
    """
    options = {"ip": ir.InsertionPoint(operation), "loc": operation.location}

    def cast(value: Any, to: Any) -> Any:
        name = "builtin.unrealized_conversion_cast"
        made = ir.Operation.create(name, results=[to], operands=[value], **options)
        return made.results[0]

    def plain(kind: Any) -> Any:
        return ir.Type.parse(str(_tensor(kind)))

    call = ir.Operation.create(
        "func.call",
        results=[plain(result)],
        operands=[cast(x, plain(x.type)) for x in operands],
        attributes={"callee": ir.FlatSymbolRefAttr.get(function)},
        **options,
    )
    return cast(call.results[0], result)


def _reverse_signed(ir: Any, operation: Any) -> None:
    """Reverse unsigned numbers as signed ones: the form that IREE has for others is not legal."""
    unsigned = operation.results[0].type
    if "!vhlo.ui" not in str(unsigned):
        return
    signed = ir.Type.parse(str(unsigned).replace("!vhlo.ui", "!vhlo.i"))

    def as_bits(value: Any, to: Any) -> Any:
        options = {"ip": ir.InsertionPoint(operation), "loc": operation.location}
        name = "vhlo.bitcast_convert_v1"
        return ir.Operation.create(name, results=[to], operands=[value], **options).results[0]

    (result,) = operation.results
    reversed_ = ir.Operation.create(
        operation.name,
        results=[signed],
        operands=[as_bits(operation.operands[0], signed)],
        attributes={name: operation.attributes[name] for name in operation.attributes},
        ip=ir.InsertionPoint(operation),
        loc=operation.location,
    )
    result.replace_all_uses_with(as_bits(reversed_.results[0], unsigned))
    operation.erase()


def _keep_ties(ir: Any, operation: Any) -> None:
    """Have a sort keep the order of equal elements.

    IREE exchanges neighbours unless the first is less. So the comparison becomes: not greater.
    """
    (block,) = operation.regions[0]
    arguments = list(block.arguments)
    others = {number ^ 1: value for number, value in enumerate(arguments)}
    for inner in block:
        for i, value in enumerate(inner.operation.operands):
            if value in arguments:
                inner.operation.operands[i] = others[arguments.index(value)]
    returned = inner.operation
    negated = ir.Operation.create(
        "vhlo.not_v1",
        results=[returned.operands[0].type],
        operands=[returned.operands[0]],
        ip=ir.InsertionPoint(returned),
        loc=operation.location,
    )
    returned.operands[0] = negated.results[0]


def _drop_beyond(ir: Any, operation: Any, call: Callable[..., Any]) -> None:
    """Have a scatter drop what it would write out of bounds, where IREE writes elsewhere.

    It goes to elements behind the others, which are cut off; not where sizes are open.
    """
    x, indices, updates = (_tensor(value.type) for value in operation.operands)
    if "0" in updates.sizes:  # IREE's compiler divides by it
        operation.results[0].replace_all_uses_with(operation.operands[0])
        operation.erase()
        return
    axes = _numbers(operation, "scatter_dims_to_operand_dims")
    if not axes or "?" in [x.sizes[axis] for axis in axes]:
        return
    single = {*_numbers(operation, "inserted_window_dims")}
    single |= {*_numbers(operation, "input_batching_dims")}
    extents = iter([updates.sizes[i] for i in _numbers(operation, "update_window_dims")])
    windows = ["1" if axis in single else next(extents) for axis in range(len(x.sizes))]
    if "?" in [windows[axis] for axis in axes]:
        return
    first, *others = axes
    last = [int(x.sizes[axis]) - int(windows[axis]) for axis in axes]
    size, more = int(x.sizes[first]), int(windows[first])
    sizes = [str(size + more) if axis == first else n for axis, n in enumerate(x.sizes)]
    padded = Tensor(tuple(sizes), x.element, x.is_unsigned)
    kind = re.sub(r"<(?:[?\d]+x)*", f"<{'x'.join(sizes)}x", str(operation.results[0].type), count=1)
    long_type = ir.Type.parse(kind)
    values, at, new = operation.operands
    moved = call(
        operation, _linalg.within(indices, last, [size, *[0] * len(others)]), [at], at.type
    )
    text = _linalg.longer(x, padded, first, more)
    made = ir.Operation.create(
        operation.name,
        results=[long_type],
        operands=[call(operation, text, [values], long_type), moved, new],
        attributes={name: operation.attributes[name] for name in operation.attributes},
        regions=1,
        ip=ir.InsertionPoint(operation),
        loc=operation.location,
    )
    operation.regions[0].blocks[0].append_to(made.regions[0])
    for name in ("indices_are_sorted", "unique_indices"):
        made.attributes[name] = ir.Attribute.parse("#vhlo.bool_v1<false>")
    (result,) = operation.results
    text = _linalg.shorter(padded, x)
    result.replace_all_uses_with(call(operation, text, [made.results[0]], result.type))
    operation.erase()


def _tensor(kind: Any) -> Tensor:
    """A type of tensors, from the text of that of StableHLO's portable dialect."""
    text = re.sub(r"!vhlo\.(\w+?)_v\d+", r"\1", str(kind)).replace("bool", "i1")
    *sizes, element = text.removeprefix("tensor<").removesuffix(">").split("x", text.count("x"))
    if element.endswith(">") or "complex" in text:  # whose name has an x
        *sizes, element = [*re.findall(r"[?\d]+(?=x)", text), text[text.index("complex") : -1]]
    return Tensor(tuple(sizes), element.removeprefix("u"), element.startswith("u"))


def _numbers(operation: Any, attribute: str) -> list[int]:
    """The integers of an attribute; MLIR writes those that are equal once, as ``dense<1>``."""
    found = re.search(r"dense<(.*?)> : tensor<(\d*)", str(operation.attributes[attribute]))
    if found is None:
        return []
    numbers = [int(n) for n in re.findall(r"\d+", found[1])]
    return numbers * int(found[2] or 1) if "[" not in found[1] else numbers


def _reshape(operation: Any) -> str:
    x, shape = (_tensor(x.type) for x in operation.operands)
    return _linalg.reshape(x, shape, _tensor(operation.results[0].type))


def _broadcast(operation: Any) -> str:
    x, shape = (_tensor(x.type) for x in operation.operands)
    axes = _numbers(operation, "broadcast_dimensions")
    return _linalg.broadcast(x, shape, _tensor(operation.results[0].type), axes)


def _dot_general(operation: Any) -> str | None:
    x, y = (_tensor(x.type) for x in operation.operands)
    if not {"?", "0"} & {*x.sizes, *y.sizes}:
        return None
    left, right = (
        [_numbers(operation, f"{side}_{kind}_dimensions") for kind in ("batching", "contracting")]
        for side in ("lhs", "rhs")
    )
    batch, contracted = zip(left, right, strict=True)
    return _linalg.dot_general(x, y, _tensor(operation.results[0].type), batch, contracted)


def _gather(operation: Any) -> str | None:
    """A function that moves indices into bounds, which IREE does not: it would read elsewhere."""
    x, indices = (_tensor(value.type) for value in operation.operands)
    axes = _numbers(operation, "start_index_map")
    whole = [x.sizes[axis] for axis in axes]
    if "?" in whole:
        return None
    sizes = _numbers(operation, "slice_sizes")
    last = [int(n) - sizes[axis] for n, axis in zip(whole, axes, strict=True)]
    at = re.match(r"-?\d+", str(operation.attributes["index_vector_dim"]).partition("<")[2])
    return _linalg.clamp(indices, last, int(at[0]) if at else 0)


def _log_plus_one(operation: Any) -> str | None:
    return _elementwise.log1p(_tensor(operation.operands[0].type))


def _exponential_minus_one(operation: Any) -> str | None:
    return _elementwise.expm1(_tensor(operation.operands[0].type))


def _convert(operation: Any) -> str | None:
    x, out = (_tensor(one.type) for one in (operation.operands[0], operation.results[0]))
    return _elementwise.convert(x, out)


_FUNCTIONS = {
    "vhlo.convert_v1": _convert,
    "vhlo.exponential_minus_one_v1": _exponential_minus_one,
    "vhlo.exponential_minus_one_v2": _exponential_minus_one,
    "vhlo.log_plus_one_v1": _log_plus_one,
    "vhlo.log_plus_one_v2": _log_plus_one,
    "vhlo.dynamic_broadcast_in_dim_v1": _broadcast,
    "vhlo.dynamic_reshape_v1": _reshape,
    "vhlo.dot_general_v2": _dot_general,
    "vhlo.gather_v1": _gather,
    "vhlo.gather_v2": _gather,
}

_SCATTERS = ("vhlo.scatter_v1", "vhlo.scatter_v2")
_MENDED = {"vhlo.reverse_v1": _reverse_signed, "vhlo.sort_v1": _keep_ties}
