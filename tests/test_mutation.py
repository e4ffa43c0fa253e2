"""Mistakes in the standard rules are noticed: a small sample of them; all of them at night."""

from __future__ import annotations

import json
import os

import pytest
from click.testing import CliRunner

from bindax._cli import main
from bindax_mutation import mutate_plugin

# The nightly run tries them all: BINDAX_MUTANTS=0 python -m pytest tests/test_mutation.py
COUNT = int(os.environ.get("BINDAX_MUTANTS", "3")) or None
SEED = int(os.environ.get("BINDAX_RANDOM_SEED", "7"))


@pytest.mark.timeout(0 if COUNT is None else 300)
@pytest.mark.parametrize(
    "plugin", [pytest.param("lax_basic", marks=pytest.mark.nightly), "control_flow"]
)
def test_mistakes_in_the_standard_rules_are_noticed(plugin: str) -> None:
    pytest.importorskip("jaxlib", reason="without a compiler impl alone says what is computed")
    report = mutate_plugin(plugin, count=COUNT, seed=SEED)
    print(report.summary)
    assert report.ok, str(report)
    assert COUNT is None or 0 < len(report.mutants) <= COUNT


def test_the_command_counts_and_prints_what_survives() -> None:
    arguments = ["mutate", "linalg", "--primitive", "householder_product", "--count", "2", "--json"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    data = json.loads(result.output)
    assert data["share killed"] == 1.0
    assert len(data["mutants"]) == 2
    text = CliRunner().invoke(main, arguments[:-1])
    assert "2 mutants" in text.output
    missing = CliRunner().invoke(main, ["mutate", "linalg", "--primitive", "householder"])
    assert missing.exit_code == 2
    assert "has no primitive 'householder'" in missing.output
