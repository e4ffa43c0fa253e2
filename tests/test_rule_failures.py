"""What rules raise and keep is said with primitive, rule and package; mistakes of declarations."""

from __future__ import annotations

import gc
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import bindax
from bindax.errors import DuplicateRuleError, UnexpectedTracerError
from bindax.extend import Primitive, RuleKind, call_rule, primitive, rules
from bindax_core.kernel._rules import _write_lock
from bindax_core.registry._declared import declared_primitives, find_declared

X = np.ones(3, np.float32)
cost = RuleKind("test_rule_failures.cost", signature="(*avals, **params) -> int")
first = RuleKind("failures.first")
second = RuleKind("failures.second", instead_of="failures.first")
called = RuleKind(
    "test_rule_failures.called",
    adapt=lambda primitive, function, options: (
        lambda *args: call_rule(
            primitive, "test_rule_failures.called", function, args, {}, lambda x: True
        )
    ),
)


def declare(name: str = "failures.same", **given: Any) -> Any:
    """The identity, with some rules exchanged; a value None says that the rule is absent."""
    absent = {kind: getattr(rules, kind).absent("a test") for kind, x in given.items() if x is None}
    made_of = {
        "impl": rules.impl(lambda x: x.copy()),
        "abstract_eval": rules.abstract_eval(lambda x: x),
        "jvp": rules.jvp(lambda p, t: (made.bind(*p), made.bind(*t))),
        "vmap": rules.vmap(lambda size, operands, dims: (made.bind(*operands), dims[0])),
        "transpose": rules.transpose(lambda ct, x: [made.bind(ct)]),
        "lowering": rules.lowering["stablehlo"](lambda ctx, x: x),
        **{kind: x for kind, x in given.items() if x is not None},
        **absent,
    }
    made = primitive(name, *made_of.values())
    return made


def fails(*args: Any, **params: Any) -> Any:
    raise ZeroDivisionError("by the rule")


CALLS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "impl": (lambda: declare(impl=rules.impl(fails)), lambda p: p.bind(X)),
    "impl on values": (
        lambda: declare(impl=rules.impl(fails, on_values=True)),
        lambda p: p.bind(X),
    ),
    "abstract_eval": (
        lambda: declare(abstract_eval=rules.abstract_eval(fails)),
        lambda p: bindax.make_jaxpr(p.bind)(X),
    ),
    "jvp": (lambda: declare(jvp=rules.jvp(fails)), lambda p: bindax.jvp(p.bind, (X,), (X,))),
    "vjp": (
        lambda: declare(jvp=None, vjp=rules.vjp(fails)),
        lambda p: bindax.vjp(p.bind, X),
    ),
    "vmap": (lambda: declare(vmap=rules.vmap(fails)), lambda p: bindax.vmap(p.bind)(X)),
    "transpose": (
        lambda: declare(transpose=rules.transpose(fails)),
        lambda p: bindax.vjp(p.bind, X)[1](X),
    ),
    "partial_eval": (
        lambda: declare(partial_eval=rules.partial_eval(fails)),
        lambda p: bindax.linearize(p.bind, X),
    ),
    "stage": (lambda: declare(stage=rules.stage(fails)), lambda p: bindax.make_jaxpr(p.bind)(X)),
    "pretty_print": (
        lambda: declare(pretty_print=rules.pretty_print(fails)),
        lambda p: str(bindax.make_jaxpr(p.bind)(X)),
    ),
    "effects": (
        lambda: declare(effects=rules.effects(fails)),
        lambda p: bindax.make_jaxpr(p.bind)(X).jaxpr.effects,
    ),
    cost.name: (lambda: declare(cost=cost(fails)), lambda p: cost.get(p)(X)),
    called.name: (lambda: declare(called=called(fails)), lambda p: called.get(p)(X)),
}


@pytest.mark.parametrize("name", CALLS)
def test_error_inside_a_rule_names_primitive_rule_and_package(name: str) -> None:
    make, call = CALLS[name]
    made = make()
    with pytest.raises(ZeroDivisionError) as caught:
        call(made)
    assert str(caught.value) == "by the rule"
    kind = name.partition(" ")[0]
    wanted = (
        rf"It was raised in the {kind} rule of failures\.same, from no installed distribution "
        rf"\(.*test_rule_failures\.py:\d+\), function fails at .*test_rule_failures\.py:\d+\."
    )
    assert re.fullmatch(wanted, caught.value.__notes__[0])


def test_error_inside_a_lowering_names_the_rule_and_the_line() -> None:
    pytest.importorskip("jaxlib")
    made = declare(lowering=rules.lowering["stablehlo"](fails))
    with pytest.raises(ZeroDivisionError) as caught:
        bindax.jit(made.bind, backend="xla")(X)
    first, second = caught.value.__notes__
    assert first.startswith("It was raised in the lowering.stablehlo rule of failures.same, from ")
    assert second.startswith("This happened while failures.same was lowered, which is applied at ")


@pytest.mark.parametrize("kind", ["impl", "jvp", "vmap", "transpose", "abstract_eval"])
def test_endless_recursion_inside_a_rule_names_it_once(kind: str) -> None:
    changed = {
        "impl": lambda x: made.bind(x),
        "jvp": lambda p, t: bindax.jvp(made.bind, p, t),
        "vmap": lambda size, operands, dims: (bindax.vmap(made.bind, dims)(*operands), 0),
        "transpose": lambda ct, x: list(bindax.vjp(made.bind, X)[1](ct)),
        "abstract_eval": lambda x: bindax.make_jaxpr(made.bind)(x).out_avals[0],
    }
    calls = {
        "impl": lambda: made.bind(X),
        "jvp": lambda: bindax.jvp(made.bind, (X,), (X,)),
        "vmap": lambda: bindax.vmap(made.bind)(X),
        "transpose": lambda: bindax.vjp(made.bind, X)[1](X),
        "abstract_eval": lambda: bindax.make_jaxpr(made.bind)(X),
    }
    made = declare(**{kind: getattr(rules, kind)(changed[kind])})
    with pytest.raises(RecursionError) as caught:
        calls[kind]()
    named = [one for one in caught.value.__notes__ if f"the {kind} rule of failures.same" in one]
    assert len(named) == 1


def test_rules_that_call_each_other_are_each_noted_the_innermost_first() -> None:
    inner = declare("failures.inner", impl=rules.impl(fails))
    outer = declare("failures.outer", jvp=rules.jvp(lambda p, t: (inner.bind(*p), t[0])))
    with pytest.raises(ZeroDivisionError) as caught:
        bindax.jvp(outer.bind, (X,), (X,))
    kinds = [re.split(", from| at ", note)[0] for note in caught.value.__notes__]
    assert kinds == [
        "It was raised in the impl rule of failures.inner",
        "failures.inner is applied",
        "It was raised in the jvp rule of failures.outer",
    ]


def test_errors_that_bindax_writes_for_users_have_no_note() -> None:
    with pytest.raises(TypeError) as caught:
        bindax.lax.add(np.ones(2), np.ones(3))
    assert not getattr(caught.value, "__notes__", None)


# ----------------------------------------------------------------------------- values that leak

KEPT: list[Any] = []


class Store:
    """Where a rule keeps something in an attribute."""

    last: Any = None


STORE = Store()


def keep(x: Any) -> None:
    STORE.last = {"operands": (x,)}


def keeping_batch(size: int, operands: Any, dims: Any) -> Any:
    KEPT.append(operands[0])
    return operands[0], dims[0]


def keeping_jvp(primals: Any, tangents: Any) -> Any:
    keep(primals[0])
    return primals[0], tangents[0]


def test_traced_value_that_a_rule_keeps_names_the_rule_when_it_is_used() -> None:
    made = declare(vmap=rules.vmap(keeping_batch), jvp=rules.jvp(keeping_jvp))
    KEPT.clear()
    bindax.make_jaxpr(bindax.vmap(made.bind))(X)
    message = r"is used after it ended\. It is kept in 'KEPT' by the vmap rule of failures\.same, "
    with pytest.raises(UnexpectedTracerError, match=message + r"from .*test_rule_failures\.py"):
        KEPT[0] * 2
    KEPT.clear()
    bindax.make_jaxpr(lambda x: bindax.jvp(made.bind, (x,), (x,)))(X)
    message = r"It is kept in 'STORE' by the jvp rule of failures\.same, from .*function keeping_j"
    with pytest.raises(UnexpectedTracerError, match=message):
        STORE.last["operands"][0] + 1
    STORE.last = None


def test_check_of_leaks_names_the_rule() -> None:
    kept: list[Any] = []

    def batch(size: int, operands: Any, dims: Any) -> Any:
        kept.append(operands[0])
        return operands[0], dims[0]

    made = declare(vmap=rules.vmap(batch))
    message = r"^Leaked trace: .*It is kept in 'kept' by the vmap rule of failures\.same, from"
    with bindax.check_tracer_leaks(), pytest.raises(UnexpectedTracerError, match=message):
        bindax.make_jaxpr(bindax.vmap(made.bind))(X)
    kept.clear()


def test_traced_value_that_no_rule_keeps_names_none() -> None:
    kept: list[Any] = []
    bindax.make_jaxpr(lambda x: kept.append(x))(X)
    with pytest.raises(
        UnexpectedTracerError, match=r"after it ended\. Return it from the function"
    ):
        kept[0] * 2


# ------------------------------------------------------------------------------- declarations

SAME_NAME = """
from bindax.extend import Primitive
first_p = Primitive("failures.twice")

second_p = Primitive("failures.twice")
"""


def test_primitive_declared_twice_names_both_sites(tmp_path: Any, monkeypatch: Any) -> None:
    (tmp_path / "declared_twice.py").write_text(SAME_NAME, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    message = (
        r"the primitive 'failures\.twice' from .*declared_twice\.py:5\) is already declared by "
        r".*declared_twice\.py:3\)\. Jaxprs, pickles and plugins find a primitive by its name: "
        r"rename one of them\."
    )
    with pytest.raises(DuplicateRuleError, match=message):
        import declared_twice  # noqa: F401
    declared_primitives.pop("failures.twice")


def test_helper_that_declares_one_name_for_two_statements_is_refused() -> None:
    source = "def card(): return Primitive('failures.card')\na_p = card()\nb_p = card()\n"
    code = compile(source, "cards.py", "exec")
    with pytest.raises(DuplicateRuleError, match=r"'failures\.card' from .*cards\.py:1"):
        exec(code, {"Primitive": Primitive, "__name__": "cards"})
    declared_primitives.pop("failures.card")


def test_cell_that_is_run_again_declares_anew() -> None:
    names = {"Primitive": Primitive, "__name__": "__main__"}
    for cell in ("p = Primitive('failures.cell')", "\n\np = Primitive('failures.cell')"):
        for _ in range(2):  # run again, edited, run again
            exec(compile(cell, "<cell>", "exec"), names)
    assert declared_primitives.pop("failures.cell") == [names["p"]]


def test_function_of_a_script_may_declare_again() -> None:
    source = "def card(): return Primitive('failures.factory')\ncard()\nlast = card()\n"
    names = {"Primitive": Primitive, "__name__": "__main__"}
    exec(compile(source, "<script>", "exec"), names)
    assert declared_primitives.pop("failures.factory") == [names["last"]]


def test_two_kinds_of_which_a_primitive_has_one_are_refused() -> None:
    message = (
        r"failures\.both has a failures\.first rule, from .*test_rule_failures\.py:\d+\), and a "
        r"failures\.second rule, from .*\. One of them alone would be used: leave out "
        r"failures\.second, which is for primitives without failures\.first, or write "
        r"failures\.first\.absent\('reason'\)\."
    )
    with pytest.raises(DuplicateRuleError, match=message):
        declare("failures.both", first=first(fails), second=second(fails))
    assert not declared_primitives.pop("failures.both")  # nothing is left half declared
    made = declare("failures.both", second=second(fails))
    with pytest.raises(DuplicateRuleError, match=r"has a failures\.first rule, from .* and a fail"):
        first.install(made, first(fails))
    declared_primitives.pop("failures.both")


def test_two_rules_of_one_kind_leave_nothing_half_declared() -> None:
    with pytest.raises(DuplicateRuleError, match=r"the impl rule for failures\.pair"):
        declare("failures.pair", again=rules.impl(fails))
    assert not declared_primitives.pop("failures.pair")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
@pytest.mark.timeout(30)
def test_declaration_goes_on_in_the_thread_that_left_the_lock() -> None:
    """Python 3.14 leaves a lock where a ``with`` statement is interrupted as it begins."""
    _write_lock.acquire()
    try:
        made = declare("failures.left_lock")
    finally:
        _write_lock.release()
    assert find_declared("failures.left_lock") is made
    declared_primitives.pop("failures.left_lock")


def test_interrupted_declaration_leaves_the_registry_usable() -> None:
    """Interrupts at arbitrary moments, as by Ctrl-C in a notebook."""

    interrupted: list[bool] = []

    def interrupt(number: int, frame: Any) -> None:
        interrupted.append(True)  # Python drops what is raised inside a destructor
        raise KeyboardInterrupt

    def declare_until_interrupted() -> None:
        interrupted.clear()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.001)
        while not interrupted:
            declare("failures.interrupted")

    before = signal.signal(signal.SIGVTALRM, interrupt)
    gc.disable()  # an interrupt in a callback of the collector is no error of a declaration
    try:
        for _ in range(30):
            with suppress(KeyboardInterrupt):
                declare_until_interrupted()
            made = declare("failures.interrupted")
            assert find_declared("failures.interrupted") is made
            np.testing.assert_array_equal(bindax.vmap(made.bind)(X), X)
    finally:
        gc.enable()
        signal.signal(signal.SIGVTALRM, before)
        with suppress(RuntimeError):  # Python 3.14 may have left it, for other threads to wait for
            while True:
                _write_lock.release()
    declared_primitives.pop("failures.interrupted")
