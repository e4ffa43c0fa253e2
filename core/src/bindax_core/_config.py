"""The values of settings: ``config``.

An assignment changes a setting for the process. A ``with`` block changes it for the thread, or the
asynchronous task, that the block is in.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from bindax_core._extension_points import runtime
from bindax_core._packages import optional_settings
from bindax_core.errors import suggestion

if TYPE_CHECKING:
    from bindax_core._settings import Setting

_MOST_KEYS: Final = 1024

settings: dict[str, Setting] = {}
"""The settings that were declared so far, by name."""

derived: dict[str, Callable[[Any], Any]] = {}
"""Attributes that follow from settings, by name: the functions that compute them."""


class Block:
    """The settings of one ``with`` block, until it ends, in whatever thread or task that is."""

    __slots__ = ("is_open", "settings")

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings: dict[str, Any] = settings
        self.is_open: bool = True


class _Values(dict[str, Any]):
    """The values inside some blocks, or outside of all; each is computed when it is first read."""

    def __init__(self, blocks: tuple[Block, ...], version: int) -> None:
        self.blocks = blocks
        self.version = version

    def __missing__(self, name: str) -> Any:
        _load(name)
        compute = derived.get(name)
        if compute is None:
            value = self.given().get(name, config.setting(name).default)
        else:
            value = compute(self)
        self[name] = value
        return value

    def given(self) -> dict[str, Any]:
        """Return the values that are not left at their defaults."""
        given = dict(_process.given)
        for block in self.blocks:
            if block.is_open:
                given.update(block.settings)
        return given


class _Process:
    """The settings of the process, and the blocks that are open in its threads.

    Attributes:
        given: the values that variables or assignments gave.
        origins: where those come from.
        blocks: the open blocks.
        version: counts the changes, each of which outdates all ``_Values``.
        values: the values outside of blocks.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.given: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.blocks: list[Block] = []
        self.version = 0
        self.values = _Values((), 0)

    def change(self) -> None:
        """Have the values computed again."""
        self.version += 1
        self.values = _Values((), self.version)
        # While no block is open, reading a setting is reading an attribute, which costs least;
        # while one is, Config.__getattr__ asks where it is read.
        object.__setattr__(config, "__dict__", {} if self.blocks else self.values)


_process = _Process()
_here: ContextVar[_Values | None] = ContextVar("bindax settings", default=None)
"""The values at this point of the program, if it is inside blocks."""


def _load(name: str) -> None:
    """Import the package that offers a setting, unless it is declared already."""
    if name not in settings and name not in derived and not name.startswith("_"):
        runtime.plugins.find_setting(name)


def _open_here() -> tuple[Block, ...]:
    here = _here.get()
    return () if here is None else tuple([block for block in here.blocks if block.is_open])


class Config:
    """The settings of bindax, as attributes.

    Where no ``with`` block says otherwise, their values are those of the process. ``print(config)``
    shows all, and where each comes from.

    >>> from bindax_core import config
    >>> with config.override(default_dtype_bits=64):
    ...     config.default_dtype_bits
    64
    >>> config.default_dtype_bits
    32
    """

    __slots__ = ("__dict__",)

    def __getattr__(self, name: str) -> Any:
        here = _here.get()
        if here is None:
            return _process.values[name]
        if here.version != _process.version:
            here = _Values(_open_here(), _process.version)
            _here.set(here)
        return here[name]

    def __setattr__(self, name: str, value: Any) -> None:
        setting, value = self._checked(name, value)
        with _process.lock:
            before = dict(_process.given), dict(_process.origins)
            _process.given[name], _process.origins[name] = value, "assignment"
            _process.change()
            try:
                self._notify(setting)
            except BaseException:
                _process.given, _process.origins = before
                _process.change()
                raise

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"config.{name} cannot be deleted; assign another value to it.")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *derived, *settings, *runtime.plugins.setting_names()})

    def __repr__(self) -> str:
        """A table of the settings: their values, and where each comes from."""
        inside = {name for block in _open_here() for name in block.settings}
        rows = [("setting", "value", "from")]
        for name in self.names():
            origin = "context" if name in inside else _process.origins.get(name, "default")
            rows.append((name, repr(getattr(self, name)), origin))
        first, second = (max(len(row[i]) for row in rows) for i in (0, 1))
        return "\n".join(f"{a:{first}}  {b:{second}}  {c}" for a, b, c in rows)

    def __reduce__(self) -> str:
        return "config"

    def _declare(self, setting: Setting, value: Any, origin: str) -> None:
        """Add a setting, with its initial value and where that comes from."""
        name = setting.name
        with _process.lock:
            settings[name] = setting
            if origin != "default" and name not in _process.given:
                _process.given[name], _process.origins[name] = value, origin
            _process.change()

    def names(self) -> list[str]:
        """List the settings of all installed packages that can be imported, which is done here."""
        for name in runtime.plugins.setting_names():
            with suppress(Exception):  # of a broken package; reading its setting raises the error
                _load(name)
        return sorted(settings)

    def setting(self, name: str) -> Setting:
        """Return the declaration of a setting, importing the package that offers it.

        Raises:
            AttributeError: when there is no such setting.
        """
        _load(name)
        if name not in settings:
            known = {*settings, *runtime.plugins.setting_names()}
            package = optional_settings.get(name)
            advice = f" Install {package}, which has it." if package else suggestion(name, known)
            raise AttributeError(f"config has no setting {name!r}.{advice}")
        return settings[name]

    def _checked(self, name: str, value: Any) -> tuple[Setting, Any]:
        if name in derived or hasattr(Config, name):
            raise AttributeError(f"config.{name} follows from settings and cannot be assigned to.")
        setting = self.setting(name)
        value = setting.checked(value)
        for check in setting.checks:
            check(value)
        return setting, value

    def _notify(self, *changed: Setting) -> None:
        for setting in changed:
            for observer in setting.observers:
                observer(self.is_on(setting.name))

    def is_on(self, name: str) -> bool:
        """Tell whether a setting is on for the process, or in any block of any thread."""
        values = [block.settings.get(name) for block in list(_process.blocks)]
        return any([_process.values[name], *values])

    def observe(self, name: str, observer: Callable[[bool], None]) -> None:
        """Have a function called when a setting changes anywhere, and now if it is on somewhere.

        The function is given ``is_on(name)``. What it prepares asks the setting itself, which may
        be off in the thread that asks.
        """
        with _process.lock:
            self.setting(name).observers.append(observer)
            if self.is_on(name):
                observer(True)

    def check(self, name: str, check: Callable[[Any], object]) -> None:
        """Have a function called with each value that is given; it raises to refuse it."""
        self.setting(name).checks.append(check)

    def update(self, name: str, value: Any) -> None:
        """Change a setting for the process; the same as assigning to the attribute of its name.

        Args:
            name: the name of the setting.
            value: its new value.

        Raises:
            AttributeError: when there is no such setting.
        """
        setattr(self, name, value)

    def update_here(self, name: str, value: Any) -> None:
        """Change a setting to the end of the innermost block around this point that gives it.

        Without such a block the setting of the process changes.

        Args:
            name: the name of the setting.
            value: its new value.

        Raises:
            AttributeError: when there is no such setting.
        """
        block = next((x for x in reversed(_open_here()) if name in x.settings), None)
        if block is None:
            return self.update(name, value)
        setting, value = self._checked(name, value)
        with _process.lock:
            before, block.settings[name] = block.settings[name], value
            _process.change()
            try:
                self._notify(setting)
            except BaseException:
                block.settings[name] = before
                _process.change()
                raise

    def enter(self, **values: Any) -> Block:
        """Begin what ``override`` does; ``leave`` ends it.

        Args:
            values: the values, by name.
        """
        checked = [self._checked(name, value) for name, value in values.items()]
        block = Block({setting.name: value for setting, value in checked})
        with _process.lock:
            _process.blocks.append(block)
            _process.change()
            _here.set(_Values((*_open_here(), block), _process.version))
            try:
                self._notify(*[setting for setting, _ in checked])
            except BaseException:
                self.leave(block)
                raise
        return block

    def leave(self, block: Block) -> None:
        """End what ``enter`` began, in any thread, and in any order with other blocks."""
        with _process.lock:
            if not block.is_open:
                return
            block.is_open = False
            _process.blocks.remove(block)
            _process.change()
            blocks = _open_here()
            _here.set(_Values(blocks, _process.version) if blocks else None)
            self._notify(*[settings[name] for name in block.settings])

    def is_inside(self, block: Block) -> bool:
        """Tell whether this point of the program is inside a block that is open."""
        return block in _open_here()

    def in_blocks(self) -> dict[str, Any]:
        """Return the traced settings that blocks around this point give, by name."""
        given = {name: value for block in _open_here() for name, value in block.settings.items()}
        return {name: value for name, value in given.items() if settings[name].traced}

    @contextmanager
    def override(self, **values: Any) -> Iterator[None]:
        """Change settings inside a ``with`` block, for this thread or asynchronous task alone.

        Threads that are started inside the block see the values of the process; tasks see those of
        the block, until it ends.

        Args:
            values: the values, by name.
        """
        block = self.enter(**values)
        try:
            yield
        finally:
            self.leave(block)


config: Config = Config()

_interned_keys: dict[Any, tuple[tuple[str, Any], ...]] = {}
"""One tuple for equal ones, so that comparing them is comparing identities."""


def trace_key(values: _Values) -> tuple[tuple[str, Any], ...]:
    """The traced settings that are not at their defaults, for the keys of caches.

    A setting that is declared late, at its default, leaves all keys as they are.
    """
    given = sorted(values.given().items(), key=itemgetter(0))
    key = tuple([item for item in given if settings[item[0]].is_in_key(item[1])])
    if len(_interned_keys) >= _MOST_KEYS:
        _interned_keys.clear()
    return _interned_keys.setdefault(key, key)


derived["trace_key"] = trace_key
