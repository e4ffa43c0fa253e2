"""Mistakes in the text of functions that rules reach are made, noticed and undone."""

from __future__ import annotations

import ast
import functools
import gc
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bindax_mutation import mutate_text
from bindax_mutation._text import changed_codes, edits_of, in_force, reached, watched

HERE = str(Path(__file__).parent)


def scaled(x: Any, factor: int = 3) -> Any:
    """Text of which nothing is changed."""
    if x < 0 or not factor:
        raise ValueError(f"{x + 1} is below 2")
    if x < 0 and not factor <= 1:
        factor = 2
    pairs = zip((x,), (x,), strict=True)
    return round(max(x - factor, 10), len(list(pairs)))


def requiring(x: Any, least: int = 0) -> Any:
    """Statements that only refuse or warn, which are left alone, and others."""
    if x is not None:
        require_more(x, 3)
    if x != 4:
        x = x * 2
        require_more(x, 3)
    return x


def require_more(x: Any, least: int) -> None:
    if x <= least:
        raise ValueError(f"{x} is not above {least}")


def closing(limit: int) -> Any:
    return lambda x: x + 1 if x > limit else limit


@pytest.fixture(autouse=True)
def all_objects() -> Iterator[None]:
    """Let functions be found that the suite keeps out of the sight of searches for garbage."""
    gc.unfreeze()
    yield
    gc.freeze()


def test_every_place_is_found() -> None:
    found = [edit.what for edit in edits_of([scaled.__code__])]
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


def test_what_decides_upon_errors_alone_is_left_out() -> None:
    found = [edit.what for edit in edits_of([requiring.__code__, require_more.__code__])]
    assert found == ["NotEq becomes Eq", "4 becomes 5", "Mult becomes Div", "2 becomes 3"]


def test_a_change_is_in_force_for_a_while() -> None:
    edits = {edit.what: edit for edit in edits_of([scaled.__code__])}
    before = scaled.__code__
    outcomes = {"Sub becomes Add": 23, "its operands change places": 10, "10 becomes 11": 17}
    for what, outcome in outcomes.items():
        with in_force(changed_codes(edits[what]), HERE):
            assert scaled(20) == outcome
        assert scaled.__code__ is before
    assert scaled(20) == 17
    assert str(edits["10 becomes 11"]).endswith("in scaled: 10 becomes 11")


def test_functions_that_close_over_values_are_changed() -> None:
    function = closing(4)
    edit = next(e for e in edits_of([function.__code__]) if e.what == "Add becomes Sub")
    with in_force(changed_codes(edit), HERE):
        assert function(9) == 8
        assert closing(4)(9) == 8
    assert function(9) == 10
    assert closing(4)(9) == 10


@functools.cache
def table() -> int:
    return 40 + 2


def test_remembered_values_are_made_anew() -> None:
    assert table() == 42
    edit = edits_of([table.__wrapped__.__code__])[0]
    with in_force(changed_codes(edit), HERE):
        assert table() != 42
    assert table() == 42


def test_runs_of_a_line_are_seen() -> None:
    edits = {edit.what: edit for edit in edits_of([scaled.__code__])}
    for what, is_run in (("2 becomes 3", False), ("Sub becomes Add", True)):
        codes = changed_codes(edits[what])
        with in_force(codes, HERE), watched(edits[what], codes) as runs:
            scaled(20)
        assert bool(runs) == is_run


def test_functions_that_rules_reach_are_collected() -> None:
    def rule() -> int:
        return int(closing(4)(9))

    with reached(HERE, {rule.__code__}) as found:
        scaled(20)
        rule()
        scaled(20)
    assert {code.co_name for code in found} == {"rule", "closing", "<lambda>"}
    assert ast.parse(inspect.getsource(closing))


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
