"""Functions that see nothing new are traced once, however often control flow gets them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_control_flow import cond, fori_loop, scan, switch, while_loop

XS = np.arange(4.0)
TRACED: list[str] = []
note = TRACED.append


def counted(name: str, result: Any) -> Any:
    note(name)  # a function that names the list itself would be traced at each call
    return result


@pytest.fixture(autouse=True)
def fresh() -> None:
    bt.clear_caches()
    TRACED.clear()


def uses(scale: Any = 2.0) -> dict[str, Any]:
    """Calls of functions that stay the same objects."""
    few = lambda c: counted("few", c[0] < 3)  # noqa: E731
    body = lambda c: counted("body", (c[0] + 1, c[1] * scale))  # noqa: E731
    step = lambda c, x: counted("step", (c + x * scale, c))  # noqa: E731
    one = lambda x: counted("one", x * scale)  # noqa: E731
    two = lambda x: counted("two", x - 1)  # noqa: E731
    times = lambda i, c: counted("times", c * scale)  # noqa: E731
    checkpointed = bt.checkpoint(one)
    return {
        "while": lambda: while_loop(few, body, (0, 1.0)),
        "scan": lambda: scan(step, 0.0, XS),
        "cond": lambda: cond(True, one, two, 3.0),
        "switch": lambda: switch(1, [one, two], 3.0),
        "fori": lambda: fori_loop(0, 3, times, 1.0),
        "checkpoint": lambda: checkpointed(3.0),
        "gradient": lambda: bt.grad(lambda c: scan(step, c, XS)[0])(0.0),
        "batch": lambda: bt.vmap(lambda c: scan(step, c, XS)[0])(XS),
        "compiled": lambda: bt.jit(lambda c: scan(step, c, XS)[0])(0.0),
    }


@pytest.mark.parametrize("name", uses())
def test_a_second_call_traces_nothing(name: str) -> None:
    call = uses()[name]
    first = bx.tree.leaves(call())
    count = len(TRACED)
    assert count
    for ours, theirs in zip(bx.tree.leaves(call()), first, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(TRACED) == count
    bt.clear_caches()
    call()
    assert len(TRACED) == 2 * count


def test_other_types_are_traced() -> None:
    step = lambda c, x: counted("step", (c + x, c))  # noqa: E731
    scan(step, 0.0, XS)
    count = len(TRACED)
    scan(step, 0.0, XS.astype(np.float32))
    assert len(TRACED) > count
    count = len(TRACED)
    with bx.config.override(default_dtype_bits=64):
        scan(step, 0.0, XS)
    assert len(TRACED) > count


@pytest.mark.parametrize(
    ("name", "slope"), [("while", 12), ("scan", 4), ("cond", 3), ("fori", 12), ("checkpoint", 3)]
)
def test_what_is_closed_over_may_be_traced(name: str, slope: float) -> None:
    def of(scale: Any) -> Any:
        return bx.tree.leaves(uses(scale)[name]())[-1].sum()

    for _ in range(2):
        assert float(bt.jvp(of, (2.0,), (1.0,))[1]) == slope
    np.testing.assert_allclose(bt.vmap(of)(XS), [float(of(x)) for x in XS])


def test_one_function_with_a_cell_that_holds_tracers_now_and_then() -> None:
    scale: Any = 2.0
    step = lambda c, x: (c + x * scale, None)  # noqa: E731

    def of(s: Any) -> Any:
        nonlocal scale
        scale = s
        return scan(step, 0.0, XS)[0]

    assert float(of(2.0)) == 12.0
    assert float(bt.grad(of)(3.0)) == 6.0
    assert float(of(3.0)) == 18.0
    assert float(bt.grad(of)(3.0)) == 6.0


def test_named_axes_are_no_part_of_what_is_remembered() -> None:
    from bindax_transforms import bound_axes

    step = lambda c, x: (c + x * (1 + len(bound_axes())), None)  # noqa: E731
    total = lambda xs: scan(step, 0.0, xs)[0]  # noqa: E731
    assert float(total(XS)) == 6.0
    np.testing.assert_array_equal(bt.vmap(total, axis_name="i")(XS[None]), [12.0])
    assert float(total(XS)) == 6.0


def test_functions_are_not_kept_alive() -> None:
    import gc
    import weakref

    step = lambda c, x: (c + x, None)  # noqa: E731
    scan(step, 0.0, XS)
    alive = weakref.ref(step)
    del step
    gc.collect()
    assert alive() is None


def kinds_of_functions() -> dict[str, Any]:
    """Bodies of loops that see more than numbers and functions."""
    table, items, array = {"by": 2.0}, [2.0, (3.0,)], np.full(3, 2.0)
    jitted = bt.jit(lambda x: x * 2.0)
    with_jvp = bt.custom_jvp(lambda x: x * 2.0)
    with_jvp.defjvp(lambda primals, tangents: (primals[0] * 2.0, tangents[0] * 2.0))
    with_vjp = bt.custom_vjp(lambda x: x * 2.0)
    with_vjp.defvjp(lambda x: (x * 2.0, None), lambda _, ct: (ct * 2.0,))
    checkpointed = bt.checkpoint(lambda x: x * 2.0)
    doubled = partial(lambda x, y: x * y, 2.0)
    return {
        "dict": lambda c, x: counted("step", (c * table["by"], x)),
        "list": lambda c, x: counted("step", (c * items[0] * items[1][0], x)),
        "array": lambda c, x: counted("step", (c * array[0].item(), x)),
        "jit": lambda c, x: counted("step", (jitted(c), x)),
        "custom_jvp": lambda c, x: counted("step", (with_jvp(c), x)),
        "custom_vjp": lambda c, x: counted("step", (with_vjp(c), x)),
        "checkpoint": lambda c, x: counted("step", (checkpointed(c), x)),
        "partial inside": lambda c, x: counted("step", (doubled(c), x)),
        "partial": partial(lambda by, c, x: counted("step", (c * by, x)), 2.0),
    }


@pytest.mark.parametrize("name", kinds_of_functions())
def test_functions_that_see_containers_and_transformed_functions(name: str) -> None:
    body = kinds_of_functions()[name]
    first = scan(body, 1.0, XS)
    count = len(TRACED)
    assert count
    second = scan(body, 1.0, XS)
    assert len(TRACED) == count
    for x, y in zip(bx.tree.leaves(first), bx.tree.leaves(second), strict=True):
        np.testing.assert_array_equal(x, y)


def test_what_is_in_a_container_is_compared() -> None:
    table: dict[str, Any] = {"by": [2.0]}
    array = np.full(1, 2.0)
    step = lambda c, x: (c * table["by"][0] * array[0].item(), None)  # noqa: E731

    def value() -> float:
        return float(scan(step, 1.0, np.ones(1))[0])

    assert value() == 4.0
    table["by"][0] = 3.0
    assert value() == 6.0
    table["by"] = [5.0]
    assert value() == 10.0
    array[0] = 3.0
    assert value() == 15.0
    table["by"].append(table)  # it holds itself
    assert value() == 15.0
    array[0] = 2.0
    assert value() == 10.0


def test_a_rule_that_is_defined_again_is_seen() -> None:
    f = bt.custom_jvp(lambda x: x * 1.0)
    f.defjvp(lambda primals, tangents: (primals[0], tangents[0] * 2.0))
    step = lambda c, x: (f(c), None)  # noqa: E731
    slope = lambda: float(bt.grad(lambda c: scan(step, c, np.ones(1))[0])(1.0))  # noqa: E731
    assert slope() == 2.0
    f.defjvp(lambda primals, tangents: (primals[0], tangents[0] * 5.0))
    assert slope() == 5.0


@pytest.mark.parametrize("name", kinds_of_functions())
def test_no_kind_of_function_is_kept_alive(name: str) -> None:
    import gc
    import weakref

    body = kinds_of_functions()[name]
    scan(body, 1.0, XS)
    alive = weakref.ref(body)
    del body
    gc.collect()
    assert alive() is None
