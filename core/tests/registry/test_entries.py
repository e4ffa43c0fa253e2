"""Entries name primitives, definitions, backends and transformations; the loader imports them."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from bindax_core import tree, typeof
from bindax_core.errors import PluginConflictError, PluginError, PluginLoadError, PluginWarning
from bindax_core.registry._loader import LOADED, QUARANTINED
from bindax_core.registry._plugin_settings import configured
from bindax_diagnosis import _doctor, _report

MODULE = """
from bindax_core.extend import NodeDefinition, Primitive, ShapedArray, ValueType

one_p, two_p = Primitive("mine.one"), Primitive("mine.two")

class Box:
    def __init__(self, x): self.x = x
class Meters: ...
class Example:
    name, priority, platform = "example", -1, "cpu"
    def compile(self, jaxpr, **options): ...
    lower = to_host = put = compile

box = NodeDefinition(Box, lambda b: ((b.x,), None), lambda _, xs: Box(*xs))
meters = ValueType(Meters, lambda x: ShapedArray((), "float32"))
backend = Example()
def turn(f): return f
"""
ENTRIES = """\
[bindax.v1.primitives]
mine.one = mine.parts:one_p
mine.two = mine.parts:two_p
[bindax.v1.pytrees]
mine.parts:Box = mine.parts:box
[bindax.v1.values]
mine.parts:Meters = mine.parts:meters
[bindax.v1.backends]
example = mine.parts:backend
[bindax.v1.transformations]
turn = mine.parts:turn
"""


def package(site: Any, entries: str, text: str = MODULE, name: str = "mine") -> None:
    site.distribution(f"{name}-dist", entries)
    site.module(f"{name}.__init__", "")
    site.module(f"{name}.parts", text)


def test_a_package_without_hooks_brings_what_its_entries_name(site: Any, real: Any) -> None:
    package(site, ENTRIES)
    (plugin,) = real.loader.plugins()
    assert (plugin.name, plugin.entry.value) == ("mine-dist", "mine")
    assert "mine.parts" not in sys.modules

    primitive = real.resolver.find_primitive("mine.two")
    parts = sys.modules["mine.parts"]
    assert primitive is parts.two_p
    assert real.resolver.find_named("transformation", "turn") is parts.turn
    assert real.resolver.load_backends("example") == [parts.backend]
    assert real.resolver.load_for_type(parts.Box) is True
    assert tree.leaves(parts.Box(7)) == [7]
    assert typeof(parts.Meters()).str_short() == "float32[]"
    assert plugin.status == LOADED
    assert _doctor.doctor_report(real.resolver) == []
    (record,) = _report.plugins_report(real.resolver)
    assert record["file"].endswith("mine/__init__.py")
    assert record["offers"] == {
        "primitives": ["mine.one", "mine.two"],
        "pytrees": ["mine.parts:Box"],
        "values": ["mine.parts:Meters"],
        "backends": ["example"],
        "transformations": ["turn"],
    }
    assert all(
        one.provenance.file.startswith(str(site.directory)) and one.provenance.line > 1
        for one in plugin.installed
        if one.kind != "backend"
    )


def test_a_type_of_the_package_loads_it(site: Any, real: Any) -> None:
    package(site, ENTRIES)
    parts = importlib.import_module("mine.parts")

    assert real.resolver.load_for_type(parts.Box) is True
    assert real.resolver.load_for_type(int) is False


def test_a_type_that_is_re_exported_and_a_library_that_is_missing(site: Any, real: Any) -> None:
    entries = "[bindax.v1.pytrees]\nshop:Box = mine.parts:box\nno_such:Type = mine.nothing:x\n"
    package(site, entries)
    site.module("shop", "from mine.parts import Box")
    shop = importlib.import_module("shop")
    shop.Box.__module__ = "shop._inner"

    assert real.resolver.load_for_type(shop.Box) is True
    assert _doctor.doctor_report(real.resolver) == []


def test_hooks_and_entries_of_one_plugin(site: Any, real: Any) -> None:
    package(site, "[bindax.v1]\nmine = mine.plugin\n" + ENTRIES)
    site.module(
        "mine.plugin",
        """
        from bindax_core.extend import hookimpl
        @hookimpl
        def bindax_array_attributes():
            return {"of_mine": lambda self: 1}
        """,
    )
    real.loader.load_all()
    (plugin,) = real.loader.plugins()

    kinds = [one.kind for one in plugin.installed]
    assert kinds == [
        *("primitive", "primitive", "pytree", "value", "backend", "attribute", "transformation")
    ]


def test_a_hook_brings_all_of_its_kind(site: Any, tables: Any) -> None:
    entries = "[bindax.v1.primitives]\nmine.p = mine:p\nmine.q = mine:q\n"
    site.plugin("mine", "@hookimpl\ndef bindax_primitives():\n    return ['mine.p']", entries)
    tables.loader.load_all()

    assert tables.primitives == {"mine.p": "mine.p"}
    assert "no hook returned it" in str(_doctor.doctor_report(tables.resolver))


MISTAKES = {
    "mine.one = mine.parts:missing": (
        "names 'missing', which the module 'mine.parts' does not have"
    ),
    "mine.one = mine.nothing:p": "names the module 'mine.nothing', which is not installed",
    "mine.one = nothing.at_all:p": "names the module 'nothing.at_all', which cannot be found",
    "mine.one = mine.parts:Box": "names <class 'mine.parts.Box'>, no Primitive",
    "mine.one = mine.parts:two_p": "names the primitive 'mine.two'",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_an_entry_that_is_wrong_names_package_entry_and_file(
    site: Any, real: Any, line: str
) -> None:
    package(site, f"[bindax.v1.primitives]\n{line}\n")
    wanted = (
        f"the primitives entry 'mine.one' ({site.directory / 'mine_dist-1.0.dist-info'}"
        f"/entry_points.txt:2) {MISTAKES[line]}"
    )
    with pytest.warns(PluginWarning), pytest.raises(PluginLoadError) as caught:
        real.resolver.find_primitive("mine.one")
    (record,) = _doctor.doctor_report(real.resolver)

    assert str(caught.value).startswith("the plugin 'mine-dist' of mine-dist 1.0 (")
    assert wanted in str(caught.value)
    assert wanted in record["text"]
    assert isinstance(real.loader.plugins()[0].error, PluginError)


def test_a_module_that_raises_puts_the_plugin_into_quarantine(site: Any, real: Any) -> None:
    package(site, ENTRIES, MODULE + "raise OSError('no device')")
    package(site, "[bindax.v1.primitives]\nother.p = other.parts:p\n", OTHER, "other")
    with pytest.warns(PluginWarning, match="OSError: no device"):
        real.loader.load_all()

    statuses = {plugin.name: plugin.status for plugin in real.loader.plugins()}
    assert statuses == {"mine-dist": QUARANTINED, "other-dist": LOADED}


OTHER = 'from bindax_core.extend import Primitive\np = Primitive("{}")\n'.format("other.p")


def test_a_module_that_needs_an_entry_of_its_own_while_it_is_imported(
    site: Any, real: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "resolver_for_this_test", real.resolver, raising=False)
    text = """
    import sys
    try:
        sys.resolver_for_this_test.find_primitive("mine.one")
    except Exception as error:
        early = error
    """
    package(site, ENTRIES, text.replace("\n    ", "\n") + MODULE)
    parts = importlib.import_module("mine.parts")

    assert isinstance(parts.early, PluginError)
    assert real.resolver.find_primitive("mine.one") is parts.one_p


@pytest.mark.parametrize("prefer", [(), ("two-dist",)])
def test_two_distributions_that_name_one_primitive(
    site: Any, real: Any, prefer: tuple[str, ...]
) -> None:
    for name in ("one", "two"):
        text = OTHER.replace("other.p", "shared.p")
        package(site, f"[bindax.v1.primitives]\nshared.p = {name}.parts:p\n", text, name)
    with configured(prefer=prefer):
        if prefer:
            found = real.resolver.find_primitive("shared.p")
            assert found is sys.modules["two.parts"].p
            return
        with pytest.raises(PluginConflictError, match=r"is offered by one-dist 1\.0") as caught:
            real.resolver.find_primitive("shared.p")
    for name in ("one", "two"):
        assert f"({name}.parts:p by {site.directory / name}/parts.py, offered in" in str(
            caught.value
        )
        assert name not in sys.modules


def test_a_denied_package_is_not_imported(site: Any, real: Any) -> None:
    package(site, ENTRIES)
    with (
        configured(deny=["mine-dist"]),
        pytest.raises(PluginError, match=r"not loaded: it is on the deny list \(code\)"),
    ):
        real.resolver.find_primitive("mine.one")
    assert "mine" not in sys.modules


def test_one_manager_forgets_a_plugin_that_fails(site: Any, tables: Any) -> None:
    site.plugin("good", "@hookimpl\ndef bindax_primitives():\n    return ['good.p']")
    site.plugin("bad", "@hookimpl\ndef bindax_primitives():\n    raise OSError('late')")
    site.plugin("amiss", "@hookimpl\ndef bindax_primitves():\n    return []")
    with pytest.warns(PluginWarning):
        tables.loader.load_all()

    names = [name for name, _ in tables.loader._manager.list_name_plugin()]
    assert names == ["plugin 'good' of good-dist 1.0"]
    good, bad = tables.loader.named("good")[0], tables.loader.named("bad")[0]
    assert good.hooks.bindax_primitives() == [["good.p"]]
    assert good.hooks.bindax_samples() == []
    assert bad.status == QUARANTINED
