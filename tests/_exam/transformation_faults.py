"""Transformations with a mistake each, and right ones of the same parts.

All of them count: a value is boxed with the number of operations that it took.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import bindax
import bindax.numpy as bnp
from bindax import lax
from bindax.extend import (
    DebugInfo,
    Literal,
    RuleKind,
    Trace,
    ValueTracer,
    as_array,
    bind_flat,
    full_raise,
    jaxpr_as_fun,
    new_main,
    typeof,
)


class Counted(NamedTuple):
    """A value, and how many operations it took."""

    value: Any
    count: Any


def lift(x: Any) -> Counted:
    """A value that took none."""
    return Counted(x, np.int32(0))


def known(x: Any) -> Counted:
    """A value that took some."""
    return Counted(x, np.int32(4))


def value(out: Any) -> Any:
    """The values of a result."""
    return bindax.tree.map(lambda x: x.value, out, is_leaf=is_counted)


def is_counted(x: Any) -> bool:
    """Tell whether something is a counted value."""
    return isinstance(x, Counted)


# ------------------------------------------------------------------ interpreters of operations

Rules = dict[str, Callable[..., Any]]


class CountTracer(ValueTracer):
    """A value inside the interpreter."""

    def __init__(self, trace: Trace, box: Counted) -> None:
        super().__init__(trace, box.value)
        self.box = box


class CountTrace(Trace):
    """Counts operations; its data are rules for those that apply programs."""

    def pure(self, value: Any) -> CountTracer:
        return CountTracer(self, Counted(value, np.int32(0)))

    def process_primitive(self, primitive: Any, tracers: Sequence[Any], params: Any) -> list[Any]:
        boxes = [tracer.box for tracer in tracers]
        rules: Rules = self.main.global_data
        rule = rules.get(primitive.name) or rules.get("*") or any_operation
        outs = rule(rules, primitive, boxes, params)
        return [CountTracer(self, out) for out in outs]


def any_operation(_: Rules, primitive: Any, boxes: Sequence[Counted], params: Any) -> list[Counted]:
    """One operation more than the longest of the operands."""
    outs = bind_flat(primitive, [box.value for box in boxes], params)
    return [Counted(out, most(boxes) + 1) for out in outs]


def most(boxes: Sequence[Counted]) -> Any:
    count: Any = np.int32(0)
    for box in boxes:
        count = lax.max(count, box.count)
    return count


def program_inside(rules: Rules, _: Any, boxes: Any, params: Any) -> list[Counted]:
    return interpreted(rules, jaxpr_as_fun(params["jaxpr"]), boxes)


def custom_call(rules: Rules, _: Any, boxes: Any, params: Any) -> list[Counted]:
    return interpreted(rules, params["call"].function, boxes)


def branch(rules: Rules, primitive: Any, boxes: Any, params: Any) -> list[Counted]:
    index, *operands = boxes

    def inside(jaxpr: Any) -> Callable[..., Any]:
        f = jaxpr_as_fun(jaxpr)
        return lambda *xs: list(map(tuple, interpreted(rules, f, map(_box, xs))))

    number = lax.convert_element_type(index.value, np.int32)
    outs = lax.switch(number, list(map(inside, params["branches"])), *map(tuple, operands))
    return [Counted(x, count + 0 * index.count) for x, count in outs]


def loop_scan(rules: Rules, primitive: Any, boxes: Any, params: Any) -> list[Counted]:
    body = jaxpr_as_fun(params["jaxpr"])
    consts, carry = params["num_consts"], params["num_carry"]
    fixed, start = boxes[:consts], boxes[consts : consts + carry]
    rows = [box.value for box in boxes[consts + carry :]]
    counts = [box.count for box in boxes[consts + carry :]]

    def step(held: Any, row: Any) -> Any:
        items = [Counted(x, count) for x, count in zip(row, counts, strict=True)]
        outs = interpreted(rules, body, [*fixed, *map(_box, held), *items])
        return list(map(tuple, outs[:carry])), list(map(tuple, outs[carry:]))

    begin = [(box.value, as_array(box.count)) for box in start]
    length, reverse = params["length"], params["reverse"]
    end, kept = lax.scan(step, begin, rows, length=length, reverse=reverse)
    return [*map(_box, end), *(Counted(x, bnp.max(count)) for x, count in kept)]


def loop_while(rules: Rules, primitive: Any, boxes: Any, params: Any) -> list[Counted]:
    first, second = params["cond_nconsts"], params["body_nconsts"]
    fixed = boxes[:first], boxes[first : first + second]

    def step(held: Any) -> Any:
        body = jaxpr_as_fun(params["body_jaxpr"])
        return list(map(tuple, interpreted(rules, body, [*fixed[1], *map(_box, held)])))

    def goes_on(held: Any) -> Any:
        test = jaxpr_as_fun(params["cond_jaxpr"])
        return interpreted(rules, test, [*fixed[0], *map(_box, held)])[0].value

    begin = [(box.value, as_array(box.count)) for box in boxes[first + second :]]
    return list(map(_box, lax.while_loop(goes_on, step, begin)))


def _box(pair: Any) -> Counted:
    return Counted(*pair)


RULES: Rules = {
    "jit": program_inside,
    "checkpoint": program_inside,
    "custom_jvp_call": custom_call,
    "custom_vjp_call": custom_call,
    "cond": branch,
    "scan": loop_scan,
    "while": loop_while,
}


def interpreted(rules: Rules, function: Any, boxes: Any) -> list[Counted]:
    """Call a function of flat values inside the interpreter."""
    with new_main(CountTrace, rules, origin=DebugInfo("counted", function)) as main:
        given = [CountTracer(main.trace, box) for box in boxes]
        outs = function(*given)
        return [full_raise(main.trace, out).box for out in outs]


def boxes_of(args: Sequence[Any]) -> list[Counted]:
    """The arguments in boxes."""
    return [x if is_counted(x) else lift(x) for x in args]


def transformed(function: Callable[..., Any], **rules: Any) -> Callable[..., Any]:
    """A function of boxes; its results are a list of boxes."""

    def counting(*args: Any) -> Any:
        return interpreted({**RULES, **rules}, function, boxes_of(args))

    return counting


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Right."""
    return transformed(function)


# ------------------------------------------------------------------- interpreters of programs

Evaluated = Callable[[Any, Sequence[Any]], list[Any]]


def evaluate(jaxpr: Any, known: dict[Any, Any], eqns: Sequence[Any]) -> list[Any]:
    """Evaluate equations in the order in which they are given."""

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else known[atom]

    for eqn in eqns:
        outs = bind_flat(eqn.primitive, list(map(read, eqn.invars)), eqn.params)
        known.update(zip(eqn.outvars, outs, strict=True))
    return list(map(read, jaxpr.outvars))


def start(closed: Any, args: Sequence[Any]) -> dict[Any, Any]:
    """The knowledge before the first equation."""
    consts = zip(closed.jaxpr.constvars, closed.consts, strict=True)
    return {**dict(consts), **dict(zip(closed.jaxpr.invars, args, strict=True))}


def replayed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Right: the equations of the program one after the other."""

    def replay(*args: Any) -> list[Any]:
        closed = bindax.make_jaxpr(function)(*args)
        return evaluate(closed.jaxpr, start(closed, args), closed.jaxpr.eqns)

    return replay


def loses_effects(function: Callable[..., Any]) -> Callable[..., Any]:
    def replay(*args: Any) -> list[Any]:
        closed = bindax.make_jaxpr(function)(*args)
        used = {x for x in closed.jaxpr.outvars if not isinstance(x, Literal)}
        kept: list[Any] = []
        for eqn in reversed(closed.jaxpr.eqns):
            if used.intersection(eqn.outvars):  # wrong: effects count, too
                kept.insert(0, eqn)
                used.update(x for x in eqn.invars if not isinstance(x, Literal))
        return evaluate(closed.jaxpr, start(closed, args), kept)

    return replay


def drops_literals(function: Callable[..., Any]) -> Callable[..., Any]:
    def replay(*args: Any) -> list[Any]:
        closed = bindax.make_jaxpr(function)(*args)
        held = start(closed, args)

        def read(atom: Any) -> Any:
            return (
                typeof(atom.val).dtype.type(0) if isinstance(atom, Literal) else held[atom]
            )  # wrong

        for eqn in closed.jaxpr.eqns:
            outs = bind_flat(eqn.primitive, list(map(read, eqn.invars)), eqn.params)
            held.update(zip(eqn.outvars, outs, strict=True))
        return list(map(read, closed.jaxpr.outvars))

    return replay


def evaluates_backwards(function: Callable[..., Any]) -> Callable[..., Any]:
    def replay(*args: Any) -> list[Any]:
        closed = bindax.make_jaxpr(function)(*args)
        pending, held = list(closed.jaxpr.eqns), start(closed, args)
        order: list[Any] = []
        ready = set(held)
        while pending:
            for eqn in reversed(pending):  # wrong: the last one that could be evaluated
                if all(isinstance(x, Literal) or x in ready for x in eqn.invars):
                    order.append(eqn)
                    ready.update(eqn.outvars)
                    pending.remove(eqn)
                    break
        return evaluate(closed.jaxpr, held, order)

    return replay


def mixes_constants(function: Callable[..., Any]) -> Callable[..., Any]:
    def replay(*args: Any) -> list[Any]:
        closed = bindax.make_jaxpr(function)(*args)
        held = start(closed, args)
        consts = list(reversed(closed.consts))  # wrong
        held.update(zip(closed.jaxpr.constvars, consts, strict=True))
        return evaluate(closed.jaxpr, held, closed.jaxpr.eqns)

    return replay


def keeps_programs(function: Callable[..., Any]) -> Callable[..., Any]:
    kept: list[Any] = []

    def replay(*args: Any) -> list[Any]:
        if not kept:
            kept.append(replayed(function)(*args))  # wrong: results of other operands
        return list(kept[0])

    return replay


def reverses_results(function: Callable[..., Any]) -> Callable[..., Any]:
    def replay(*args: Any) -> list[Any]:
        return replayed(function)(*args)[::-1]  # wrong

    return replay


# --------------------------------------------------------- mistakes of interpreters of operations


def leaks_tracers(function: Callable[..., Any]) -> Callable[..., Any]:
    def counting(*args: Any) -> Any:
        with new_main(CountTrace, RULES, origin=DebugInfo("counted", function)) as main:
            outs = function(*[CountTracer(main.trace, box) for box in boxes_of(args)])
            return [Counted(out, np.int32(0)) for out in outs]  # wrong: outs are in boxes

    return counting


LAST: list[Any] = []


def remembers_tracers(function: Callable[..., Any]) -> Callable[..., Any]:
    def noting(*args: Any) -> Any:
        LAST[:] = [args[0]]  # wrong
        return function(*args)

    return transformed(noting)


def stays_outside_scan(function: Callable[..., Any]) -> Callable[..., Any]:
    return transformed(function, scan=any_operation)  # wrong


def stays_outside_custom_rules(function: Callable[..., Any]) -> Callable[..., Any]:
    return transformed(function, custom_jvp_call=any_operation)  # wrong


def wrong_under_vmap(function: Callable[..., Any]) -> Callable[..., Any]:
    def operation(rules: Rules, primitive: Any, boxes: Any, params: Any) -> list[Counted]:
        outs = any_operation(rules, primitive, boxes, params)
        mapped = any("Batch" in type(box.value).__name__ for box in boxes)  # wrong
        return [Counted(out.value, out.count + mapped) for out in outs]

    return transformed(function, **{"*": operation})


def strips_weak_types(function: Callable[..., Any]) -> Callable[..., Any]:
    def operation(rules: Rules, primitive: Any, boxes: Any, params: Any) -> list[Counted]:
        outs = any_operation(rules, primitive, boxes, params)
        dtypes = [typeof(out.value).dtype for out in outs]
        return [
            Counted(lax.convert_element_type(out.value, dtype), out.count)  # wrong
            for out, dtype in zip(outs, dtypes, strict=True)
        ]

    return transformed(function, **{"*": operation})


def widens(function: Callable[..., Any]) -> Callable[..., Any]:
    def operation(rules: Rules, primitive: Any, boxes: Any, params: Any) -> list[Counted]:
        outs = any_operation(rules, primitive, boxes, params)
        return [
            Counted(lax.convert_element_type(out.value, np.float64), out.count)  # wrong
            if typeof(out.value).dtype == np.float32
            else out
            for out in outs
        ]

    return transformed(function, **{"*": operation})


def counts_calls(function: Callable[..., Any]) -> Callable[..., Any]:
    calls = COUNTS.setdefault("calls", [])

    def counting(*args: Any) -> Any:
        calls.append(None)
        outs = transformed(function)(*args)
        return [Counted(out.value, out.count + len(calls)) for out in outs]  # wrong

    return counting


COUNTS: dict[str, list[Any]] = {}


def keeps_errors_back(function: Callable[..., Any]) -> Callable[..., Any]:
    def counting(*args: Any) -> Any:
        try:
            return transformed(function)(*args)
        except Exception:  # wrong
            return [boxes_of(args)[0]]

    return counting


def confuses_levels(function: Callable[..., Any]) -> Callable[..., Any]:
    def plain(x: Any) -> Any:
        return x.box.value if isinstance(x, CountTracer) else x

    def counting(*args: Any) -> Any:
        boxes = [Counted(plain(box.value), box.count) for box in boxes_of(args)]  # wrong
        return interpreted(RULES, function, boxes)

    return counting


exam_kind = RuleKind("exam_doubled", signature="(*operands, **params) -> list")
"""Rules of a transformation that has a table of them; one of them is wrong."""


def product_rule(x: Any, y: Any) -> list[Any]:
    return [x + y]  # wrong


PRODUCT = bindax.find_primitive("mul"), exam_kind(product_rule)


def wrong_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    if exam_kind.find(PRODUCT[0]) is None:  # in a program that repeats a failure
        exam_kind.install(*PRODUCT)

    def operation(rules: Rules, primitive: Any, boxes: Any, params: Any) -> list[Counted]:
        rule = exam_kind.find(primitive)
        if rule is None:
            return any_operation(rules, primitive, boxes, params)
        outs = rule(*[box.value for box in boxes], **params)
        return [Counted(out, most(boxes) + 1) for out in outs]

    return transformed(function, **{"*": operation})


@dataclass(frozen=True)
class Fault:
    """A transformation with a mistake.

    Attributes:
        transform: the transformation.
        checks: those that have to find it.
        blamed: what the report has to name beside the transformation.
        boxes: whether its arguments and results are boxes.
    """

    transform: Callable[..., Any]
    checks: tuple[str, ...]
    blamed: str = ""
    boxes: bool = True


FAULTS = [
    Fault(loses_effects, ("effects",), "debug_callback", boxes=False),
    Fault(drops_literals, ("values",), "mul", boxes=False),
    Fault(evaluates_backwards, ("effects",), boxes=False),
    Fault(mixes_constants, ("values",), boxes=False),
    Fault(keeps_programs, ("purity",), boxes=False),
    Fault(reverses_results, ("values", "types"), boxes=False),
    Fault(leaks_tracers, ("types",)),
    Fault(remembers_tracers, ("tracers",)),
    Fault(stays_outside_scan, ("programs inside",), "scan"),
    Fault(stays_outside_custom_rules, ("programs inside",), "custom_jvp_call"),
    Fault(wrong_under_vmap, ("vmap",), "mul"),
    Fault(strips_weak_types, ("types",), "mul"),
    Fault(widens, ("types",), "mul"),
    Fault(counts_calls, ("purity",)),
    Fault(keeps_errors_back, ("errors",)),
    Fault(confuses_levels, ("nesting",)),
    Fault(wrong_rule, ("values",), "the exam_doubled rule of mul"),
]
