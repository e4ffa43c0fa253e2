"""What evaluation remembers of a primitive, and that it never remembers too much."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from bindax_core import config
from bindax_core.errors import RuleOutputError, UnexpectedTracerError
from bindax_core.extend import (
    Array,
    Primitive,
    abstract_eval,
    impl,
    jvp,
    lowering,
    primitive,
    trace_state,
    transpose,
)
from bindax_core.extend import vmap as vmap_rule
from bindax_transforms import make_jaxpr, vmap

X = Array.from_numpy(np.array([3.0, 1.0, 2.0]))


def declare(name: str, *rules: Any, **options: Any) -> Primitive:
    absent = "a test"
    return primitive(
        f"evaluation.{name}",
        *rules,
        jvp.absent(absent),
        vmap_rule(lambda size, operands, dims, **params: (operands[0], dims[0])),
        transpose.absent(absent),
        lowering["stablehlo"].absent(absent),
        **options,
    )


def same_type(x: Any, *others: Any, **params: Any) -> Any:
    return x


class Counted:
    """A rule, and how often it was called."""

    def __init__(self, rule: Any) -> None:
        self.rule, self.calls = rule, 0

    def __call__(self, *args: Any, **params: Any) -> Any:
        self.calls += 1
        return self.rule(*args, **params)


def test_types_are_asked_for_once() -> None:
    for params in ({}, {"axis": None}, {"axes": (0, None), "mode": "fill"}):
        rule = Counted(same_type)
        p = declare("once", impl(lambda x, **params: -x), abstract_eval(rule))
        for _ in range(3):
            np.testing.assert_array_equal(p.bind(X, **params), [-3, -1, -2])

        assert rule.calls == 1, params


def test_parameters_that_are_functions_or_have_no_hash_are_not_remembered() -> None:
    for value in ({1: 2}, lambda: 1, (0, lambda: 1)):
        rule = Counted(same_type)
        p = declare("forgets", impl(lambda x, value: -x), abstract_eval(rule))
        p.bind(X, value=value)
        p.bind(X, value=value)

        assert rule.calls == 2, value


def test_equal_parameters_are_passed_as_they_are() -> None:
    p = declare("fill", impl(lambda x, value: np.full_like(x, value)), abstract_eval(same_type))

    signs = [np.signbit(p.bind(X, value=value))[0] for value in (0.0, -0.0, 0.0)]

    assert signs == [False, True, False]


def test_parameter_that_is_an_array_is_refused_after_one_that_is_a_number() -> None:
    p = declare("scales", impl(lambda x, by: x * by), abstract_eval(same_type))

    for by in (2.0, 2.0):
        np.testing.assert_array_equal(p.bind(X, by=by), X.numpy() * by)
    for wrong in (np.array([1.0, 2.0, 0.0]), X):
        with pytest.raises(TypeError, match=r"parameter 'by' of .*scales .* give the value as an"):
            p.bind(X, by=wrong)


def test_no_dtype_is_not_the_dtype_that_numpy_takes_for_it() -> None:
    def run(x: Any, to: Any) -> Any:
        return x.astype(np.float32 if to is None else to)

    p = declare("to", impl(run), abstract_eval(lambda x, to: x.update(dtype=to or np.float32)))

    for to in (None, np.dtype(np.float64), None, "float64", None, np.float64, "float32"):
        for _ in range(2):
            assert p.bind(X, to=to).dtype == (to or np.float32), to


def test_no_dtype_inside_of_a_tuple_is_not_a_dtype_either() -> None:
    def run(x: Any, to: tuple[Any, ...]) -> Any:
        return x.astype(to[0] or np.float32)

    p = declare("to", impl(run), abstract_eval(lambda x, to: x.update(dtype=to[0] or np.float32)))

    for to in ((None,), (np.dtype(np.float64),), (None,), ("float64",), (None,)):
        for _ in range(2):
            assert p.bind(X, to=to).dtype == (to[0] or np.float32), to


def test_names_of_parameters_count() -> None:
    p = declare("named", impl(lambda x, a, b: a * x - b), abstract_eval(same_type))

    for _ in range(2):
        np.testing.assert_array_equal(p.bind(X, a=2.0, b=1.0), [5, 1, 3])
        np.testing.assert_array_equal(p.bind(X, b=2.0, a=1.0), [1, -1, 0])


def test_results_are_checked_each_time() -> None:
    p = declare("shrinks", impl(lambda x: x[x > 0]), abstract_eval(same_type))
    p.bind(X)

    with pytest.raises(RuleOutputError, match=r"returned float64\[1\], but .* says float64\[3\]"):
        p.bind(Array.from_numpy(np.array([0.0, 1.0, 0.0])))


def test_exchanged_rule_is_used_at_once() -> None:
    p = declare("exchanged", impl(lambda x: -x), abstract_eval(same_type))
    p.bind(X)

    with impl.scoped(p, impl(lambda x: 2 * x)):
        np.testing.assert_array_equal(p.bind(X), [6, 2, 4])
    np.testing.assert_array_equal(p.bind(X), [-3, -1, -2])


def test_rules_are_checked_after_the_mode_is_switched_on() -> None:
    def in_place(x: Any) -> Any:
        if x.base is not None:  # the caller's memory, past the protection of operands
            x.base[...] += 1
        return x.copy()

    p = declare("in.place", impl(in_place), abstract_eval(same_type))
    p.bind(X)

    with (
        config.override(check_rules=True),
        pytest.raises(RuleOutputError, match="changed its operand 0 in place"),
    ):
        p.bind(np.array([1.0]))


def test_traced_and_evaluated_applications_do_not_mix() -> None:
    p = declare("mixed", impl(lambda x, y: x + y), abstract_eval(same_type))
    p.bind(X, X)

    jaxpr = make_jaxpr(lambda x: p.bind(p.bind(X, X), x))(X)
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["evaluation.mixed"] * 2
    evaluated = []
    batched = vmap(lambda x: (evaluated.append(p.bind(X, X)), p.bind(x, 1.0))[1])(X)
    np.testing.assert_array_equal(batched, X)  # by the rule above
    np.testing.assert_array_equal(evaluated, [[6, 2, 4]])


def test_no_dynamic_trace_stays_behind() -> None:
    def fails(x: Any) -> Any:
        raise KeyError

    for _ in range(2):
        with pytest.raises(KeyError):
            make_jaxpr(fails)(X)
        assert trace_state.dynamic is None


def test_tracer_of_a_finished_trace_is_refused_beside_an_array() -> None:
    p = declare("leaked", impl(lambda x, y: x + y), abstract_eval(same_type))
    p.bind(X, X)
    leaked = []
    make_jaxpr(leaked.append)(X)

    with pytest.raises(UnexpectedTracerError, match="escaped"):
        p.bind(X, leaked[0])


def test_threads_share_what_is_remembered() -> None:
    p = declare("shared", impl(lambda x, y: x + y), abstract_eval(same_type))
    results: list[Any] = []

    def work() -> None:
        for _ in range(200):
            out = p.bind(X, X)
        results.append(out.numpy().tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [[6.0, 2.0, 4.0]] * 8


def test_results_share_no_memory_with_the_callers_arrays() -> None:
    mine = np.arange(6.0).reshape(2, 3)
    for view in (lambda x: x, lambda x: x[::-1], lambda x: x.reshape(2, 3)[:]):
        p = declare("view", impl(view), abstract_eval(same_type))
        for given in (mine, mine.view(np.recarray)):
            out = p.bind(given).numpy()
            assert not np.shares_memory(out, mine)
            assert type(out) is np.ndarray


doubled = declare("doubled", impl(lambda x: 2 * x), abstract_eval(same_type))


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.arange(3.0),
        lambda: np.arange(9.0)[::3],
        lambda: np.arange(3.0).view(np.recarray),
        lambda: Array.from_numpy(np.arange(3.0)),
        lambda: doubled.bind(np.arange(3.0)),
    ],
)
def test_rules_cannot_write_to_their_operands(make: Any) -> None:
    def in_place(x: Any) -> Any:
        x += 1
        return x

    given = make()
    before = np.array(given)
    p = declare("writing", impl(in_place), abstract_eval(same_type))
    with pytest.raises(RuleOutputError, match=r"impl rule of evaluation\.writing.*on a copy"):
        p.bind(given)
    np.testing.assert_array_equal(np.asarray(given), before)
    if isinstance(given, np.ndarray):
        given += 1  # it is the caller's as before


def test_results_in_memory_of_their_own_are_not_copied() -> None:
    memory = np.zeros(8)
    p = declare("writes", impl(lambda x: memory[2:5]), abstract_eval(same_type))

    assert np.shares_memory(p.bind(np.ones(3)).numpy(), memory)
