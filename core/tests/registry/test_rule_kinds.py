"""A process has one rule kind of a name, which the module that made it may make anew."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bindax_core import rules
from bindax_core._extension_points import Plugins, runtime
from bindax_core.errors import DuplicateRuleError
from bindax_core.extend import Primitive, RuleKind, abstract_eval, impl, lowering, primitive
from bindax_core.kernel._rules import rule_kinds, wrap_rules

DECLARATION = "from bindax_core.extend import RuleKind\nkind = RuleKind('test_rule_kinds.cost')\n"
NAME = "test_rule_kinds.cost"


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of modules that can be imported; what they make is forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # an edit within a second counts
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        del sys.modules[name]
    rule_kinds.pop(NAME, None)


def load(folder: Path, name: str, source: str = DECLARATION) -> Any:
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    importlib.invalidate_caches()
    return importlib.import_module(name)


def test_a_second_kind_of_a_name_is_refused(modules: Path) -> None:
    first = load(modules, "kinds_first")
    with pytest.raises(DuplicateRuleError) as caught:
        load(modules, "kinds_second", "\n\n" + DECLARATION)
    assert str(caught.value) == (
        "the rule kind 'test_rule_kinds.cost' from no installed distribution "
        f"({modules / 'kinds_second.py'}:4) is already defined by no installed distribution "
        f"({modules / 'kinds_first.py'}:2). A process has one kind of a name: import that one, or "
        "give yours the name of your package, as in 'my_package.test_rule_kinds.cost'."
    )
    assert rule_kinds[NAME] is first.kind


def test_a_second_kind_in_one_module_is_refused(modules: Path) -> None:
    twice = DECLARATION + "again = RuleKind('test_rule_kinds.cost')\n"
    with pytest.raises(DuplicateRuleError, match=r"kinds\.py:3\) is already .*kinds\.py:2\)"):
        load(modules, "kinds", twice)


@pytest.mark.parametrize("source", [DECLARATION, "# edited\n" + DECLARATION])
def test_a_module_may_be_loaded_again(modules: Path, source: str) -> None:
    module = load(modules, "kinds")
    old = module.kind
    (modules / "kinds.py").write_text(source, encoding="utf-8")
    importlib.reload(module)
    assert rule_kinds[NAME] is module.kind is not old


def test_built_in_kinds_keep_their_names() -> None:
    with pytest.raises(
        DuplicateRuleError, match=r"is already defined by bindax-transforms .*rules\.py:"
    ):
        RuleKind("jvp")
    assert lowering["stablehlo"] is rule_kinds["lowering.stablehlo"]


def test_one_function_serves_several_primitives(modules: Path) -> None:
    kind = load(modules, "kinds").kind
    rule = kind(lambda which, *operands: (which.name, *operands), takes_primitive=True)
    for name in ("left", "right"):
        made = Primitive(f"test_rule_kinds.{name}")
        kind.install(made, rule)
        assert kind.get(made)(1, 2) == (f"test_rule_kinds.{name}", 1, 2)
        wrap_rules(lambda kind, which, function: lambda *xs: ("wrapped", *function(*xs)))
        assert kind.get(made)(1) == ("wrapped", f"test_rule_kinds.{name}", 1)
        wrap_rules(None)


def test_a_package_declares_a_kind_by_an_entry_point(site: Any) -> None:
    entries = (
        "[bindax.v1]\ncosts = costs_plugin\n[bindax.v1.rule_kinds]\ncosts = costs_rules:kind\n"
    )
    site.distribution("costs-dist", entries)
    site.module("costs_rules", DECLARATION.replace("test_rule_kinds.cost", "costs"))
    try:
        assert "costs" in dir(rules)
        assert "costs_rules" not in sys.modules  # the first use of the kind imports it
        assert rules.costs is rule_kinds["costs"] is sys.modules["costs_rules"].kind
        assert "costs_plugin" not in sys.modules
    finally:
        vars(rules).pop("costs", None)
        rule_kinds.pop("costs", None)


def test_rules_that_nobody_reads_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bindax-transforms is not installed, what its kinds say has no reader."""
    monkeypatch.setattr(runtime, "plugins", Plugins())
    for name in ("jvp", "vmap"):
        monkeypatch.delitem(vars(rules), name, raising=False)
    identity_p = primitive(
        "test_rule_kinds.identity",
        impl(lambda x: x),
        abstract_eval(lambda x: x),
        rules.jvp(lambda primals, tangents: (primals[0], tangents[0])),
        rules.vmap.absent("a test"),
        lowering["stablehlo"](lambda ctx, x: x),
    )
    assert float(identity_p.bind(2.0)) == 2.0
    assert [kind.name for kind in rule_kinds.values() if kind.rules_of(identity_p)] == [
        "abstract_eval",
        "impl",
        "lowering.stablehlo",
    ]
