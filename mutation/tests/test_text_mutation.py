"""Mistakes in the text of functions that rules reach are made, noticed and undone."""

from __future__ import annotations

import ast
import importlib.util
import inspect
from pathlib import Path
from typing import Any

import pytest

from bindax_mutation import mutate_text
from bindax_mutation._text import changed_codes, edits_of, in_force, reached, watched

HERE = str(Path(__file__).parent)


@pytest.fixture
def own() -> Any:
    """Functions made anew, which the suite has not yet hidden from searches for garbage."""
    name = "_changed_functions"
    spec = importlib.util.spec_from_file_location(name, f"{HERE}/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_place_is_found(own: Any) -> None:
    found = [edit.what for edit in edits_of([own.scaled.__code__])]
    assert found == [
        "And becomes Or",
        "Lt becomes LtE",
        "0 becomes 1",
        "not is left out twice",
        "LtE becomes Lt",
        "1 becomes 2",
        "2 becomes 3",
        "two arguments change places",
        "Sub becomes Add",
        "its operands change places",
        "10 becomes 11",
    ]


def test_what_decides_upon_errors_alone_is_left_out(own: Any) -> None:
    found = [edit.what for edit in edits_of([own.requiring.__code__, own.require_more.__code__])]
    assert found == ["NotEq becomes Eq", "4 becomes 5", "Mult becomes Div", "2 becomes 3"]


def test_a_change_is_in_force_for_a_while(own: Any) -> None:
    edits = {edit.what: edit for edit in edits_of([own.scaled.__code__])}
    before = own.scaled.__code__
    outcomes = {"Sub becomes Add": 23, "its operands change places": 10, "10 becomes 11": 17}
    for what, outcome in outcomes.items():
        with in_force(changed_codes(edits[what]), HERE):
            assert own.scaled(20) == outcome
        assert own.scaled.__code__ is before
    assert own.scaled(20) == 17
    assert str(edits["10 becomes 11"]).endswith("in scaled: 10 becomes 11")


def test_functions_that_close_over_values_are_changed(own: Any) -> None:
    function = own.closing(4)
    edit = next(e for e in edits_of([function.__code__]) if e.what == "Add becomes Sub")
    with in_force(changed_codes(edit), HERE):
        assert function(9) == 8
        assert own.closing(4)(9) == 8
    assert function(9) == 10
    assert own.closing(4)(9) == 10


def test_remembered_values_are_made_anew(own: Any) -> None:
    assert own.table() == 42
    edit = edits_of([own.table.__wrapped__.__code__])[0]
    with in_force(changed_codes(edit), HERE):
        assert own.table() != 42
    assert own.table() == 42


def test_runs_of_a_line_are_seen(own: Any) -> None:
    edits = {edit.what: edit for edit in edits_of([own.scaled.__code__])}
    for what, is_run in (("2 becomes 3", False), ("Sub becomes Add", True)):
        codes = changed_codes(edits[what])
        with in_force(codes, HERE), watched(edits[what], codes) as runs:
            own.scaled(20)
        assert bool(runs) == is_run


def test_functions_that_rules_reach_are_collected(own: Any) -> None:
    def rule() -> int:
        return int(own.closing(4)(9))

    with reached(HERE, {rule.__code__}) as found:
        own.scaled(20)
        rule()
        own.scaled(20)
    assert {code.co_name for code in found} == {"rule", "closing", "<lambda>"}
    assert ast.parse(inspect.getsource(own.closing))


@pytest.mark.nightly
def test_a_plugin() -> None:
    pytest.importorskip("bindax_lax_basic", reason="the package whose rules are changed")
    seen: list[Any] = []
    report = mutate_text(
        "lax_basic", count=5, seed=3, primitives=["neg"], seconds=2.0, progress=seen.append
    )
    assert seen == list(report.mutants)
    assert len(seen) == 5
    assert {mutant.kind for mutant in seen} == {"text"}
    assert report.of_status("killed")
