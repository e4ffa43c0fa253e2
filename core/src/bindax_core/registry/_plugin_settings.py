"""Settings: the plugins that may load, when they load, and the winner of a conflict.

Each setting comes from the first of these that gives it: code (``configure``), an environment
variable, a configuration file in the working directory (``bindax.toml``, then ``pyproject.toml``),
the default. Plugins are named by their entry point or by their distribution. ``docs/plugins.md``
has the table.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from bindax_core._site import absolute_path
from bindax_core.errors import PluginError, clause
from bindax_core.registry._manifest import Entry, normalized

_VARIABLES = {
    "allow": "BINDAX_PLUGINS",
    "deny": "BINDAX_PLUGINS_DENY",
    "autoload": "BINDAX_PLUGINS_AUTOLOAD",
    "strict": "BINDAX_PLUGINS_STRICT",
    "prefer": "BINDAX_PLUGINS_PREFER",
}
_FILES = (("pyproject.toml", ("tool", "bindax", "plugins")), ("bindax.toml", ("plugins",)))
_LISTS = ("allow", "deny", "prefer")
_FALSE = ("0", "false", "no", "off")
_TRUE = ("1", "true", "yes", "on")


class Settings(NamedTuple):
    """The settings in force, see ``configure_plugins``, with where each one was given."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    autoload: bool = True
    strict: bool = False
    prefer: tuple[str, ...] = ()
    sources: Mapping[str, str] = {}

    def refusal(self, plugin: Entry) -> str | None:
        """Why a plugin may not load, or None when it may."""
        names = {normalized(plugin.name), plugin.distribution.name}
        if names.intersection(self.deny):
            return f"it is on the deny list ({self.sources.get('deny', 'default')})"
        if self.allow is not None and not names.intersection(self.allow):
            return f"it is not on the allow list ({self.sources.get('allow', 'default')})"
        return None


_Given = dict[str, tuple[Any, str]]
"""Values of settings, with where they were given."""

_from_code: _Given = {}


def configure(**given: Any) -> None:
    """Set plugin settings from code; what is None keeps its value."""
    set_now = {name: value for name, value in given.items() if value is not None}
    _from_code.update({n: (_checked(n, value, "code"), "code") for n, value in set_now.items()})
    reload_settings()


@contextmanager
def configured(**given: Any) -> Iterator[Settings]:
    """Apply ``configure`` inside a ``with`` block."""
    before = dict(_from_code)
    configure(**given)
    try:
        yield settings()
    finally:
        _from_code.clear()
        _from_code.update(before)
        reload_settings()


@cache
def settings() -> Settings:
    """The settings in force; read at the first call, and again after ``reload_settings``."""
    given = _from_files() | _from_environment() | _from_code
    values = {name: value for name, (value, _) in given.items()}
    return Settings(**values, sources={name: source for name, (_, source) in given.items()})


def reload_settings() -> None:
    """Have environment variables and files read again at the next use."""
    settings.cache_clear()


def _from_environment() -> _Given:
    given: _Given = {}
    for name, variable in _VARIABLES.items():
        text = os.environ.get(variable, "").strip()
        if not text:
            continue
        if name not in _LISTS and text.lower() not in (*_TRUE, *_FALSE):
            raise PluginError(f"{variable}={text} is neither 1 nor 0. Set it to one, or unset it.")
        value = text.split(",") if name in _LISTS else text.lower() in _TRUE
        given[name] = _checked(name, value, variable), f"environment variable {variable}"
    return given


def _from_files() -> _Given:
    """Read the settings in the files of the working directory, the one that wins last."""
    given: _Given = {}
    for name, path in _FILES:
        file = absolute_path(name)
        table = _table(file, path)
        if table:
            unknown = ", ".join(repr(key) for key in table if key not in _VARIABLES)
            if unknown:
                known = ", ".join(_VARIABLES)
                raise PluginError(
                    f"{file}: [{'.'.join(path)}] has the unknown setting {unknown}; known are "
                    f"{known}. Correct or remove it."
                )
            given |= {key: (_checked(key, table[key], file), file) for key in table}
    return given


def _table(file: str, path: tuple[str, ...]) -> dict[str, Any]:
    try:
        with open(file, "rb") as stream:
            content = stream.read()
    except OSError:
        return {}
    if not all(key.encode() in content for key in path):
        return {}  # spares most projects the import and the parsing
    import tomllib

    try:
        table: Any = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PluginError(
            f"{file} cannot be read for the plugin settings of bindax: {clause(error)}. Correct "
            f"the file; no plugin loads until then, because the file may deny one."
        ) from error
    for key in path:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise PluginError(f"{file}: {'.'.join(path)} must be a table, but is {table!r}.")
    return table


def _checked(name: str, value: Any, source: str) -> Any:
    if name not in _LISTS:
        if not isinstance(value, bool):
            raise PluginError(f"{source}: {name} must be true or false, but is {value!r}.")
        return value
    is_listed = isinstance(value, Iterable) and not isinstance(value, str)
    names = list(value) if is_listed else []
    if not is_listed or not all(isinstance(item, str) for item in names):
        raise PluginError(f"{source}: {name} must be a list of names, but is {value!r}.")
    return tuple(normalized(item.strip()) for item in names if item.strip())
