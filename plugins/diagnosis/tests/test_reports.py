"""Reports on what is installed here are plain data, and are found by their former names."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

import bindax_core
import bindax_diagnosis
from bindax_core import extend


@pytest.mark.smoke
def test_reports_become_json() -> None:
    plugins = bindax_diagnosis.installed_plugins()
    containers = bindax_diagnosis.container_types()
    problems = bindax_diagnosis.diagnose_plugins(load=False)

    assert json.loads(json.dumps([plugins, containers, problems])) == [
        *(plugins, containers, problems)
    ]
    assert {one["type"] for one in containers} >= {"builtins:dict", "builtins:tuple"}


def test_contents_name_what_a_plugin_declares() -> None:
    (contents,) = bindax_diagnosis.plugin_contents("bindax-transforms")

    assert "jit" in {primitive.name for primitive in contents.primitives}
    assert bindax_diagnosis.unresolved_conflicts(frozenset({"bindax-transforms"})) == []


@pytest.mark.parametrize("name", bindax_diagnosis.__all__)
def test_names_of_version_1_are_those_of_the_package(name: str) -> None:
    former: Any = extend if name in extend.__all__ else bindax_core

    assert getattr(former, name) is getattr(bindax_diagnosis, name)


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bindax_diagnosis", None)

    message = r"^bindax_core\.rule_coverage needs the package bindax-diagnosis: install it\.$"
    with pytest.raises(ImportError, match=message):
        bindax_core.rule_coverage("sin")
