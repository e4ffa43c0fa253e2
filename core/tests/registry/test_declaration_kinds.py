"""What real plugins return ends in the kernel's tables, and leaves them when a plugin fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

import bindax_core
from bindax_core import tree
from bindax_core._extension_points import runtime
from bindax_core.arrays import _backend, _operators
from bindax_core.errors import (
    MissingRuleError,
    PluginConflictError,
    PluginError,
    PluginLoadError,
    PluginWarning,
)
from bindax_core.extend import RuleKind
from bindax_core.kernel import _aval
from bindax_core.kernel._rules import rule_kinds
from bindax_core.registry import _declared
from bindax_core.registry._installed import InstalledPlugins
from bindax_core.registry._plugin_settings import configured
from bindax_core.registry._provenance import distribution_of
from bindax_diagnosis import _doctor, _report

HEAD = """
from bindax_core.extend import *
from bindax_core.extend import (NodeDefinition, Primitive, RuleKind, ShapedArray, ValueType,
    abstract_eval, extend, hookimpl, impl, jvp, lowering, primitive, transpose, vmap)

def card(name, *rules):
    return primitive(name, impl(lambda x: x), abstract_eval(lambda x: x), jvp.absent("no reason"),
        vmap.elsewhere("rules-dist"), transpose.absent("not linear"),
        lowering["stablehlo"].absent("an example"), *rules)
"""


@pytest.fixture
def inverse() -> Iterator[RuleKind]:
    yield RuleKind("inverse")
    del rule_kinds["inverse"]


def owner(site: Any) -> None:
    site.distribution(
        "owner-dist",
        "[bindax.v1]\nowner = owner\n[bindax.v1.primitives]\nowner.p = owner:p\n",
    )
    site.module(
        "owner",
        HEAD + 'p = card("owner.p")\n@hookimpl\ndef bindax_primitives(): return [p]\n',
    )


def extender(site: Any, name: str, rules: str, version: str = "1.0") -> None:
    site.distribution(
        f"{name}-dist",
        f"[bindax.v1]\n{name} = {name}\n[bindax.v1.rules]\ninverse = {name}\n",
        version,
    )
    site.module(
        name,
        HEAD
        + "import owner\nfrom bindax_core.kernel._rules import rule_kinds\n"
        + "inverse = rule_kinds['inverse']\n"
        + f"@hookimpl\ndef bindax_extensions(): return [extend(owner.p, {rules})]\n",
    )


def test_a_missing_rule_is_brought_by_another_distribution(
    site: Any, real: Any, inverse: RuleKind
) -> None:
    owner(site)
    extender(site, "rules", "inverse(lambda y: y), vmap(lambda n, xs, ds: (xs[0], ds[0]))")
    primitive = real.resolver.find_primitive("owner.p")
    kind = rule_kinds["vmap"]

    assert kind.rule_of(primitive).provider == "rules-dist"
    assert real.resolver.load_for_rule("inverse", primitive) is True
    assert inverse.functions[primitive](3) == 3
    assert kind.functions[primitive](2, [1], [0]) == ([1], [0])
    plugin = real.loader.named("rules")[0]
    for declaration in reversed(plugin.installed):
        real.loader.registrations.unregister(declaration)
    assert primitive not in inverse.functions
    assert kind.rule_of(primitive).provider == "rules-dist"


def test_two_extensions_with_one_rule_conflict_on_use(
    site: Any, real: Any, inverse: RuleKind
) -> None:
    owner(site)
    extender(site, "one", "inverse(lambda y: y)")
    extender(site, "two", "inverse(lambda y: -y)", "2.0")
    primitive = real.resolver.find_primitive("owner.p")
    for _ in range(2):
        with pytest.raises(PluginConflictError) as caught:
            real.resolver.load_for_rule("inverse", primitive)
    message = str(caught.value)

    assert message.startswith("the inverse rule of owner.p is offered by one-dist 1.0 (")
    assert f"{site.directory / 'two.py'}:" in message
    assert primitive not in inverse.functions
    assert real.status("one") == real.status("two") == "loaded"


def test_a_ranking_decides_between_extensions(site: Any, real: Any, inverse: RuleKind) -> None:
    owner(site)
    extender(site, "one", "inverse(lambda y: y)")
    extender(site, "two", "inverse(lambda y: -y)")
    primitive = real.resolver.find_primitive("owner.p")
    with configured(prefer=["two-dist"]):
        real.resolver.load_for_rule("inverse", primitive)

    assert inverse.functions[primitive](3) == -3


def test_the_rule_of_a_card_stays_in_force_and_the_conflict_is_reported(
    site: Any, real: Any, inverse: RuleKind
) -> None:
    owner(site)
    extender(site, "one", "impl(lambda x: x + 1)")
    primitive = real.resolver.find_primitive("owner.p")
    before = rule_kinds["impl"].rule_of(primitive)
    real.loader.load_all()
    (record,) = [
        one for one in _doctor.doctor_report(real.resolver) if one["subject"] == "conflict"
    ]

    assert rule_kinds["impl"].rule_of(primitive) is before
    assert record["severity"] == "notice"
    assert "The one from owner-dist is in force: it owns the primitive" in record["text"]
    with configured(prefer=["one-dist"]):
        other = type(real)(site)
        other.loader.load_all()
        assert float(primitive.bind(1.0)) == 2.0
        for plugin in other.loader.plugins():
            for declaration in reversed(plugin.installed):
                other.loader.registrations.unregister(declaration)
    assert rule_kinds["impl"].rule_of(primitive) is before


def test_containers_values_backends_and_attributes(site: Any, real: Any) -> None:
    site.distribution(
        "all-dist",
        """\
        [bindax.v1]
        all = everything
        [bindax.v1.pytrees]
        box = everything:Box
        [bindax.v1.values]
        meters = everything:Meters
        [bindax.v1.backends]
        example = everything
        """,
    )
    site.module(
        "everything",
        HEAD
        + """
class Box:
    def __init__(self, x): self.x = x
class Meters: ...
class Example:
    name, priority, platform = "example", -1, "cpu"
    def compile(self, jaxpr, **options): ...
    lower = to_host = put = compile
backend = Example()
@hookimpl
def bindax_pytree_nodes():
    yield NodeDefinition(Box, lambda b: ((b.x,), None), lambda _, xs: Box(*xs))
@hookimpl
def bindax_value_types(): return [ValueType(Meters, lambda x: ShapedArray((), "float32"))]
@hookimpl
def bindax_backends(): return [backend]
@hookimpl
def bindax_array_attributes(): return {"example_method": lambda self: "called"}
""",
    )
    import everything

    assert real.resolver.load_for_type(everything.Box) is True
    assert tree.leaves(everything.Box(7)) == [7]
    assert bindax_core.typeof(everything.Meters()).str_short() == "float32[]"
    assert real.resolver.load_backends("example") == [everything.backend]
    assert _backend.backends["example"] is everything.backend
    assert bindax_core.Array.example_method(None) == "called"
    plugin = real.loader.named("all")[0]
    assert _doctor.notes_on(plugin, real.manifest()) == []
    assert {one.kind for one in plugin.installed} == {"pytree", "value", "backend", "attribute"}
    assert all(one.provenance.distribution == "all-dist" for one in plugin.installed[1:])


def test_a_failure_half_way_leaves_the_kernel_as_it_was(site: Any, real: Any) -> None:
    site.distribution("half-dist", "[bindax.v1]\nhalf = half\n")
    site.module(
        "half",
        HEAD
        + """
from bindax_core import tree_util
class Box: ...
class Called: ...
class Meters: ...
p = card("half.p")
tree_util.register_pytree_node(Called, lambda b: ((), None), lambda _, xs: Called())
@hookimpl
def bindax_primitives(): return [p]
@hookimpl
def bindax_pytree_nodes():
    return [NodeDefinition(Box, lambda b: ((), None), lambda _, xs: Box())]
@hookimpl
def bindax_value_types(): return [ValueType(Meters, lambda x: None)]
@hookimpl
def bindax_backends(): return [object()]
""",
    )
    before = (
        dict(_aval.value_types),
        dict(_backend.backends),
        set(vars(_operators.ArrayOperators)),
    )
    nodes = tree.__dict__ and {str(one) for one in _registered()}
    with pytest.warns(PluginWarning, match="lacks name, priority, platform, compile"):
        real.loader.load_all()

    assert real.status("half") == "quarantined"
    after = (dict(_aval.value_types), dict(_backend.backends), set(vars(_operators.ArrayOperators)))
    assert after == before
    assert {str(one) for one in _registered()} == nodes
    assert real.resolver.find_primitive("half.p") is None
    assert "half.p" not in str(_declared.find_declared("half.p"))


def _registered() -> Any:
    from bindax_core.tree._registry import registered_nodes

    return registered_nodes()


def test_a_plugin_loaded_while_something_is_staged_is_not_traced(site: Any, real: Any) -> None:
    owner(site)
    site.distribution("mod-dist", "[bindax.v1]\nmod = mod\n[bindax.v1.rules]\nearly = mod\n")
    site.module("mod", "import owner\nconstant = owner.p.bind(2.0)\n" + HEAD)

    def function(x: Any) -> Any:
        assert real.resolver.load_for_rule("early", None) is True
        return x

    text = str(pytest.importorskip("bindax_transforms").make_jaxpr(function)(1.0))

    assert "owner.p" not in text
    assert float(sys.modules["mod"].constant) == 2.0


def test_what_a_hook_must_return_is_checked(site: Any, real: Any) -> None:
    for hook in ("primitives", "extensions", "pytree_nodes", "value_types"):
        name = f"wrong_{hook}"
        site.plugin(name, f"@hookimpl\ndef bindax_{hook}(): return ['text']")
    for hook in ("array_operations", "array_attributes"):
        site.plugin(f"wrong_{hook}", f"@hookimpl\ndef bindax_{hook}(): return [1]")
    with pytest.warns(PluginWarning):
        real.loader.load_all()

    for plugin in real.loader.plugins():
        assert isinstance(plugin.error, PluginError), plugin
        assert f"the hook bindax_{plugin.name.removeprefix('wrong_')} of {plugin.name}" in str(
            plugin.error
        )


def test_reports_are_plain_data(site: Any, real: Any, inverse: RuleKind) -> None:
    import json

    owner(site)
    extender(site, "rules", "inverse(lambda y: y)")
    site.distribution("future", "[bindax.v2]\nfuture = future\n")
    primitive = real.resolver.find_primitive("owner.p")
    plugins = {one["plugin"]: one for one in _report.plugins_report(real.resolver)}
    rules = {one["kind"]: one for one in _report.rules_report(real.resolver, primitive)["rules"]}

    assert json.loads(json.dumps([plugins, rules])) == [plugins, rules]
    assert plugins["owner"]["status"] == "loaded"
    assert plugins["rules"]["status"] == "available"
    assert plugins["rules"]["offers"] == {"rules": ["inverse"]}
    assert plugins["future"]["status"] == "refused"
    assert rules["inverse"]["status"] == "present"  # its candidate was loaded
    assert rules["jvp"]["why"] == "no reason"
    assert rules["vmap"]["why"] == "expected from rules-dist"


def test_a_misspelt_name_in_the_settings_is_noticed(site: Any, real: Any) -> None:
    owner(site)
    with configured(deny=["ownr"]):
        (record,) = _doctor.doctor_report(real.resolver)

    assert record["text"] == "the setting deny names 'ownr', which is not installed"
    assert record["severity"] == "notice"


def test_modules_are_traced_back_to_distributions() -> None:
    found = distribution_of("numpy.linalg")

    assert found is not None
    assert found.name == "numpy"
    assert distribution_of("attr._make").name == "attrs"
    assert distribution_of("json.decoder") is None
    assert distribution_of("__main__") is None
    assert distribution_of("surely_not_installed") is None


def test_an_attribute_that_two_distributions_supply_raises_on_use(
    site: Any, real: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = InstalledPlugins()
    installed._resolver = real.resolver
    monkeypatch.setattr(runtime, "plugins", installed)
    for name in ("one", "two"):
        site.plugin(
            name,
            f"""
            @hookimpl
            def bindax_array_attributes():
                return {{"shared": lambda self: 1, "of_{name}": lambda self: 2}}
            """,
            f"[bindax.v1.operations]\n{name} = {name}\n",
        )

    assert bindax_core.Array.of_one(None) == bindax_core.Array.of_two(None) == 2
    with pytest.raises(
        PluginConflictError, match=r"the array attribute 'shared' is offered by one"
    ):
        bindax_core.Array.shared


def test_a_missing_rule_is_chained_to_the_plugin_that_failed(
    site: Any, real: Any, inverse: RuleKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner(site)
    site.plugin("broken", "raise OSError('no device')", "[bindax.v1.rules]\ninverse = broken\n")
    primitive = real.resolver.find_primitive("owner.p")
    installed = InstalledPlugins()
    installed._resolver = real.resolver
    monkeypatch.setattr(runtime, "plugins", installed)
    with (
        pytest.warns(PluginWarning),
        pytest.raises(MissingRuleError, match=r"broken-dist 1\.0.*no device") as caught,
    ):
        inverse.get(primitive)

    assert isinstance(caught.value.__cause__, PluginLoadError)
    assert isinstance(caught.value.__cause__.__cause__, OSError)


def test_a_value_type_registered_by_a_call_is_taken_back(site: Any, real: Any) -> None:
    site.plugin(
        "caller",
        """
        from bindax_core.kernel import _aval
        class Meters: ...
        _aval.register_value_type(_aval.ValueType(Meters, lambda x: None))
        raise RuntimeError("late")
        """,
    )
    before = dict(_aval.value_types)
    with pytest.warns(PluginWarning, match="late"):
        real.loader.load_all()

    assert _aval.value_types == before


def test_what_is_offered_and_not_brought_is_noted(site: Any, real: Any) -> None:
    path = site.distribution(
        "less-dist", "[bindax.v1]\nless = less\n[bindax.v1.primitives]\nless.p = less:p\n"
    )
    site.module("less", HEAD + "@hookimpl\ndef bindax_primitives(): return []\n")
    with pytest.raises(PluginError, match=r"less-dist 1\.0 \(but the plugin did not bring it\)"):
        real.resolver.find_primitive("less.p")
    (note,) = _doctor.notes_on(real.loader.named("less")[0], real.manifest())

    assert note == (
        f"the primitive 'less.p' is offered in {path / 'entry_points.txt'}:4, "
        f"but no hook returned it"
    )
