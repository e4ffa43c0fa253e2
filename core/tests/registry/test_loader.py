"""A plugin loads as a whole or not at all, and what goes wrong stays with it."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from typing import Any

import pytest

from bindax_core._rollback import on_rollback
from bindax_core.errors import PluginConflictError, PluginError, PluginLoadError, PluginWarning
from bindax_core.registry import _loader
from bindax_core.registry._loader import LOADED, QUARANTINED
from bindax_core.registry._plugin_settings import configured
from bindax_diagnosis._doctor import notes_on

GOOD = """
    @hookimpl
    def bindax_primitives():
        return ["good.p", "good.q"]
    """
GOOD_MANIFEST = "[bindax.v1.primitives]\ngood.p = good:p\ngood.q = good:q\n"


def only(tables: Any, name: str) -> Any:
    (plugin,) = tables.loader.named(name)
    return plugin


def test_nothing_is_imported_before_it_is_needed(site: Any, tables: Any) -> None:
    site.plugin("good", GOOD, GOOD_MANIFEST)
    tables.loader.plugins()

    assert "good" not in sys.modules
    assert tables.resolver.find_primitive("good.p") == "good.p"
    assert only(tables, "good").status == LOADED
    assert tables.primitives == {"good.p": "good.p", "good.q": "good.q"}


BROKEN = {
    "RuntimeError": "raise RuntimeError('no device')",
    "SystemExit": "raise SystemExit(3)",
    "SyntaxError": "def (",
    "ImportError": "import does_not_exist_anywhere",
    "KeyError": "{}['missing']",
    "GeneratorExit": "raise GeneratorExit",
}


@pytest.mark.parametrize("error", sorted(BROKEN))
def test_whatever_is_raised_at_import_puts_the_plugin_into_quarantine(
    site: Any, tables: Any, error: str
) -> None:
    manifest = "[bindax.v1.primitives]\nbroken.p = broken:p\n"
    site.plugin("broken", BROKEN[error], manifest)
    site.plugin("good", GOOD, GOOD_MANIFEST)
    with pytest.warns(PluginWarning, match="the plugin 'broken' of broken-dist 1.0 "):
        tables.loader.load_all()
    broken = only(tables, "broken")

    assert broken.status == QUARANTINED
    assert error.replace("ImportError", "ModuleNotFoundError") in broken.traceback
    assert only(tables, "good").status == LOADED
    for _ in range(2):
        with pytest.raises(PluginLoadError, match="could not be loaded") as caught:
            tables.resolver.find_primitive("broken.p")
        assert caught.value.__cause__ is broken.error


@pytest.mark.parametrize(
    "hook",
    [
        "yield 'half.a'; raise OSError('half-way')",
        "return ['half.a', 'invalid']",
        "return ['half.a', 'fails to install']",
        "return 7",
    ],
)
def test_a_failure_half_way_leaves_nothing(site: Any, tables: Any, hook: str) -> None:
    site.plugin(
        "half",
        f"""
        @hookimpl
        def bindax_primitives():
            return ["half.first"]
        @hookimpl
        def bindax_extensions():
            {hook}
        """,
    )
    with pytest.warns(PluginWarning):
        tables.loader.load_all()

    assert only(tables, "half").status == QUARANTINED
    assert tables.primitives == {}
    assert tables.rules == {}
    assert tables.loader.registrations.of_kind("primitive") == []


def test_what_a_module_registered_by_a_call_is_undone(
    site: Any, tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table: list[str] = []

    def register(name: str) -> None:
        table.append(name)
        on_rollback(lambda: table.remove(name))

    monkeypatch.setattr(sys, "register_for_this_test", register, raising=False)
    text = "import sys\nsys.register_for_this_test('x')\nassert sys.argv is None"
    site.plugin("caller", text)
    with pytest.warns(PluginWarning):
        tables.loader.load_all()
    register("outside of any load")

    assert table == ["outside of any load"]


def test_keyboard_interrupt_is_not_held_against_the_plugin(site: Any, tables: Any) -> None:
    site.plugin("slow", "import os\nif not os.environ.pop('X_DONE', ''): raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        tables.loader.load_all()
    slow = only(tables, "slow")

    assert slow.status == "available"
    site.module("slow", "from bindax_core.registry._hooks import hookimpl")
    sys.modules.pop("slow", None)
    importlib.invalidate_caches()
    tables.loader.load(slow)
    assert slow.status == "loaded"


def test_strict_mode_raises_at_the_load(site: Any, tables: Any) -> None:
    site.plugin("broken", "raise RuntimeError('no device')")
    with configured(strict=True), pytest.raises(PluginLoadError, match="no device") as caught:
        tables.loader.load_all()

    assert isinstance(caught.value.__cause__, RuntimeError)


def _dedented() -> str:
    import textwrap

    return textwrap.dedent(GOOD)


def test_a_misspelt_hook_is_an_error_that_names_it(site: Any, tables: Any) -> None:
    site.plugin("typo", "@hookimpl\ndef bindax_primitves():\n    return []")
    with pytest.warns(PluginWarning, match="bindax_primitves"):
        tables.loader.load_all()


def test_a_hook_with_arguments_is_an_error_that_names_it(site: Any, tables: Any) -> None:
    site.plugin("typo", "@hookimpl\ndef bindax_primitives(registry):\n    return []")
    with pytest.warns(PluginWarning, match="registry"):
        tables.loader.load_all()


def test_an_object_in_a_module_can_be_the_plugin(site: Any, tables: Any) -> None:
    site.distribution("obj", "[bindax.v1]\nobj = objmod:Holder.plugin\n")
    site.module(
        "objmod",
        """
        from bindax_core.registry._hooks import hookimpl
        class Plugin:
            @hookimpl
            def bindax_primitives(self):
                return ["obj.p"]
        class Holder:
            plugin = Plugin()
        """,
    )
    tables.loader.load_all()

    assert tables.primitives == {"obj.p": "obj.p"}


def test_differences_between_manifest_and_hooks_are_noted(site: Any, tables: Any) -> None:
    site.plugin("good", GOOD, "[bindax.v1.primitives]\ngood.p = good:p\n")
    site.plugin("empty", "")
    tables.loader.load_all()

    (note,) = notes_on(only(tables, "good"), tables.manifest())
    assert note == (
        "the primitive 'good.q' is not in the group bindax.v1.primitives of the manifest of "
        "good-dist, so it is not found before the plugin is loaded"
    )
    (note,) = notes_on(only(tables, "empty"), tables.manifest())
    assert note == "empty has no hooks, so it brings nothing"


def test_importing_the_plugin_first_works(site: Any, tables: Any) -> None:
    site.plugin("good", GOOD, GOOD_MANIFEST)
    importlib.import_module("good")

    assert tables.resolver.find_primitive("good.q") == "good.q"


def test_a_plugin_needed_while_it_is_imported_is_loaded_afterwards(
    site: Any, tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "resolver_for_this_test", tables.resolver, raising=False)
    text = "import sys\nseen = sys.resolver_for_this_test.load_for_rule('early', 'p')\n" + (
        _dedented()
    )
    site.plugin("good", text, GOOD_MANIFEST + "[bindax.v1.rules]\nearly = good\n")
    module = importlib.import_module("good")

    assert module.seen is False
    assert only(tables, "good").status == "available"
    assert tables.resolver.load_for_rule("early", "p") is True


def test_a_module_that_replaces_itself_while_it_is_imported_is_still_being_imported(
    site: Any, tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "resolver_for_this_test", tables.resolver, raising=False)
    text = """
    import sys
    import types
    sys.modules[__name__] = made = types.ModuleType(__name__)
    made.seen = sys.resolver_for_this_test.load_for_rule("early", "p")
    made.hookimpl, made.__file__ = hookimpl, __file__
    """
    site.plugin("good", text, "[bindax.v1.rules]\nearly = good\n")
    assert importlib.import_module("good").seen is False
    assert only(tables, "good").status == "available"


def test_a_package_that_is_half_imported_is_not_quarantined(
    site: Any, tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "resolver_for_this_test", tables.resolver, raising=False)
    site.distribution(
        "pkg", "[bindax.v1]\npkg = pkg.plugin\n[bindax.v1.primitives]\npkg.p = pkg.ops:p\n"
    )
    site.module("pkg.__init__", "")
    site.module(
        "pkg.ops",
        """
        import sys
        found = sys.resolver_for_this_test.find_primitive  # used before this module is whole
        try:
            found("pkg.p")
        except Exception as error:
            early = error
        name = "pkg.p"
        """,
    )
    site.module(
        "pkg.plugin",
        """
        from bindax_core.registry._hooks import hookimpl
        from pkg.ops import name
        @hookimpl
        def bindax_primitives():
            return [name]
        """,
    )
    module = importlib.import_module("pkg.ops")

    assert isinstance(module.early, PluginError)
    assert tables.resolver.find_primitive("pkg.p") == "pkg.p"


def test_a_plugin_that_needs_itself_while_loading_does_not_wait_for_itself(
    site: Any, tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "resolver_for_this_test", tables.resolver, raising=False)
    site.plugin(
        "selfish",
        """
        import sys
        @hookimpl
        def bindax_primitives():
            assert sys.resolver_for_this_test.load_for_rule("early", "p") is False
            return ["selfish.p"]
        """,
        "[bindax.v1.rules]\nearly = selfish\n[bindax.v1.primitives]\nselfish.p = selfish:p\n",
    )

    assert tables.resolver.find_primitive("selfish.p") == "selfish.p"


def test_a_plugin_that_needs_another_one_loads_it(
    site: Any, tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "resolver_for_this_test", tables.resolver, raising=False)
    site.plugin("good", GOOD, GOOD_MANIFEST)
    site.plugin("needs", "import sys\nsys.resolver_for_this_test.find_primitive('good.p')")
    tables.loader.load(only(tables, "needs"))

    assert only(tables, "needs").status == only(tables, "good").status == LOADED


@pytest.mark.parametrize("text", ["", "raise RuntimeError('no device')"])
def test_threads_that_need_one_plugin_wait_for_one_result(
    site: Any, tables: Any, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    imports: list[int] = []
    monkeypatch.setattr(sys, "imports_for_this_test", imports, raising=False)
    slow = "import sys, time\nsys.imports_for_this_test.append(1)\ntime.sleep(0.05)\n"
    site.plugin("good", slow + text + "\n" + _dedented(), GOOD_MANIFEST)
    results: list[Any] = []
    start = threading.Barrier(16)

    def use() -> None:
        start.wait()
        try:
            results.append(tables.resolver.find_primitive("good.p"))
        except PluginLoadError as error:
            results.append(str(error.__cause__))

    threads = [threading.Thread(target=use) for _ in range(16)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(imports) == 1
    assert results == ["no device" if text else "good.p"] * 16


def test_two_threads_that_load_plugins_that_need_each_other_finish(
    site: Any, tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "resolver_for_this_test", tables.resolver, raising=False)
    for one, other in (("left", "right"), ("right", "left")):
        site.plugin(
            one,
            f"""
            import sys, time
            time.sleep(0.02)
            sys.resolver_for_this_test.load_for_rule("{other}", "p")
            @hookimpl
            def bindax_primitives():
                return ["{one}"]
            """,
            f"[bindax.v1.rules]\n{one} = {one}\n[bindax.v1.primitives]\n{one} = {one}:p\n",
        )
    threads = [
        threading.Thread(target=tables.resolver.find_primitive, args=(name,), daemon=True)
        for name in ("left", "right")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert not any(thread.is_alive() for thread in threads)
    assert sorted(tables.primitives) == ["left", "right"]


def test_one_distribution_cannot_claim_a_name_twice(site: Any, tables: Any) -> None:
    site.plugin(
        "twice",
        """
        class Name(str):
            __hash__ = str.__hash__
        @hookimpl
        def bindax_primitives():
            return [Name("p"), Name("p")]
        """,
    )
    with pytest.warns(PluginWarning, match=r"the primitive 'p' is declared twice by twice-dist"):
        tables.loader.load_all()

    assert isinstance(only(tables, "twice").error, PluginConflictError)
    assert tables.primitives == {}


def test_examples_of_a_docstring_are_no_import_of_their_module() -> None:
    names = {**vars(_loader), "found": []}
    exec("found.extend(_modules_running())", names)
    assert _loader.__name__ not in names["found"]
