"""A package's own setting works as those of bindax do, before the package is imported too."""

from __future__ import annotations

import importlib
import pickle
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from bindax_core import _config, config
from bindax_core.errors import PluginConflictError
from bindax_core.extend import Setting
from bindax_transforms import jit

ENTRIES = """
[bindax.v1]
solver = solver_plugin
[bindax.v1.settings]
solver_mode = solver_settings:mode
solver_steps = solver_settings:steps
"""
MODULE = """
from bindax_core.extend import Setting, positive_integer

mode = Setting("solver_mode", "exact", "how", choices=("exact", "fast"), traced=True)
steps = Setting("solver_steps", 8, "how many steps there are", check=positive_integer)
"""


@pytest.fixture
def solver(site: Any) -> Iterator[Any]:
    """An installed package with two settings, which is not imported."""
    site.distribution("solver-dist", ENTRIES)
    site.module("solver_settings", MODULE)
    yield site
    for name in ("solver_mode", "solver_steps"):
        for table in (_config.settings, _config._process.given, _config._process.origins):
            table.pop(name, None)  # type: ignore[attr-defined]
    _config._process.change()


def is_imported() -> bool:
    return "solver_settings" in sys.modules


def test_the_first_use_imports_the_declaration(solver: Any) -> None:
    assert "solver_mode" in dir(config)
    assert not is_imported()
    assert config.solver_mode == "exact"
    assert is_imported()
    assert "solver_plugin" not in sys.modules
    assert config.setting("solver_mode") is sys.modules["solver_settings"].mode


def test_it_is_assigned_to_and_updated(solver: Any) -> None:
    config.solver_mode = "fast"
    assert is_imported()
    assert config.solver_mode == "fast"
    config.update("solver_steps", 3)
    assert config.solver_steps == 3
    with pytest.raises(ValueError, match=r"config\.solver_mode must be one of 'exact', 'fast', "):
        config.solver_mode = "slow"
    with pytest.raises(ValueError, match=r"solver_steps must be a positive integer, but got 0; it"):
        config.solver_steps = 0
    assert (config.solver_mode, config.solver_steps) == ("fast", 3)
    with pytest.raises(AttributeError, match=r"no setting 'solver_step'\. Did you mean 'solver_st"):
        config.solver_step = 1


def test_its_variable_is_read(solver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDAX_SOLVER_STEPS", "5")
    monkeypatch.setenv("BINDAX_SOLVER_MODE", "fast")
    assert config.solver_steps == 5
    assert config.trace_key == (("solver_mode", "fast"),)
    rows = [line.split() for line in repr(config).splitlines()]
    assert ["solver_steps", "5", "BINDAX_SOLVER_STEPS"] in rows


def test_a_variable_with_a_bad_value_is_an_error(
    solver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BINDAX_SOLVER_STEPS", "many")
    with pytest.raises(ValueError, match=r"got 'many'; .* the environment variable BINDAX_SOLVER_"):
        _ = config.solver_steps


def test_it_is_a_context_of_its_thread(solver: Any) -> None:
    seen: list[Any] = []
    with config.override(solver_steps=2):
        steps = sys.modules["solver_settings"].steps
        with steps(4):
            assert config.solver_steps == 4
            thread = threading.Thread(target=lambda: seen.append(config.solver_steps))
            thread.start()
            thread.join()
        assert config.solver_steps == 2
    assert config.solver_steps == 8
    assert seen == [8]


def test_it_is_part_of_the_key_of_jit(solver: Any) -> None:
    traced: list[str] = []
    f = jit(lambda x: traced.append(config.solver_mode) or x)
    key = config.trace_key
    f(1.0)
    with config.override(solver_mode="fast"):
        f(1.0)
        f(1.0)
    with config.override(solver_steps=2, solver_mode="exact"):
        f(1.0)
        assert config.trace_key is key
    assert traced == ["exact", "fast"]


def test_a_late_declaration_invalidates_nothing(solver: Any) -> None:
    f = jit(lambda x: x)
    f(1.0)
    key, size = config.trace_key, f.cache_info().size
    importlib.import_module("solver_settings")
    assert config.trace_key is key
    f(1.0)
    assert f.cache_info().size == size == 1


def test_observers_and_checks(solver: Any) -> None:
    seen: list[bool] = []
    config.observe("solver_steps", seen.append)
    config.solver_steps = 1
    assert seen == [True, True]

    def refuse(value: Any) -> None:
        if value == 2:
            raise RuntimeError("no")

    config.check("solver_steps", refuse)
    with pytest.raises(RuntimeError, match="no"):
        config.solver_steps = 2
    assert config.solver_steps == 1


def test_a_name_that_is_taken_is_refused(solver: Any) -> None:
    with pytest.raises(PluginConflictError) as caught:
        Setting("solver_mode", None, "")  # the package is not imported yet
    assert "the setting 'solver_mode' from " in str(caught.value)
    assert "is already declared by solver-dist 1.0" in str(caught.value)
    with pytest.raises(PluginConflictError, match="already declared by bindax-core"):
        Setting("enable_x64", None, "")
    assert config.solver_mode == "exact"


def test_a_module_may_be_loaded_again(solver: Any) -> None:
    config.solver_steps = 3
    module = sys.modules["solver_settings"]
    importlib.reload(module)
    assert config.setting("solver_steps") is module.steps
    assert config.solver_steps == 3


def test_declarations_are_pickled_by_name(solver: Any) -> None:
    mode = config.setting("solver_mode")
    assert pickle.loads(pickle.dumps(mode)) is mode


def test_a_broken_package_does_not_hide_the_other_settings(solver: Any) -> None:
    solver.distribution("broken-dist", "[bindax.v1.settings]\nbroken_mode = broken_settings:mode\n")
    solver.module("broken_settings", "raise RuntimeError('broken')\n")
    assert {"solver_mode", "enable_x64"} <= {*config.names()}
    assert "broken_mode" not in repr(config)
    with pytest.raises(RuntimeError, match="broken"):
        _ = config.broken_mode
