"""Settings come from code, environment and files, in this order, and say where they came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bindax_core.errors import PluginError
from bindax_core.registry._plugin_settings import configured, reload_settings, settings


def test_defaults() -> None:
    found = settings()

    assert (found.allow, found.deny, found.autoload, found.strict, found.prefer) == (
        None,
        (),
        True,
        False,
        (),
    )


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDAX_PLUGINS", "lax_basic, My.Plugin,")
    monkeypatch.setenv("BINDAX_PLUGINS_DENY", "evil")
    monkeypatch.setenv("BINDAX_PLUGINS_AUTOLOAD", "0")
    monkeypatch.setenv("BINDAX_PLUGINS_STRICT", "yes")
    monkeypatch.setenv("BINDAX_PLUGINS_PREFER", "b,a")
    reload_settings()
    found = settings()

    assert found.allow == ("lax-basic", "my-plugin")
    assert found.deny == ("evil",)
    assert found.autoload is False
    assert found.strict is True
    assert found.prefer == ("b", "a")
    assert found.sources["allow"] == "environment variable BINDAX_PLUGINS"


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDAX_PLUGINS", "")
    reload_settings()

    assert settings().allow is None


def test_files(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.bindax.plugins]\nallow = ["a"]\nstrict = true\n', encoding="utf-8"
    )
    (tmp_path / "bindax.toml").write_text('[plugins]\nallow = ["b"]\n', encoding="utf-8")
    reload_settings()
    found = settings()

    assert found.allow == ("b",)
    assert found.strict is True
    assert found.sources == {
        "allow": str(tmp_path / "bindax.toml"),
        "strict": str(tmp_path / "pyproject.toml"),
    }


def test_code_wins_over_environment_and_environment_over_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bindax.toml").write_text(
        '[plugins]\ndeny = ["file"]\nprefer = ["file"]\n', encoding="utf-8"
    )
    monkeypatch.setenv("BINDAX_PLUGINS_DENY", "env")
    reload_settings()

    assert settings().deny == ("env",)
    assert settings().prefer == ("file",)
    with configured(deny=["code"]) as inside:
        assert inside.deny == ("code",)
        assert inside.sources["deny"] == "code"
    assert settings().deny == ("env",)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("bindax.toml", "[plugins]\nallowed = []\n", "unknown setting 'allowed'; known are allow"),
        ("bindax.toml", "[plugins]\nallow = 'a'\n", "allow must be a list of names, but is 'a'"),
        ("bindax.toml", "[plugins]\nstrict = 1\n", "strict must be true or false, but is 1"),
        ("bindax.toml", "[plugins\n", "cannot be read for the plugin settings"),
        ("pyproject.toml", "[tool.bindax]\nplugins = 3\n", "tool.bindax.plugins must be a table"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_it(
    tmp_path: Path, file: str, text: str, message: str
) -> None:
    (tmp_path / file).write_text(text, encoding="utf-8")
    reload_settings()
    with pytest.raises(PluginError, match=message) as caught:
        settings()

    assert str(tmp_path / file) in str(caught.value)


def test_a_damaged_project_file_without_settings_is_not_our_business(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other\n", encoding="utf-8")
    reload_settings()

    assert settings().allow is None


def test_a_wrong_variable_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDAX_PLUGINS_STRICT", "maybe")
    reload_settings()
    with pytest.raises(PluginError, match=r"BINDAX_PLUGINS_STRICT=maybe is neither 1 nor 0"):
        settings()


PLUGIN = """
    @hookimpl
    def bindax_primitives():
        return [__name__]
    """


def test_deny_and_allow_lists_name_plugins_or_distributions(site: Any, tables: Any) -> None:
    for name in ("one", "two"):
        site.plugin(name, PLUGIN, f"[bindax.v1.primitives]\n{name} = {name}:p\n")
    with configured(deny=["one-dist"]):
        with pytest.raises(PluginError, match=r"'one' is offered by one-dist 1.0 \(not loaded: it"):
            tables.resolver.find_primitive("one")
        assert tables.resolver.find_primitive("two") == "two"
    with configured(allow=["two"]), pytest.raises(PluginError, match="not on the allow list"):
        tables.resolver.find_primitive("one")
    assert tables.resolver.find_primitive("one") == "one"


def test_without_autoload_only_an_explicit_load_loads(site: Any, tables: Any) -> None:
    site.plugin("one", PLUGIN, "[bindax.v1.primitives]\none = one:p\n")
    with configured(autoload=False):
        with pytest.raises(PluginError, match=r"autoload is off by code; load_plugins\('one'\)"):
            tables.resolver.find_primitive("one")
        tables.loader.load_named("one")
        assert tables.resolver.find_primitive("one") == "one"


def test_an_explicit_load_of_what_may_not_load_is_an_error(site: Any, tables: Any) -> None:
    site.plugin("one", PLUGIN)
    with configured(deny=["one"]), pytest.raises(PluginError, match=r"may not load: it is on the"):
        tables.loader.load_named("one")
    with pytest.raises(PluginError, match="no plugin 'three' is installed; installed are: one"):
        tables.loader.load_named("three")
