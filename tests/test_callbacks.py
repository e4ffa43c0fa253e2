"""Callbacks in all kinds of programs: loops, branches, derivatives, batches, eager and compiled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import debug, lax
from bindax.experimental import io_callback
from bindax_transforms import custom_jvp, custom_vjp, dce_jaxpr

F32 = bindax.ShapeDtypeStruct((), np.float32)
F64 = bindax.ShapeDtypeStruct((), np.float64)
BACKENDS = ["numpy", "xla"] if find_spec("jaxlib") else ["numpy"]


def eager(f: Any) -> Any:
    return f


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    with bindax.config.override(backend=request.param):
        yield request.param


@pytest.fixture(params=[eager, bindax.jit], ids=["eager", "jit"])
def stage(request: pytest.FixtureRequest, backend: str) -> Callable[[Any], Any]:
    stage: Callable[[Any], Any] = request.param
    return stage


class Record:
    """Keeps the numbers that it is called with."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def __call__(self, x: Any) -> None:
        self.seen.append(float(x))

    def take(self) -> list[float]:
        seen, self.seen = self.seen, []
        return seen


@pytest.fixture
def record() -> Record:
    return Record()


# ------------------------------------------------------------------------------------ order


def test_ordered_in_scan_of_100_steps(stage: Any, record: Record) -> None:
    def f(xs: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            debug.callback(record, x, ordered=True)
            io_callback(record, None, -x, ordered=True)
            return carry + x, ()

        return lax.scan(step, 0.0, xs)[0]

    f = stage(f)
    wanted = [sign * i for i in range(100) for sign in (1.0, -1.0)]
    for _ in range(2):
        assert float(f(np.arange(100.0))) == 4950.0
        assert record.take() == wanted


def test_ordered_in_while_of_100_iterations(stage: Any, record: Record) -> None:
    def f(n: Any) -> Any:
        def step(i: Any) -> Any:
            debug.callback(record, i, ordered=True)
            debug.callback(record, -i, ordered=True)
            return i + 1.0

        return lax.while_loop(lambda i: i < n, step, 0.0)

    assert float(stage(f)(100.0)) == 100.0
    assert record.take() == [sign * i for i in range(100) for sign in (1.0, -1.0)]


def test_ordered_in_condition_of_while(stage: Any, record: Record) -> None:
    def f(n: Any) -> Any:
        def condition(i: Any) -> Any:
            debug.callback(record, 10.0 * i, ordered=True)
            return i < n

        def step(i: Any) -> Any:
            debug.callback(record, i, ordered=True)
            return i + 1.0

        return lax.while_loop(condition, step, 0.0)

    stage(f)(3.0)
    assert record.take() == [0.0, 0.0, 10.0, 1.0, 20.0, 2.0, 30.0]


def test_unordered_in_loops_runs_as_often(stage: Any, record: Record) -> None:
    def f(n: Any) -> Any:
        def step(i: Any) -> Any:
            debug.callback(record, i)
            return i + 1

        return lax.while_loop(lambda i: i < n, step, 0)

    stage(f)(100)
    assert sorted(record.take()) == list(range(100))


def test_ordered_through_calls_branches_and_loops(stage: Any, record: Record) -> None:
    @bindax.jit
    def inner(x: Any) -> None:
        debug.callback(record, x, ordered=True)

    def branch(x: Any) -> None:
        inner(x + 0.25)
        debug.callback(record, x + 0.5, ordered=True)

    def f(x: Any) -> None:
        inner(x)
        lax.fori_loop(0, 3, lambda i, x: (lax.cond(i == 1, branch, inner, x), x + 1.0)[1], x)
        inner(-x)

    stage(f)(1.0)
    assert record.take() == [1.0, 1.0, 2.25, 2.5, 3.0, -1.0]


def test_ordered_across_calls(stage: Any, record: Record) -> None:
    first = stage(lambda x: debug.callback(record, x, ordered=True))
    second = stage(lambda x: io_callback(record, None, x + 0.5, ordered=True))
    for i in range(20):
        first(float(i))
        debug.callback(record, i + 0.25, ordered=True)
        second(float(i))
    assert record.take() == [i + part for i in range(20) for part in (0.0, 0.25, 0.5)]


def test_branch_that_is_not_taken_does_not_print(
    stage: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def f(x: Any) -> Any:
        return lax.cond(
            x > 0,
            lambda x: (debug.print("positive {}", x), x)[1],
            lambda x: (debug.print("negative {}", x, ordered=True), x)[1],
            x,
        )

    f = stage(f)
    f(1.0)
    f(-2.0)
    assert capsys.readouterr().out == "positive 1.0\nnegative -2.0\n"


# ----------------------------------------------------------------------- dead code, staging


def test_effects_of_programs() -> None:
    def f(x: Any) -> Any:
        lax.scan(lambda c, x: (c, debug.print("{}", x)), 0.0, x)
        io_callback(np.sum, None, x, ordered=True)
        return x

    program = bindax.make_jaxpr(bindax.jit(f))(np.ones(3))
    assert {effect.name for effect in program.jaxpr.effects} == {"debug", "ordered io"}
    assert bindax.make_jaxpr(lambda x: x * x)(1.0).jaxpr.effects == frozenset()


def test_results_that_nobody_uses(stage: Any, record: Record) -> None:
    def noisy(x: Any) -> Any:
        io_callback(lambda x: (record(x), x)[1], F64, x)
        return x * 2.0

    def f(x: Any) -> Any:
        bindax.jit(noisy)(x)
        bindax.checkpoint(noisy)(x + 1.0)
        lax.scan(lambda c, _: (noisy(c), None), x + 2.0, None, length=2)
        lax.cond(x > 0, noisy, lambda x: x, x + 3.0)
        lax.while_loop(lambda c: c[1] < 2, lambda c: (noisy(c[0]), c[1] + 1), (x + 4.0, 0))
        return x

    stage(f)(1.0)
    assert sorted(record.take()) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 10.0]


def test_results_that_no_derivative_needs(stage: Any, record: Record) -> None:
    def noisy(x: Any) -> Any:
        debug.callback(record, x)
        return x * 2.0

    def f(x: Any) -> Any:
        bindax.jit(noisy)(x)
        bindax.checkpoint(noisy)(x + 1.0)
        lax.scan(lambda c, _: (noisy(c), None), x + 2.0, None, length=2)
        lax.cond(x > 0, noisy, lambda x: x, x + 3.0)
        lax.while_loop(lambda c: c[1] < 2, lambda c: (noisy(c[0]), c[1] + 1), (x + 4.0, 0))
        return x

    wanted = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 10.0]
    for g in (f, bindax.jit(f)):
        assert float(stage(bindax.grad(g))(1.0)) == 1.0
        assert sorted(record.take()) == wanted


def test_pure_callback_that_nobody_uses_is_dropped(record: Record) -> None:
    def f(x: Any) -> Any:
        bindax.pure_callback(record, F64, x)
        return x * x

    program = dce_jaxpr(bindax.make_jaxpr(f)(1.0).jaxpr, [True])[0]
    assert [eqn.primitive.name for eqn in program.eqns] == ["mul"]
    assert program.effects == frozenset()


def test_tracing_calls_nothing(record: Record) -> None:
    f = bindax.jit(lambda x: debug.callback(record, x))
    bindax.make_jaxpr(f)(1.0)
    f.lower(1.0)
    f.eval_shape(1.0)
    assert record.take() == []


# ------------------------------------------------------------------------------ derivatives


def test_derivatives_print_primals_once(stage: Any, record: Record) -> None:
    def f(x: Any) -> Any:
        debug.callback(record, x)
        y = x * x
        debug.callback(record, y)
        return bindax.jit(lambda y: (debug.callback(record, y + 1.0), y * y)[1])(y)

    wanted = [2.0, 4.0, 5.0]
    assert float(stage(bindax.grad(f))(2.0)) == 32.0
    assert sorted(record.take()) == wanted
    stage(lambda x: bindax.jvp(f, (x,), (1.0,)))(2.0)
    assert sorted(record.take()) == wanted
    assert float(stage(bindax.grad(bindax.grad(f)))(2.0)) == 48.0
    assert sorted(record.take()) == wanted
    assert float(bindax.grad(bindax.checkpoint(f))(2.0)) == 32.0
    assert sorted(record.take()) == wanted


@pytest.mark.parametrize("use", ["carry", "constant", "nothing"])
def test_derivative_of_scan_prints_each_step_once(stage: Any, record: Record, use: str) -> None:
    def f(x: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            debug.callback(record, {"carry": carry, "constant": x, "nothing": 7.0}[use])
            return carry * x, None

        return lax.scan(step, 1.0, None, length=4)[0]

    assert float(stage(bindax.grad(f))(2.0)) == 32.0
    wanted = {"carry": [1.0, 2.0, 4.0, 8.0], "constant": [2.0] * 4, "nothing": [7.0] * 4}[use]
    assert sorted(record.take()) == wanted
    assert float(stage(bindax.grad(bindax.jit(f)))(2.0)) == 32.0
    assert sorted(record.take()) == wanted


def test_linearized_while_prints_each_iteration_once(stage: Any, record: Record) -> None:
    def f(x: Any) -> Any:
        def step(carry: Any) -> Any:
            i, y = carry
            debug.callback(record, y)
            bindax.jit(lambda: debug.callback(record, i + 100))()
            return i + 1, y * x

        return lax.while_loop(lambda carry: carry[0] < 3, step, (0, 1.0))[1]

    out = stage(lambda x, t: bindax.linearize(f, x)[1](t))(2.0, 1.0)
    assert float(out) == 12.0
    assert sorted(record.take()) == [1.0, 2.0, 4.0, 100.0, 101.0, 102.0]


def test_io_whose_result_a_while_needs_cannot_be_linearized() -> None:
    def f(x: Any) -> Any:
        def step(carry: Any) -> Any:
            i, y = carry
            return i + io_callback(lambda: 1.0, F64), y * x

        return lax.while_loop(lambda carry: carry[0] < 3.0, step, (0.0, x))[1]

    with pytest.raises(ValueError, match=r"while_loop runs it a second time: .* effect 'io'"):
        bindax.linearize(f, 2.0)


def test_custom_rules_keep_effects(stage: Any, record: Record) -> None:
    @custom_vjp
    def f(x: Any) -> Any:
        return x * x

    def forward(x: Any) -> Any:
        debug.callback(record, x)
        return f(x), x

    def backward(x: Any, ct: Any) -> Any:
        debug.callback(record, ct)
        return (2.0 * x * ct,)

    f.defvjp(forward, backward)
    assert float(stage(bindax.grad(lambda x: 3.0 * f(x)))(5.0)) == 30.0
    assert sorted(record.take()) == [3.0, 5.0]


def test_pure_callback_with_custom_jvp(stage: Any) -> None:
    @custom_jvp
    def sine(x: Any) -> Any:
        kind = bindax.ShapeDtypeStruct(x.shape, x.dtype)
        return bindax.pure_callback(np.sin, kind, x, vmap_method="broadcast_all")

    sine.defjvp(lambda primals, tangents: (sine(*primals), lax.cos(*primals) * tangents[0]))
    x = np.linspace(0.0, 1.0, 4)
    assert np.allclose(stage(bindax.vmap(bindax.grad(sine)))(x), np.cos(x))


def test_pure_callback_has_no_derivative() -> None:
    def f(x: Any) -> Any:
        return bindax.pure_callback(np.sin, F64, x)

    with pytest.raises(bindax.errors.MissingRuleError, match="derivative with custom_jvp"):
        bindax.grad(f)(1.0)


def test_tangents_cannot_be_printed_backwards(record: Record) -> None:
    @custom_jvp
    def f(x: Any) -> Any:
        return x

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        debug.callback(record, *tangents)
        return f(*primals), 2.0 * tangents[0]

    assert float(bindax.jvp(f, (1.0,), (3.0,))[1]) == 6.0
    assert record.take() == [3.0]
    with pytest.raises(bindax.errors.MissingRuleError, match="runs backwards with cotangents"):
        bindax.grad(f)(1.0)


# ------------------------------------------------------------------------------------ vmap


def test_vmap_calls_for_each_element(stage: Any, record: Record) -> None:
    def f(x: Any, y: Any) -> Any:
        debug.callback(record, x)
        return io_callback(lambda x, y: x + y, F64, x, y)

    out = stage(bindax.vmap(f, in_axes=(0, None)))(np.arange(3.0), 10.0)
    assert out.tolist() == [10.0, 11.0, 12.0]
    assert record.take() == [0.0, 1.0, 2.0]
    both = bindax.vmap(bindax.vmap(f, in_axes=(0, None)), in_axes=(None, 0), out_axes=1)
    out = stage(both)(np.arange(3.0), np.array([10.0, 20.0]))
    assert out.tolist() == [[10.0, 20.0], [11.0, 21.0], [12.0, 22.0]]
    assert sorted(record.take()) == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("call", [debug.callback, lambda f, *a, **k: io_callback(f, None, *a, **k)])
def test_vmap_of_ordered_is_an_error(stage: Any, call: Any, record: Record) -> None:
    def f(x: Any) -> None:
        call(record, x, ordered=True)

    with pytest.raises(ValueError, match=r"vmap of .* ordered effect .* ordered=False"):
        stage(bindax.vmap(f))(np.arange(3.0))
    with pytest.raises(ValueError, match="ordered effect"):
        stage(bindax.vmap(lambda xs: lax.map(f, xs)))(np.ones((2, 2)))


def test_mapped_predicate(stage: Any, record: Record) -> None:
    def noisy(call: Any) -> Any:
        def f(x: Any) -> Any:
            return lax.cond(x > 0, lambda x: (call(x), x)[1], lambda x: -x, x)

        return bindax.vmap(f)

    # Both branches are computed, and so a debug print happens for elements that do not take it.
    stage(noisy(lambda x: debug.callback(record, x)))(np.array([1.0, -1.0]))
    assert record.take() == [1.0, -1.0]
    with pytest.raises(ValueError, match=r"mapped predicate runs all branches: .* effect 'io'"):
        stage(noisy(lambda x: io_callback(record, None, x)))(np.array([1.0, -1.0]))


def test_while_with_mapped_condition(stage: Any, record: Record) -> None:
    def f(call: Any) -> Any:
        def loop(n: Any) -> Any:
            return lax.while_loop(lambda i: i < n, lambda i: (call(i), i + 1.0)[1], 0.0)

        return bindax.vmap(loop)

    out = stage(f(lambda i: debug.callback(record, i)))(np.array([1.0, 2.0]))
    assert out.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"until all elements are done: .* effect 'io'"):
        stage(f(lambda i: io_callback(record, None, i)))(np.array([1.0, 2.0]))


# ---------------------------------------------------------------------------------- failure


def fails(x: Any) -> Any:
    raise RuntimeError("no more")


def test_exception_reaches_the_caller(stage: Any) -> None:
    f = stage(lambda x: debug.callback(fails, x, ordered=True))
    with pytest.raises(Exception, match="no more") as caught:
        f(1.0)
    error = caught.value if type(caught.value) is RuntimeError else caught.value.__cause__
    assert type(error) is RuntimeError
    assert "in the callback fails" in "".join(error.__notes__)
    with pytest.raises(Exception, match="no more"):
        stage(lambda x: lax.scan(lambda c, x: (c, io_callback(fails, F64, x)), 0.0, x))(np.ones(3))


def test_exception_in_compiled_program_names_callback() -> None:
    pytest.importorskip("jaxlib")

    @bindax.jit
    def f(x: Any) -> None:
        io_callback(fails, None, x)

    with pytest.raises(Exception, match=r"program f failed, because .* callback fails raised"):
        f(1.0)


def test_next_call_works_after_an_exception(stage: Any) -> None:
    answers = iter([1.0, None, 3.0])
    f = stage(lambda: io_callback(lambda: next(answers) or fails(0), F64, ordered=True))
    assert float(f()) == 1.0
    with pytest.raises(Exception, match="no more"):
        f()
    assert float(f()) == 3.0


# ---------------------------------------------------------------------------------- threads


def test_threads_keep_their_own_order(backend: str) -> None:
    seen: dict[int, list[int]] = {}

    @bindax.jit
    def f(thread: Any, i: Any) -> Any:
        debug.callback(lambda t, i: seen.setdefault(int(t), []).append(int(i)), thread, i)
        debug.callback(
            lambda t, i: seen.setdefault(int(t), []).append(-int(i)), thread, i, ordered=True
        )
        return i

    f(0, 0)
    seen.clear()
    threads = [
        threading.Thread(target=lambda t=t: [f(t, i) for i in range(1, 21)]) for t in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for t in range(4):
        assert [i for i in seen[t] if i > 0] == list(range(1, 21))
        assert [-i for i in seen[t] if i < 0] == list(range(1, 21))


def test_callback_may_compute(stage: Any) -> None:
    inner = bindax.jit(lambda x: x * 2.0)

    def host(x: Any) -> Any:
        bindax.effects_barrier()
        return inner(x) + lax.sin(0.0)

    f = stage(lambda x: io_callback(host, F64, x) + 1.0)
    assert [float(f(float(i))) for i in range(20)] == [2.0 * i + 1.0 for i in range(20)]
    bindax.effects_barrier()


def test_arguments_can_be_kept(stage: Any) -> None:
    kept: list[Any] = []
    f = stage(lambda x: (debug.callback(kept.append, x * 2.0), x)[1])
    for i in range(50):
        f(np.full(100, float(i)))
    assert [x.tolist() for x in kept] == [[2.0 * i] * 100 for i in range(50)]
    assert isinstance(kept[0], bindax.Array)
