"""The orders of axes in memory that programs say of their operands and results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bindax_core.errors import PlacementError
from bindax_core.extend import ClosedJaxpr, Jaxpr, Literal
from bindax_core.sharding import AutoLayout, Layout, Space

Order = Layout | AutoLayout | None
"""An order of axes, the choice of XLA, or None for the default."""


def orders_of_operands(jaxpr: Jaxpr, name: str, bound: Mapping[int, Layout | None]) -> list[Order]:
    """For each operand the order of its axes.

    Args:
        jaxpr: the program.
        name: its name, for messages.
        bound: the orders of operands that lie somewhere already, which stay as they are.

    Raises:
        PlacementError: when such an operand is in another order than the program asks for.
    """
    asked: dict[Any, Order] = {}
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "layout_constraint" and eqn.params["of_operand"]:
            asked.setdefault(eqn.invars[0], eqn.params["layout"])
    orders: list[Order] = []
    for i, var in enumerate(jaxpr.invars):
        wanted, own = asked.get(var), bound.get(i)
        if i in bound and isinstance(wanted, Layout):
            there = own or Layout.default(len(wanted.major_to_minor))
            if wanted != there:
                raise PlacementError(
                    f"{name}: operand {i} is to lie in memory as {wanted!r}, but it does as "
                    f"{there!r}, and is bound to its devices. Move it with device_put(x, "
                    f"Format(layout, x.sharding)), or leave its layout out of in_shardings."
                )
        orders.append(own if i in bound else wanted)
    return [_named(order) for order in orders]


def last_requests(jaxpr: Jaxpr) -> tuple[tuple[str | None, Order], ...]:
    """For each result the last memory and the last order that operations ask for."""
    found: dict[Any, tuple[str | None, Order]] = {}
    for eqn in jaxpr.eqns:
        params = eqn.params
        if not params:
            continue
        inner = params.get("jaxpr")
        if eqn.primitive.name == "sharding_constraint":
            given = params["sharding"]
            kind = given.value if isinstance(given, Space) else given.other_memory
            found[eqn.outvars[0]] = (kind, _earlier(found, eqn)[1])
        elif eqn.primitive.name == "layout_constraint" and not params["of_operand"]:
            found[eqn.outvars[0]] = (_earlier(found, eqn)[0], _named(params["layout"]))
        elif isinstance(inner, ClosedJaxpr) and len(inner.out_avals) == len(eqn.outvars):
            found.update(zip(eqn.outvars, last_requests(inner.jaxpr), strict=True))
    none = (None, None)
    return tuple([none if type(x) is Literal else found.get(x, none) for x in jaxpr.outvars])


def _earlier(found: Mapping[Any, tuple[str | None, Order]], eqn: Any) -> tuple[str | None, Order]:
    (x,) = eqn.invars
    return (None, None) if type(x) is Literal else found.get(x, (None, None))


def _named(order: Order) -> Order:
    return None if isinstance(order, Layout) and order.is_default else order


def attribute(order: Order) -> str:
    """The attribute of a parameter or result with an order; empty for the default."""
    if order is None:
        return ""
    if isinstance(order, AutoLayout):
        return 'mhlo.layout_mode = "auto"'
    return f'mhlo.layout_mode = "{{{",".join(map(str, reversed(order.major_to_minor)))}}}"'


def chosen(orders: Sequence[Order], compiled: Sequence[Any]) -> list[Layout | None]:
    """The orders that a compiled program has, of which XLA chose some, in its own form."""
    return [
        from_text(str(own)) if isinstance(order, AutoLayout) else order
        for order, own in zip(orders, compiled, strict=True)
    ]


def from_text(text: str) -> Layout:
    """The layout that XLA writes as ``{0,1}``, from the fastest axis to the slowest."""
    inside = re.match(r"\{([\d,]*)", text)
    axes = "" if inside is None else inside[1]
    return Layout(tuple(int(axis) for axis in reversed(axes.split(","))) if axes else ())
