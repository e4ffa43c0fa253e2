"""`scripts/machines.py`: a command under settings of other machines, and what it says of each."""

import itertools
import sys
from typing import Any, NamedTuple

import machines
import pytest


class Item(NamedTuple):
    """The key that orders a test."""

    path: str
    number: int


def test_what_failed_is_counted_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    report = "FAILED tests/test_a.py::test_b - AssertionError\n= 1 failed, 20 passed in 3.10s ="
    assert not machines.run("as it is", [sys.executable, "-c", f"print({report!r}); exit(1)"])
    line, failed = capsys.readouterr().out.splitlines()
    assert line.startswith("as it is ")
    assert "20 passed, 1 failed, exit 1" in line
    assert failed == "  FAILED tests/test_a.py::test_b - AssertionError"


def test_a_setting_changes_the_environment(capsys: pytest.CaptureFixture[str]) -> None:
    program = "import os; assert os.environ['OPENBLAS_CORETYPE'] == 'Nehalem'"
    assert machines.run("SSE", [sys.executable, "-c", program])
    assert "exit 0" in capsys.readouterr().out


def test_each_setting_gets_its_turn() -> None:
    names = list(machines.SETTINGS)[1:]
    days = [machines.rotated(names, 2, day) for day in range(len(names))]
    assert {name for day in days for name in day} == set(names)
    assert days[0] != days[1]


def test_the_seed_decides_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def ordered(seed: str) -> list[Any]:
        monkeypatch.setenv(machines.ORDER, seed)
        items: list[Any] = [Item(str(i % 3), i) for i in range(12)]
        machines.pytest_collection_modifyitems(items)
        return items

    first = ordered("1")
    assert first == ordered("1") != ordered("2")
    assert sorted(number for _, number in first) == list(range(12))
    paths = [path for path, _ in first]
    assert sum(a != b for a, b in itertools.pairwise(paths)) == 2  # files stay together
