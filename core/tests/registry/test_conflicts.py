"""Two distributions that offer one thing: an error on use, whatever was loaded before."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import pytest

from bindax_core.errors import (
    PluginConflictError,
    PluginLoadError,
    PluginVersionError,
    PluginWarning,
)
from bindax_core.registry._plugin_settings import configured
from bindax_diagnosis._manifests import conflicts


def offer(site: Any, name: str, *, version: str = "1.0", extra: str = "") -> None:
    """A plugin with a name of its own and the shared name 'p'."""
    site.plugin(
        name,
        f"""
        class Declared(str):
            __hash__ = str.__hash__
        @hookimpl
        def bindax_primitives():
            return [Declared("p"), "{name}.own"]
        """,
        f"[bindax.v1.primitives]\np = {name}:p\n{name}.own = {name}:own\n{extra}",
        version,
    )


def test_using_the_name_raises_and_names_both_sides(site: Any, tables: Any) -> None:
    offer(site, "one")
    offer(site, "two", version="2.0")
    with pytest.raises(PluginConflictError) as caught:
        tables.resolver.find_primitive("p")
    message = str(caught.value)

    for name, version in (("one", "1.0"), ("two", "2.0")):
        assert f"{name}-dist {version} ({name}:p by {site.directory / name}.py, " in message
        assert f"{name}_dist-{version}.dist-info/entry_points.txt:4" in message
    assert "BINDAX_PLUGINS_PREFER=one-dist,two-dist" in message
    assert "BINDAX_PLUGINS_DENY=two-dist" in message
    assert "one" not in sys.modules
    assert "two" not in sys.modules


@pytest.mark.parametrize("order", list(itertools.permutations(["one", "two", "p"])))
def test_the_order_of_loading_makes_no_difference(site: Any, tables: Any, order: Any) -> None:
    offer(site, "one")
    offer(site, "two")
    for name in order:
        if name == "p":
            with pytest.raises(PluginConflictError):
                tables.resolver.find_primitive("p")
        else:
            assert tables.resolver.find_primitive(f"{name}.own") == f"{name}.own"
    with pytest.raises(PluginConflictError):
        tables.resolver.find_primitive("p")

    assert sorted(tables.primitives) == ["one.own", "two.own"]


@pytest.mark.parametrize("order", list(itertools.permutations(["one", "two"])))
def test_a_ranking_decides_whatever_the_order(site: Any, tables: Any, order: Any) -> None:
    offer(site, "one")
    offer(site, "two")
    with configured(prefer=["two-dist"]):
        for name in order:
            tables.resolver.find_primitive(f"{name}.own")
        found = tables.resolver.find_primitive("p")
        (conflict,) = conflicts(tables.resolver)

    assert type(found).__module__ == "two"
    assert conflict.winner == "two-dist"
    assert tables.loader.registrations.held("primitive", "p").value is found


def test_denying_one_side_ends_the_conflict(site: Any, tables: Any) -> None:
    offer(site, "one")
    offer(site, "two")
    with configured(deny=["one"]):
        assert type(tables.resolver.find_primitive("p")).__module__ == "two"
        assert conflicts(tables.resolver) == []


def test_a_conflict_that_manifests_do_not_show_is_found_when_both_are_loaded(
    site: Any, tables: Any
) -> None:
    for name in ("one", "two", "three"):
        site.plugin(
            name,
            """
            class Declared(str):
                __hash__ = str.__hash__
            @hookimpl
            def bindax_extensions():
                return [Declared("rule")]
            """,
        )
    tables.loader.load_all()

    assert tables.rules == {}
    with pytest.raises(PluginConflictError, match=r"one-dist 1.0 .* and by three-dist 1.0 .* two-"):
        tables.loader.registrations.check("rule", "rule")


def test_a_failed_plugin_is_no_party_to_a_conflict_found_while_loading(
    site: Any, tables: Any
) -> None:
    site.plugin("one", "@hookimpl\ndef bindax_extensions():\n    return ['rule']")
    site.plugin(
        "two", "@hookimpl\ndef bindax_extensions():\n    return ['rule', 'fails to install']"
    )
    with pytest.warns(PluginWarning):
        tables.loader.load_all()

    assert tables.rules == {"rule": "rule"}
    assert conflicts(tables.resolver) == []


def test_a_pytree_type_offered_twice_raises_on_use(site: Any, tables: Any) -> None:
    site.module("box", "class Box: ...\nclass Other: ...")
    for name in ("one", "two"):
        site.plugin(
            name,
            """
            import box
            @hookimpl
            def bindax_pytree_nodes():
                return [box.Box, box.Other] if __name__ == "one" else [box.Box]
            """,
            f"[bindax.v1.pytrees]\nbox = box:Box\n{'other = box:Other' if name == 'one' else ''}\n",
        )
    import box

    with pytest.raises(PluginConflictError, match="the pytree type box:Box is offered by one-dist"):
        tables.resolver.load_for_type(box.Box)
    assert tables.resolver.load_for_type(box.Other) is True
    with pytest.raises(PluginConflictError):
        tables.resolver.load_for_type(box.Box)
    with configured(prefer=["one-dist"]):
        pass
    assert tables.resolver.load_for_type(int) is False
    assert list(tables.pytrees) == [box.Other]


def test_a_type_offered_where_it_is_re_exported_is_found(site: Any, tables: Any) -> None:
    site.distribution("pkg", "[bindax.v1]\npkg = pkg.plugin\n[bindax.v1.pytrees]\nbox = pkg:Box\n")
    site.module("pkg.__init__", "from pkg._impl import Box")
    site.module("pkg._impl", "class Box: ...")
    site.module(
        "pkg.plugin",
        """
        from bindax_core.registry._hooks import hookimpl
        import pkg
        @hookimpl
        def bindax_pytree_nodes():
            return [pkg.Box]
        """,
    )
    import pkg

    assert tables.resolver.load_for_type(pkg.Box) is True


def test_types_of_broken_and_refused_plugins_raise_on_use(site: Any, tables: Any) -> None:
    site.module("box", "class Box: ...\nclass Other: ...")
    site.plugin("broken", "raise RuntimeError('no device')", "[bindax.v1.pytrees]\nb = box:Box\n")
    site.distribution("future", "[bindax.v2]\nf = f\n[bindax.v2.pytrees]\nb = box:Other\n")
    import box

    with pytest.warns(PluginWarning), pytest.raises(PluginLoadError, match="no device"):
        tables.resolver.load_for_type(box.Box)
    with pytest.raises(PluginLoadError, match="no device"):
        tables.resolver.load_for_type(box.Box)
    with pytest.raises(PluginVersionError, match="upgrade bindax-core"):
        tables.resolver.load_for_type(box.Other)


def test_a_refused_primitive_says_so(site: Any, tables: Any) -> None:
    site.distribution("future", "[bindax.v2]\nf = f\n[bindax.v2.primitives]\nf.p = f:p\n")
    with pytest.raises(PluginVersionError, match=r"future 1\.0 was written for plugin API"):
        tables.resolver.find_primitive("f.p")

    assert tables.resolver.find_primitive("unknown") is None


def test_candidates_say_why_they_do_not_help(site: Any, tables: Any) -> None:
    for name in ("loads", "denied"):
        site.plugin(name, "", f"[bindax.v1.rules]\njvp@{name} = {name}\n")
    site.plugin("broken", "raise OSError('no device')", "[bindax.v1.rules]\njvp = broken\n")
    site.distribution("future", "[bindax.v2]\nf = f\n[bindax.v2.rules]\njvp = f\n")
    with configured(deny=["denied"]):
        with pytest.warns(PluginWarning):
            assert tables.resolver.load_for_rule("jvp", "p") is True
        found = tables.resolver.candidates("jvp")

    assert found[:3] == [
        "broken-dist 1.0 (failed to load: OSError: no device; see `bindax doctor`)",
        "denied-dist 1.0 (not loaded: it is on the deny list (code))",
        "loads-dist 1.0",
    ]
    assert found[3].startswith("future 1.0 (refused: future 1.0 was written for plugin API")
    assert tables.resolver.candidates("vmap") == []
